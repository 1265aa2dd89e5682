"""Trigonometric functions: sin, cos, tan, arctan.

`elemwise.transcendental` and `elemwise.complex_functions` call these functions to lower scalar ops.

First a multiple of pi/2 is subtracted from the argument, where pi/2 is the sum of three floats (Cody and Waite, 1980).
Fused multiply-add makes the first subtraction exact. For arguments above a billion, a cold branch computes the
remainder with only those bits of 2/pi that matter (Payne and Hanek, "Radian reduction for trigonometric functions",
1983).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from occelo_link.loops.elementary.building_blocks import (
    constant,
    fast_two_sum,
    horner,
    is_below,
    two_sum,
)
from occelo_link.loops.elementary.huge_angles import reduce_huge
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value

_LIMIT = 1e9
_TWO_OVER_PI = 0.6366197723675814
_HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33)
_MAGIC = 6755399441055744.0
_SIN = (
    -7.586094789672621e-13,
    1.6058521349954986e-10,
    -2.5052106167335705e-08,
    2.7557319219150783e-06,
    -0.00019841269841264821,
    0.008333333333333331,
)  # (sin(x) - x) / x**3 in x**2, without its last term -1/6
_COS = (
    4.745537017319258e-14,
    -1.1470455178216906e-11,
    2.0876755754879594e-09,
    -2.755731922129809e-07,
    2.480158730158451e-05,
    -0.0013888888888888887,
    0.041666666666666664,
)  # (cos(x) - 1 + x**2 / 2) / x**4 in x**2
_ATAN = (
    0.016009822553531047,
    -0.034319069932567094,
    0.04541715636079406,
    -0.05228266918352639,
    0.05878628988060137,
    -0.06666398527043488,
    0.0769229489243801,
    -0.09090908701696371,
    0.1111111110410365,
    -0.14285714285648926,
    0.1999999999999976,
    -0.3333333333333333,
)  # (atan(x) - x) / x**3 in x**2, up to tan(pi/8)
_TAN_EIGHTH = 0.41421356237309503
_TAN_THREE_EIGHTHS = 2.414213562373095
_QUARTER_PI = (0.7853981633974483, 3.061616997868383e-17)


def _reduce(b: Builder, x: Value) -> tuple[Value, Value, Value]:
    """Return ``(r, low, k)`` with ``x = n * pi/2 + r + low`` for an integer n. The last bits of the int64 ``k`` are
    those of n.
    """
    magic = constant(b, _MAGIC)
    moved = b.op("add", b.op("mul", x, constant(b, _TWO_OVER_PI)), magic)
    k = b.op("sub", moved, magic)
    minus = b.op("neg", k)
    first = b.op("fma", minus, constant(b, _HALF_PI[0]), x)
    part = b.op("mul", minus, constant(b, _HALF_PI[1]))
    part_low = b.op("fma", minus, constant(b, _HALF_PI[1]), b.op("neg", part))
    # near a multiple of pi/2 the second part may be the larger one
    r = b.op("add", first, part)
    gap = b.op("sub", r, first)
    lost = b.op("add", b.op("sub", first, b.op("sub", r, gap)), b.op("sub", part, gap))
    low = b.op("add", lost, b.op("fma", minus, constant(b, _HALF_PI[2]), part_low))
    r, low = fast_two_sum(b, r, low)
    return r, low, b.op("bits", moved, dtype="int64")


def _parts(b: Builder, r: Value, low: Value) -> tuple[Value, Value, Value]:
    """Return ``(inner, top, rest)``, for ``|r + low|`` up to pi/4.

    The sine of ``r + low`` is ``r - inner``, and its cosine is ``top + rest``.
    """
    z = b.op("mul", r, r)
    cube = b.op("mul", z, r)
    half_low = b.op("mul", low, constant(b, 0.5))
    inner = b.op("sub", half_low, b.op("mul", cube, horner(b, _SIN, z)))
    inner = b.op("sub", b.op("mul", z, inner), low)
    inner = b.op("fma", cube, constant(b, 0.16666666666666666), inner)
    half = b.op("mul", z, constant(b, 0.5))
    top = b.op("sub", constant(b, 1.0), half)
    lost = b.op("sub", b.op("sub", constant(b, 1.0), top), half)
    tail = b.op("mul", b.op("mul", z, z), horner(b, _COS, z))
    tail = b.op("sub", tail, b.op("mul", r, low))
    return inner, top, b.op("add", lost, tail)


def _kernels(b: Builder, r: Value, low: Value) -> tuple[Value, Value]:
    """Sine and cosine of ``r + low``, for ``|r + low|`` up to pi/4."""
    inner, top, rest = _parts(b, r, low)
    return b.op("sub", r, inner), b.op("add", top, rest)


def _odd(b: Builder, bits: Value, bit: int) -> Value:
    return b.op("ne", b.op("and", bits, b.i64(1 << bit)), b.i64(0))


def _guard(b: Builder, x: Value, usual: Value, name: str, choose: Callable[..., Value]) -> Value:
    """Return ``usual`` unless ``x`` is huge. For a huge ``x``, a cold branch reduces it exactly and calls ``choose``.

    ``choose`` computes the function from the reduced angle.
    """

    def huge(builder: Builder, argument: Value) -> Value:
        r, low, quadrant = reduce_huge(builder, builder.op("abs", argument))
        negative = builder.op("lt", argument, constant(builder, 0.0))
        value = choose(builder, r, low, quadrant, negative)
        finite = is_below(builder, argument, math.inf)
        return builder.select(finite, value, constant(builder, math.nan))

    beyond = b.op("lt", constant(b, _LIMIT), b.op("abs", x))
    return b.unlikely(beyond, usual, f"{name}_huge", huge, x)


def _sine(b: Builder, r: Value, low: Value, bits: Value, flip: Value | None = None) -> Value:
    sine, cosine = _kernels(b, r, low)
    value = b.select(_odd(b, bits, 0), cosine, sine)
    minus = _odd(b, bits, 1)
    if flip is not None:
        minus = b.op("xor", minus, flip)
    return b.select(minus, b.op("neg", value), value)


def _cosine(b: Builder, r: Value, low: Value, bits: Value, flip: Value | None = None) -> Value:
    sine, cosine = _kernels(b, r, low)
    value = b.select(_odd(b, bits, 0), sine, cosine)
    turned = b.op("add", bits, b.i64(1))
    return b.select(_odd(b, turned, 1), b.op("neg", value), value)


def _tangent(b: Builder, r: Value, low: Value, bits: Value, flip: Value | None = None) -> Value:
    """The quotient of sine and cosine. It is corrected for the rounding errors of the sine, the cosine and the
    division.
    """
    inner, top, rest = _parts(b, r, low)
    sine = b.op("sub", r, inner)
    sine_low = b.op("sub", b.op("sub", r, sine), inner)
    cosine, cosine_low = fast_two_sum(b, top, rest)
    odd = _odd(b, bits, 0)
    above = b.select(odd, b.op("neg", cosine), sine)
    above_low = b.select(odd, b.op("neg", cosine_low), sine_low)
    below, below_low = b.select(odd, sine, cosine), b.select(odd, sine_low, cosine_low)
    value = b.op("div", above, below)
    minus = b.op("neg", value)
    lost = b.op("add", b.op("fma", minus, below, above), b.op("fma", minus, below_low, above_low))
    value = b.op("add", value, b.op("div", lost, below))
    return value if flip is None else b.select(flip, b.op("neg", value), value)


def sin(b: Builder, x: Value) -> Value:
    """Sine within 1 ulp."""
    value = b.select(is_below(b, x, 2.0**-27), x, _sine(b, *_reduce(b, x)))
    return _guard(b, x, value, "sin", _sine)


def cos(b: Builder, x: Value) -> Value:
    """Cosine within 1 ulp."""
    return _guard(b, x, _cosine(b, *_reduce(b, x)), "cos", _cosine)


def tan(b: Builder, x: Value) -> Value:
    """Tangent within 1 ulp."""
    value = b.select(is_below(b, x, 2.0**-27), x, _tangent(b, *_reduce(b, x)))
    return _guard(b, x, value, "tan", _tangent)


def arctan(b: Builder, x: Value) -> Value:
    """Inverse tangent within 1 ulp.

    If x is above tan(pi/8), the result is computed as pi/4 + arctan((x - 1) / (x + 1)). If x is above tan(3 pi/8), it
    is computed as pi/2 - arctan(1/x). Both are corrected for the rounding error of the quotient.
    """
    size = b.op("abs", x)
    size = b.select(b.op("lt", constant(b, 1e300), size), constant(b, 1e300), size)
    zero, one = constant(b, 0.0), constant(b, 1.0)
    middle = b.op("lt", constant(b, _TAN_EIGHTH), size)
    large = b.op("lt", constant(b, _TAN_THREE_EIGHTHS), size)
    above, above_low = two_sum(b, size, constant(b, -1.0))
    below, below_low = two_sum(b, size, one)
    above = b.select(large, constant(b, -1.0), b.select(middle, above, size))
    below = b.select(large, size, b.select(middle, below, one))
    shifted = b.op("xor", middle, large)
    above_low = b.select(shifted, above_low, zero)
    below_low = b.select(shifted, below_low, zero)
    t = b.op("div", above, below)
    minus = b.op("neg", t)
    lost = b.op("add", b.op("fma", minus, below, above), b.op("fma", minus, below_low, above_low))
    z = b.op("mul", t, t)
    tail = b.op("fma", b.op("mul", z, t), horner(b, _ATAN, z), b.op("div", lost, below))
    high = b.select(large, constant(b, _HALF_PI[0]), constant(b, _QUARTER_PI[0]))
    low = b.select(large, constant(b, _HALF_PI[1]), constant(b, _QUARTER_PI[1]))
    total, error = fast_two_sum(b, b.select(middle, high, t), b.select(middle, t, zero))
    error = b.op("add", error, b.select(middle, low, zero))
    value = b.op("add", total, b.op("add", error, tail))
    return b.op("copysign", value, x)
