"""Elementary functions that compute in float32: exp, log, sigmoid and tanh, which are used most.

`elemwise.transcendental` calls them to lower these four ops for float32. All other functions of float32 numbers are
computed in float64. The formulas are those of the float64 functions, with shorter polynomials.
"""

from __future__ import annotations

import math

from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value

_LOG2_E = 1.4426950408889634
_LN2_HIGH = 0.693359375  # it has few bits, so its product with k is exact
_LN2_LOW = -2.1219444005469057e-4
_Q = (
    0.00019891268510107283,
    0.0013933900050040087,
    0.008333310674603188,
    0.041666462666195954,
    0.1666666668187505,
    0.5000000013692557,
)  # (exp(r) - 1 - r) / r**2
_R = (
    0.23341943388714562,
    0.28550396959618013,
    0.40000125594554364,
    0.6666666654988318,
)  # (2 atanh(s) - 2 s) / s**3 in s**2
_T = (
    0.00012039187338861896,
    -0.000836785756200234,
    0.003071458719558139,
    -0.00858901911577903,
    0.021781847656185967,
    -0.053952360612823255,
    0.13333191254511548,
    -0.3333332890862375,
)  # (tanh(x) - x) / x**3 in x**2, up to 1
_MAGIC = 12582912.0  # 1.5 * 2**23
_ONE_BITS = 0x3F800000
_ROOT_HALF_BITS = 0x3F3504F3
_LN2_TOP = 0.693145751953125
_LN2_REST = 1.4286068203094173e-06


def _constant(b: Builder, number: float) -> Value:
    return b.const(number, "float32")


def _horner(b: Builder, coefficients: tuple[float, ...], x: Value) -> Value:
    total = _constant(b, coefficients[0])
    for c in coefficients[1:]:
        total = b.op("fma", total, x, _constant(b, c))
    return total


def _power_of_two(b: Builder, k: Value) -> Value:
    bits = b.op("bits", b.op("add", k, _constant(b, _MAGIC)), dtype="int32")
    shifted = b.op("shl", bits, b.const(23, "int32"))
    return b.op("bits", b.op("add", shifted, b.const(_ONE_BITS, "int32")), dtype="float32")


def exp(b: Builder, x: Value) -> Value:
    """e ** x, within 1 ulp."""
    low, high = _constant(b, -104.5), _constant(b, 89.5)
    x = b.select(b.op("lt", x, low), low, x)
    x = b.select(b.op("lt", high, x), high, x)
    k = b.op("rint", b.op("mul", x, _constant(b, _LOG2_E)))
    minus = b.op("neg", k)
    r = b.op("fma", minus, _constant(b, _LN2_HIGH), x)
    r = b.op("fma", minus, _constant(b, _LN2_LOW), r)
    # 1 + r is computed exactly, so that only the small rest is rounded twice
    one = _constant(b, 1.0)
    total = b.op("add", one, r)
    rest = b.op("add", b.op("sub", one, total), r)
    tail = b.op("fma", b.op("mul", r, r), _horner(b, _Q, r), rest)
    p = b.op("add", total, tail)
    half = b.op("rint", b.op("mul", k, _constant(b, 0.5)))
    scaled = b.op("mul", p, _power_of_two(b, half))
    return b.op("mul", scaled, _power_of_two(b, b.op("sub", k, half)))


def log(b: Builder, x: Value) -> Value:
    """The natural logarithm, within 1 ulp."""
    small = b.op("lt", x, _constant(b, 2.0**-126))
    scaled = b.select(small, b.op("mul", x, _constant(b, 2.0**25)), x)
    bits = b.op("bits", scaled, dtype="int32")
    moved = b.op("add", bits, b.const(_ONE_BITS - _ROOT_HALF_BITS, "int32"))
    biased = b.op("shr", b.op("bits", moved, dtype="uint32"), b.const(23, "uint32"))
    biased = b.op("bits", biased, dtype="int32")
    shifted = b.op("shl", b.op("sub", biased, b.const(127, "int32")), b.const(23, "int32"))
    m = b.op("bits", b.op("sub", bits, shifted), dtype="float32")
    offset = b.select(small, _constant(b, 152.0), _constant(b, 127.0))
    k = b.op("sub", b.cast(biased, "float32"), offset)
    f = b.op("sub", m, _constant(b, 1.0))
    half = b.op("mul", b.op("mul", f, f), _constant(b, 0.5))
    s = b.op("div", f, b.op("add", f, _constant(b, 2.0)))
    z = b.op("mul", s, s)
    rest = b.op("mul", s, b.op("fma", z, _horner(b, _R, z), half))
    low = b.op("mul", k, _constant(b, _LN2_REST))
    inner = b.op("sub", b.op("sub", half, b.op("add", rest, low)), f)
    result = b.op("sub", b.op("mul", k, _constant(b, _LN2_TOP)), inner)
    infinity, zero = _constant(b, math.inf), _constant(b, 0.0)
    result = b.select(b.op("eq", x, infinity), infinity, result)
    result = b.select(b.op("eq", x, zero), _constant(b, -math.inf), result)
    return b.select(b.op("le", zero, x), result, _constant(b, math.nan))


def sigmoid(b: Builder, x: Value) -> Value:
    """1 / (1 + exp(-x)), without overflow."""
    small = exp(b, b.op("neg", b.op("abs", x)))
    one = _constant(b, 1.0)
    above = b.select(b.op("lt", x, _constant(b, 0.0)), small, one)
    return b.op("div", above, b.op("add", one, small))


def tanh(b: Builder, x: Value) -> Value:
    """The hyperbolic tangent, within 1 ulp."""
    one, two = _constant(b, 1.0), _constant(b, 2.0)
    size = b.op("abs", x)
    square = b.op("mul", size, size)
    near = b.op("fma", b.op("mul", size, square), _horner(b, _T, square), size)
    above = b.op("add", exp(b, b.op("add", size, size)), one)
    far = b.op("sub", one, b.op("div", two, above))
    return b.op("copysign", b.select(b.op("lt", size, one), near, far), x)
