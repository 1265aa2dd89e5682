"""Logarithms: log, log1p, log2, log10.

`elemwise.transcendental`, `elemwise.complex_functions`, `elemwise.complex_inverses` and `occelo_random.lowerings.quantiles` call these
functions to lower scalar ops. Hyperbolic functions call them, too.

A positive number is ``x = m * 2**k`` with ``m`` near 1, so ``log x = log m + k log 2``. Let ``f = m - 1`` and ``s = f /
(2 + f)``. Then ``log m = f - f*f/2 + s * (f*f/2 + R)``, where R is a polynomial in ``s*s``. The formula is that of
fdlibm's ``e_log.c`` (Sun Microsystems, 1993). The formula keeps the leading terms apart, so that they are not rounded.
"""

from __future__ import annotations

import math

from occelo_link.loops.elementary.building_blocks import (
    LAYOUTS,
    constant,
    fast_two_sum,
    horner,
    mantissa_and_exponent,
    two_sum,
)
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value

_LN2 = 0.6931471805599453
_R = (
    0.1463003136412286,
    0.15330617306743305,
    0.18182922513515942,
    0.22222210674238516,
    0.28571428628810996,
    0.3999999999989322,
    0.666666666666667,
)  # (2 atanh(s) - 2 s) / s**3, in s**2
_R32 = (
    0.23341943388714562,
    0.28550396959618013,
    0.40000125594554364,
    0.6666666654988318,
)
_LN2_AND_R = {
    "float64": (0.6931471803691238, 1.9082149292705877e-10, _R),
    "float32": (0.693145751953125, 1.4286068203094173e-06, _R32),
}
"""The natural logarithm of 2 as a sum, and the polynomial. The low bits of the first term are 0, so its product with k is exact."""


def _series(b: Builder, f: Value) -> tuple[Value, Value]:
    """Return the terms ``f*f/2`` and ``s * (f*f/2 + R)`` of the logarithm."""
    half = b.op("mul", b.op("mul", f, f), constant(b, 0.5, f.dtype))
    s = b.op("div", f, b.op("add", f, constant(b, 2.0, f.dtype)))
    z = b.op("mul", s, s)
    return half, b.op("mul", s, b.op("fma", z, horner(b, _LN2_AND_R[f.dtype][2], z), half))


def _natural(b: Builder, k: Value, f: Value, lost: Value | None = None) -> Value:
    """``log((1 + f + lost) * 2**k)``, for a ``lost`` that is far smaller than f."""
    half, rest = _series(b, f)
    ln2_high, ln2_low = (constant(b, n, f.dtype) for n in _LN2_AND_R[f.dtype][:2])
    low = b.op("fma", k, ln2_low, rest)
    if lost is not None:
        low = b.op("add", low, lost)
    inner = b.op("sub", b.op("sub", half, low), f)
    return b.op("fma", k, ln2_high, b.op("neg", inner))


def log(b: Builder, x: Value) -> Value:
    """Natural logarithm within 1 ulp."""
    m, k = mantissa_and_exponent(b, x, "any")
    return _natural(b, k, b.op("sub", m, constant(b, 1.0, x.dtype)))


def minus_log_of_normal(b: Builder, x: Value, start: float = 0.0) -> Value:
    """``start - log(x)``, for a positive x that is neither subnormal nor infinite.

    If ``start`` is 0 and x is at most 1, the error is below 3 ulp. In this case few digits cancel, so the leading terms
    need not be kept apart.
    """
    m, k = mantissa_and_exponent(b, x, "normal")
    s = b.op("div", b.op("sub", m, constant(b, 1.0)), b.op("add", m, constant(b, 1.0)))
    of_mantissa = b.op("mul", s, horner(b, (*_R, 2.0), b.op("mul", s, s)))
    rest = b.op("sub", constant(b, start), of_mantissa) if start else b.op("neg", of_mantissa)
    return b.op("fma", k, constant(b, -_LN2), rest)


