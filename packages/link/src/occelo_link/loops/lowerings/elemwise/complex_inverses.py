"""Inverse trigonometric and inverse hyperbolic functions of complex numbers, as pairs of real values.

`transcendental` calls these functions to lower scalar ops. The formulas are those of Kahan, "Branch cuts for complex
elementary functions", 1987. The sums in the arcsine and the arccosine have no terms of different signs, so no digits
cancel. On a branch cut, the sign of a zero says from which side the cut is approached.
"""

from __future__ import annotations

import math

from occelo_link.loops.elementary import logarithm
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowerings.elemwise.complex import (
    Complex,
    argument,
    chosen,
    modulus,
    square_root,
)

_FAR = 2.0**60
"""If a part of z is larger than this number, z + 1 and z - 1 equal z up to rounding."""


def _const(b: Builder, number: float) -> Value:
    return b.const(number, "float64")


def _is_far(b: Builder, z: Complex) -> Value:
    return b.op("or", *[b.op("lt", _const(b, _FAR), b.op("abs", part)) for part in z])


def swapped(z: Complex) -> Complex:
    """The number with its parts exchanged: the conjugate of z, times i."""
    return z[1], z[0]


def _roots(b: Builder, z: Complex) -> tuple[Complex, Complex]:
    """The square roots of 1 - z and 1 + z."""
    one = _const(b, 1.0)
    below = b.op("sub", one, z[0]), b.op("neg", z[1])
    return square_root(b, below), square_root(b, (b.op("add", one, z[0]), z[1]))


def _height(b: Builder, z: Complex, first: Complex, second: Complex) -> Value:
    """The imaginary part of the arcsine of z, from the roots of 1 - z and 1 + z."""
    near = b.op("mul", first[0], b.op("abs", second[1]))
    near = b.op("add", near, b.op("mul", b.op("abs", first[1]), second[0]))
    near = b.call("libm:asinh", "float64", near)
    eighth = _const(b, 0.125)
    size = modulus(b, (b.op("mul", z[0], eighth), b.op("mul", z[1], eighth)))
    far = b.op("add", logarithm.log(b, size), _const(b, math.log(16)))
    return b.op("copysign", b.select(_is_far(b, z), far, near), z[1])


def arc_sine(b: Builder, z: Complex) -> Complex:
    """The arcsine of z = x + i y, from the roots s = sqrt(1 - z) and t = sqrt(1 + z).

    Its real part is the angle of the point Re(s t) + i x. Its imaginary part is arsinh(Im(conj(s) t)). If z is large,
    the size of the imaginary part is computed as log |2 z|.
    """
    first, second = _roots(b, z)
    across = b.op("mul", b.op("abs", first[1]), b.op("abs", second[1]))
    near = b.op("add", b.op("mul", first[0], second[0]), across)
    beside = b.select(_is_far(b, z), b.op("abs", z[1]), near)
    angle = argument(b, (beside, z[0]))
    # on the imaginary axis this is true even if y is NaN
    angle = b.select(b.op("eq", z[0], _const(b, 0.0)), z[0], angle)
    return angle, _height(b, z, first, second)


def arc_cosine(b: Builder, z: Complex) -> Complex:
    """The arccosine of z. Its real part is twice the angle of the point Re(t) + i Re(s), with s and t as in `arc_sine`."""
    first, second = _roots(b, z)
    near = b.op("mul", _const(b, 2.0), argument(b, (second[0], first[0])))
    far = argument(b, (z[0], b.op("abs", z[1])))
    angle = b.select(_is_far(b, z), far, near)
    angle = b.select(b.op("eq", z[0], _const(b, 0.0)), _const(b, math.pi / 2), angle)
    return angle, b.op("neg", _height(b, z, first, second))


def area_tangent(b: Builder, z: Complex) -> Complex:
    """The inverse hyperbolic tangent of z = x + i y.

    For x >= 0 and y >= 0 its real part is log1p(4 x / ((1 - x)^2 + y^2)) / 4. Its imaginary part is half the angle of
    the point (1 - x) (1 + x) - y^2 + 2 i y. For other z, |x| and |y| take the places of x and y, and the parts of the
    result get the signs of x and y.
    """
    x, y = (b.op("abs", part) for part in z)
    zero, one, half, quarter = (_const(b, c) for c in (0.0, 1.0, 0.5, 0.25))
    gap = b.op("sub", one, x)
    square = b.op("mul", y, y)
    pole = b.op("add", b.op("mul", gap, gap), square)
    # the square of a small y may be 0; the logarithm of 2 / y is taken then
    lost = b.op("and", b.op("eq", gap, zero), b.op("lt", y, _const(b, 2.0**-60)))
    ratio = b.op("div", b.op("mul", _const(b, 4.0), x), b.select(lost, one, pole))
    width = b.op("mul", quarter, logarithm.log1p(b, ratio))
    beside = b.op("sub", _const(b, math.log(2)), logarithm.log(b, y))
    width = b.select(lost, b.op("mul", half, beside), width)
    width = b.select(_is_far(b, z), _real_of_reciprocal(b, x, y), width)
    width = b.select(b.op("eq", x, zero), zero, width)

    across = b.op("sub", b.op("mul", gap, b.op("add", one, x)), square)
    angle = argument(b, (across, b.op("add", y, y)))
    angle = b.select(_is_far(b, z), _const(b, math.pi), angle)
    angle = b.op("mul", half, angle)
    # the angle of an infinite y is known even if x is NaN
    defined = b.op("or", b.op("eq", x, x), b.op("eq", y, _const(b, math.inf)))
    nan = _const(b, math.nan)
    angle = b.select(b.op("and", defined, b.op("eq", y, y)), angle, nan)
    return b.op("copysign", width, z[0]), b.op("copysign", angle, z[1])


def _real_of_reciprocal(b: Builder, x: Value, y: Value) -> Value:
    """The real part of 1 / (x + i y), for x >= 0 and y >= 0, of which at least one is large.

    It is computed as 1 / (x + y (y / x)), or as (x / y) / (y + x (x / y)) if y is larger than x.
    """
    wide = b.op("le", y, x)
    large, small = chosen(b, wide, (x, y), (y, x))
    ratio = b.op("div", small, large)
    half = _const(b, 0.5)
    size = b.op("mul", half, large)
    size = b.op("add", size, b.op("mul", b.op("mul", half, small), ratio))
    part = b.op("mul", half, b.op("div", b.select(wide, _const(b, 1.0), ratio), size))
    ends = [b.op("eq", v, _const(b, math.inf)) for v in (x, y)]
    return b.select(b.op("or", *ends), _const(b, 0.0), part)
