"""Functions for index keys: their entries as variables, the axes that they keep, and static bounds of slices.

The other modules of this package call these functions, and so does `occelo_random.rules.lifting`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from occelo_graph import TensorApply
from occelo_graph.ir.slices import slice_parts
from occelo_graph.ops.index.key import SCALAR, KeyEntry
from occelo_graph.ops.index.subtensor import Subtensor

if TYPE_CHECKING:
    from occelo_graph import TensorVariable

FULL = slice(None)


def is_full(entry: KeyEntry) -> bool:
    """Whether an entry of a key is a slice that selects a whole axis, such as ``:`` or ``0:``."""
    return isinstance(entry, slice) and slice_parts(entry) in (
        (None, None, None),
        (0, None, None),
        (None, None, 1),
        (0, None, 1),
    )


def parts_of(node: TensorApply[Subtensor], first: int = 1) -> list[KeyEntry]:
    """The entries of a node's index key: integers, scalar variables, and slices of integers and variables.

    ``first`` is the position of the node's first input that belongs to the key.
    """
    op = node.op
    indices = iter(node.inputs[first:])

    def filled(part: KeyEntry) -> KeyEntry:
        return next(indices) if isinstance(part, str) and part == SCALAR else part

    result: list[KeyEntry] = []
    for entry in op.key:
        if isinstance(entry, slice):
            result.append(slice(*(filled(part) for part in slice_parts(entry))))
        else:
            result.append(filled(entry))
    return result


def read(x: TensorVariable, parts: list[KeyEntry]) -> TensorVariable:
    """``x[parts]`` for the entries ``parts`` of a key; ``x`` itself if the key selects all of ``x``."""
    return x if all(is_full(part) for part in parts) else x[tuple(parts)]


def kept_axes(parts: list[KeyEntry]) -> list[int]:
    """The axes of a tensor that a key keeps, in order: those for which its entry is a slice."""
    return [i for i, part in enumerate(parts) if isinstance(part, slice)]


def static_bounds(part: slice, length: int | None) -> tuple[int, int | None, int] | None:
    """The start, stop and step of a slice as integers, counted from the start of an axis; None if they are not static.

    If ``length`` is None (dynamic), only slices with a non-negative start and a positive step are static. Then the stop
    is None if the slice has no stop.
    """
    start, stop, step = slice_parts(part)
    if not all(v is None or isinstance(v, int) for v in (start, stop, step)):
        return None
    if length is not None:
        first, last, by = part.indices(length)
        return first, last, by
    by = 1 if step is None else step
    first = 0 if start is None else start
    if by < 1 or first < 0 or (stop is not None and stop < 0):
        return None
    return first, stop, by
