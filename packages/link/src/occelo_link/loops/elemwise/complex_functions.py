"""Exponentials, logarithms and hyperbolic functions of complex numbers, as pairs of real values.

`transcendental` registers the complex elementary functions with them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from occelo_link.loops.elementary import exponential, hyperbolic, logarithm, trigonometric
from occelo_link.loops.elementary.building_blocks import two_product, two_sum
from occelo_link.loops.elemwise.complex import Complex, argument, chosen, modulus
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value

__all__ = [
    "exponential_less_one",
    "exponential_of",
    "hyperbolic_cosine",
    "hyperbolic_sine",
    "hyperbolic_tangent",
    "logarithm_of",
    "logarithm_of_one_more",
]


def _const(b: Builder, number: float, like: Value) -> Value:
    return b.const(number, like.dtype)


# exponentials and logarithms


def _function(function: Callable[[Builder, Value], Value]) -> Callable[[Builder, Value], Value]:
    def applied(b: Builder, x: Value) -> Value:
        return b.apply(function.__name__, function, x)

    return applied


exp, expm1 = map(_function, (exponential.exp, exponential.expm1))
log, log1p = map(_function, (logarithm.log, logarithm.log1p))
sin, cos = map(_function, (trigonometric.sin, trigonometric.cos))
sinh, cosh = map(_function, (hyperbolic.sinh, hyperbolic.cosh))

_FAR = 700.0
"""For arguments above this number, exp is computed as two factors. Alone it may overflow, although its product with cos
or sin does not.
"""


def exponential_of(b: Builder, z: Complex) -> Complex:
    """The exponential of z = x + i y: exp(x) (cos y + i sin y)."""
    x, y = z
    zero = _const(b, 0.0, x)
    far = b.op("lt", _const(b, _FAR, x), x)
    rest = b.select(far, b.op("sub", x, _const(b, _FAR, x)), x)
    factor = exp(b, rest)
    more = b.select(far, _const(b, math.exp(_FAR), x), _const(b, 1.0, x))
    re = b.op("mul", b.op("mul", factor, cos(b, y)), more)
    im = b.op("mul", b.op("mul", factor, sin(b, y)), more)
    # the exponential of a real number is real, even if it overflows; if exp(x) is 0, the angle does not matter
    real = b.op("eq", y, zero)
    not_finite = b.op("ne", b.op("sub", y, y), zero)
    vanishes = b.op("and", b.op("eq", x, _const(b, -math.inf, x)), not_finite)
    im = b.select(b.op("or", real, vanishes), b.op("copysign", zero, y), im)
    whole = b.op("mul", factor, more)
    return b.select(b.op("or", real, vanishes), whole, re), im


def exponential_less_one(b: Builder, z: Complex) -> Complex:
    """exp(z) - 1. Its real part exp(x) cos y - 1 is computed without cancellation, as expm1(x) cos y - 2 sin(y/2)^2."""
    x, y = z
    half = sin(b, b.op("mul", y, b.const(0.5, "float64")))
    lost = b.op("mul", b.const(2.0, "float64"), b.op("mul", half, half))
    re = b.op("sub", b.op("mul", expm1(b, x), cos(b, y)), lost)
    return re, b.op("mul", exp(b, x), sin(b, y))


def logarithm_of(b: Builder, z: Complex) -> Complex:
    """The logarithm of z: its real part is log|z|, its imaginary part the angle.

    If |z| is near 1, log|z| is computed as log1p(|z|^2 - 1) / 2, with |z|^2 - 1 in twice the precision.
    """
    size = modulus(b, z)
    half = b.const(0.5, "float64")
    parts = [b.op("abs", part) for part in z]
    large, small = b.op("max", *parts), b.op("min", *parts)
    squares = [two_product(b, part, part) for part in (large, small)]
    total, lost = two_sum(b, b.op("sub", squares[0][0], b.const(1.0, "float64")), squares[1][0])
    rest = b.op("add", lost, b.op("add", squares[0][1], squares[1][1]))
    near = b.op("mul", half, log1p(b, b.op("add", total, rest)))
    close = b.op(
        "and",
        b.op("lt", b.const(0.7, "float64"), size),
        b.op("lt", size, b.const(1.4, "float64")),
    )
    return b.select(close, near, log(b, size)), argument(b, z)


def logarithm_of_one_more(b: Builder, z: Complex) -> Complex:
    """log(1 + z). For a small z the real part is computed as log1p(x (2 + x) + y^2) / 2, otherwise as log|1 + z|.

    Both formulas are equal, since x (2 + x) + y^2 = |1 + z|^2 - 1.
    """
    x, y = z
    two, half = b.const(2.0, "float64"), b.const(0.5, "float64")
    shifted = b.op("add", x, b.const(1.0, "float64"))
    square = b.op("add", b.op("mul", x, b.op("add", two, x)), b.op("mul", y, y))
    near = b.op("mul", half, log1p(b, square))
    close = b.op("lt", b.op("max", b.op("abs", x), b.op("abs", y)), half)
    whole, angle = logarithm_of(b, (shifted, y))
    return b.select(close, near, whole), angle


# trigonometric and hyperbolic functions


def spread(b: Builder, size: Value, part: Value) -> Value:
    """The product of ``size`` and ``part``. It is 0 if ``part`` is 0, even if ``size`` has overflowed to infinity."""
    vanishes = b.op("eq", part, b.const(0.0, "float64"))
    signed = b.op("mul", b.op("copysign", b.const(1.0, "float64"), size), part)
    return b.select(vanishes, signed, b.op("mul", size, part))


def hyperbolic_sine(b: Builder, z: Complex) -> Complex:
    """sinh z = sinh x cos y + i cosh x sin y."""
    x, y = z
    return b.op("mul", sinh(b, x), cos(b, y)), spread(b, cosh(b, x), sin(b, y))


def hyperbolic_cosine(b: Builder, z: Complex) -> Complex:
    """cosh z = cosh x cos y + i sinh x sin y."""
    x, y = z
    return b.op("mul", cosh(b, x), cos(b, y)), spread(b, sinh(b, x), sin(b, y))


def hyperbolic_tangent(b: Builder, z: Complex) -> Complex:
    """tanh z = (sinh x cosh x + i sin y cos y) / (sinh(x)^2 + cos(y)^2).

    If |x| > 22, the real part is 1 with the sign of x, and the imaginary part is 4 sin y cos y exp(-2 |x|).
    """
    x, y = z
    s, c = sin(b, y), cos(b, y)
    u, v = sinh(b, x), cosh(b, x)
    below = b.op("add", b.op("mul", u, u), b.op("mul", c, c))
    product = b.op("mul", s, c)
    near = b.op("div", b.op("mul", u, v), below), b.op("div", product, below)
    decay = exp(b, b.op("mul", b.const(-2.0, "float64"), b.op("abs", x)))
    small = b.op("mul", b.op("mul", b.const(4.0, "float64"), product), decay)
    far = b.op("copysign", b.const(1.0, "float64"), x), small
    return chosen(b, b.op("lt", b.const(22.0, "float64"), b.op("abs", x)), far, near)
