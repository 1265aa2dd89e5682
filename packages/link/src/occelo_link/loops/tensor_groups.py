"""Values that consist of several tensors inside a program: complex numbers, and values of types that are no arrays.

A value of a type that lies in arrays (`Type.parts`) is a `Joined` of its parts, a complex tensor one of two real ones; so
a value is a tree whose leaves are real tensors, and the type alone tells its form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from occelo_graph import TensorType, Type
from occelo_link.loops.complexes import PARTS, ComplexTensor
from occelo_link.loops.tensors import Joined, Tensor

__all__ = ["INSIDE", "Leaf", "assembled", "leaves_of", "mapped", "parts_of_type", "pieces"]

INSIDE = {"float16": ("float32",), **{dtype: (part, part) for dtype, part in PARTS.items()}}
"""The dtypes of the tensors that one of a dtype is inside a program."""


@dataclass(frozen=True, eq=False, repr=False)
class Leaf:
    """A real tensor that a value consists of: its dtype, and its lengths as far as they are known."""

    dtype: str
    shape: tuple[int | None, ...]


def parts_of_type(kind: Type) -> Sequence[TensorType]:
    """The types of the arrays that a value consists of, which programs have only where there are such."""
    found = kind.parts()
    assert found is not None, kind
    return found


def leaves_of(kind: Type) -> list[Leaf]:
    """The real tensors that a value of a type consists of."""
    return [
        Leaf(dtype, part.shape)
        for part in parts_of_type(kind)
        for dtype in INSIDE.get(part.dtype, (part.dtype,))
    ]


def assembled(kind: Type, rest: Iterator[Tensor]) -> Tensor:
    """The value of a type from its leaves, which are taken from ``rest``."""
    parts = [
        ComplexTensor(next(rest), next(rest)) if part.dtype in PARTS else next(rest)
        for part in parts_of_type(kind)
    ]
    return parts[0] if kind.is_array else Joined(parts)


def pieces(tensor: Tensor) -> Sequence[Tensor]:
    """The tensors of the parts of a value; a tensor is its own only one."""
    return tensor.parts if isinstance(tensor, Joined) else (tensor,)


def mapped(tensor: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
    """The value whose leaves are what a function makes of those of another one."""
    if isinstance(tensor, Joined):
        return Joined([mapped(part, function) for part in tensor.parts])
    if isinstance(tensor, ComplexTensor):
        return ComplexTensor(function(tensor.re), function(tensor.im))
    return function(tensor)
