"""`FORMS`: for each class of ops, the function that builds the padded form of a node.

The docstring of `padding` explains padded tensors. `padding` passes this table to `padded_tensors`, which calls the
functions to make a padded graph. Each function gets a node and its operands in the padded graph. The elements of its
results are right, except for those in the spare rows. The functions for joins and slices are in `padded_parts`.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from occelo_graph import Apply, Op, Variable
from occelo_graph import tensor as ot
from occelo_graph.narrowing import is_slice
from occelo_graph.ops.blas.products import Dot, MatMul
from occelo_graph.ops.control import CheckAndRaise, DeepCopyOp, ViewOp
from occelo_graph.ops.create import Alloc, ARange
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.index.key import SCALAR
from occelo_graph.ops.index.subtensor import IncSubtensor, Subtensor
from occelo_graph.ops.join import Join
from occelo_graph.ops.reduce import CAReduce, CumOp
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.ops.shape.reading import Shape_i
from occelo_graph.ops.shape.stretching import Stretch
from occelo_graph.tensors.nodes import is_tensor, tensors
from occelo_loops.ops.iterate import Iterate
from occelo_loops.rules.padding.padded_parts import joined, part_read, part_written
from occelo_loops.rules.padding.padded_tensors import (
    Form,
    Made,
    NotByRows,
    PaddedTensors,
    cut_by_condition,
    direction,
)
from occelo_loops.rules.padding.positions import is_moved
from occelo_loops.rules.padding.row_counts import unchecked
from occelo_rewrite.constants import number_of


def _alloc(work: PaddedTensors, node: Apply, values: list[Variable]) -> Made:
    length = work.length_made(node)
    value, out = values[0], node.outputs[0]
    if value in work.lengths:
        raise NotByRows
    if length is None or length not in work.capacities:
        return None
    op_ = cast("Alloc", node.op)
    if is_tensor(value) and value.type.ndim == len(op_.shape) and value.type.shape[0] != 1:
        raise NotByRows
    assert is_tensor(out)
    return [op_(value, work.capacities[length], *values[2:])], length


def _arange(work: PaddedTensors, node: Apply, values: list[Variable]) -> Made:
    length = work.length_made(node)
    if length is None or length not in work.capacities:
        return None
    return [node.op(values[0], work.capacities[length], values[2])], length


def _elementwise(work: PaddedTensors, node: Apply, values: list[Variable]) -> Made:
    length = work.common_length(values)
    if length is None:
        return None
    ndim = node.outputs[0].type.ndim
    for v in tensors(values):
        own = v in work.lengths
        if own != (v.type.ndim == ndim) and not (v.type.ndim == ndim and v.type.shape[0] == 1):
            raise NotByRows
    return node.op.make_node(*values).outputs, length


def _reordered(work: PaddedTensors, node: Apply, values: list[Variable]) -> Made:
    length = work.common_length(values)
    if length is None:
        return None
    order = cast("DimShuffle", node.op).new_order
    results = node.op.make_node(*values).outputs
    if order == (1, 0):
        work.columns.update(results)
    elif order[:1] != (0,):
        raise NotByRows
    return results, length


def _product(work: PaddedTensors, node: Apply, values: list[Variable]) -> Made:
    """The padded form of a product of vectors or matrices.

    If the product sums over a padded axis, zeros replace the padding. Other padded axes stay padded.
    """
    length = work.common_length(values)
    if length is None:
        return None
    x, y = tensors(values)
    ndims = x.type.ndim, y.type.ndim
    over_x = x in work.lengths and (x in work.columns or ndims[0] == 1)
    over_y = y in work.lengths and y not in work.columns
    both = x in work.lengths and y in work.lengths
    if over_x != over_y or (both and not over_x):
        raise NotByRows
    if over_x:
        whole = [work.with_others(v, np.zeros((), v.dtype)) for v in (x, y)]
        return node.op.make_node(*whole).outputs, None
    results = node.op.make_node(x, y).outputs
    if y in work.lengths and ndims[0] == 2:
        work.columns.update(results)
    return results, length


def _batch_of_products(work: PaddedTensors, node: Apply, values: list[Variable]) -> Made:
    length = work.common_length(values)
    if length is None:
        return None
    ndim = node.outputs[0].type.ndim
    for v in tensors(values):
        if (v in work.lengths) != (v.type.ndim == ndim and v.type.shape[0] != 1):
            raise NotByRows
    return (node.op.make_node(*values).outputs, length) if ndim and ndim > 2 else None


def _kept(work: PaddedTensors, node: Apply, values: list[Variable]) -> Made:
    length = work.lengths.get(values[0])
    if length is None or any(v in work.lengths for v in values[1:]):
        return None
    return node.op.make_node(*values).outputs, length


def _stretched(work: PaddedTensors, node: Apply, values: list[Variable]) -> Made:
    """The padded form of a tensor whose rows become as many as stated.

    If a single row would be repeated, the check fails, and the call is interpreted (`occelo_loops.traced.PaddedVM`).
    """
    length, op_ = work.lengths.get(values[0]), cast("Stretch", node.op)
    if length is None:
        return None
    if values[0] in work.columns or op_.axes != [0] or not op_.given[0]:
        raise NotByRows
    count, rows = tensors([work.value_of(length), values[1]])
    check = CheckAndRaise(ValueError, "The value to write has another number of rows")
    return [check(values[0], ot.eq(count, rows))], length


def _length(work: PaddedTensors, node: Apply, values: list[Variable]) -> Made:
    if values[0] not in work.lengths:
        return None
    op_, (x,) = cast("Shape_i", node.op), tensors(values)
    axis = x.type.ndim - 1 if x in work.columns else 0
    return [work.value_of(work.lengths[x])] if op_.i == axis else [op_(x)], None


def _read(work: PaddedTensors, node: Apply, values: list[Variable]) -> Made:
    op_, x = cast("Subtensor", node.op), values[0]
    stop = cut_by_condition(node)
    if stop is not None and stop in work.capacities:
        work.loops = True
        return [Subtensor((slice(None), *op_.key[1:]))(x, *values[2:])], stop
    length = work.lengths.get(x)
    if length is None:
        return None
    first, rest = op_.key[0], op_.key[1:]
    if _is_all(work, node, 1, length):
        skipped = 1 if is_slice(first) and first.stop == SCALAR else 0
        return [Subtensor((slice(None), *rest))(x, *values[1 + skipped :])], length
    if is_slice(first):
        return part_read(work, node, values)
    index, others = (values[1], values[2:]) if first == SCALAR else (np.int64(first), values[1:])
    return [Subtensor((SCALAR, *rest))(x, work.position(index, length), *others)], None


def _is_all(work: PaddedTensors, node: Apply, begin: int, length: Variable) -> bool:
    """Whether the index key of a read or write selects all rows of a tensor of the given length.

    ``begin`` is the position of the node's first input that belongs to the key.
    """
    first = cast("Any", node.op).key[0]
    if not is_slice(first) or first.start not in (None, 0) or first.step not in (None, 1):
        return False
    return first.stop is None or (
        first.stop == SCALAR and work.length_of(node.inputs[begin]) is length
    )


def _written(work: PaddedTensors, node: Apply, values: list[Variable]) -> Made:
    op_, (x, y) = cast("IncSubtensor", node.op), tensors(values[:2])
    first, rest = op_.key[0], op_.key[1:]
    length = work.lengths.get(x)
    if length is None:
        return _rows_written(work, node, values) if y in work.lengths else None
    plain = all(k == slice(None) for k in rest)
    if _is_all(work, node, 2, length) and plain and y in work.lengths:
        work.common_length([x, y])
        whole = ot.zeros_like(x) + y if op_.set_instead_of_inc else x + y
        return [whole.astype(x.dtype)], length
    if is_slice(first):
        return part_written(work, node, values)
    if y in work.lengths:
        raise NotByRows
    index, others = (values[2], values[3:]) if first == SCALAR else (np.int64(first), values[2:])
    write = IncSubtensor((SCALAR, *rest), op_.set_instead_of_inc)
    return [write(x, y, work.position(index, length), *others)], length


def _rows_written(work: PaddedTensors, node: Apply, values: list[Variable]) -> Made:
    """The padded form of writing or adding a padded tensor to the first rows of a tensor that is not padded."""
    op_, (x, y) = cast("IncSubtensor", node.op), tensors(values[:2])
    length = work.lengths[y]
    if (
        x.type.ndim != y.type.ndim
        or not _is_all(work, node, 2, length)
        or op_.key[0].stop is None
        or any(k != slice(None) for k in op_.key[1:])
    ):
        raise NotByRows
    (rows, capacity, count) = tensors([Shape_i(0)(x), Shape_i(0)(y), work.value_of(length)])
    moved = y[ot.minimum(ot.arange(rows), capacity - 1)]
    changed = moved if op_.set_instead_of_inc else x + moved
    written = ot.switch(work.before_end(length, rows, x.type.ndim), changed, x).astype(x.dtype)
    check = CheckAndRaise(ValueError, "More rows are written than there are")
    return [check(written, ot.le(count, rows))], None


def _reduced(work: PaddedTensors, node: Apply, values: list[Variable]) -> Made:
    length = work.lengths.get(values[0])
    if length is None:
        return None
    op_, (x,) = cast("CAReduce", node.op), tensors(values)
    axis = x.type.ndim - 1 if x in work.columns else 0
    if axis not in op_.axis:
        if x in work.columns and op_.axis != (0,):
            raise NotByRows
        return op_.make_node(x).outputs, length
    if op_.reduction.identity is None:
        raise NotByRows
    neutral = np.asarray(op_.reduction.start(x.dtype)).astype(x.dtype)
    total = op_(work.with_others(x, neutral))
    if op_.reduction.may_be_empty:
        return [total], None
    check = CheckAndRaise(ValueError, "A reduction of no elements is not defined")
    return [check(total, ot.gt(*tensors([work.value_of(length)]), 0))], None


def _repeated(work: PaddedTensors, node: Apply, values: list[Variable]) -> Made:
    if not any(v in work.lengths for v in values):
        return None
    op_ = cast("Iterate", node.op)
    at = op_.body.inputs[0]
    way = direction(op_)
    from_start = way == 1 and number_of(node.inputs[1]) == 0
    if not from_start and not (way == -1 and _is_last(node.inputs[1], node.inputs[0])):
        raise NotByRows
    work.loops = True
    steps = work.length_of(node.inputs[0])
    for length in {work.lengths[v] for v in values if v in work.lengths} - {steps}:
        # JAX and PyTorch only check that a position is within the padded tensor
        (count, rows) = tensors([values[0], work.value_of(length)])
        check = CheckAndRaise(IndexError, "A loop reads more rows than there are")
        values = [check(count, ot.le(count, rows)), *values[1:]]
    results = op_.make_node(*values).outputs
    for i, v in enumerate(values[1:]):
        if v not in work.lengths:
            continue
        inner = op_.body.inputs[i]
        written = i < op_.carried
        if written and work.lengths[v] is not steps:
            raise NotByRows
        after = op_.body.outputs[i] if written else None
        if not _only_rows_at(op_, inner, at, after):
            raise NotByRows
        if written:
            work.lengths[results[i]] = work.lengths[v]
    return results, None


def _is_last(start: Variable, steps: Variable) -> bool:
    """Whether ``start`` is ``steps - 1``, the position of the last step."""
    owner = start.owner
    if owner is None:
        return False
    return any(is_moved(start, v, -1) and unchecked(v) is unchecked(steps) for v in owner.inputs)


def _only_rows_at(op_: Iterate, rows: Variable, at: Variable, after: Variable | None) -> bool:
    """Whether a body reads and writes only the row of the tensor ``rows`` at the position ``at``.

    ``after`` is the tensor after a step; None if the body only reads it.
    """
    states = {rows}
    for node in op_.body.nodes:
        places = [i for i, v in enumerate(node.inputs) if v in states]
        if not places:
            continue
        if isinstance(node.op, Shape_i) and node.op.i:
            continue
        begin = {Subtensor: 1, IncSubtensor: 2}.get(cast("Any", type(node.op)))
        if places != [0] or begin is None or cast("Any", node.op).key[0] != SCALAR:
            return False
        if node.inputs[begin] is not at:
            return False
        if begin == 2:
            states.add(node.outputs[0])
    ends = [i for i, v in enumerate(op_.body.outputs) if v in states]
    return ends == ([] if after is None else [op_.body.outputs.index(after)]) and (
        after is None or after in states
    )


FORMS: list[tuple[type[Op] | tuple[type[Op], ...], Form]] = [
    (Alloc, _alloc),
    (ARange, _arange),
    (Elemwise, _elementwise),
    (DimShuffle, _reordered),
    (Dot, _product),
    (MatMul, _batch_of_products),
    ((CheckAndRaise, ViewOp, DeepCopyOp, CumOp), _kept),
    (Shape_i, _length),
    (Stretch, _stretched),
    (Subtensor, _read),
    (IncSubtensor, _written),
    (CAReduce, _reduced),
    (Iterate, _repeated),
    (Join, joined),
]
"""For each class of ops, the function that builds the padded form of a node."""