def log1p(b: Builder, x: Value) -> Value:
    """log(1 + x) within 1 ulp."""
    layout, one = LAYOUTS[x.dtype], constant(b, 1.0, x.dtype)
    u, lost = two_sum(b, one, x)
    m, k = mantissa_and_exponent(b, u, "special")
    # the bits of 2**-k, or of 0 if that is too small
    bits = b.op("sub", b.op("bits", m, dtype=layout.bits), b.op("bits", u, dtype=layout.bits))
    bits = b.op("add", bits, b.const(layout.one, layout.bits))
    factor = b.op("bits", b.op("max", bits, b.const(0, layout.bits)), dtype=x.dtype)
    f, lost = fast_two_sum(b, b.op("sub", m, one), b.op("mul", lost, factor))
    result = b.op("copysign", _natural(b, k, f, lost), x)
    return b.select(b.op("lt", x, constant(b, math.inf, x.dtype)), result, x)


def log1p_of_unit(b: Builder, x: Value) -> Value:
    """log(1 + x) within 1 ulp, for an x from 0 to 1."""
    zero, half = constant(b, 0.0, x.dtype), constant(b, 0.5, x.dtype)
    large = b.op("lt", constant(b, 0.41421356237309503, x.dtype), x)
    f = b.select(large, b.op("fma", x, half, constant(b, -0.5, x.dtype)), x)
    square, rest = _series(b, f)
    high, low = (constant(b, n, x.dtype) for n in _LN2_AND_R[x.dtype][:2])
    lost = b.op("fma", x, half, b.op("neg", b.op("add", f, half)))  # if x is below 1/2
    low = b.op("add", rest, b.select(large, b.op("add", low, lost), zero))
    inner = b.op("sub", b.op("sub", square, low), f)
    return b.op("sub", b.select(large, high, zero), inner)


def _edges(b: Builder, x: Value, result: Value) -> Value:
    """Replace ``result`` for special x: infinity, 0, numbers below 0, and NaN."""
    infinity, zero = (constant(b, n, x.dtype) for n in (math.inf, 0.0))
    result = b.select(b.op("eq", x, infinity), infinity, result)
    result = b.select(b.op("eq", x, zero), constant(b, -math.inf, x.dtype), result)
    # if this is False, x is below 0 or NaN
    return b.select(b.op("le", zero, x), result, constant(b, math.nan, x.dtype))


_LOG2 = {
    "float64": (1.4426946640014648, 3.768874985636099e-07, 1.0, 0.0),
    "float32": (1.44287109375, -1.7605285393074155e-04, 1.0, 0.0),
}
_LOG10 = {
    "float64": (0.4342944622039795, 1.9699272335463627e-08, 0.30102992057800293, 7.508597826552624e-08),
    "float32": (0.434326171875, -3.1689971365267411e-05, 0.3010292053222656, 7.9034151668e-07),
}  # fmt: skip
"""The logarithms of e and of 2 as sums. The first terms have few bits, so their products are exact."""


def _to_base(b: Builder, x: Value, sums: tuple[float, float, float, float]) -> Value:
    """The logarithm of ``x = m * 2**k`` to another base: ``log(m) * (high + low) + k * (unit_high + unit_low)``.

    As in FreeBSD's ``e_log2.c`` and ``e_log2f.c`` (Sun Microsystems, 1993).
    """
    high, low, unit_high, unit_low = (constant(b, n, x.dtype) for n in sums)
    m, k = mantissa_and_exponent(b, x, "positive")
    f = b.op("sub", m, constant(b, 1.0, x.dtype))
    half, rest = _series(b, f)
    plain = b.op("sub", f, half)
    layout = LAYOUTS[x.dtype]
    mask = b.const(-(2 ** (32 if x.dtype == "float64" else 12)), layout.bits)
    top = b.op("bits", b.op("and", b.op("bits", plain, dtype=layout.bits), mask), dtype=x.dtype)
    bottom = b.op("add", b.op("sub", b.op("sub", f, top), half), rest)
    main = b.op("mul", top, high)
    small = b.op("mul", b.op("add", top, bottom), low)
    small = b.op("fma", bottom, high, small)
    small = b.op("fma", k, unit_low, small)
    unit = b.op("mul", k, unit_high)
    total = b.op("add", unit, main)
    small = b.op("add", small, b.op("add", b.op("sub", unit, total), main))
    return _edges(b, x, b.op("add", total, small))


def log2(b: Builder, x: Value) -> Value:
    """Logarithm to base 2 within 1 ulp."""
    return _to_base(b, x, _LOG2[x.dtype])


def log10(b: Builder, x: Value) -> Value:
    """Logarithm to base 10 within 1 ulp."""
    return _to_base(b, x, _LOG10[x.dtype])
