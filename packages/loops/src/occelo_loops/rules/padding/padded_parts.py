"""Padded forms of joins, slices and writes of slices: graphs that compute the same results on padded tensors.

`padded_rows` calls these functions for the nodes of a graph that is being padded (see `padding`). Each function
computes where the rows of the result lie in the padded operands, and reads them from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from occelo_graph import Apply, TensorVariable, Variable
from occelo_graph import tensor as ot
from occelo_graph.ops.index.key import SCALAR
from occelo_graph.ops.index.subtensor import IncSubtensor, Subtensor
from occelo_graph.ops.join import Join
from occelo_graph.ops.shape.reading import Shape_i
from occelo_graph.tensors.nodes import tensors
from occelo_loops.rules.padding.padded_tensors import Made, NotByRows, PaddedTensors
from occelo_loops.rules.padding.row_counts import NOTHING, RowCount, unchecked
from occelo_rewrite.constants import number_of


def joined(work: PaddedTensors, node: Apply, values: list[Variable]) -> Made:
    """The padded form of a join: the rows of all tensors in order, without their padding, then arbitrary rows."""
    parts, op_ = tensors(values), cast("Join", node.op)
    if not any(v in work.lengths for v in parts):
        return None
    if op_.axis:
        if any(v not in work.lengths for v in parts):
            raise NotByRows
        return op_.make_node(*parts).outputs, work.common_length(parts)
    counts = [
        work.counts.of(work.lengths[v]) if v in work.lengths else work.counts.of_rows(old)
        for v, old in zip(parts, tensors(node.inputs), strict=True)
    ]
    (whole,) = tensors(op_.make_node(*parts).outputs)
    if any(v in work.lengths for v in parts[:-1]):
        at = source = ot.arange(Shape_i(0)(whole))
        (begin, place) = tensors([ot.constant(np.int64(0))] * 2)
        for part, count in zip(parts[:-1], counts[:-1], strict=True):
            begin, place = begin + work.counts.value(count), place + Shape_i(0)(part)
            source = ot.switch(ot.ge(at, begin), at - begin + place, source)
        whole = _rows(whole, source)
    total = NOTHING
    for count in counts:
        total = total.plus(count)
    return [whole], work.counts.named(total)


def _rows(x: TensorVariable, at: TensorVariable) -> TensorVariable:
    """The rows of ``x`` at the positions ``at``. A position out of bounds yields an arbitrary row."""
    (last,) = tensors([Shape_i(0)(x)])
    return x[ot.minimum(ot.maximum(at, 0), last - 1)]


class _Part(NamedTuple):
    """Adjacent rows of a padded tensor: the position of the first row, and the number of rows."""

    offset: TensorVariable
    size: RowCount


def part_read(work: PaddedTensors, node: Apply, values: list[Variable]) -> Made:
    """The padded form of a read of adjacent rows, or of all rows in reverse order."""
    op_, (x,) = cast("Subtensor", node.op), tensors(values[:1])
    length, first, rest = work.lengths[x], op_.key[0], op_.key[1:]
    bounds, others = _bounds(first, node.inputs[1:]), values[1 + _dynamic(first) :]
    if first.step == -1 and bounds == [None, None]:
        rows, new_length = _reversed(work, x, length), length
    else:
        offset, count = _part(work, first, bounds, length)
        padded = work.counts.is_padded(count)
        new_length = work.counts.named(count) if padded else None
        (rows,) = tensors([x])
        if not padded or number_of(offset) != 0 or count != work.counts.of(length):
            rows = _rows(x, _positions(work, count) + offset)
    if any(k != slice(None) for k in rest):
        rows = Subtensor((slice(None), *rest))(rows, *others)
    return [rows], new_length


def _reversed(work: PaddedTensors, x: TensorVariable, length: Variable) -> TensorVariable:
    """The first ``length`` rows of ``x`` in reverse order, then arbitrary rows."""
    (count, rows) = tensors([work.value_of(length), Shape_i(0)(x)])
    return _rows(x, count - 1 - ot.arange(rows))


def _positions(work: PaddedTensors, count: RowCount) -> TensorVariable:
    """The positions 0, 1, ... of all rows, with padding, of a tensor with ``count`` rows."""
    if not count.lengths:
        return ot.constant(np.arange(count.number))
    padded = work.counts.is_padded(count)
    return ot.arange(work.counts.capacity(count) if padded else work.counts.value(count))


def _dynamic(first: slice) -> int:
    """The number of bounds of a slice that are inputs of the node."""
    return sum(bound == SCALAR for bound in (first.start, first.stop))


def _bounds(first: slice, inputs: Sequence[Variable]) -> list[Any]:
    """The start and stop of a slice, each of them None, an integer, or a variable of the original graph."""
    rest = iter(inputs)
    return [next(rest) if bound == SCALAR else bound for bound in (first.start, first.stop)]


def _part(work: PaddedTensors, first: slice, bounds: Sequence[Any], length: Variable) -> _Part:
    """The rows that a slice selects from a tensor of the given length."""
    if first.step not in (None, 1):
        raise NotByRows
    counts, (start, stop) = work.counts, bounds
    whole = counts.of(length)
    begin, end = _count(work, start, NOTHING), _count(work, stop, whole)
    if begin is not None and end is not None and whole.minus(end) is not None:
        between = end.minus(begin)
        if between is not None:
            return _Part(counts.value(begin), between)
    (value,) = tensors([work.value_of(length)])
    skipped, left = 0 if start is None else start, 0 if stop is None else stop
    if isinstance(skipped, int) and isinstance(left, int) and skipped >= 0 >= left:
        if left or stop is None:
            shorter = counts.subtract(length, skipped - left)
            return _Part(ot.minimum(value, skipped), counts.of(shorter))
    offset = _from_start(work, 0 if start is None else start, value)
    last = value if stop is None else _from_start(work, stop, value)
    key = tuple(unchecked(b) if isinstance(b, Variable) else b for b in bounds)
    rows = ot.maximum(last - offset, 0)
    return _Part(offset, counts.of(counts.made(("part", length, key), lambda: rows, length)))


def _count(work: PaddedTensors, bound: Any, default: RowCount) -> RowCount | None:
    """A bound of a slice as a sum of lengths (``default`` for no bound); None if the bound is no such sum."""
    if bound is None:
        return default
    if isinstance(bound, int):
        return RowCount(frozenset(), bound) if bound >= 0 else None
    return work.counts.parsed(bound)


def _from_start(work: PaddedTensors, bound: Any, count: TensorVariable) -> TensorVariable:
    """The position from 0 to ``count`` that a bound of a slice means for ``count`` rows.

    A negative bound counts from the end.
    """
    (at,) = (
        tensors([ot.as_tensor_variable(bound)])
        if isinstance(bound, int)
        else tensors([work.value_of(bound)])
    )
    at = ot.cast(at, "int64")
    return ot.switch(ot.lt(at, 0), ot.maximum(at + count, 0), ot.minimum(at, count))


def part_written(work: PaddedTensors, node: Apply, values: list[Variable]) -> Made:
    """The padded form of setting or incrementing adjacent rows, or all rows in reverse order."""
    op_, (x, y) = cast("IncSubtensor", node.op), tensors(values[:2])
    length, first = work.lengths[x], op_.key[0]
    if any(k != slice(None) for k in op_.key[1:]):
        raise NotByRows
    bounds = _bounds(first, node.inputs[2:])
    if first.step == -1 and bounds == [None, None]:
        if work.lengths.get(y) is not length or y.type.ndim != x.type.ndim:
            raise NotByRows
        y = _reversed(work, y, length)
        return [(ot.zeros_like(x) + y if op_.set_instead_of_inc else x + y).astype(x.dtype)], length
    offset, count = _part(work, first, bounds, length)
    (rows,) = tensors([Shape_i(0)(x)])
    at = ot.arange(rows)
    if y.type.ndim == x.type.ndim:
        (old,) = tensors(node.inputs[1:2])
        own = work.lengths.get(y)
        if (work.counts.of_rows(old) if own is None else work.counts.of(own)) != count:
            raise NotByRows
        y = _rows(y, at - offset)
    elif y in work.lengths:
        raise NotByRows
    inside = ot.and_(ot.ge(at, offset), ot.lt(at, offset + work.counts.value(count)))
    inside = inside.dimshuffle([0, *["x"] * (x.type.ndim - 1)])
    return [ot.switch(inside, y if op_.set_instead_of_inc else x + y, x).astype(x.dtype)], length
