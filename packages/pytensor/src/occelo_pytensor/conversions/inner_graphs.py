"""Conversions of ops that are graphs of other ops: their graphs take their places.

So are symbolic ops such as padding and Kronecker products, gradients of special functions and fused elementwise loops.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

from pytensor.compile.builders import OpFromGraph
from pytensor.gradient import DisconnectedType
from pytensor.graph.null_type import NullType
from pytensor.tensor.basic import ARange
from pytensor.tensor.blockwise import Blockwise, OpWithCoreShape
from pytensor.tensor.linalg.constructors import BaseBlockDiagonal
from pytensor.tensor.math import Dot
from pytensor.tensor.signal.conv import Convolve1d, Convolve2d

import occelo as oc
import occelo.tensor as ot
from occelo_graph import computed_by
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_pytensor.calls import call_of
from occelo_pytensor.conversion import Unconvertible, convert, convert_inner, settings
from occelo_pytensor.conversions.linear_algebra import BATCHED
from occelo_pytensor.registry import conversion_of, register_conversion
from occelo_pytensor.variables import our_type

ALSO_BATCHED = (BaseBlockDiagonal, Convolve1d, Convolve2d)
"""Further ops whose functions here have batch dimensions."""


@register_conversion(OpFromGraph, OpWithCoreShape)
def _inline(node: Any, *inputs: Any) -> Any:
    op, graph = node.op, node.op.fgraph
    if settings().derivatives and _has_a_users_derivative(op):
        return _with_derivative(op, inputs)
    return convert_inner(graph.inputs, graph.outputs, inputs)


def _has_a_users_derivative(op: Any) -> bool:
    """Whether a user gave the graph a pullback. Those of PyTensor's own ops are formulas for the same derivative."""
    if getattr(op, "pullback_overrides", None) is None:
        return False
    return type(op) is OpFromGraph or not type(op).__module__.startswith("pytensor.")


def _with_derivative(op: Any, inputs: tuple[Any, ...]) -> list[Any]:
    """An `OpFromGraph` of Occelo, whose pullback is PyTensor's, converted."""
    graph = op.fgraph
    arguments = [our_type(v.type).make_variable() for v in graph.inputs]
    outputs = convert_inner(graph.inputs, graph.outputs, arguments)
    theirs = [[v.type() for v in vs] for vs in (graph.inputs, graph.outputs, graph.outputs)]
    pulled = op.pullback(*theirs)
    ours = [[our_type(v.type).make_variable() for v in vs] for vs in theirs]
    memo = dict(zip(chain(*theirs), chain(*ours), strict=True))
    rules = [_rule(v, x, memo, ours) for v, x in zip(pulled, ours[0], strict=True)]
    converted_op = oc.OpFromGraph(arguments, outputs, pullback=rules, name=op.name)
    return list(converted_op(*inputs, return_list=True))


def _rule(pulled: Any, argument: Any, memo: dict[Any, Any], ours: list[list[Any]]) -> Any:
    """The rule for one input: a graph of all inputs, outputs and cotangents."""
    if isinstance(pulled.type, NullType):
        raise Unconvertible("a graph with an undefined derivative")
    if isinstance(pulled.type, DisconnectedType):
        cotangent = ot.zeros_like(argument)
    else:
        (cotangent,) = convert([pulled], dict(memo))
    return oc.OpFromGraph(list(chain(*ours)), [cotangent])


@register_conversion(Blockwise)
def _blockwise(node: Any, *inputs: Any) -> Any:
    """An op under batch dimensions: the functions here that have such dimensions themselves, else the core node, vectorized."""
    core, batch = node.op.core_op, node.op.batch_ndim(node)
    convert = conversion_of(core)
    if convert is not None and len(inputs) == 1 and isinstance(core, BATCHED):
        matrix, count = _unpadded(inputs[0], batch)
        results = convert(_CoreNode(core, node), matrix)
        several = results if isinstance(results, list) else [results]
        return [ot.shape_padleft(v, count) if count else v for v in several]
    if convert is not None and (batch == 0 or isinstance(core, (*BATCHED, *ALSO_BATCHED))):
        return convert(_CoreNode(core, node), *inputs)
    special = _SPECIAL.get(type(core))
    if special is not None and batch:
        return special(core, *inputs)
    return _vectorized(node, inputs)


def _unpadded(x: Any, batch: int) -> tuple[Any, int]:
    """A batch without the dimensions of length 1 that were put in front of it, and their number. So rules see the matrix."""
    padded = computed_by(x, DimShuffle)
    if padded is None:
        return x, 0
    order = padded.op.new_order
    inner = padded.inputs[0]
    count = len(order) - inner.type.ndim
    if not 0 < count <= batch or tuple(order) != ("x",) * count + tuple(range(inner.type.ndim)):
        return x, 0
    return inner, count


class _CoreNode:
    """Stands for a node of the core op of a Blockwise, with the inputs and outputs of the whole node."""

    def __init__(self, op: Any, node: Any) -> None:
        self.op = op
        self.inputs = node.inputs
        self.outputs = node.outputs


def _vectorized(node: Any, inputs: tuple[Any, ...]) -> Any:
    core, dummies = node.op._create_dummy_core_node(node.inputs, return_dummy_inputs=True)
    if conversion_of(core.op) is None:
        name = str(core.op)
        settings().called[name] = settings().called.get(name, 0) + 1
        return call_of(node, list(inputs))
    if any(not hasattr(x, "type") for x in inputs):
        raise Unconvertible(str(node.op))
    ours = [our_type(v.type).make_variable() for v in dummies]
    outputs = convert_inner(dummies, core.outputs, ours)
    return list(ot.vectorize_graph(outputs, dict(zip(ours, inputs, strict=True))))


def _ranges(core: Any, start: Any, stop: Any, step: Any) -> Any:
    """Ranges of one length, which their user promises: the length of the first."""
    start, stop, step = (ot.cast(v, core.dtype) for v in (start, stop, step))
    first = [v[(0,) * v.ndim] for v in (start, stop, step)]
    count = ot.arange(*first).shape[0]
    shape = ot.broadcast_arrays(start, stop, step)
    return shape[0][..., None] + shape[2][..., None] * ot.arange(count, dtype=core.dtype)


_SPECIAL = {
    ARange: _ranges,
    Dot: lambda core, a, b: ot.matmul(a, b),
}
