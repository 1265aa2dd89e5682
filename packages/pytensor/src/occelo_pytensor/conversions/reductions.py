"""Conversions of reductions, cumulative sums and the softmax family."""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.tensor.elemwise import CAReduce as TheirReduce
from pytensor.tensor.extra_ops import CumOp
from pytensor.tensor.math import Argmax
from pytensor.tensor.special import LogSoftmax, LogSumExp, Softmax

import occelo.tensor as ot
from occelo_graph.ops.elemwise.arithmetic import supremum
from occelo_graph.ops.reduce import CAReduce
from occelo_pytensor.conversion import Unconvertible
from occelo_pytensor.registry import register_conversion

_REDUCTIONS = {
    "Add": "sum",
    "Mul": "prod",
    "MulWithoutZeros": "prod",
    "Maximum": "max",
    "Minimum": "min",
    "AND": "all",
    "OR": "any",
}


@register_conversion(TheirReduce)
def _reduce(node: Any, x: Any) -> Any:
    op, dtype = node.op, node.outputs[0].type.dtype
    combined = type(op.scalar_op).__name__
    if combined not in _REDUCTIONS:
        raise Unconvertible(str(op))
    axes = list(range(x.ndim)) if op.axis is None or x.ndim == 0 else list(op.axis)
    if not axes:
        return ot.cast(x, dtype)
    if combined == "MulWithoutZeros":
        x = ot.switch(ot.eq(x, 0), ot.constant(np.ones((), x.dtype)), x)
    function = getattr(ot, _REDUCTIONS[combined])
    if combined in ("Add", "Mul", "MulWithoutZeros"):
        return function(x, axis=axes, dtype=dtype, acc_dtype=getattr(op, "acc_dtype", None))
    if combined in ("AND", "OR") and dtype != "bool":
        raise Unconvertible(str(op))  # bits of integers
    if getattr(op, "initial", False):  # of no elements it is infinite, and no error
        turned = (lambda v: v) if combined == "Maximum" else ot.neg if _is_float(x) else ot.invert
        bound: Any = supremum.scalar_op
        return turned(CAReduce(bound, tuple(axes))(turned(x)))
    return function(x, axis=axes)


def _is_float(x: Any) -> bool:
    return x.dtype.startswith("float")


@register_conversion(Argmax)
def _argmax(node: Any, x: Any) -> Any:
    axes = node.op.axis
    if axes is None or len(axes) == x.ndim:
        return ot.argmax(x)
    if len(axes) == 1:
        return ot.argmax(x, axis=axes[0])
    others = [a for a in range(x.ndim) if a not in axes]
    moved = ot.transpose(x, [*others, *axes])
    return ot.argmax(moved.flatten(len(others) + 1), axis=-1)


@register_conversion(CumOp)
def _cumulative(node: Any, x: Any) -> Any:
    return (ot.cumsum if node.op.mode == "add" else ot.cumprod)(x, axis=node.op.axis)


@register_conversion(Softmax)
def _softmax(node: Any, x: Any) -> Any:
    axes = _axes(node.op, x)
    if len(axes) == 1:
        return ot.softmax(x, axis=axes[0])
    shifted = ot.exp(x - ot.max(x, axis=axes, keepdims=True))
    return shifted / ot.sum(shifted, axis=axes, keepdims=True)


@register_conversion(LogSoftmax)
def _log_softmax(node: Any, x: Any) -> Any:
    axes = _axes(node.op, x)
    if len(axes) == 1:
        return ot.log_softmax(x, axis=axes[0])
    return x - ot.logsumexp(x, axis=axes, keepdims=True)


@register_conversion(LogSumExp)
def _log_sum_exp(node: Any, x: Any) -> Any:
    return ot.logsumexp(x, axis=_axes(node.op, x))


def _axes(op: Any, x: Any) -> list[int]:
    """The axes of an op of the softmax family. None means all."""
    return list(range(x.ndim)) if op.axis is None else list(op.axis)
