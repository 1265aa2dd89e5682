"""Exponentials, logarithms and hyperbolic functions of complex numbers, as pairs of real values.

`transcendental` calls these functions to lower scalar ops. `real_or_complex` calls some of them for functions of
matrices.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from occelo_link.loops.elementary import exponential, hyperbolic, logarithm, trigonometric
from occelo_link.loops.elementary.building_blocks import two_product, two_sum
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowerings.elemwise.complex import (
    Complex,
    argument,
    chosen,
    divided,
    modulus,
    times,
)


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
"""For arguments above this number, exp is computed as two factors. The exponential alone may overflow, although its
product with cos or sin does not.
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
    # as in NumPy, the real part is infinite if x is, even if the angle is not known
    endless = b.op("and", b.op("eq", x, _const(b, math.inf, x)), not_finite)
    return b.select(b.op("or", real, b.op("or", vanishes, endless)), whole, re), im


def exponential_less_one(b: Builder, z: Complex) -> Complex:
    """exp(z) - 1. Its real part exp(x) cos y - 1 is computed without cancellation, as expm1(x) cos y - 2 sin(y/2)^2."""
    x, y = z
    half = sin(b, b.op("mul", y, b.const(0.5, "float64")))
    lost = b.op("mul", b.const(2.0, "float64"), b.op("mul", half, half))
    re = b.op("sub", b.op("mul", expm1(b, x), cos(b, y)), lost)
    return re, b.op("mul", exp(b, x), sin(b, y))


def logarithm_of(b: Builder, z: Complex) -> Complex:
    """The logarithm of z: its real part is log|z|, its imaginary part the angle.

    If |z| is near 1, log|z| is computed as log1p(|z|^2 - 1) / 2, with |z|^2 - 1 in twice the precision. A |z| near the
    ends of the range is scaled first, since it may overflow or lose digits.
    """
    wide, small_size = (b.const(c, "float64") for c in (2.0**1000, 2.0**-1000))
    longest = b.op("max", *[b.op("abs", part) for part in z])
    huge, tiny = b.op("lt", wide, longest), b.op("lt", longest, small_size)
    one = b.const(1.0, "float64")
    factor = b.select(huge, b.const(2.0**-100, "float64"), one)
    factor = b.select(tiny, b.const(2.0**100, "float64"), factor)
    back = b.const(100 * math.log(2), "float64")
    back = b.select(huge, back, b.select(tiny, b.op("neg", back), b.const(0.0, "float64")))
    size = modulus(b, (b.op("mul", z[0], factor), b.op("mul", z[1], factor)))
    half = b.const(0.5, "float64")
    parts = [b.op("abs", part) for part in z]
    large, small = b.op("max", *parts), b.op("min", *parts)
    squares = [two_product(b, part, part) for part in (large, small)]
    total, lost = two_sum(b, b.op("sub", squares[0][0], b.const(1.0, "float64")), squares[1][0])
    rest = b.op("add", lost, b.op("add", squares[0][1], squares[1][1]))
    near = b.op("mul", half, log1p(b, b.op("add", total, rest)))
    close = b.op(
        "and", b.op("lt", b.const(0.7, "float64"), size), b.op("lt", size, b.const(1.4, "float64"))
    )
    return b.select(close, near, b.op("add", log(b, size), back)), argument(b, z)


def logarithm_of_one_more(b: Builder, z: Complex) -> Complex:
    """log(1 + z) for z = x + i y. If z is small, the real part is computed as log1p(x (2 + x) + y^2) / 2, otherwise as
    log|1 + z|.

    Both formulas have the same value, since x (2 + x) + y^2 = |1 + z|^2 - 1.
    """
    x, y = z
    two, half = b.const(2.0, "float64"), b.const(0.5, "float64")
    shifted = b.op("add", x, b.const(1.0, "float64"))
    square = b.op("add", b.op("mul", x, b.op("add", two, x)), b.op("mul", y, y))
    near = b.op("mul", half, log1p(b, square))
    close = b.op("lt", b.op("max", b.op("abs", x), b.op("abs", y)), half)
    whole, angle = logarithm_of(b, (shifted, y))
    return b.select(close, near, whole), angle


def logarithm_of_one_more_exponential(b: Builder, z: Complex) -> Complex:
    """log(1 + exp(z)) for z = x + i y. If x > 0, it is computed as x + log(exp(-x) + exp(z - x)), without overflow."""
    x, y = z
    zero = _const(b, 0.0, x)
    scale = b.op("max", x, zero)
    whole, angle = exponential_of(b, (b.op("sub", x, scale), y))
    shifted = logarithm_of(b, (b.op("add", exp(b, b.op("neg", scale)), whole), angle))
    far = b.op("add", scale, shifted[0]), shifted[1]
    near = logarithm_of_one_more(b, (whole, angle))
    return chosen(b, b.op("lt", zero, x), far, near)


# powers


_BITS = 7
"""The number of bits of whole exponents below 100. Powers with these exponents are products, as in NumPy."""


