"""Special functions that are formulas of simpler ones: entropies, Box and Cox' transformations, losses, `ndtr`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from occelo_graph.ops.create import zeros_like
from occelo_graph.ops.elemwise.arithmetic import abs as abs_
from occelo_graph.ops.elemwise.arithmetic import eq, ge, le, lt, sqr, sqrt, switch
from occelo_graph.ops.elemwise.error_functions import erfc
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.scalar import special_float
from occelo_graph.ops.elemwise.transcendental import exp, expm1, log, log1p, sin, softplus
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_special.ops.defining import special
from occelo_special.ops.special_functions import xlogy

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "boxcox",
    "boxcox1p",
    "cosm1",
    "entr",
    "exprel",
    "huber",
    "inv_boxcox",
    "inv_boxcox1p",
    "kl_div",
    "log_expit",
    "ndtr",
    "ndtri",
    "pseudo_huber",
    "rel_entr",
]


def _floats(*values: Any) -> list[Any]:
    """Variables as floats, converted to their common dtype."""
    variables = [as_tensor_variable(v) for v in values]
    dtype = special_float([v.dtype for v in variables])
    return [v if v.dtype == dtype else v.astype(dtype) for v in variables]


ndtri: Elemwise = special(
    "ndtri",
    [lambda ct, p, out: ct * math.sqrt(2 * math.pi) * exp(sqr(out) / 2)],
    "The x for which the normal distribution function is p.",
)


def ndtr(x: Any) -> TensorVariable:
    """The normal distribution function: the probability of a standard normal number below ``x``."""
    (x,) = _floats(x)
    return 0.5 * erfc(x * -math.sqrt(0.5))


def log_expit(x: Any) -> TensorVariable:
    """The logarithm of the logistic sigmoid, precise in both tails."""
    (x,) = _floats(x)
    return -softplus(-x)


def entr(x: Any) -> TensorVariable:
    """``-x * log(x)``, 0 at 0, and minus infinity for negative ``x``."""
    (x,) = _floats(x)
    return switch(lt(x, 0), -math.inf, -xlogy(x, switch(lt(x, 0), 1.0, x)))


def rel_entr(x: Any, y: Any) -> TensorVariable:
    """``x * log(x / y)``: 0 for x = 0 and y >= 0, and infinity for other x or y that are not positive."""
    x, y = _floats(x, y)
    inside = (x > 0) & (y > 0)
    quotient = switch(inside, x, 1.0) / switch(inside, y, 1.0)
    value = switch(inside, x, 1.0) * log(quotient)
    outside = switch(eq(x, 0) & ge(y, 0), zeros_like(y), math.inf)
    return switch(inside, value, _nan_of(x, y, outside))


def _nan_of(x: Any, y: Any, value: Any) -> Any:
    return switch(eq(x, x) & eq(y, y), value, math.nan)


def kl_div(x: Any, y: Any) -> TensorVariable:
    """``x * log(x / y) - x + y``: y for x = 0 and y >= 0, and infinity for other x or y that are not positive."""
    x, y = _floats(x, y)
    inside = (x > 0) & (y > 0)
    a, b = switch(inside, x, 1.0), switch(inside, y, 1.0)
    value = a * log(a / b) - a + b
    outside = switch(eq(x, 0) & ge(y, 0), y, math.inf)
    return switch(inside, value, _nan_of(x, y, outside))


def boxcox(x: Any, lmbda: Any) -> TensorVariable:
    """``(x**lmbda - 1) / lmbda``, and ``log(x)`` where ``lmbda`` is 0."""
    x, lmbda = _floats(x, lmbda)
    return _power_over(log(x), lmbda)


def boxcox1p(x: Any, lmbda: Any) -> TensorVariable:
    """``((1 + x)**lmbda - 1) / lmbda``, and ``log1p(x)`` where ``lmbda`` is 0."""
    x, lmbda = _floats(x, lmbda)
    return _power_over(log1p(x), lmbda)


def _power_over(logarithm: Any, lmbda: Any) -> Any:
    """expm1(lmbda * logarithm) / lmbda, which is the logarithm for tiny lmbda."""
    tiny = lt(abs_(lmbda), 1e-19)
    divisor = switch(tiny, 1.0, lmbda)
    return switch(tiny, logarithm, expm1(divisor * logarithm) / divisor)


def inv_boxcox(y: Any, lmbda: Any) -> TensorVariable:
    """The inverse of `boxcox`."""
    y, lmbda = _floats(y, lmbda)
    return exp(_log_over(y, lmbda))


def inv_boxcox1p(y: Any, lmbda: Any) -> TensorVariable:
    """The inverse of `boxcox1p`."""
    y, lmbda = _floats(y, lmbda)
    return expm1(_log_over(y, lmbda))


def _log_over(y: Any, lmbda: Any) -> Any:
    tiny = lt(abs_(lmbda), 1e-19)
    divisor = switch(tiny, 1.0, lmbda)
    return switch(tiny, y, log1p(divisor * y) / divisor)


def huber(delta: Any, r: Any) -> TensorVariable:
    """Huber's loss: ``r**2 / 2`` for ``|r| <= delta``, else ``delta * (|r| - delta / 2)``. Infinity for negative ``delta``."""
    delta, r = _floats(delta, r)
    size = abs_(r)
    loss = switch(le(size, delta), 0.5 * sqr(r), delta * (size - 0.5 * delta))
    return switch(lt(delta, 0), math.inf, loss)


def pseudo_huber(delta: Any, r: Any) -> TensorVariable:
    """``delta**2 * (sqrt(1 + (r / delta)**2) - 1)``, without cancellation. Infinity for negative ``delta``."""
    delta, r = _floats(delta, r)
    zero = eq(delta, 0) | eq(r, 0)
    u, v = switch(zero, 1.0, delta), switch(zero, 1.0, r)
    ratio = abs_(v / u)
    root = switch(lt(1e8, ratio), ratio, sqrt(1 + sqr(ratio)))
    loss = switch(zero, 0.0, v * (v / (1 + root)))
    return switch(lt(delta, 0), math.inf, loss)


def _exprel_slope(x: TensorVariable, out: TensorVariable) -> TensorVariable:
    """(exp(x) - exprel(x)) / x, and its series near 0, where the difference cancels."""
    near = lt(abs_(x), 0.5)
    z = switch(near, x, 0.0)
    series = 1.0 / 18 + 0.0 * z
    for k in range(15, -1, -1):
        series = 1.0 / (k + 2) + z / (k + 1) * series
    far = switch(near, 1.0, x)
    return switch(near, series, (exp(far) - out) / far)


exprel: Elemwise = special(
    "exprel",
    [lambda ct, x, out: ct * _exprel_slope(x, out)],
    "expm1(x) / x, which is 1 at 0.",
    monotone="increasing",
)


def cosm1(x: Any) -> TensorVariable:
    """``cos(x) - 1``, precise near 0."""
    (x,) = _floats(x)
    return -2.0 * sqr(sin(0.5 * x))
