"""Batching rules for nodes that read ragged variables (`ragged`): `rule_of`, which `vectorize_graph` calls.

Elementwise functions, reductions, cumulative sums and products, reads and writes of single rows, and a few other ops
have such a rule. `Scan` needs no rule, since its own `Op.batch` accepts ragged variables. All other
ops raise an error if they read a ragged variable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ops.batching import align
from occelo_graph.ops.control.checks import raise_unless
from occelo_graph.ops.create import Alloc, arange, broadcast_to, zeros
from occelo_graph.ops.elemwise.arithmetic import add, eq, ge, gt, lt, switch
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.index.key import SCALAR, fill_key
from occelo_graph.ops.index.subtensor import IncSubtensor, Subtensor
from occelo_graph.ops.reduce import CAReduce, CumOp
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.ops.shape.reading import Shape_i, shape_tuple
from occelo_graph.ops.shape.stretching import Stretch, SumStretched
from occelo_graph.tensors.nodes import tensors
from occelo_graph.vectorize import BatchingRule, add_batching
from occelo_loops.ops.derivatives.ragged import (
    common_count,
    count_of,
    is_count,
    is_ragged,
    is_ragged_in,
    mark,
    refuse,
    rows_of,
)
from occelo_loops.ops.scan_op import Scan

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

_FIRST_ROWS = (slice(0, SCALAR), slice(None, SCALAR))
"""Entries of a key that select the first rows. An input of the node is the number of these rows."""


def rule_of(node: Apply, inputs: Sequence[Variable]) -> BatchingRule | None:
    """The batching rule for a node that reads or computes a ragged variable.

    None for all other nodes, and for `Scan`, whose own `Op.batch` accepts ragged variables. ``inputs`` are the vectorized
    inputs of the node.
    """
    op_ = node.op
    if isinstance(op_, Scan):
        return None
    if any(is_ragged_in(node, i, v) for i, v in enumerate(inputs)):
        return partial(_of_ragged, node)
    if isinstance(op_, Alloc) and op_.shape and op_.shape[0] is None and _is_count(node, 1, inputs):
        return partial(_alloc, node)
    if isinstance(op_, Stretch) and op_.given[:1] == (True,) and _is_count(node, 1, inputs):
        return partial(_stretched_to_rows, node)
    return None


def check_result(result: Variable) -> None:
    """Raise the error that a result of a graph cannot be ragged, if it is."""
    if is_ragged(result):
        raise refuse("A result")


def _is_count(node: Apply, position: int, inputs: Sequence[Variable]) -> bool:
    return is_count(inputs[position]) and inputs[position] is not node.inputs[position]


def _of_ragged(
    node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
) -> Sequence[Variable]:
    """`Op.batch` for a node with ragged inputs."""
    op_ = node.op
    marked, count = _with_one_count(node, inputs)
    if isinstance(op_, Elemwise):
        return _elementwise(node, marked, batch_ndims, count)
    if isinstance(op_, CAReduce):
        return _reduced(node, marked, batch_ndims, count)
    if isinstance(op_, CumOp):
        return _cumulative(node, marked, batch_ndims, count)
    if isinstance(op_, Alloc) and len(inputs) > 1 and is_count(inputs[1]):
        return _alloc_of_ragged(node, marked, batch_ndims, count)
    if isinstance(op_, DimShuffle) and op_.new_order[:1] == (0,):
        return [mark(v, count) for v in op_.batch(node, marked, batch_ndims)]
    if isinstance(op_, Shape_i):
        return [count] if op_.i == 0 else list(op_.batch(node, marked, batch_ndims))
    if isinstance(op_, Stretch | SumStretched):
        return _stretched(node, marked, batch_ndims, count)
    if isinstance(op_, Subtensor):
        return _read(node, marked, batch_ndims, count)
    if isinstance(op_, IncSubtensor):
        return _written(node, marked, batch_ndims, count)
    raise refuse(op_)


def _with_one_count(node: Apply, inputs: Sequence[Any]) -> tuple[list[Any], TensorVariable]:
    """The inputs of a node, and the numbers of valid rows that all of its ragged inputs have in common."""
    marked = list(inputs)
    ragged = [i for i, v in enumerate(inputs) if is_ragged_in(node, i, v)]
    count = common_count([count_of(inputs[i]) for i in ragged], node.op)
    for i in ragged:
        if count_of(inputs[i]) is not count:
            marked[i] = mark(_first_rows(inputs[i], count.type.ndim, count), count)
    return marked, count


def _first_rows(x: Any, extra: int, count: TensorVariable) -> TensorVariable:
    """The first rows of ``x``, as many as are stored of a ragged variable with the valid rows ``count`` (`rows_of`).

    ``x`` has ``extra`` batch dimensions.
    """
    return x[(*[slice(None)] * extra, slice(rows_of(count)))]


# functions of elements


def _elementwise(
    node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int], count: TensorVariable
) -> Sequence[Variable]:
    ndim = node.outputs[0].type.ndim
    for position, (old, new) in enumerate(zip(tensors(node.inputs), inputs, strict=True)):
        along = old.type.ndim == ndim
        ragged = is_ragged_in(node, position, new)
        if ragged != along and not (along and old.type.shape[0] == 1):
            raise refuse(node.op)
    return [mark(v, count) for v in node.op.batch(node, inputs, batch_ndims)]


def _alloc(node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]) -> Sequence[Variable]:
    """`Op.batch` for an `Alloc` with as many rows as a ragged variable has valid rows. The result is ragged, too."""
    (value, count), (core,) = tensors(inputs[:2]), tensors(node.inputs[:1])
    if core.type.ndim == node.outputs[0].type.ndim and core.type.shape[0] != 1:
        raise refuse(node.op)
    extra = max(batch_ndims[0], count.type.ndim)
    full = align(value, batch_ndims[0], extra)
    batch = shape_tuple(align(count, count.type.ndim, extra))
    full = (
        broadcast_to(full, (*batch, *shape_tuple(full)[extra:])) if extra > batch_ndims[0] else full
    )
    operands = [full, rows_of(count), *inputs[2:]]
    results = node.op.batch(node, operands, [extra, 0, *batch_ndims[2:]])
    return [mark(v, count) for v in results]


def _alloc_of_ragged(
    node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int], count: TensorVariable
) -> Sequence[Variable]:
    """`Op.batch` for an `Alloc` that repeats a ragged variable along other axes than its rows."""
    if node.inputs[0].type.ndim != node.outputs[0].type.ndim:
        raise refuse(node.op)
    whole = common_count([count, inputs[1]], node.op)
    (x,) = tensors(inputs[:1])
    if whole is not count:
        x = _first_rows(x, batch_ndims[0], whole)
    operands = [x, rows_of(whole), *inputs[2:]]
    results = node.op.batch(node, operands, [batch_ndims[0], 0, *batch_ndims[2:]])
    return [mark(v, whole) for v in results]


def _stretched_to_rows(
    node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
) -> Sequence[Variable]:
    """`Op.batch` for a `Stretch` of one row to as many as a ragged variable has valid rows. The result is ragged, too."""
    count = inputs[1]
    operands = [inputs[0], rows_of(count), *inputs[2:]]
    results = node.op.batch(node, operands, [batch_ndims[0], 0, *batch_ndims[2:]])
    return [mark(v, count) for v in results]


def _stretched(
    node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int], count: TensorVariable
) -> Sequence[Variable]:
    """`Op.batch` for a `Stretch`, or the sum that is its gradient, of a ragged variable: the rows stay as they are.

    If the op states a length of the rows, it must be the number of valid rows.
    """
    op_ = node.op
    assert isinstance(op_, Stretch | SumStretched)
    if not is_ragged_in(node, 0, inputs[0]) or op_.static[0] is not None:
        raise refuse(op_)
    operands, core, ndims = list(inputs), list(node.inputs), list(batch_ndims)
    if op_.given[0]:
        length = operands.pop(1)
        if not is_count(length):
            raise refuse(op_)
        count = common_count([count, length], op_)
        operands[0] = _first_rows(operands[0], ndims[0], count)
        del core[1], ndims[1]
    rest = replace(op_, given=(False, *op_.given[1:]))
    (stretched,) = rest.batch(rest.make_node(*core), operands, ndims)
    return [mark(stretched, count)]


# along the rows


def _beside(numbers: TensorVariable, x: TensorVariable, extra: int) -> TensorVariable:
    """``numbers``, one for each element of the batch, with more axes, so that they broadcast against ``x``.

    ``x`` has ``extra`` batch dimensions, followed by the rows.
    """
    full = align(numbers, numbers.type.ndim, extra)
    return full.dimshuffle([*range(extra), *["x"] * (x.type.ndim - extra)])


def _places(x: TensorVariable, extra: int) -> TensorVariable:
    """The positions of the rows of ``x``, with the axes that they need to broadcast against ``x``."""
    rest = ["x"] * (x.type.ndim - extra - 1)
    return arange(shape_tuple(x)[extra]).dimshuffle([*["x"] * extra, 0, *rest])


def _valid(
    x: TensorVariable, extra: int, count: TensorVariable, instead: TensorVariable | Any
) -> TensorVariable:
    """``x`` with ``instead`` in the rows that are not valid."""
    return switch(lt(_places(x, extra), _beside(count, x, extra)), x, instead).astype(x.dtype)


def _reduced(
    node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int], count: TensorVariable
) -> Sequence[Variable]:
    op_, (x,), extra = node.op, tensors(inputs), batch_ndims[0]
    assert isinstance(op_, CAReduce)
    if 0 not in op_.axis:
        return [mark(v, count) for v in op_.batch(node, inputs, batch_ndims)]
    if op_.reduction.identity is None:
        raise refuse(op_)
    if not op_.reduction.may_be_empty:
        message = f"{op_} of no elements: a loop of the batch takes no step"
        count = raise_unless(count, gt(count, 0).all(), error=ValueError, message=message)
    whole = _valid(x, extra, count, op_.reduction.start(x.dtype))
    return list(op_.batch(node, [whole], batch_ndims))


def _cumulative(
    node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int], count: TensorVariable
) -> Sequence[Variable]:
    op_, (x,), extra = node.op, tensors(inputs), batch_ndims[0]
    assert isinstance(op_, CumOp)
    if op_.axis == 0:
        if op_.reduction.identity is None:
            raise refuse(op_)
        # what follows the valid rows is used by no derivative, but must be defined
        x = _valid(x, extra, count, op_.reduction.start(x.dtype))
    return [mark(v, count) for v in op_.batch(node, [x], batch_ndims)]


def _read(
    node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int], count: TensorVariable
) -> Sequence[Variable]:
    """`Op.batch` for reading one row of a ragged variable, or all of its valid rows."""
    op_, (x, *key_inputs) = node.op, tensors(inputs)
    assert isinstance(op_, Subtensor)
    extra, (first, *rest) = batch_ndims[0], op_.key
    if not is_ragged_in(node, 0, x):
        raise refuse(op_)
    if first == slice(None):
        return [mark(v, count) for v in op_.batch(node, inputs, batch_ndims)]
    if first in _FIRST_ROWS and batch_ndims[1] and _all(rest):
        count = common_count([count, key_inputs[0]], op_)
        return [mark(_first_rows(x, extra, count), count)]
    row, key_inputs = _row(op_, first, key_inputs, count)
    if any(v.type.ndim for v in key_inputs):
        raise refuse(op_)
    batch = shape_tuple(x)[:extra]
    at = broadcast_to(align(row, row.type.ndim, extra), batch)
    places = [
        arange(n).dimshuffle([0 if j == i else "x" for j in range(extra)])
        for i, n in enumerate(batch)
    ]
    filled = fill_key(tuple(rest), key_inputs, scalar=lambda v: v)
    return [x[(*places, at)][(*[slice(None)] * extra, *filled)]]


def _all(entries: Sequence[Any]) -> bool:
    """Whether entries of a key select all positions."""
    return all(entry == slice(None) for entry in entries)


def _row(
    op_: Any, entry: Any, key_inputs: list[TensorVariable], count: TensorVariable
) -> tuple[TensorVariable, list[TensorVariable]]:
    """The position of a row for each element of the batch, and the inputs of the key that are left.

    ``entry`` is the first entry of the key, and ``key_inputs`` are the inputs of the key. Negative positions count from the
    end of the valid rows.
    """
    if entry == SCALAR:
        (place, *key_inputs) = key_inputs
        place = align(place, place.type.ndim, max(place.type.ndim, count.type.ndim))
        place = switch(lt(place, 0), count + place, place)
    elif isinstance(entry, int):
        place = count + entry if entry < 0 else count * 0 + entry
    else:
        raise refuse(op_)
    message = f"{op_} reads a row that a loop of the batch does not have"
    inside = [ge(place, 0).all(), lt(place, count).all()]
    return raise_unless(place, *inside, error=IndexError, message=message), key_inputs


def _written(
    node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int], count: TensorVariable
) -> Sequence[Variable]:
    """`Op.batch` for writing one row of a ragged variable, or for writing its valid rows to the first rows of a tensor."""
    op_, (x, y, *key_inputs) = node.op, tensors(inputs)
    assert isinstance(op_, IncSubtensor)
    first, *rest = op_.key
    if is_ragged_in(node, 0, x) and not is_ragged_in(node, 1, y):
        row, key_inputs = _row(op_, first, key_inputs, count)
        if not _all(rest):
            y = _as_row(op_, x, y, batch_ndims, key_inputs)
        return [mark(_with_row(op_, x, y, batch_ndims, row), count)]
    if not _all(rest):
        raise refuse(op_)
    if first not in _FIRST_ROWS:
        raise refuse(op_)
    if not batch_ndims[2] or y.type.ndim - batch_ndims[1] != len(op_.key):
        raise refuse(op_)
    count = common_count([count, key_inputs[0]], op_)
    if is_ragged_in(node, 0, x):
        return [mark(_combined(op_, x, y, batch_ndims), count)]
    return [_with_first_rows(op_, x, y, batch_ndims, count)]


def _combined(
    op_: IncSubtensor, x: TensorVariable, y: TensorVariable, extras: Sequence[int]
) -> TensorVariable:
    """The new elements if ``y`` is written to ``x``: ``y``, or the sum of both."""
    if op_.set_instead_of_inc:
        return y.astype(x.dtype)
    extra = max(extras[:2])
    return add(align(x, extras[0], extra), align(y, extras[1], extra)).astype(x.dtype)


def _as_row(
    op_: IncSubtensor,
    x: TensorVariable,
    y: TensorVariable,
    extras: Sequence[int],
    key_inputs: Sequence[TensorVariable],
) -> TensorVariable:
    """A row of zeros to which ``y`` is added at the rest of the key, behind the position of the row.

    ``key_inputs`` are the inputs of this rest. Elements that are set, instead of added to, are refused: the others of the row
    would be needed.
    """
    if op_.set_instead_of_inc or any(v.type.ndim for v in key_inputs):
        raise refuse(op_)
    extra, n = extras[0], extras[1]
    lengths = (*shape_tuple(y)[:n], *shape_tuple(x)[extra + 1 :])
    row = zeros(lengths, dtype=x.dtype)
    key = (*[slice(None)] * n, *op_.key[1:])
    written: TensorVariable = IncSubtensor(key, False)(row, y.astype(x.dtype), *key_inputs)
    return written


def _with_row(
    op_: IncSubtensor,
    x: TensorVariable,
    y: TensorVariable,
    extras: Sequence[int],
    row: TensorVariable,
) -> TensorVariable:
    extra, n = extras[0], extras[1]
    core = y.type.ndim - n
    missing = x.type.ndim - extra - core
    y = y.dimshuffle([*["x"] * (extra - n), *range(n), *["x"] * missing, *range(n, n + core)])
    there = eq(_places(x, extra), _beside(row, x, extra))
    return switch(there, _combined(op_, x, y, (extra, extra)), x).astype(x.dtype)


def _with_first_rows(
    op_: IncSubtensor,
    x: TensorVariable,
    y: TensorVariable,
    extras: Sequence[int],
    count: TensorVariable,
) -> TensorVariable:
    """A tensor ``x``, which is not ragged, with the valid rows of ``y`` written to its first rows."""
    extra = max(extras[:2])
    y = align(y, extras[1], extra)
    whole = align(x, extras[0], extra)
    if extra > extras[0]:
        whole = broadcast_to(whole, (*shape_tuple(y)[:extra], *shape_tuple(whole)[extra:]))
    head = _first_rows(whole, extra, count)
    combined = _combined(op_, head, y, (extra, extra))
    written = switch(lt(_places(head, extra), _beside(count, head, extra)), combined, head)
    key = (*[slice(None)] * extra, slice(None, SCALAR), *op_.key[1:])
    return IncSubtensor(key, True)(whole, written.astype(whole.dtype), rows_of(count))


add_batching(rule_of, check_result)
