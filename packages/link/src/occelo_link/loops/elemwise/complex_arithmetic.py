"""Lowerings of arithmetic on complex numbers, as pairs of real values.

`elemwise.complex` imports this module when a lowering for complex numbers is first looked up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from occelo_link.loops.elemwise.complex import (
    Complex,
    argument,
    chosen,
    complex_scalar,
    divided,
    modulus,
    times,
)
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value

__all__: list[str] = []

Args = Sequence[Complex]


@complex_scalar("add")
def _complex_add(b: Builder, args: Args) -> Complex:
    re, im = args[0]
    for other in args[1:]:
        re, im = b.op("add", re, other[0]), b.op("add", im, other[1])
    return re, im


@complex_scalar("sub")
def _complex_sub(b: Builder, args: Args) -> Complex:
    x, y = args
    return b.op("sub", x[0], y[0]), b.op("sub", x[1], y[1])


@complex_scalar("mul", cost=6)
def _complex_mul(b: Builder, args: Args) -> Complex:
    result = args[0]
    for other in args[1:]:
        result = times(b, result, other)
    return result


@complex_scalar("sqr", cost=6)
def _complex_sqr(b: Builder, args: Args) -> Complex:
    return times(b, args[0], args[0])


@complex_scalar("true_div", cost=20)
def _complex_true_div(b: Builder, args: Args) -> Complex:
    return divided(b, args[0], args[1])


@complex_scalar("reciprocal", cost=20)
def _complex_reciprocal(b: Builder, args: Args) -> Complex:
    [z] = args
    return divided(b, (b.const(1.0, z[0].dtype), b.const(0.0, z[0].dtype)), z)


@complex_scalar("neg")
def _complex_neg(b: Builder, args: Args) -> Complex:
    [z] = args
    return b.op("neg", z[0]), b.op("neg", z[1])


@complex_scalar("conj")
def _complex_conj(b: Builder, args: Args) -> Complex:
    [z] = args
    return z[0], b.op("neg", z[1])


@complex_scalar("real", cost=0)
def _complex_real(b: Builder, args: Args) -> Value:
    return args[0][0]


@complex_scalar("imag", cost=0)
def _complex_imag(b: Builder, args: Args) -> Value:
    return args[0][1]


@complex_scalar("complex", cost=0)
def _complex_complex(b: Builder, args: Args) -> Complex:
    return args[0][0], args[1][0]


@complex_scalar("identity", "cast", cost=0)
def _complex_identity(b: Builder, args: Args) -> Complex:
    return args[0]


@complex_scalar("second", cost=0)
def _complex_second(b: Builder, args: Args) -> Complex:
    return args[1]


@complex_scalar("switch", cost=3)
def _complex_switch(b: Builder, args: Args) -> Complex:
    condition, x, y = args
    holds = b.op("ne", condition[0], b.const(0.0, condition[0].dtype))
    return chosen(b, holds, x, y)


@complex_scalar("abs", cost=60, wide=True)
def _complex_abs(b: Builder, args: Args) -> Value:
    return modulus(b, args[0])


@complex_scalar("sign", cost=70, wide=True)
def _complex_sign(b: Builder, args: Args) -> Complex:
    """z / |z|, computed without overflow or loss of digits.

    Parts near the ends of the range are scaled by powers of two. If one part of z is infinite, the result is 1, -1, i
    or -i, as in NumPy.
    """
    z = args[0]
    zero, one, infinity = (b.const(x, "float64") for x in (0.0, 1.0, math.inf))
    infinite = [b.op("eq", b.op("abs", part), infinity) for part in z]
    ends = [
        b.select(end, b.op("copysign", one, part), zero)
        for end, part in zip(infinite, z, strict=True)
    ]
    largest = b.op("max", b.op("abs", z[0]), b.op("abs", z[1]))
    large = b.op("lt", b.const(2.0**1000, "float64"), largest)
    small = b.op("lt", largest, b.const(2.0**-900, "float64"))
    factor = b.select(large, b.const(0.25, "float64"), b.const(2.0**200, "float64"))
    factor = b.select(b.op("or", large, small), factor, one)
    inner = b.op("mul", z[0], factor), b.op("mul", z[1], factor)
    size = modulus(b, inner)
    vanishes = b.op("eq", size, zero)
    size = b.select(vanishes, one, size)
    found = chosen(
        b, vanishes, (zero, zero), (b.op("div", inner[0], size), b.op("div", inner[1], size))
    )
    nan = b.const(math.nan, "float64")
    found = chosen(b, b.op("or", *infinite), (ends[0], ends[1]), found)
    return chosen(b, b.op("and", *infinite), (nan, nan), found)


@complex_scalar("angle", cost=60, wide=True)
def _complex_angle(b: Builder, args: Args) -> Value:
    return argument(b, args[0])


@complex_scalar("eq")
def _complex_eq(b: Builder, args: Args) -> Value:
    x, y = args
    return b.op("and", b.op("eq", x[0], y[0]), b.op("eq", x[1], y[1]))


@complex_scalar("neq")
def _complex_neq(b: Builder, args: Args) -> Value:
    x, y = args
    return b.op("or", b.op("ne", x[0], y[0]), b.op("ne", x[1], y[1]))


@complex_scalar("isnan")
def _complex_isnan(b: Builder, args: Args) -> Value:
    [z] = args
    return b.op("or", b.op("ne", z[0], z[0]), b.op("ne", z[1], z[1]))


@complex_scalar("isinf")
def _complex_isinf(b: Builder, args: Args) -> Value:
    limit = b.const(math.inf, args[0][0].dtype)
    re, im = (b.op("eq", b.op("abs", part), limit) for part in args[0])
    return b.op("or", re, im)


@complex_scalar("isfinite")
def _complex_isfinite(b: Builder, args: Args) -> Value:
    limit = b.const(math.inf, args[0][0].dtype)
    re, im = (b.op("lt", b.op("abs", part), limit) for part in args[0])
    return b.op("and", re, im)


@complex_scalar("sqrt", cost=90, wide=True)
def _complex_sqrt(b: Builder, args: Args) -> Complex:
    """The square root of z = x + i y.

    Its parts are r = sqrt((|x| + |z|) / 2) and y / (2 r). The sign of x decides which of them is the real part. After
    Kahan, "Branch cuts for complex elementary functions", 1987.
    """
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
    # if the imaginary part is infinite, the result is infinite, even if the real part is NaN
    endless = b.op("eq", b.op("abs", y), infinity)
    re, im = b.select(endless, infinity, re), b.select(endless, infinity, im)
    return re, b.op("copysign", im, y)
