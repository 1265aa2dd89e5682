"""Ragged variables: batches whose elements have different numbers of valid rows.

They occur while a graph with loops is vectorized. The traces of a batched loop are ragged if the elements of the batch
end at different steps. All elements are stored with as many rows as the longest one needs. Rows after the valid rows of
an element have arbitrary values.

`looping.batches` marks such traces as ragged (`mark`). `vectorize` then calls `rule_of` to get the batching rule of
each node that reads a ragged variable. Only loops, elementwise functions, reductions and a few other ops have such a
rule. All other ops are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ops.batching import align
from occelo_graph.ops.create import Alloc, arange, broadcast_to
from occelo_graph.ops.elemwise.arithmetic import lt, switch
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.reduce import CAReduce
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.ops.shape.reading import Shape_i, shape_tuple
from occelo_graph.tensors.nodes import tensors

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["count_of", "is_ragged", "mark", "refuse", "rule_of"]

_COUNTS: WeakKeyDictionary[Variable, TensorVariable | None] = WeakKeyDictionary()
"""Maps a ragged variable to the numbers of valid rows, as in `mark`."""


_ROWS: WeakKeyDictionary[Variable, TensorVariable] = WeakKeyDictionary()
"""Maps a variable with numbers of valid rows to the number of rows that are stored for each element of the batch."""


def mark(variable: Variable, count: TensorVariable | None) -> Variable:
    """Mark a variable as ragged, and return it. ``count`` has the number of valid rows of each element of the batch.

    The dimensions of ``count`` are the batch dimensions. The valid rows must be the first ones of an element. If they
    are not, ``count`` is None, and no op can read the variable.
    """
    _COUNTS[variable] = count
    if count is not None and count not in _ROWS:
        (x,) = tensors([variable])
        _ROWS[count] = shape_tuple(x)[count.type.ndim]
    return variable


def is_ragged(variable: Variable) -> bool:
    """Whether a variable was marked as ragged."""
    return variable in _COUNTS


def count_of(variable: Variable) -> TensorVariable | None:
    """The ``count`` with which a variable was marked as ragged; None for all other variables."""
    return _COUNTS.get(variable)


def refuse(what: object) -> NotImplementedError:
    """The error that a ragged variable cannot be read by ``what``: an op, or a result of the graph."""
    return NotImplementedError(
        f"{what} would need what a loop keeps of all steps for each element of a batch, but the elements end at different "
        "steps. Loops over the same steps, functions of elements, sums and the like read that; for anything else "
        "use only the state after the last step, or let all elements take the same steps"
    )


Rule = Callable[[Sequence[Any], Sequence[int]], Sequence[Variable]]


def rule_of(node: Apply, inputs: Sequence[Variable]) -> Rule | None:
    """The batching rule for a node that reads or computes a ragged variable.

    None for all other nodes, and for ops that read ragged variables by their own `Op.batch` (`Op.takes_ragged`).
    ``inputs`` are the vectorized inputs of the node.
    """
    if node.op.takes_ragged:
        return None
    if any(map(is_ragged, inputs)):
        return partial(_of_ragged, node)
    op_ = node.op
    if isinstance(op_, Alloc) and op_.shape and op_.shape[0] is None and inputs[1] in _ROWS:
        return partial(_alloc, node)
    return None


def _alloc(node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]) -> Sequence[Variable]:
    """`Op.batch` for an `Alloc` with as many rows as a ragged variable; its result is ragged, too."""
    (value, count), (core,) = tensors(inputs[:2]), tensors(node.inputs[:1])
    if core.type.ndim == node.outputs[0].type.ndim and core.type.shape[0] != 1:
        raise refuse(node.op)
    extra = max(batch_ndims[0], count.type.ndim)
    full = align(value, batch_ndims[0], extra)
    batch = shape_tuple(align(count, count.type.ndim, extra))
    full = (
        broadcast_to(full, (*batch, *shape_tuple(full)[extra:])) if extra > batch_ndims[0] else full
    )
    given = [full, _ROWS[count], *inputs[2:]]
    made = node.op.batch(node, given, [extra, 0, *batch_ndims[2:]])
    return [mark(v, count) for v in made]


def _of_ragged(
    node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
) -> Sequence[Variable]:
    """`Op.batch` for a node with ragged inputs."""
    ragged = [v for v in inputs if is_ragged(v)]
    count = count_of(ragged[0])
    if count is None or any(count_of(v) is not count for v in ragged):
        raise refuse(node.op)
    if isinstance(node.op, Elemwise):
        return _elementwise(node, inputs, batch_ndims, count)
    if isinstance(node.op, CAReduce):
        return _reduced(node, inputs, batch_ndims, count)
    if isinstance(node.op, Alloc) and is_ragged(inputs[0]) and inputs[1] is count:
        if node.inputs[0].type.ndim != node.outputs[0].type.ndim:
            raise refuse(node.op)
        given = [inputs[0], _ROWS[count], *inputs[2:]]
        return [
            mark(v, count)
            for v in node.op.batch(node, given, [batch_ndims[0], 0, *batch_ndims[2:]])
        ]
    if isinstance(node.op, DimShuffle) and node.op.new_order[:1] == (0,):
        return [mark(v, count) for v in node.op.batch(node, inputs, batch_ndims)]
    if isinstance(node.op, Shape_i):
        return [count] if node.op.i == 0 else list(node.op.batch(node, inputs, batch_ndims))
    raise refuse(node.op)


def _elementwise(
    node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int], count: TensorVariable
) -> Sequence[Variable]:
    ndim = node.outputs[0].type.ndim
    for old, new in zip(tensors(node.inputs), inputs, strict=True):
        along = old.type.ndim == ndim
        if is_ragged(new) != along and not (along and old.type.shape[0] == 1):
            raise refuse(node.op)
    return [mark(v, count) for v in node.op.batch(node, inputs, batch_ndims)]


def _reduced(
    node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int], count: TensorVariable
) -> Sequence[Variable]:
    op_, (x,), extra = node.op, tensors(inputs), batch_ndims[0]
    assert isinstance(op_, CAReduce)
    if 0 not in op_.axis:
        return [mark(v, count) for v in op_.batch(node, inputs, batch_ndims)]
    if not op_.reduction.may_be_empty:
        raise refuse(op_)
    rest = ["x"] * (x.type.ndim - extra - 1)
    places = arange(shape_tuple(x)[extra]).dimshuffle([*["x"] * extra, 0, *rest])
    counts = align(count, count.type.ndim, extra)
    counts = counts.dimshuffle([*range(extra), "x", *rest])
    whole = switch(lt(places, counts), x, op_.reduction.start(x.dtype)).astype(x.dtype)
    return list(op_.batch(node, [whole], batch_ndims))
