"""Conversions of elementwise ops and of scalar ops outside of tensors.

Scalars are tensors without dimensions here, so both are the same. Fused elementwise ops and scalar loops have inner
graphs, which are converted on the tensors themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytensor.scalar as ps
from pytensor.scalar.basic import ScalarInnerGraphOp
from pytensor.scalar.loop import ScalarLoop
from pytensor.tensor.basic import ScalarFromTensor, TensorFromScalar
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.special import LogAddExp, XLog1PY, XLogY

import occelo as oc
import occelo.tensor as ot
from occelo_pytensor.conversion import Unconvertible, convert_inner
from occelo_pytensor.conversions.scalars import SCALARS
from occelo_pytensor.registry import register_conversion


@register_conversion(Elemwise)
def _elementwise(node: Any, *inputs: Any) -> Any:
    return _apply(node.op.scalar_op, [v.type.dtype for v in node.outputs], inputs)


@register_conversion(ps.ScalarOp)
def _scalar(node: Any, *inputs: Any) -> Any:
    return _apply(node.op, [v.type.dtype for v in node.outputs], inputs)


@register_conversion(ScalarFromTensor, TensorFromScalar)
def _same(node: Any, x: Any) -> Any:
    return x


def _apply(op: Any, dtypes: list[str], inputs: tuple[Any, ...]) -> Any:
    if isinstance(op, ScalarLoop):
        return _loop(op, *inputs)
    if isinstance(op, ScalarInnerGraphOp):
        return convert_inner(op.fgraph.inputs, op.fgraph.outputs, _broadcast(inputs, op))
    function = SCALARS.get(type(op).__name__)
    if function is None:
        raise Unconvertible(f"the scalar function {op}")
    return function(op, dtypes[0], *inputs)


def _broadcast(inputs: tuple[Any, ...], op: Any) -> list[Any]:
    """The inputs of a fused op. If there are several outputs, each has the shape of all inputs together."""
    return list(inputs) if op.nout == 1 else list(ot.broadcast_arrays(*inputs))


def _loop(op: Any, *inputs: Any) -> Any:
    """A loop over scalars, for each element of tensors: at most ``inputs[0]`` steps, or until its condition holds."""
    if not any(x.ndim for x in inputs):
        return _scalar_loop(op, inputs)
    whole = ot.broadcast_arrays(*inputs)
    core = [ot.scalar(dtype=x.dtype) for x in whole]
    return list(ot.vectorize_graph(_scalar_loop(op, core), dict(zip(core, whole, strict=True))))


def _scalar_loop(op: Any, inputs: Any) -> list[Any]:
    steps, *others = inputs
    steps = ot.cast(steps, "int64")
    count = len(op.outputs) - bool(op.is_while)
    start, constants = list(others[:count]), list(others[count:])
    stopped = ot.constant(False)

    def step(state: Any) -> Any:
        taken, *values, _ = state
        outputs = convert_inner(op.fgraph.inputs, op.fgraph.outputs, [*values, *constants])
        after = [ot.cast(new, old.dtype) for new, old in zip(outputs[:count], values, strict=True)]
        return (taken + np.int64(1), *after, outputs[count] if op.is_while else stopped)

    def running(state: Any) -> Any:
        return ot.and_(ot.lt(state[0], steps), ot.invert(state[-1]))

    begun = (ot.constant(np.int64(0)), *start, ot.le(steps, 0) if op.is_while else stopped)
    _, *values, done = oc.while_loop(running, step, begun)
    return [*values, done] if op.is_while else values


@register_conversion(LogAddExp)
def _log_add_exp(node: Any, *inputs: Any) -> Any:
    return ot.logaddexp(*inputs)


@register_conversion(XLogY)
def _x_log_y(node: Any, x: Any, y: Any) -> Any:
    return ot.xlogy(x, y)


@register_conversion(XLog1PY)
def _x_log1p_y(node: Any, x: Any, y: Any) -> Any:
    return ot.xlog1py(x, y)
