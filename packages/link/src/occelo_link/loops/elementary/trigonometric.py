"""Trigonometric functions: sin, cos, tan, arctan.

`elemwise.transcendental` and `elemwise.complex_functions` call these functions to lower scalar ops.

First a multiple of pi/2 is subtracted from the argument, where pi/2 is the sum of three floats (Cody and Waite, 1980).
Fused multiply-add makes the first subtraction exact. For arguments above a billion, a cold branch computes the
remainder with only those bits of 2/pi that matter (Payne and Hanek, "Radian reduction for trigonometric functions",
1983). In float32 the cold branch computes arguments above 100,000 in float64. The polynomials of sine and cosine of float32 are those of Cephes (Moshier, "Methods and Programs
for Mathematical Functions", 1989).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_link.loops.elementary.building_blocks import (
    LAYOUTS,
    constant,
    fast_two_sum,
    horner,
    is_below,
    two_sum,
)
from occelo_link.loops.elementary.huge_angles import reduce_huge
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value

_TWO_OVER_PI = 0.6366197723675814
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
_SIN32 = (-1.9515295891e-4, 8.3321608736e-3)
_COS32 = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
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
_ATAN32 = (
    -0.0644426941871643,
    0.10741414874792099,
    -0.14263740181922913,
    0.19999533891677856,
    -0.3333333134651184,
)
_TAN_EIGHTH = 0.41421356237309503
_TAN_THREE_EIGHTHS = 2.414213562373095


@frozen_dataclass
class _Numbers:
    """Numbers of a dtype: pi/2 as a sum, polynomials, and the size from which a cold branch computes the function.

    ``sixth`` is the first term of (x - sin(x)) / x**3. Below ``tiny``, sine and tangent are the argument.
    """

    half_pi: tuple[float, float, float]
    sin: tuple[float, ...]
    sixth: float
    cos: tuple[float, ...]
    atan: tuple[float, ...]
    limit: float
    tiny: float


_NUMBERS = {
    "float64": _Numbers(
        (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33),
        _SIN, 0.16666666666666666, _COS, _ATAN, 1e9, 2.0**-27,
    ),
    "float32": _Numbers(
        (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
        _SIN32, 1.6666654611e-1, _COS32, _ATAN32, 1e5, 2.0**-13,
    ),
}  # fmt: skip


def _reduce(b: Builder, x: Value) -> tuple[Value, Value, Value]:
    """Return ``(r, low, k)`` with ``x = n * pi/2 + r + low`` for an integer n. The last bits of the integer ``k`` are
    those of n.
    """
    numbers, layout = _NUMBERS[x.dtype], LAYOUTS[x.dtype]
    half_pi = [constant(b, part, x.dtype) for part in numbers.half_pi]
    magic = constant(b, 1.5 * 2.0**layout.digits, x.dtype)
    moved = b.op("add", b.op("mul", x, constant(b, _TWO_OVER_PI, x.dtype)), magic)
    k = b.op("sub", moved, magic)
    minus = b.op("neg", k)
    first = b.op("fma", minus, half_pi[0], x)
    part = b.op("mul", minus, half_pi[1])
    part_low = b.op("fma", minus, half_pi[1], b.op("neg", part))
    # near a multiple of pi/2 the second part may be the larger one
    r = b.op("add", first, part)
    gap = b.op("sub", r, first)
    lost = b.op("add", b.op("sub", first, b.op("sub", r, gap)), b.op("sub", part, gap))
    low = b.op("add", lost, b.op("fma", minus, half_pi[2], part_low))
    r, low = fast_two_sum(b, r, low)
    return r, low, b.op("bits", moved, dtype=layout.bits)


def _parts(b: Builder, r: Value, low: Value) -> tuple[Value, Value, Value]:
    """Return ``(inner, top, rest)``, for ``|r + low|`` up to pi/4.

    The sine of ``r + low`` is ``r - inner``, and its cosine is ``top + rest``.
    """
    numbers, one, half = _NUMBERS[r.dtype], constant(b, 1.0, r.dtype), constant(b, 0.5, r.dtype)
    z = b.op("mul", r, r)
    cube = b.op("mul", z, r)
    half_low = b.op("mul", low, half)
    inner = b.op("sub", half_low, b.op("mul", cube, horner(b, numbers.sin, z)))
    inner = b.op("sub", b.op("mul", z, inner), low)
    inner = b.op("fma", cube, constant(b, numbers.sixth, r.dtype), inner)
    half = b.op("mul", z, half)
    top = b.op("sub", one, half)
    lost = b.op("sub", b.op("sub", one, top), half)
    tail = b.op("mul", b.op("mul", z, z), horner(b, numbers.cos, z))
    tail = b.op("sub", tail, b.op("mul", r, low))
    return inner, top, b.op("add", lost, tail)


def _kernels(b: Builder, r: Value, low: Value) -> tuple[Value, Value]:
    """Sine and cosine of ``r + low``, for ``|r + low|`` up to pi/4."""
    inner, top, rest = _parts(b, r, low)
    return b.op("sub", r, inner), b.op("add", top, rest)


def _odd(b: Builder, bits: Value, bit: int) -> Value:
    return b.op("ne", b.op("and", bits, b.const(1 << bit, bits.dtype)), b.const(0, bits.dtype))


def _guard(
    b: Builder, x: Value, usual: Value, function: Callable[..., Value], choose: Callable[..., Value]
) -> Value:
    """Return ``usual`` unless ``x`` is huge. For a huge ``x``, a cold branch reduces it exactly and calls ``choose``.

    ``choose`` computes ``function`` from the reduced angle. Of a huge float32, ``function`` is computed in float64.
    """

    def huge(builder: Builder, argument: Value) -> Value:
        r, low, quadrant = reduce_huge(builder, builder.op("abs", argument))
        negative = builder.op("lt", argument, constant(builder, 0.0))
        value = choose(builder, r, low, quadrant, negative)
        finite = is_below(builder, argument, math.inf)
        return builder.select(finite, value, constant(builder, math.nan))

    def in_float64(builder: Builder, argument: Value) -> Value:
        return builder.cast(function(builder, builder.cast(argument, "float64")), x.dtype)

    beyond = b.op("lt", constant(b, _NUMBERS[x.dtype].limit, x.dtype), b.op("abs", x))
    name = function.__name__
    if x.dtype == "float32":
        return b.unlikely(beyond, usual, f"{name}_in_float64", in_float64, x)
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
    turned = b.op("add", bits, b.const(1, bits.dtype))
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
    value = b.select(is_below(b, x, _NUMBERS[x.dtype].tiny), x, _sine(b, *_reduce(b, x)))
    return _guard(b, x, value, sin, _sine)


def cos(b: Builder, x: Value) -> Value:
    """Cosine within 1 ulp."""
    return _guard(b, x, _cosine(b, *_reduce(b, x)), cos, _cosine)


def tan(b: Builder, x: Value) -> Value:
    """Tangent within 1 ulp."""
    value = b.select(is_below(b, x, _NUMBERS[x.dtype].tiny), x, _tangent(b, *_reduce(b, x)))
    return _guard(b, x, value, tan, _tangent)


def arctan(b: Builder, x: Value) -> Value:
    """Inverse tangent within 1 ulp.

    If x is above tan(pi/8), the result is computed as pi/4 + arctan((x - 1) / (x + 1)). If x is above tan(3 pi/8), it
    is computed as pi/2 - arctan(1/x). Both are corrected for the rounding error of the quotient.
    """
    numbers, zero, one = _NUMBERS[x.dtype], constant(b, 0.0, x.dtype), constant(b, 1.0, x.dtype)
    half_pi = [constant(b, part, x.dtype) for part in numbers.half_pi[:2]]
    quarter_pi = [constant(b, part / 2, x.dtype) for part in numbers.half_pi[:2]]
    size, most = b.op("abs", x), constant(b, 2.0**100, x.dtype)
    size = b.select(b.op("lt", most, size), most, size)
    middle = b.op("lt", constant(b, _TAN_EIGHTH, x.dtype), size)
    large = b.op("lt", constant(b, _TAN_THREE_EIGHTHS, x.dtype), size)
    above, above_low = two_sum(b, size, constant(b, -1.0, x.dtype))
    below, below_low = two_sum(b, size, one)
    above = b.select(large, constant(b, -1.0, x.dtype), b.select(middle, above, size))
    below = b.select(large, size, b.select(middle, below, one))
    shifted = b.op("xor", middle, large)
    above_low = b.select(shifted, above_low, zero)
    below_low = b.select(shifted, below_low, zero)
    t = b.op("div", above, below)
    minus = b.op("neg", t)
    lost = b.op("add", b.op("fma", minus, below, above), b.op("fma", minus, below_low, above_low))
    z = b.op("mul", t, t)
    tail = b.op("fma", b.op("mul", z, t), horner(b, numbers.atan, z), b.op("div", lost, below))
    high = b.select(large, half_pi[0], quarter_pi[0])
    low = b.select(large, half_pi[1], quarter_pi[1])
    total, error = fast_two_sum(b, b.select(middle, high, t), b.select(middle, t, zero))
    error = b.op("add", error, b.select(middle, low, zero))
    value = b.op("add", total, b.op("add", error, tail))
    return b.op("copysign", value, x)
