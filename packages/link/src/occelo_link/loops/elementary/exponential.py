"""Exponentials: exp, exp2, expm1.

`elemwise.transcendental` and `elemwise.complex_functions` call these functions to lower scalar ops. Other elementary
functions call them, too.

They use ``exp(x) = 2**k * exp(r)`` with an integer k, where ``r = x - k log 2`` is small. ``r`` is computed in two
steps (Cody and Waite, "Software Manual for the Elementary Functions", 1980).
"""

from __future__ import annotations

from occelo_link.loops.elementary.building_blocks import (
    LAYOUTS,
    Pair,
    constant,
    fast_two_sum,
    is_below,
    power_of_two,
    scale,
    two_chains,
)
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value

_LOG2_E = 1.4426950408889634
_LN2_HIGH = 0.6931471805599453
_LN2_LOW = 2.3190468138462996e-17
_Q = (
    2.0914898727175524e-09,
    2.5105513541847086e-08,
    2.755727313289604e-07,
    2.7557254685728803e-06,
    2.480158732595111e-05,
    0.0001984126987538548,
    0.0013888888888883633,
    0.008333333333325973,
    0.04166666666666667,
    0.1666666666666667,
    0.5,
)  # (exp(r) - 1 - r) / r**2
_Q32 = (
    0.00019891268510107283,
    0.0013933900050040087,
    0.008333310674603188,
    0.041666462666195954,
    0.1666666668187505,
    0.5000000013692557,
)
_SHORTER_Q = {
    "float64": (
        2.500007719319511e-08,
        2.7630234041956954e-07,
        2.7557586247188927e-06,
        2.4801493135961335e-05,
        0.00019841269506805988,
        0.0013888888943597811,
        0.008333333333494319,
        0.041666666666530267,
        0.16666666666666413,
        0.5000000000000011,
    ),
    "float32": _Q32,
}
"""The same for sums with 1, in float64 with an error of 0.03 ulp. In float32, erf needs the longer one."""
_LN2_AND_Q = {
    "float64": (_LN2_HIGH, _LN2_LOW, _Q),
    # the first number has few bits, so its product with k is exact
    "float32": (0.693359375, -2.1219444005469057e-4, _Q32),
}
"""The natural logarithm of 2 as a sum, and the polynomial."""
_ENDS = {"float64": (-746.0, 710.0), "float32": (-104.5, 89.0)}
_ENDS2 = {"float64": (-1080.0, 1025.0), "float32": (-151.0, 129.0)}
"""Numbers beyond which the exponential, or a power of two, is 0 or infinite."""
_ROUNDED_LN2 = {
    "float64": (_LN2_HIGH, _LN2_LOW),
    "float32": (0.6931471824645996, -1.904654299957768e-09),
}


def _clamp(b: Builder, x: Value, low: float, high: float) -> Value:
    """``x`` limited to an interval; NaN stays NaN."""
    least, most = constant(b, low, x.dtype), constant(b, high, x.dtype)
    x = b.select(b.op("lt", x, least), least, x)
    return b.select(b.op("lt", most, x), most, x)


def exp_parts(b: Builder, x: Value, low: Value | None = None) -> Pair:
    """Return ``(p, k)`` with ``exp(x + low) = p * 2**k``. ``low`` must be far smaller than ``x``; by default it is 0."""
    total, tail, k = exp_pair(b, x, low)
    return b.op("add", total, tail), k


def exp_pair(b: Builder, x: Value, low: Value | None = None) -> tuple[Value, Value, Value]:
    """Return ``(p, rest, k)`` with ``exp(x + low) = (p + rest) * 2**k``. ``low`` must be far smaller than ``x``."""
    (ln2_high, ln2_low, _), q = _LN2_AND_Q[x.dtype], _SHORTER_Q[x.dtype]
    k = b.op("rint", b.op("mul", x, constant(b, _LOG2_E, x.dtype)))
    minus = b.op("neg", k)
    r = b.op("fma", minus, constant(b, ln2_high, x.dtype), x)
    r = b.op("fma", minus, constant(b, ln2_low, x.dtype), r)
    if low is not None:
        r = b.op("add", r, low)
    # 1 + r is computed exactly, so that only the small rest is rounded twice
    total, rest = fast_two_sum(b, constant(b, 1.0, x.dtype), r)
    tail = b.op("fma", b.op("mul", r, r), two_chains(b, q, r), rest)
    return total, tail, k


