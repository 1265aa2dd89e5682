"""PyTensor's `pack` and `unpack`: several tensors as one vector, or along one axis, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from occelo_graph import tensor as ot
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.length_inputs import lengths_of
from occelo_graph.ops.shape.axes import static_integer
from occelo_graph.ops.shape.reading import length_product, lengths_by_variables

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["pack", "unpack"]


def pack(
    *tensors: Any, keep_axes: int | Sequence[int] | None = None
) -> tuple[TensorVariable, list[Any]]:
    """Join tensors along one axis, after merging all axes but ``keep_axes`` of each. `unpack` undoes it.

    ``keep_axes`` are axes at the front, such as 0 or (0, 1), at the end, such as -1, or both, such as (0, -1); None merges
    all axes, so that the result is a vector. Returns the joined tensor, and for each tensor the vector of the lengths that
    were merged. ValueError if there are no tensors, if one has too few dimensions, or if axes are missing between
    ``keep_axes`` and the ends.
    """
    if not tensors:
        raise ValueError("pack takes at least one tensor")
    front, back = _kept(keep_axes)
    merged: list[Any] = []
    shapes: list[Any] = []
    for i, each in enumerate(tensors):
        x = ot.as_tensor_variable(each)
        if x.type.ndim < front + back:
            raise ValueError(
                f"keep_axes={keep_axes} of pack needs {front + back} dimensions, and tensor {i} is {x.type}"
            )
        stop = x.type.ndim - back
        shapes.append(x.shape[front:stop])
        merged.append(ot.join_dims(x, front, stop - front))
    return ot.join(front, *merged), shapes


def unpack(
    packed_input: Any,
    packed_shapes: Sequence[Any],
    keep_axes: int | Sequence[int] | None = None,
) -> list[TensorVariable]:
    """The tensors that `pack` joined to ``packed_input``, with its ``keep_axes``; ``packed_shapes`` are the merged lengths.

    These are lists of lengths, or vectors of static length. ValueError if the tensor does not have one axis besides
    ``keep_axes``, or if the lengths do not add up to the length of this axis.
    """
    x = ot.as_tensor_variable(packed_input)
    front, back = _kept(keep_axes)
    if x.type.ndim != front + back + 1:
        raise ValueError(
            f"keep_axes={keep_axes} of unpack needs {front + back + 1} dimensions, got {x.type}"
        )
    shapes = [lengths_of(each) for each in packed_shapes]
    if not shapes:
        raise ValueError("packed_shapes of unpack must not be empty")
    sizes = [length_product(lengths) for lengths in shapes]
    parts = ot.split(x, sizes, n_splits=len(sizes), axis=front)
    return [
        ot.reshape(
            part,
            [*(own := lengths_by_variables(x))[:front], *lengths, *own[front + 1 :]],
            ndim=front + len(lengths) + back,
        )
        for part, lengths in zip(parts, shapes, strict=True)
    ]


def _kept(keep_axes: Any) -> tuple[int, int]:
    """How many axes at the front and at the end are kept."""
    if keep_axes is None:
        return 0, 0
    listed: list[Any] = list(keep_axes) if is_list_or_tuple(keep_axes) else [keep_axes]
    axes = [static_integer(axis, "keep_axes") for axis in listed]
    front, back = [a for a in axes if a >= 0], [a for a in axes if a < 0]
    if not axes or front != list(range(len(front))) or back != list(range(-len(back), 0)):
        raise ValueError(
            f"keep_axes of pack are axes from 0 on, then axes up to -1, without gaps, got {keep_axes}"
        )
    if axes != [*front, *back]:
        raise ValueError(f"keep_axes of pack must list axes at the front first, got {keep_axes}")
    return len(front), len(back)