def power_of(b: Builder, z: Complex, exponent: Complex) -> Complex:
    """``z`` to the power ``exponent``: a product for whole exponents from -99 to 99, otherwise exp(exponent log z)."""
    re, im = exponent
    if re.op == "const" and im.op == "const":
        number = float(re.args[0])
        if im.args[0] == 0 and number.is_integer() and 0 < abs(number) < 100:
            return _constant_power(b, z, int(number))
    zero, one = _const(b, 0.0, re), _const(b, 1.0, re)
    size = b.op("abs", re)
    whole = b.op("and", b.op("eq", b.op("trunc", re), re), b.op("lt", size, _const(b, 100.0, re)))
    whole = b.op("and", whole, b.op("eq", im, zero))
    product = _whole_power(b, z, b.select(whole, size, zero))
    inverse = divided(b, (one, zero), product)
    product = chosen(b, b.op("lt", re, zero), inverse, product)
    general = exponential_of(b, times(b, exponent, logarithm_of(b, z)))
    power = chosen(b, whole, product, general)
    return _power_of_zero(b, z, exponent, power)


def _constant_power(b: Builder, z: Complex, exponent: int) -> Complex:
    rest, power, result = abs(exponent), z, None
    while rest:
        if rest & 1:
            result = power if result is None else times(b, result, power)
        rest >>= 1
        power = times(b, power, power) if rest else power
    assert result is not None
    if exponent > 0:
        return result
    zero, one = _const(b, 0.0, z[0]), _const(b, 1.0, z[0])
    return _power_of_zero(b, z, (_const(b, exponent, z[0]), zero), divided(b, (one, zero), result))


def _whole_power(b: Builder, z: Complex, exponent: Value) -> Complex:
    """The power by repeated squaring, for whole exponents from 0 to 99."""
    zero, one, half = (_const(b, c, exponent) for c in (0.0, 1.0, 0.5))
    result, power, rest = (one, zero), z, exponent
    begun = b.const(False, "bool")
    for _ in range(_BITS):
        halved = b.op("trunc", b.op("mul", rest, half))
        odd = b.op("ne", b.op("add", halved, halved), rest)
        # the first factor is not multiplied by 1, which would make NaN of infinite parts
        product = chosen(b, begun, times(b, result, power), power)
        result = chosen(b, odd, product, result)
        begun = b.op("or", begun, odd)
        power, rest = times(b, power, power), halved
    return result


def _power_of_zero(b: Builder, z: Complex, exponent: Complex, power: Complex) -> Complex:
    """``power``, except for powers of 0, and for powers with the exponent 0, which are 1.

    A power of 0 is 0 if the exponent has a positive real part, and NaN for all other exponents but 0.
    """
    zero, one = _const(b, 0.0, z[0]), _const(b, 1.0, z[0])
    nan = _const(b, math.nan, z[0])
    vanishes = b.op("and", *[b.op("eq", part, zero) for part in z])
    none = b.op("and", *[b.op("eq", part, zero) for part in exponent])
    up = b.op("lt", zero, exponent[0])
    edge = chosen(b, up, (zero, zero), chosen(b, none, (one, zero), (nan, nan)))
    return chosen(b, b.op("or", vanishes, none), edge, power)


# trigonometric and hyperbolic functions


def _product(b: Builder, x: Value, y: Value) -> Value:
    """The product of x and y. It is 0 if one of them is 0, even if the other one is infinite or NaN."""
    zero, one = b.const(0.0, "float64"), b.const(1.0, "float64")
    none = b.op("or", b.op("eq", x, zero), b.op("eq", y, zero))
    sign = b.op("mul", b.op("copysign", one, x), b.op("copysign", one, y))
    return b.select(none, b.op("copysign", zero, sign), b.op("mul", x, y))


def _real_part(b: Builder, z: Complex, size: Value, part: Value) -> Value:
    """The product of ``size`` and ``part``, for z = x + i y. If x is infinite and y is not finite, the result is
    ``size`` instead, as in NumPy.
    """
    unknown = b.op("ne", b.op("sub", z[1], z[1]), b.const(0.0, "float64"))
    endless = b.op("eq", b.op("abs", z[0]), b.const(math.inf, "float64"))
    return b.select(b.op("and", endless, unknown), size, _product(b, size, part))


def hyperbolic_sine(b: Builder, z: Complex) -> Complex:
    """sinh z = sinh x cos y + i cosh x sin y."""
    x, y = z
    return _real_part(b, z, sinh(b, x), cos(b, y)), _product(b, cosh(b, x), sin(b, y))


def hyperbolic_cosine(b: Builder, z: Complex) -> Complex:
    """cosh z = cosh x cos y + i sinh x sin y."""
    x, y = z
    return _real_part(b, z, cosh(b, x), cos(b, y)), _product(b, sinh(b, x), sin(b, y))


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
    one, zero, infinity = (b.const(c, "float64") for c in (1.0, 0.0, math.inf))
    # if x is infinite, y does not matter
    ends = b.op("eq", b.op("abs", x), infinity)
    finite = b.op("eq", b.op("sub", y, y), zero)
    small = b.select(b.op("and", ends, b.op("not", finite)), b.op("copysign", zero, y), small)
    sized = b.select(b.op("or", ends, finite), one, b.const(math.nan, "float64"))
    far = b.op("copysign", sized, x), small
    re, im = chosen(b, b.op("lt", b.const(22.0, "float64"), b.op("abs", x)), far, near)
    # on the axes one part is 0, even if the other one is not known
    return b.select(b.op("eq", x, zero), x, re), b.select(b.op("eq", y, zero), y, im)
