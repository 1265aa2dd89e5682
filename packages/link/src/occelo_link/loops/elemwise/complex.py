"""Registry of the lowerings of scalar ops on complex numbers, and complex arithmetic on pairs of real values.

`arithmetic` and `transcendental` register lowerings here, and `elemwise.op` looks them up. The lowerings of Schur
decompositions (`linalg.schur`, `linalg.qz`) use the arithmetic.

A lowering accepts a pair of real values for each argument. It returns a pair or a single real value, in the dtype of
the parts. Functions that use exp, log and the like are computed in float64 and rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from occelo_link.loops.elementary import exponential, hyperbolic, logarithm, trigonometric
from occelo_link.loops.elementary.building_blocks import two_product, two_sum
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value

__all__ = [
    "COMPLEX_COSTS",
    "Complex",
    "ComplexLowering",
    "argument",
    "chosen",
    "complex_scalar",
    "divided",
    "exponential_less_one",
    "exponential_of",
    "find_complex",
    "hyperbolic_cosine",
    "hyperbolic_sine",
    "hyperbolic_tangent",
    "logarithm_of",
    "logarithm_of_one_more",
    "modulus",
    "scaled",
    "times",
]

Complex = tuple[Value, Value]
ComplexLowering = Callable[[Builder, Sequence[Complex]], "Complex | Value"]

_lowerings: dict[str, ComplexLowering] = {}
_wide: set[str] = set()
COMPLEX_COSTS: dict[str, int] = {}


def complex_scalar(
    *names: str, cost: int = 2, wide: bool = False
) -> Callable[[ComplexLowering], ComplexLowering]:
    """Decorator that registers a lowering under the names of scalar ops.

    ``cost`` is roughly the number of additions that take the same time. If ``wide`` is True, the lowering computes in
    float64.
    """

    def register(function: ComplexLowering) -> ComplexLowering:
        for name in names:
            _lowerings[name] = function
            COMPLEX_COSTS[name] = cost
            if wide:
                _wide.add(name)
        return function

    return register


def find_complex(name: str) -> ComplexLowering | None:
    """The lowering of a scalar op for complex numbers, or None."""
    function = _lowerings.get(name)
    if function is None or name not in _wide:
        return function

    def narrowed(b: Builder, args: Sequence[Complex]) -> Complex | Value:
        dtype = args[0][0].dtype
        made = function(b, [(b.cast(re, "float64"), b.cast(im, "float64")) for re, im in args])
        if isinstance(made, Value):
            return b.cast(made, dtype) if made.dtype == "float64" else made
        return b.cast(made[0], dtype), b.cast(made[1], dtype)

    return narrowed


def _const(b: Builder, number: float, like: Value) -> Value:
    return b.const(number, like.dtype)


def times(b: Builder, x: Complex, y: Complex) -> Complex:
    """The product of two complex numbers, from the four products of their parts."""
    re = b.op("sub", b.op("mul", x[0], y[0]), b.op("mul", x[1], y[1]))
    return re, b.op("add", b.op("mul", x[0], y[1]), b.op("mul", x[1], y[0]))


def scaled(b: Builder, z: Complex, factor: Value) -> Complex:
    """The product of a complex and a real number."""
    return b.op("mul", z[0], factor), b.op("mul", z[1], factor)


def chosen(b: Builder, condition: Value, x: Complex, y: Complex) -> Complex:
    """The number ``x`` where the condition holds, else ``y``."""
    return b.select(condition, x[0], y[0]), b.select(condition, x[1], y[1])


def divided(b: Builder, x: Complex, y: Complex) -> Complex:
    """The quotient ``x / y``, by the algorithm of Smith, "Algorithm 116: complex division", 1962."""
    wide = b.op("le", b.op("abs", y[1]), b.op("abs", y[0]))
    large, small = b.select(wide, y[0], y[1]), b.select(wide, y[1], y[0])
    zero, one = _const(b, 0.0, large), _const(b, 1.0, large)
    vanishes = b.op("and", b.op("eq", large, zero), b.op("eq", small, zero))
    ratio = b.op("div", small, b.select(vanishes, one, large))
    scale = b.op("div", one, b.op("add", large, b.op("mul", small, ratio)))
    first, second = b.select(wide, x[0], x[1]), b.select(wide, x[1], x[0])
    re = b.op("mul", b.op("add", first, b.op("mul", second, ratio)), scale)
    rest = b.op("sub", second, b.op("mul", first, ratio))
    im = b.op("mul", b.select(wide, rest, b.op("neg", rest)), scale)
    plain = (b.op("div", x[0], b.op("abs", large)), b.op("div", x[1], b.op("abs", large)))
    return chosen(b, vanishes, plain, (re, im))


def modulus(b: Builder, z: Complex) -> Value:
    """The absolute value, within 1 ulp. If the squares of the parts would overflow or underflow, the parts are scaled
    first.
    """

    def double(number: float) -> Value:
        return b.const(number, "float64")

    large, small = (b.op(op, *[b.op("abs", part) for part in z]) for op in ("max", "min"))
    high = b.op("lt", double(2.0**500), large)
    low = b.op("lt", large, double(2.0**-450))
    factor = b.select(high, double(2.0**-600), b.select(low, double(2.0**600), double(1.0)))
    back = b.select(high, double(2.0**600), b.select(low, double(2.0**-600), double(1.0)))
    u, v = b.op("mul", large, factor), b.op("mul", small, factor)
    size = b.op("mul", b.op("sqrt", b.op("fma", u, u, b.op("mul", v, v))), back)
    # if one part is infinite, the absolute value is infinite, even if the other part is NaN
    infinity = double(math.inf)
    ends = [b.op("eq", b.op("abs", part), infinity) for part in z]
    return b.select(b.op("or", *ends), infinity, size)


def argument(b: Builder, z: Complex) -> Value:
    """The argument of z: its angle from -pi to pi."""
    return b.call("libm:atan2", "float64", z[1], z[0])


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
