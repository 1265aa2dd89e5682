"""Conversions of ops on tensors whose dimensions have names (`pytensor.xtensor`, `pymc.dims`).

A named tensor is a tensor here. PyTensor's own rewriting replaces each op by ops on tensors, which are converted.
"""

from __future__ import annotations

from typing import Any

from pytensor.compile.mode import optdb
from pytensor.graph.basic import Constant
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.type_other import make_slice
from pytensor.xtensor.basic import (
    Rename,
    TensorFromXTensor,
    XOp,
    XTensorFromTensor,
    XTypeCastOp,
)
from pytensor.xtensor.random.type import RNGToXRNG, XRNGToRNG

from occelo_pytensor.conversion import Unconvertible, convert_inner
from occelo_pytensor.registry import register_conversion


@register_conversion(TensorFromXTensor, XTensorFromTensor, Rename, RNGToXRNG, XRNGToRNG)
def _same(node: Any, x: Any) -> Any:
    return x


@register_conversion(XOp)
def _lowered(node: Any, *inputs: Any) -> Any:
    values: dict[Any, Any] = {}
    arguments = [_argument(v, x, values) for v, x in zip(node.inputs, inputs, strict=True)]
    copied = node.clone_with_new_inputs(arguments)
    graph = FunctionGraph(list(values), list(copied.outputs), clone=False)
    lowering: Any = optdb.query("+lower_xtensor")
    lowering.rewrite(graph)
    left = [n.op for n in graph.apply_nodes if isinstance(n.op, XOp)]
    if any(not isinstance(each, XTypeCastOp | Rename) for each in left):
        raise Unconvertible(str(node.op))
    return convert_inner(graph.inputs, graph.outputs, list(values.values()))


def _argument(variable: Any, value: Any, values: dict[Any, Any]) -> Any:
    """A variable in the place of an input, whose value is added to ``values``. Constants stay, slices are made of such."""
    if isinstance(variable, Constant):
        return variable
    if isinstance(value, slice):
        parts = zip(variable.owner.inputs, (value.start, value.stop, value.step), strict=True)
        return make_slice(*(_argument(v, x, values) for v, x in parts))
    fresh = variable.type()
    values[fresh] = value
    return fresh
