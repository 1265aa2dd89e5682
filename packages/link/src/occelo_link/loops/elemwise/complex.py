"""Scalar lowerings for complex numbers, which are pairs of real ones.

A function takes pairs in the dtype of the parts and gives a pair, or one real number. What is computed with exp, log
and the like is computed in float64, and rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from occelo_link.loops.elementary import exponential, hyperbolic, logarithm, trigonometric
from occelo_link.loops.elementary.building_blocks import two_product, two_sum
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value

__all__ = ["COMPLEX_COSTS", "Complex", "ComplexLowering", "find_complex"]

Complex = tuple[Value, Value]
ComplexLowering = Callable[[Builder, Sequence[Complex]], "Complex | Value"]

_rows: dict[str, ComplexLowering] = {}
_wide: set[str] = set()
COMPLEX_COSTS: dict[str, int] = {}


def complex_scalar(
    *names: str, cost: int = 2, wide: bool = False
) -> Callable[[ComplexLowering], ComplexLowering]:
    """Register the lowering of table rows; ``wide`` ones are computed in float64."""

    def register(function: ComplexLowering) -> ComplexLowering:
        for name in names:
            _rows[name] = function
            COMPLEX_COSTS[name] = cost
            if wide:
                _wide.add(name)
        return function

    return register


def find_complex(name: str) -> ComplexLowering | None:
    """The lowering of a row for complex numbers; None if there is none."""
    function = _rows.get(name)
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
    """The product, by the four products of parts."""
    re = b.op("sub", b.op("mul", x[0], y[0]), b.op("mul", x[1], y[1]))
    return re, b.op("add", b.op("mul", x[0], y[1]), b.op("mul", x[1], y[0]))


def scaled(b: Builder, z: Complex, factor: Value) -> Complex:
    """The product with a real number."""
    return b.op("mul", z[0], factor), b.op("mul", z[1], factor)


def chosen(b: Builder, condition: Value, x: Complex, y: Complex) -> Complex:
    """The first where the condition holds, else the second."""
    return b.select(condition, x[0], y[0]), b.select(condition, x[1], y[1])


def divided(b: Builder, x: Complex, y: Complex) -> Complex:
    """Smith, "Algorithm 116: complex division", 1962."""
    wide = b.op("le", b.op("abs", y[1]), b.op("abs", y[0]))
    large, small = b.select(wide, y[0], y[1]), b.select(wide, y[1], y[0])
    zero, one = _const(b, 0.0, large), _const(b, 1.0, large)
    nothing = b.op("and", b.op("eq", large, zero), b.op("eq", small, zero))
    ratio = b.op("div", small, b.select(nothing, one, large))
    scale = b.op("div", one, b.op("add", large, b.op("mul", small, ratio)))
    first, second = b.select(wide, x[0], x[1]), b.select(wide, x[1], x[0])
    re = b.op("mul", b.op("add", first, b.op("mul", second, ratio)), scale)
    rest = b.op("sub", second, b.op("mul", first, ratio))
    im = b.op("mul", b.select(wide, rest, b.op("neg", rest)), scale)
    plain = (b.op("div", x[0], b.op("abs", large)), b.op("div", x[1], b.op("abs", large)))
    return chosen(b, nothing, plain, (re, im))


@complex_scalar("add")
def _add(b: Builder, args: Sequence[Complex]) -> Complex:
    re, im = args[0]
    for other in args[1:]:
        re, im = b.op("add", re, other[0]), b.op("add", im, other[1])
    return re, im


@complex_scalar("sub")
def _sub(b: Builder, args: Sequence[Complex]) -> Complex:
    x, y = args
    return b.op("sub", x[0], y[0]), b.op("sub", x[1], y[1])


@complex_scalar("mul", cost=6)
def _mul(b: Builder, args: Sequence[Complex]) -> Complex:
    result = args[0]
    for other in args[1:]:
        result = times(b, result, other)
    return result


@complex_scalar("sqr", cost=6)
def _sqr(b: Builder, args: Sequence[Complex]) -> Complex:
    return times(b, args[0], args[0])


@complex_scalar("true_div", cost=20)
def _true_div(b: Builder, args: Sequence[Complex]) -> Complex:
    return divided(b, args[0], args[1])


@complex_scalar("reciprocal", cost=20)
def _reciprocal(b: Builder, args: Sequence[Complex]) -> Complex:
    [z] = args
    return divided(b, (_const(b, 1.0, z[0]), _const(b, 0.0, z[0])), z)


@complex_scalar("neg")
def _neg(b: Builder, args: Sequence[Complex]) -> Complex:
    [z] = args
    return b.op("neg", z[0]), b.op("neg", z[1])


@complex_scalar("conj")
def _conj(b: Builder, args: Sequence[Complex]) -> Complex:
    [z] = args
    return z[0], b.op("neg", z[1])


@complex_scalar("real", cost=0)
def _real(b: Builder, args: Sequence[Complex]) -> Value:
    return args[0][0]


@complex_scalar("imag", cost=0)
def _imag(b: Builder, args: Sequence[Complex]) -> Value:
    return args[0][1]


@complex_scalar("complex", cost=0)
def _complex(b: Builder, args: Sequence[Complex]) -> Complex:
    return args[0][0], args[1][0]


@complex_scalar("identity", "cast", cost=0)
def _identity(b: Builder, args: Sequence[Complex]) -> Complex:
    return args[0]


@complex_scalar("second", cost=0)
def _second(b: Builder, args: Sequence[Complex]) -> Complex:
    return args[1]


@complex_scalar("switch", cost=3)
def _switch(b: Builder, args: Sequence[Complex]) -> Complex:
    condition, x, y = args
    holds = b.op("ne", condition[0], _const(b, 0.0, condition[0]))
    return chosen(b, holds, x, y)


def modulus(b: Builder, z: Complex) -> Value:
    """The absolute value, within 1 ulp; squares that would leave the range are scaled by powers of two."""

    def double(number: float) -> Value:
        return b.const(number, "float64")

    large, small = (b.op(op, *[b.op("abs", part) for part in z]) for op in ("max", "min"))
    high = b.op("lt", double(2.0**500), large)
    low = b.op("lt", large, double(2.0**-450))
    factor = b.select(high, double(2.0**-600), b.select(low, double(2.0**600), double(1.0)))
    back = b.select(high, double(2.0**600), b.select(low, double(2.0**-600), double(1.0)))
    u, v = b.op("mul", large, factor), b.op("mul", small, factor)
    size = b.op("mul", b.op("sqrt", b.op("fma", u, u, b.op("mul", v, v))), back)
    # an infinite part wins over all else, NaN too
    infinity = double(math.inf)
    ends = [b.op("eq", b.op("abs", part), infinity) for part in z]
    return b.select(b.op("or", *ends), infinity, size)


def argument(b: Builder, z: Complex) -> Value:
    """The angle."""
    return b.call("libm:atan2", "float64", z[1], z[0])


@complex_scalar("abs", cost=60, wide=True)
def _abs(b: Builder, args: Sequence[Complex]) -> Value:
    return modulus(b, args[0])


@complex_scalar("angle", cost=60, wide=True)
def _angle(b: Builder, args: Sequence[Complex]) -> Value:
    return argument(b, args[0])


# comparisons


@complex_scalar("eq")
def _eq(b: Builder, args: Sequence[Complex]) -> Value:
    x, y = args
    return b.op("and", b.op("eq", x[0], y[0]), b.op("eq", x[1], y[1]))


@complex_scalar("neq")
def _neq(b: Builder, args: Sequence[Complex]) -> Value:
    x, y = args
    return b.op("or", b.op("ne", x[0], y[0]), b.op("ne", x[1], y[1]))


@complex_scalar("isnan")
def _isnan(b: Builder, args: Sequence[Complex]) -> Value:
    [z] = args
    return b.op("or", b.op("ne", z[0], z[0]), b.op("ne", z[1], z[1]))


@complex_scalar("isinf")
def _isinf(b: Builder, args: Sequence[Complex]) -> Value:
    limit = _const(b, math.inf, args[0][0])
    re, im = (b.op("eq", b.op("abs", part), limit) for part in args[0])
    return b.op("or", re, im)


@complex_scalar("isfinite")
def _isfinite(b: Builder, args: Sequence[Complex]) -> Value:
    limit = _const(b, math.inf, args[0][0])
    re, im = (b.op("lt", b.op("abs", part), limit) for part in args[0])
    return b.op("and", re, im)


# exponentials, logarithms, roots


def _function(name: str, function: Callable[[Builder, Value], Value]) -> Callable[..., Value]:
    return lambda b, x: b.apply(name, function, x)  # pyright: ignore[reportUnknownLambdaType, reportUnknownMemberType, reportUnknownVariableType]


exp, expm1 = _function("exp", exponential.exp), _function("expm1", exponential.expm1)
log, log1p = _function("log", logarithm.log), _function("log1p", logarithm.log1p)
sin, cos = _function("sin", trigonometric.sin), _function("cos", trigonometric.cos)
sinh, cosh = _function("sinh", hyperbolic.sinh), _function("cosh", hyperbolic.cosh)

_FAR = 700.0
"""From here on exp is computed in two factors, since one may overflow where the product does not."""


def exponential_of(b: Builder, z: Complex) -> Complex:
    """exp(x) (cos y + i sin y)."""
    x, y = z
    zero = _const(b, 0.0, x)
    far = b.op("lt", _const(b, _FAR, x), x)
    rest = b.select(far, b.op("sub", x, _const(b, _FAR, x)), x)
    factor = exp(b, rest)
    more = b.select(far, _const(b, math.exp(_FAR), x), _const(b, 1.0, x))
    re = b.op("mul", b.op("mul", factor, cos(b, y)), more)
    im = b.op("mul", b.op("mul", factor, sin(b, y)), more)
    # a real number stays one, however large; where exp is 0 the angle does not matter
    real = b.op("eq", y, zero)
    endless = b.op("ne", b.op("sub", y, y), zero)
    nothing = b.op("and", b.op("eq", x, _const(b, -math.inf, x)), endless)
    im = b.select(b.op("or", real, nothing), b.op("copysign", zero, y), im)
    whole = b.op("mul", factor, more)
    return b.select(b.op("or", real, nothing), whole, re), im


@complex_scalar("exp", cost=90, wide=True)
def _exp(b: Builder, args: Sequence[Complex]) -> Complex:
    return exponential_of(b, args[0])


@complex_scalar("exp2", cost=90, wide=True)
def _exp2(b: Builder, args: Sequence[Complex]) -> Complex:
    return exponential_of(b, scaled(b, args[0], b.const(math.log(2), "float64")))


@complex_scalar("expm1", cost=120, wide=True)
def _expm1(b: Builder, args: Sequence[Complex]) -> Complex:
    """exp(x) cos y - 1 without cancellation: expm1(x) cos y - 2 sin(y/2)^2."""
    x, y = args[0]
    half = sin(b, b.op("mul", y, b.const(0.5, "float64")))
    lost = b.op("mul", b.const(2.0, "float64"), b.op("mul", half, half))
    re = b.op("sub", b.op("mul", expm1(b, x), cos(b, y)), lost)
    return re, b.op("mul", exp(b, x), sin(b, y))


def logarithm_of(b: Builder, z: Complex) -> Complex:
    """log|z| and the angle; near |z| = 1 by log1p of |z|^2 - 1, whose digits are kept."""
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


@complex_scalar("log", cost=200, wide=True)
def _log(b: Builder, args: Sequence[Complex]) -> Complex:
    return logarithm_of(b, args[0])


@complex_scalar("log2", cost=200, wide=True)
def _log2(b: Builder, args: Sequence[Complex]) -> Complex:
    return scaled(b, logarithm_of(b, args[0]), b.const(1 / math.log(2), "float64"))


@complex_scalar("log10", cost=200, wide=True)
def _log10(b: Builder, args: Sequence[Complex]) -> Complex:
    return scaled(b, logarithm_of(b, args[0]), b.const(1 / math.log(10), "float64"))


@complex_scalar("log1p", cost=200, wide=True)
def _log1p(b: Builder, args: Sequence[Complex]) -> Complex:
    """log1p(x (2 + x) + y^2) / 2, the square of |1 + z| less 1; by log|1 + z| where that is large."""
    x, y = args[0]
    two, half = b.const(2.0, "float64"), b.const(0.5, "float64")
    shifted = b.op("add", x, b.const(1.0, "float64"))
    square = b.op("add", b.op("mul", x, b.op("add", two, x)), b.op("mul", y, y))
    near = b.op("mul", half, log1p(b, square))
    close = b.op("lt", b.op("max", b.op("abs", x), b.op("abs", y)), half)
    whole, angle = logarithm_of(b, (shifted, y))
    return b.select(close, near, whole), angle


@complex_scalar("sqrt", cost=90, wide=True)
def _sqrt(b: Builder, args: Sequence[Complex]) -> Complex:
    """sqrt((|x| + |z|) / 2) and y divided by twice that; Kahan, "Branch cuts for complex elementary functions", 1987."""
    x, y = args[0]
    zero, infinity = b.const(0.0, "float64"), b.const(math.inf, "float64")
    largest = b.op("max", b.op("abs", x), b.op("abs", y))
    big = b.op("lt", b.const(1e300, "float64"), largest)
    tiny = b.op("lt", largest, b.const(1e-290, "float64"))
    factor = b.select(
        big,
        b.const(2.0**-4, "float64"),
        b.select(tiny, b.const(2.0**108, "float64"), b.const(1.0, "float64")),
    )
    back = b.select(
        big,
        b.const(4.0, "float64"),
        b.select(tiny, b.const(2.0**-54, "float64"), b.const(1.0, "float64")),
    )
    u, v = b.op("mul", x, factor), b.op("mul", y, factor)
    mean = b.op("mul", b.const(0.5, "float64"), b.op("add", b.op("abs", u), modulus(b, (u, v))))
    root = b.op("sqrt", mean)
    none = b.op("eq", root, zero)
    safe = b.select(none, b.const(1.0, "float64"), root)
    other = b.op("div", b.op("abs", v), b.op("add", safe, safe))
    root, other = b.op("mul", root, back), b.op("mul", other, back)
    right = b.op("le", zero, x)
    re, im = b.select(right, root, other), b.select(right, other, root)
    # an infinite imaginary part wins over all else, NaN too
    endless = b.op("eq", b.op("abs", y), infinity)
    re, im = b.select(endless, infinity, re), b.select(endless, infinity, im)
    return re, b.op("copysign", im, y)


@complex_scalar("sigmoid", cost=120, wide=True)
def _sigmoid(b: Builder, args: Sequence[Complex]) -> Complex:
    [z] = args
    one, zero = b.const(1.0, "float64"), b.const(0.0, "float64")
    power = exponential_of(b, (b.op("neg", z[0]), b.op("neg", z[1])))
    return divided(b, (one, zero), (b.op("add", one, power[0]), power[1]))


# trigonometric and hyperbolic functions


def _turned(z: Complex, b: Builder) -> Complex:
    """i z."""
    return b.op("neg", z[1]), z[0]


def spread(b: Builder, size: Value, part: Value) -> Value:
    """A product that is 0 where the second factor is, even if the first has overflown."""
    nothing = b.op("eq", part, b.const(0.0, "float64"))
    signed = b.op("mul", b.op("copysign", b.const(1.0, "float64"), size), part)
    return b.select(nothing, signed, b.op("mul", size, part))


def hyperbolic_sine(b: Builder, z: Complex) -> Complex:
    """sinh x cos y + i cosh x sin y."""
    x, y = z
    return b.op("mul", sinh(b, x), cos(b, y)), spread(b, cosh(b, x), sin(b, y))


def hyperbolic_cosine(b: Builder, z: Complex) -> Complex:
    """cosh x cos y + i sinh x sin y."""
    x, y = z
    return b.op("mul", cosh(b, x), cos(b, y)), spread(b, sinh(b, x), sin(b, y))


def hyperbolic_tangent(b: Builder, z: Complex) -> Complex:
    """(sinh x cosh x + i sin y cos y) / (sinh(x)^2 + cos(y)^2); far out 1 and a small imaginary part."""
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


@complex_scalar("sinh", cost=150, wide=True)
def _sinh(b: Builder, args: Sequence[Complex]) -> Complex:
    return hyperbolic_sine(b, args[0])


@complex_scalar("cosh", cost=150, wide=True)
def _cosh(b: Builder, args: Sequence[Complex]) -> Complex:
    return hyperbolic_cosine(b, args[0])


@complex_scalar("tanh", cost=200, wide=True)
def _tanh(b: Builder, args: Sequence[Complex]) -> Complex:
    return hyperbolic_tangent(b, args[0])


@complex_scalar("sin", cost=150, wide=True)
def _sin(b: Builder, args: Sequence[Complex]) -> Complex:
    """-i sinh(i z)."""
    re, im = hyperbolic_sine(b, _turned(args[0], b))
    return im, b.op("neg", re)


@complex_scalar("cos", cost=150, wide=True)
def _cos(b: Builder, args: Sequence[Complex]) -> Complex:
    """cosh(i z)."""
    return hyperbolic_cosine(b, _turned(args[0], b))


@complex_scalar("tan", cost=200, wide=True)
def _tan(b: Builder, args: Sequence[Complex]) -> Complex:
    """-i tanh(i z)."""
    re, im = hyperbolic_tangent(b, _turned(args[0], b))
    return im, b.op("neg", re)
