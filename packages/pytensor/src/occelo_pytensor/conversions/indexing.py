"""Conversions of ops that read and write elements at integers, slices and arrays of positions.

An op of PyTensor describes its key by ``idx_list``: positions in the list of index inputs, or slices of such positions.
"""

from __future__ import annotations

from typing import Any

from pytensor.tensor.basic import Choose, ExtractDiag, PermuteRowElements
from pytensor.tensor.extra_ops import (
    FillDiagonal,
    FillDiagonalOffset,
    RavelMultiIndex,
    UnravelIndex,
)
from pytensor.tensor.subtensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    IncSubtensor,
    Subtensor,
)
from pytensor.tensor.type_other import MakeSlice
from pytensor.typed_list.basic import MakeList

import occelo.tensor as ot
from occelo_pytensor.conversion import settings
from occelo_pytensor.registry import register_conversion
from occelo_pytensor.variables import static


def _key(entries: Any, indices: Any) -> tuple[Any, ...]:
    def value(position: int | None) -> Any:
        return None if position is None else static(indices[position])

    return tuple(
        slice(value(e.start), value(e.stop), value(e.step)) if isinstance(e, slice) else value(e)
        for e in entries
    )


@register_conversion(Subtensor, AdvancedSubtensor)
def _read(node: Any, x: Any, *indices: Any) -> Any:
    if not node.op.idx_list:
        return x
    key = _key(node.op.idx_list, indices)
    of_a_loop = settings().reads.get((x, key[0])) if len(key) == 1 and _is_static(key[0]) else None
    return ot.getitem(x, key) if of_a_loop is None else of_a_loop


def _is_static(entry: Any) -> bool:
    parts = (entry.start, entry.stop, entry.step) if isinstance(entry, slice) else (entry,)
    return all(p is None or isinstance(p, int) for p in parts)


@register_conversion(IncSubtensor, AdvancedIncSubtensor)
def _write(node: Any, x: Any, y: Any, *indices: Any) -> Any:
    op = node.op
    y = y if y.dtype == x.dtype else ot.cast(y, x.dtype)
    if not op.idx_list:
        return ot.second(x, y) if op.set_instead_of_inc else x + y
    part = x[_key(op.idx_list, indices)]
    if not getattr(op, "ignore_duplicates", False) or op.set_instead_of_inc:
        return (ot.set_subtensor if op.set_instead_of_inc else ot.inc_subtensor)(part, y)
    # the last of equal positions wins, as in NumPy's x[i] += y
    return ot.set_subtensor(part, part + y)


@register_conversion(MakeSlice)
def _slice(node: Any, *parts: Any) -> Any:
    return slice(*parts)


@register_conversion(ExtractDiag)
def _diagonal(node: Any, x: Any) -> Any:
    return ot.diagonal(x, node.op.offset, node.op.axis1, node.op.axis2)


@register_conversion(PermuteRowElements)
def _permute(node: Any, x: Any, positions: Any, *rest: Any) -> Any:
    return ot.permute_row_elements(x, positions, inverse=bool(node.op.inverse))


@register_conversion(FillDiagonal)
def _fill_diagonal(node: Any, x: Any, value: Any) -> Any:
    return ot.fill_diagonal(x, value)


@register_conversion(FillDiagonalOffset)
def _fill_diagonal_offset(node: Any, x: Any, value: Any, offset: Any) -> Any:
    return ot.fill_diagonal_offset(x, value, static(offset))


@register_conversion(Choose)
def _choose(node: Any, positions: Any, choices: Any) -> Any:
    if isinstance(choices, list):
        choices = ot.stack(ot.broadcast_arrays(*choices))
    return ot.choose(positions, choices, mode=node.op.mode)


@register_conversion(MakeList)
def _list(node: Any, *elements: Any) -> Any:
    """A list is one where an op takes it apart; it is no value of a function."""
    return [list(elements)]


@register_conversion(UnravelIndex)
def _unravel(node: Any, positions: Any, dims: Any) -> Any:
    lengths = [static(dims[i]) for i in range(len(node.outputs))]
    return list(ot.unravel_index(positions, lengths, order=node.op.order))


@register_conversion(RavelMultiIndex)
def _ravel(node: Any, *inputs: Any) -> Any:
    *positions, dims = inputs
    lengths = [static(dims[i]) for i in range(len(positions))]
    return ot.ravel_multi_index(positions, lengths, mode=node.op.mode, order=node.op.order)
