"""Box and Cox' power transformations, their inverses, and the relative exponential `exprel`, of which they consist.

Where the power is 0, they are a logarithm or an exponential. Derivatives by the power are those of `exprel` and of a series
there, so that they keep their digits for small powers.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from occelo_graph.ops.elemwise.arithmetic import abs as abs_
from occelo_graph.ops.elemwise.arithmetic import eq, gt, isinf, lt, sign, sqr, switch
from occelo_graph.ops.elemwise.op import Elemwise, elementwise
from occelo_graph.ops.elemwise.scalar import special_float
from occelo_graph.ops.elemwise.transcendental import exp, expm1, log, log1p, pow
from occelo_special.ops.defining import converted, special
from occelo_special.ops.special_functions import xlogy

if TYPE_CHECKING:
    from occelo_graph.ops.elemwise.signatures import DerivativeOfTensors
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["boxcox", "boxcox1p", "exprel", "inv_boxcox", "inv_boxcox1p"]

_TINY = 1e-19
"""Powers below it do not matter beside 1."""


def _exprel_slope(x: TensorVariable, out: TensorVariable) -> TensorVariable:
    """(exp(x) - exprel(x)) / x, and its series near 0, where the difference cancels."""
    near = lt(abs_(x), 0.5)
    z = switch(near, x, 0.0)
    series = 1.0 / 18 + 0.0 * z
    for k in range(15, -1, -1):
        series = 1.0 / (k + 2) + z / (k + 1) * series
    above = gt(x, 1.0)
    far = switch(near, 1.0, x)
    # exp(x) is 1 + x exprel(x), which is also finite where exp(x) overflows
    difference = (exp(switch(above, 1.0, far)) - out) / far
    return switch(near, series, switch(above, out * (1 - 1 / far) + 1 / far, difference))


exprel: Elemwise = special(
    "exprel",
    [lambda ct, x, out: ct * _exprel_slope(x, out)],
    "expm1(x) / x, which is 1 at 0.",
    monotone="increasing",
)


def _product(power: TensorVariable, x: TensorVariable) -> TensorVariable:
    """The product, which is 0 where x is 0 and the power infinite."""
    return switch(eq(x, 0) & isinf(power), 0.0, power * x)


def _power_over(
    base: TensorVariable, logarithm: TensorVariable, power: TensorVariable
) -> TensorVariable:
    """(base**power - 1) / power, which is the logarithm of the base for tiny powers, with limits at infinity."""
    tiny = lt(abs_(power), _TINY)
    divisor = switch(tiny, 1.0, power)
    z = _product(divisor, logarithm)
    large = gt(abs_(z), 1.0)
    # of -0 as of 0, whose logarithm is the same
    by_power = pow(switch(large, abs_(base), 1.0), divisor) - 1
    rise = switch(large, by_power, expm1(switch(large, 0.0, z)))
    value = switch(isinf(rise), rise * sign(power), rise / divisor)
    return switch(tiny, logarithm, value)


def _slope_by_power(logarithm: TensorVariable, power: TensorVariable) -> TensorVariable:
    """The derivative of `_power_over` by the power, with limits where both are 0 or infinite."""
    finite = switch(isinf(logarithm), 1.0, logarithm)
    z = _product(power, finite)
    inside = sqr(finite) * _exprel_slope(z, exprel(z))
    grows = gt(power * logarithm, 0) | eq(power, 0)
    return switch(
        isinf(logarithm), switch(grows, math.inf, 1 / sqr(switch(grows, 1.0, power))), inside
    )


def _same(x: TensorVariable) -> TensorVariable:
    return x


def _next(x: TensorVariable) -> TensorVariable:
    return 1 + x


def _box_cox(name: str, logarithm: Any, base: Any, doc: str) -> Elemwise:
    def formula(x: TensorVariable, power: TensorVariable) -> TensorVariable:
        x, power = converted(x, power)
        return _power_over(base(x), logarithm(x), power)

    return elementwise(
        name,
        2,
        special_float,
        None,
        [
            lambda ct, x, power, out: ct * pow(base(x), power - 1),
            lambda ct, x, power, out: ct * _slope_by_power(logarithm(x), power),
        ],
        doc,
        formula=formula,
    )


boxcox: Elemwise = _box_cox(
    "boxcox",
    log,
    _same,
    "(x**power - 1) / power, and log(x) where power is 0.",
)
boxcox1p: Elemwise = _box_cox(
    "boxcox1p",
    log1p,
    _next,
    "((1 + x)**power - 1) / power, and log1p(x) where power is 0.",
)


def _log_over(y: TensorVariable, power: TensorVariable) -> TensorVariable:
    """log1p(power * y) / power, which is y for tiny powers."""
    tiny = lt(abs_(power), _TINY)
    divisor = switch(tiny, 1.0, power)
    z = _product(divisor, y)
    over = eq(z, math.inf)
    apart = log(switch(over, abs_(divisor), 1.0)) + log(switch(over, abs_(y), 1.0))
    logarithm = switch(over, apart, log1p(switch(over, 0.0, z)))
    value = switch(eq(divisor, math.inf), 0.0, logarithm / divisor)
    return switch(tiny, y, value)


def _power_of(y: TensorVariable, power: TensorVariable) -> TensorVariable:
    """The derivative of exp(log1p(power * y) / power) by y: (1 + power * y) ** (1 / power - 1)."""
    base = 1 + _product(y, power)
    end = eq(base, 0) | isinf(base)
    inside = inv_boxcox(y, power) / switch(end, 1.0, base)
    at_end = pow(switch(end, base, 1.0), 1 / switch(end, power, 1.0) - 1)
    return switch(end, at_end, inside)


def _inverse_slope_by_power(y: TensorVariable, power: TensorVariable) -> TensorVariable:
    """The derivative of exp(log1p(power * y) / power) by the power."""
    z = power * y
    near = lt(abs_(z), 0.5)
    # of log1p(z) / z, which is 2 w + 2 w**3 / 3 + ... divided by z: the series in w = z / (2 + z) (DLMF 4.6.4)
    small = switch(near, z, 0.0)
    w = small / (2 + small)
    series = 1.0 / 37 + 0.0 * w
    for k in range(35, 1, -2):
        series = 1.0 / k + sqr(w) * series
    slope = -sqr(1 - w) / 2 * (1 / (1 + w) + w * series)
    by_series = inv_boxcox(y, power) * (sqr(y) * slope)
    far = switch(near, 1.0, power)
    base = 1 + switch(near, 0.0, z)
    other = (y - xlogy(base, base) / far) / far
    by_difference = switch(isinf(far), 0.0, _power_of(y, far) * other)
    return switch(near, by_series, by_difference)


def _inverse(name: str, function: Any, slopes: list[DerivativeOfTensors], doc: str) -> Elemwise:
    def formula(y: TensorVariable, power: TensorVariable) -> TensorVariable:
        y, power = converted(y, power)
        return function(_log_over(y, power))

    return elementwise(name, 2, special_float, None, slopes, doc, formula=formula)


_SLOPES: list[DerivativeOfTensors] = [
    lambda ct, y, power, out: ct * _power_of(y, power),
    lambda ct, y, power, out: ct * _inverse_slope_by_power(y, power),
]
inv_boxcox: Elemwise = _inverse("inv_boxcox", exp, _SLOPES, "The x for which boxcox(x, power) = y.")
inv_boxcox1p: Elemwise = _inverse(
    "inv_boxcox1p", expm1, _SLOPES, "The x for which boxcox1p(x, power) = y."
)
