"""Rules that move a read before the op that computes the tensor, so that only the elements to read are computed.

`pipeline` puts them into the stage specialize.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from occelo_graph import FunctionGraph, TensorApply, computed_by
from occelo_graph.ops.blas.products import Dot
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.index.subtensor import Subtensor
from occelo_graph.ops.reduce import CAReduce, LogSoftmax, Softmax
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter
from occelo_rewrite.rules.index.keys import FULL, is_full, kept_axes, parts_of, read
from occelo_rewrite.shapes import shapes_of

if TYPE_CHECKING:
    from occelo_graph.ir.nodes import OpT


def _read_alone(
    fgraph: FunctionGraph, node: TensorApply, *classes: type[OpT]
) -> TensorApply[OpT] | None:
    """The node that computes the first input of ``node``, if its op is of one of ``classes`` and the input has no other
    user.
    """
    inner = computed_by(node.inputs[0], *classes)
    if inner is None or len(fgraph.clients[node.inputs[0]]) > 1:
        return None
    return inner if len(inner.outputs) == 1 and not inner.op.destroy_map else None


@node_rewriter([Subtensor])
def read_through_elemwise(fgraph: FunctionGraph, node: TensorApply[Subtensor]) -> Replacements:
    """f(x, y)[key] = f(x[key], y[key]), if x and y provably have the shape of the result, or are scalars."""
    inner = _read_alone(fgraph, node, Elemwise)
    if inner is None:
        return None
    parts = parts_of(node)
    shapes = shapes_of(fgraph)
    for v in inner.inputs:
        if v.type.ndim and not shapes.same_shape(fgraph, v, inner.outputs[0]):
            return None
    return [inner.op(*(read(v, parts) if v.type.ndim else v for v in inner.inputs))]


@node_rewriter([Subtensor], tags=("comparison", "overflow", "finite"))
def read_through_dot(fgraph: FunctionGraph, node: TensorApply[Subtensor]) -> Replacements:
    """(x @ y)[i, j] = x[i] @ y[:, j], for integers and slices.

    (comparison, overflow, finite: a product of other shapes may add in another order, and may skip zeros.)
    """
    inner = _read_alone(fgraph, node, Dot)
    if inner is None:
        return None
    x, y = inner.inputs
    parts = parts_of(node)
    rows = parts[:1] if x.type.ndim == 2 else []
    columns = parts[len(rows) :]
    left = read(x, [*rows, FULL]) if rows else x
    right = read(y, [FULL, *columns]) if columns else y
    return [inner.op(left, right)]


@node_rewriter([Subtensor], tags=("comparison", "overflow"))
def read_through_reduce(fgraph: FunctionGraph, node: TensorApply[Subtensor]) -> Replacements:
    """sum(x, axis)[key] = sum(x[key on the other axes], axis).

    (comparison, overflow: the order of addition may change.)
    """
    inner = _read_alone(fgraph, node, CAReduce)
    if inner is None:
        return None
    op = inner.op
    x = inner.inputs[0]
    rest = iter(parts_of(node))
    parts = [FULL if i in op.axis else next(rest) for i in range(x.type.ndim)]
    axes = kept_axes(parts)
    axis = tuple(axes.index(i) for i in op.axis)
    return [CAReduce(op.scalar_op, axis, op.dtype, op.acc_dtype)(read(x, parts))]


@node_rewriter([Subtensor], tags=("comparison",))
def read_through_softmax(fgraph: FunctionGraph, node: TensorApply[Subtensor]) -> Replacements:
    """softmax(x, axis)[key] = softmax(x[key], axis), if the key selects the whole axis."""
    inner = _read_alone(fgraph, node, Softmax, LogSoftmax)
    if inner is None:
        return None
    op = inner.op
    parts = parts_of(node)
    if any(not is_full(parts[i]) for i in op.axis):
        return None
    axes = kept_axes(parts)
    axis = tuple(axes.index(i) for i in op.axis)
    return [replace(op, axis=axis)(read(inner.inputs[0], parts))]


SPECIALIZE = RuleSet(
    (read_through_elemwise, read_through_dot, read_through_reduce, read_through_softmax),
    "lifts specialize",
)
