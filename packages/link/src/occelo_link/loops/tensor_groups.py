"""Groups of lowered tensors, which represent values that consist of several arrays (`Type.parts`).

`lowering`, `registry`, `build`, `callbacks`, `float16` and `regions` use these functions to take values apart and to
put them together. A lowered value is a tree: a value of several arrays is a `TensorGroup`, and a complex tensor is a
pair of real tensors. The leaves of the tree are real tensors. The type of the value determines the form of the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from occelo_graph import TensorType, Type
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_link.loops.complexes import PARTS, ComplexTensor
from occelo_link.loops.tensors import Tensor, TensorGroup

INNER_DTYPES = {"float16": ("float32",), **{dtype: (part, part) for dtype, part in PARTS.items()}}
"""Maps each dtype that programs lack to the dtypes of the real tensors that represent a tensor of this dtype."""


@frozen_dataclass(eq=False, repr=False)
class Leaf:
    """A real tensor that is part of a value: its dtype and its static shape."""

    dtype: str
    shape: tuple[int | None, ...]


def parts_of_type(kind: Type) -> Sequence[TensorType]:
    """The types of the arrays that a value of this type consists of."""
    parts = kind.parts()
    assert parts is not None, kind
    return parts


def leaves_of(kind: Type) -> list[Leaf]:
    """The dtypes and shapes of the real tensors that a value of this type consists of."""
    return [
        Leaf(dtype, part.shape)
        for part in parts_of_type(kind)
        for dtype in INNER_DTYPES.get(part.dtype, (part.dtype,))
    ]


def from_leaves(kind: Type, rest: Iterator[Tensor]) -> Tensor:
    """Make a value of a type from its leaves, which are the next items of ``rest``."""
    parts = [
        ComplexTensor(next(rest), next(rest)) if part.dtype in PARTS else next(rest)
        for part in parts_of_type(kind)
    ]
    return parts[0] if kind.is_array else TensorGroup(parts)


def members_of(tensor: Tensor) -> Sequence[Tensor]:
    """The tensors in a group. If ``tensor`` is not a group, the result contains only the tensor itself."""
    return tensor.parts if isinstance(tensor, TensorGroup) else (tensor,)


def map_leaves(tensor: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
    """Apply a function to each leaf of a value."""
    if isinstance(tensor, TensorGroup):
        return TensorGroup([map_leaves(part, function) for part in tensor.parts])
    if isinstance(tensor, ComplexTensor):
        return ComplexTensor(function(tensor.re), function(tensor.im))
    return function(tensor)