def exp(b: Builder, x: Value) -> Value:
    """e ** x within 1 ulp."""
    p, k = exp_parts(b, _clamp(b, x, *_ENDS[x.dtype]))
    return scale(b, p, k)


def exp_of_negative(b: Builder, x: Value) -> Value:
    """e ** x within 1 ulp, for an x of at most 0."""
    least = constant(b, _ENDS[x.dtype][0], x.dtype)
    p, k = exp_parts(b, b.select(b.op("lt", x, least), least, x))
    return scale(b, p, k)


def exp2(b: Builder, x: Value) -> Value:
    """2 ** x within 1 ulp."""
    x = _clamp(b, x, *_ENDS2[x.dtype])
    ln2_high, ln2_low = (constant(b, n, x.dtype) for n in _ROUNDED_LN2[x.dtype])
    k = b.op("rint", x)
    r = b.op("sub", x, k)
    high = b.op("mul", r, ln2_high)
    low = b.op("fma", r, ln2_low, b.op("fma", r, ln2_high, b.op("neg", high)))
    total, rest = fast_two_sum(b, constant(b, 1.0, x.dtype), high)
    q = _SHORTER_Q[x.dtype]
    tail = b.op("fma", b.op("mul", high, high), two_chains(b, q, high), b.op("add", rest, low))
    return scale(b, b.op("add", total, tail), k)


def expm1_parts(b: Builder, x: Value) -> tuple[Value, Value, Value]:
    """Return ``(high, low, k)`` with ``exp(x) = (1 + high + low) * 2**k``. The error of ``high`` is about 0.2 ulp."""
    ln2_high, ln2_low, q = _LN2_AND_Q[x.dtype]
    k = b.op("rint", b.op("mul", x, constant(b, _LOG2_E, x.dtype)))
    minus = b.op("neg", k)
    reduced = b.op("fma", minus, constant(b, ln2_high, x.dtype), x)
    r, lost = fast_two_sum(b, reduced, b.op("mul", minus, constant(b, ln2_low, x.dtype)))
    high, rest = fast_two_sum(b, r, b.op("mul", b.op("mul", r, r), two_chains(b, q, r)))
    return high, b.op("add", rest, lost), k


def expm1_pair(b: Builder, x: Value) -> Pair:
    """Return ``(high, low)``, the sum of which is half of ``exp(x) - 1``, for an x within `_ENDS`."""
    ln2_high, ln2_low, q = _LN2_AND_Q[x.dtype]
    k = b.op("rint", b.op("mul", x, constant(b, _LOG2_E, x.dtype)))
    minus = b.op("neg", k)
    reduced = b.op("fma", minus, constant(b, ln2_high, x.dtype), x)
    low = b.op("mul", minus, constant(b, ln2_low, x.dtype))
    r = b.op("add", reduced, low)
    lost = b.op("add", b.op("sub", reduced, r), low)
    # r + r**2 / 2 is computed exactly, since both terms are large where the sum with 2**k - 1 cancels
    square = b.op("mul", r, r)
    square_low = b.op("fma", r, r, b.op("neg", square))
    half = constant(b, 0.5, x.dtype)
    high, rest = fast_two_sum(b, r, b.op("mul", square, half))
    tail = b.op("fma", b.op("mul", square, r), two_chains(b, q[:-1], r), lost)
    rest = b.op("add", rest, b.op("fma", square_low, half, tail))
    # the factor is half of 2**k, which does not overflow; if k is below -60, its value no longer matters
    least = constant(b, -64.0, x.dtype)
    k = b.select(b.op("lt", k, least), least, k)
    factor = power_of_two(b, b.op("sub", k, constant(b, 1.0, x.dtype)))
    whole = b.op("sub", factor, half)
    # from 2**53 on, or 2**24, the subtraction of 1/2 is rounded
    rounded = b.op("sub", b.op("sub", factor, whole), half)
    total, error = fast_two_sum(b, whole, b.op("mul", factor, high))
    return fast_two_sum(b, total, b.op("fma", factor, rest, b.op("add", error, rounded)))


def expm1(b: Builder, x: Value) -> Value:
    """e ** x - 1 within 1 ulp."""
    total, error = expm1_pair(b, _clamp(b, x, *_ENDS[x.dtype]))
    result = b.op("mul", b.op("add", total, error), constant(b, 2.0, x.dtype))
    return b.select(is_below(b, x, 2.0 ** -(LAYOUTS[x.dtype].digits + 2)), x, result)
