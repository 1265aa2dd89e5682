"""The equals of reductions, cumulative sums and the softmax family."""

from __future__ import annotations

from typing import Any

from pytensor.tensor.math import Argmax, Max, Min

from occelo_graph.ops.reduce import Argmax as OurArgmax
from occelo_graph.ops.reduce import CAReduce, CumOp, LogSoftmax, LogSumExp, Softmax
from occelo_pytensor.equals.registry import register_equal
from occelo_pytensor.library import tensor as pt

_REDUCTIONS = {
    "add": "sum", "mul": "prod", "maximum": "max", "minimum": "min", "and": "all", "or": "any",
    "supremum": "max", "infimum": "min",
}  # fmt: skip


@register_equal(CAReduce)
def _reduce(op: Any, x: Any) -> Any:
    name = _REDUCTIONS.get(op.scalar_op.name)
    if name is None:
        return NotImplemented
    if op.scalar_op.name in ("supremum", "infimum"):  # of no elements it is infinite
        return (Max if name == "max" else Min)(axis=tuple(op.axis), initial=True)(x)
    if name == "min" and x.type.dtype.startswith("complex"):
        # PyTensor's function refuses complex numbers, its op does not
        return Min(axis=tuple(op.axis))(x)
    options = {} if name in ("max", "min", "all", "any") else {"dtype": op.dtype}
    return getattr(pt, name)(x, axis=list(op.axis), **options)


@register_equal(OurArgmax)
def _argmax(op: Any, x: Any) -> Any:
    axes = tuple(op.axis)
    return Argmax(None if len(axes) == x.ndim else axes)(x)


@register_equal(CumOp)
def _cumulative(op: Any, x: Any) -> Any:
    functions = {"add": pt.cumsum, "mul": pt.cumprod}
    return functions[op.mode](x, axis=op.axis) if op.mode in functions else NotImplemented


@register_equal(Softmax)
def _softmax(op: Any, x: Any) -> Any:
    return pt.special.softmax(x, axis=list(op.axis))


@register_equal(LogSoftmax)
def _log_softmax(op: Any, x: Any) -> Any:
    return pt.special.log_softmax(x, axis=list(op.axis))


@register_equal(LogSumExp)
def _log_sum_exp(op: Any, x: Any) -> Any:
    return pt.logsumexp(x, axis=list(op.axis))
