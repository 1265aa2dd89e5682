"""Hyperbolic functions (sinh, cosh, tanh), and the functions sigmoid and softplus.

`elemwise.transcendental` and `elemwise.complex_functions` call these functions to lower scalar ops.
"""

from __future__ import annotations

from occelo_link.loops.elementary.building_blocks import (
    constant,
    fast_two_sum,
    horner,
    is_below,
    power_of_two,
    scale,
)
from occelo_link.loops.elementary.exponential import (
    exp_of_negative,
    exp_pair,
    exp_parts,
    expm1_pair,
    expm1_parts,
)
from occelo_link.loops.elementary.logarithm import log1p_of_unit
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value

_T = (
    0.00012039187338861896,
    -0.000836785756200234,
    0.003071458719558139,
    -0.00858901911577903,
    0.021781847656185967,
    -0.053952360612823255,
    0.13333191254511548,
    -0.3333332890862375,
)  # (tanh(x) - x) / x**3 in x**2, up to 1, for float32

_SINH32 = (
    2.806790234899381e-06,
    0.00019838038133457303,
    0.008333340287208557,
    0.1666666716337204,
)  # (sinh(x) - x) / x**3 in x**2, up to 1


def _limited(b: Builder, x: Value, high: float) -> Value:
    """The minimum of ``|x|`` and ``high``; NaN stays NaN."""
    size, most = b.op("abs", x), constant(b, high, x.dtype)
    return b.select(b.op("lt", most, size), most, size)


def tanh(b: Builder, x: Value) -> Value:
    """Hyperbolic tangent within 1 ulp.

    ``tanh |x| = e / (e + 2)`` with ``e = exp(2|x|) - 1``. Numerator and denominator are pairs (`building_blocks`).
    """
    if x.dtype == "float32":
        return _tanh_of_float32(b, x)
    one, two, size = constant(b, 1.0), constant(b, 2.0), _limited(b, x, 20.0)
    high, low, k = expm1_parts(b, b.op("add", size, size))
    factor = power_of_two(b, k)
    high = b.op("mul", factor, high)
    above, rest = fast_two_sum(b, b.op("sub", factor, one), high)
    rest = b.op("fma", factor, low, rest)
    # the errors of numerators above 2**53 do not matter, if the denominators have them, too
    more = b.op("lt", two, above)
    below, lost = fast_two_sum(b, b.select(more, above, two), b.select(more, two, above))
    lost = b.op("add", lost, rest)
    inverse = b.op("div", one, below)
    quotient = b.op("mul", above, inverse)
    minus = b.op("neg", quotient)
    rest = b.op("add", b.op("fma", minus, below, above), b.op("fma", minus, lost, rest))
    return b.op("copysign", b.op("fma", rest, inverse, quotient), x)


def _tanh_of_float32(b: Builder, x: Value) -> Value:
    one, two = constant(b, 1.0, x.dtype), constant(b, 2.0, x.dtype)
    size = b.op("abs", x)
    square = b.op("mul", size, size)
    near = b.op("fma", b.op("mul", size, square), horner(b, _T, square), size)
    # from 10 on the result is 1
    p, k = exp_parts(b, _limited(b, b.op("add", size, size), 20.0))
    above = b.op("add", scale(b, p, k, "normal"), one)
    far = b.op("sub", one, b.op("div", two, above))
    return b.op("copysign", b.select(b.op("lt", size, one), near, far), x)


def sinh(b: Builder, x: Value) -> Value:
    """Hyperbolic sine within 2 ulp, and within 1 ulp in float32."""
    if x.dtype == "float32":
        z, size = b.op("mul", x, x), b.op("abs", x)
        near = b.op("fma", b.op("mul", z, size), horner(b, _SINH32, z), size)
        small = b.op("lt", size, constant(b, 1.0, x.dtype))
        return b.op("copysign", b.select(small, near, _half_of_exps(b, size, "sub")), x)
    size, one = _limited(b, x, 711.0), constant(b, 1.0)
    small = b.op("lt", size, constant(b, 40.0))
    t, low = expm1_pair(b, b.select(small, size, one))
    # t is half of exp(|x|) - 1, so sinh |x| = t + t / (2 t + 1)
    below = b.op("fma", t, constant(b, 2.0), one)
    near = b.op("add", t, b.op("add", b.op("div", t, below), low))
    value = b.select(small, near, _half_exp(b, size))
    value = b.op("copysign", value, x)
    return b.select(is_below(b, x, 2.0**-28), x, value)


def cosh(b: Builder, x: Value) -> Value:
    """Hyperbolic cosine within 2 ulp, and within 1 ulp in float32."""
    if x.dtype == "float32":
        return _half_of_exps(b, x, "add")
    half = _half_exp(b, _limited(b, x, 711.0))
    return b.op("add", half, b.op("div", constant(b, 0.25), half))


def _half_of_exps(b: Builder, x: Value, combine: str) -> Value:
    """Half of the sum (``add``) or the difference (``sub``) of ``exp(|x|)`` and ``exp(-|x|)``, for float32."""
    p, rest, k = exp_pair(b, _limited(b, x, 90.0))
    p, rest = fast_two_sum(b, p, rest)
    k = b.op("sub", k, constant(b, 1.0, x.dtype))
    half = scale(b, p, k)
    other = b.op("div", constant(b, 0.25, x.dtype), half)
    return b.op("add", half, b.op(combine, scale(b, rest, k), other))


def _half_exp(b: Builder, x: Value) -> Value:
    """``exp(x) / 2``, which may be finite even if ``exp(x)`` overflows."""
    p, k = exp_parts(b, x)
    return scale(b, p, b.op("sub", k, constant(b, 1.0)))


def sigmoid(b: Builder, x: Value) -> Value:
    """1 / (1 + exp(-x)), without overflow."""
    small = exp_of_negative(b, b.op("neg", b.op("abs", x)))
    one = constant(b, 1.0, x.dtype)
    above = b.select(b.op("lt", x, constant(b, 0.0, x.dtype)), small, one)
    return b.op("div", above, b.op("add", one, small))


def softplus(b: Builder, x: Value) -> Value:
    """log(1 + exp(x)), without overflow."""
    rest, zero = (
        log1p_of_unit(b, exp_of_negative(b, b.op("neg", b.op("abs", x)))),
        constant(b, 0.0, x.dtype),
    )
    return b.op("add", b.select(b.op("lt", zero, x), x, zero), rest)
