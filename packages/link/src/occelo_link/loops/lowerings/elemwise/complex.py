"""Registry of the lowerings of scalar ops on complex numbers, and complex arithmetic on pairs of real values.

`arithmetic` and `transcendental` register lowerings here. `elemwise.op`, `lowerings.reduce` and `real_or_complex`
look them up. `complex_functions`, `complex_inverses` and lowerings of linear algebra, such as `linalg.schur`, use the
arithmetic.

A lowering accepts a pair of real values for each argument: the real part and the imaginary part. It returns a pair or a
single real value, in the dtype of the parts. Functions that use exp, log and the like are computed in float64 and
rounded once.
"""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable, Sequence

from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value

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


@functools.cache
def _import_lowerings() -> None:
    for name in ("arithmetic", "transcendental"):
        importlib.import_module(f"occelo_link.loops.lowerings.elemwise.{name}")


def find_complex(name: str) -> ComplexLowering | None:
    """The lowering of a scalar op for complex numbers, or None."""
    _import_lowerings()
    function = _lowerings.get(name)
    if function is None or name not in _wide:
        return function

    def narrowed(b: Builder, args: Sequence[Complex]) -> Complex | Value:
        dtype = args[0][0].dtype
        value = function(b, [(b.cast(re, "float64"), b.cast(im, "float64")) for re, im in args])
        if isinstance(value, Value):
            return b.cast(value, dtype) if value.dtype == "float64" else value
        return b.cast(value[0], dtype), b.cast(value[1], dtype)

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


def square_root(b: Builder, z: Complex) -> Complex:
    """The square root of z = x + i y.

    Its parts are r = sqrt((|x| + |z|) / 2) and y / (2 r). The sign of x decides which of them is the real part. After
    Kahan, "Branch cuts for complex elementary functions", 1987.
    """
    x, y = z
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
    # if the imaginary part is infinite, the result is infinite, even if the real part is NaN
    endless = b.op("eq", b.op("abs", y), infinity)
    re, im = b.select(endless, infinity, re), b.select(endless, infinity, im)
    return re, b.op("copysign", im, y)
