"""`pow`: powers, computed as ``exp(y log x)``.

The logarithm and the product are pairs (`building_blocks`). `elemwise.transcendental` calls `pow` to lower the scalar
op of this name, for exponents that have no simpler formula.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from occelo_link.loops.elementary.building_blocks import (
    Pair,
    constant,
    fast_two_sum,
    horner,
    mantissa_and_exponent,
    scale,
    two_product,
    two_sum,
)
from occelo_link.loops.elementary.exponential import exp_parts
from occelo_link.loops.elementary.logarithm import log
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value

_LN2 = (0.6931471805599453, 2.3190468138462996e-17)
_TWO_THIRDS = (0.6666666666666666, 3.700743415417188e-17)
_TWO_FIFTHS = (0.4, -2.220446049250313e-17)
_R = (
    0.10628696830810742,
    0.10471785182759037,
    0.11766091950174559,
    0.13333313902684013,
    0.15384615532189713,
    0.18181818181268566,
    0.22222222222223,
    0.2857142857142857,
)  # (2 atanh(s) - 2 s - 2/3 s**3 - 2/5 s**5) / s**7 in s**2


def _pair_sum(b: Builder, x: Pair, y: Pair) -> Pair:
    total, lost = two_sum(b, x[0], y[0])
    return fast_two_sum(b, total, b.op("add", lost, b.op("add", x[1], y[1])))


def _pair_product(b: Builder, x: Pair, y: Pair) -> Pair:
    high, low = two_product(b, x[0], y[0])
    low = b.op("fma", x[0], y[1], low)
    low = b.op("fma", x[1], y[0], low)
    return fast_two_sum(b, high, low)


def _constant_pair(b: Builder, pair: tuple[float, float]) -> Pair:
    return constant(b, pair[0]), constant(b, pair[1])


def _log_pair(b: Builder, x: Value) -> Pair:
    """The logarithm of a positive finite number as a pair, with an error of about 2**-66."""
    m, k = mantissa_and_exponent(b, x, "positive")
    one = constant(b, 1.0)
    f = b.op("sub", m, one)
    below, below_low = two_sum(b, m, one)
    inverse = b.op("div", one, below)
    s_high = b.op("mul", f, inverse)
    rest = b.op("fma", b.op("neg", s_high), below, f)
    rest = b.op("fma", b.op("neg", s_high), below_low, rest)
    s = (s_high, b.op("mul", rest, inverse))
    z = _pair_product(b, s, s)
    tail = b.op("mul", z[0], horner(b, _R, z[0]))
    series = _pair_sum(b, _constant_pair(b, _TWO_FIFTHS), (tail, constant(b, 0.0)))
    series = _pair_product(b, z, series)
    series = _pair_sum(b, _constant_pair(b, _TWO_THIRDS), series)
    series = _pair_product(b, _pair_product(b, z, s), series)
    two = constant(b, 2.0)
    doubled = (b.op("mul", s[0], two), b.op("mul", s[1], two))
    whole = _pair_product(b, (k, constant(b, 0.0)), _constant_pair(b, _LN2))
    return _pair_sum(b, whole, _pair_sum(b, doubled, series))


def pow(b: Builder, x: Value, y: Value) -> Value:
    """Power within 2 ulp, with the special values of IEEE 754."""

    def exponent(size: Value, limited: Value) -> Pair:
        log_x = _log_pair(b, size)
        high, low = two_product(b, log_x[0], limited)
        return fast_two_sum(b, high, b.op("fma", log_x[1], limited, low))

    return _power(b, x, y, exponent)


def pow_of_float32(b: Builder, x: Value, y: Value) -> Value:
    """Power of numbers of float32, which are converted to float64, with an error below 2**-40."""

    def exponent(size: Value, limited: Value) -> Pair:
        return b.op("mul", log(b, size), limited), constant(b, 0.0)

    return _power(b, x, y, exponent)


def _power(b: Builder, x: Value, y: Value, exponent: Callable[[Value, Value], Pair]) -> Value:
    """The power from ``exponent(|x|, y)``, the product of the logarithm of a positive number and y."""
    zero, one, infinity = (constant(b, v) for v in (0.0, 1.0, math.inf))
    size = b.op("abs", x)
    usual = b.op("and", b.op("lt", zero, size), b.op("lt", size, infinity))
    # for larger exponents the power is the same: 0, 1 or infinity
    limit = constant(b, 1e100)
    limited = b.op("max", b.op("min", y, limit), b.op("neg", limit))
    high, low = exponent(b.select(usual, size, one), limited)
    over = b.op("lt", constant(b, 720.0), b.op("abs", high))
    low = b.select(over, zero, low)
    high = b.op("max", b.op("min", high, constant(b, 720.0)), constant(b, -760.0))
    p, k = exp_parts(b, high, low)
    result = scale(b, p, k)
    result = _at_zero_and_infinity(b, size, y, usual, result)
    return _signed(b, x, y, result)


def _at_zero_and_infinity(b: Builder, size: Value, y: Value, usual: Value, result: Value) -> Value:
    zero, infinity = constant(b, 0.0), constant(b, math.inf)
    up = b.op("xor", b.op("eq", size, zero), b.op("lt", zero, y))
    edge = b.select(up, infinity, zero)
    result = b.select(usual, result, edge)
    nan = b.op("ne", size, size)
    return b.select(nan, size, result)


def _signed(b: Builder, x: Value, y: Value, result: Value) -> Value:
    zero, one, half = (constant(b, v) for v in (0.0, 1.0, 0.5))
    whole = b.op("eq", b.op("trunc", y), y)
    halved = b.op("mul", y, half)
    odd = b.op("and", whole, b.op("ne", b.op("trunc", halved), halved))
    minus = b.op("lt", b.op("copysign", one, x), zero)
    flipped = b.select(b.op("and", odd, minus), b.op("neg", result), result)
    # invalid: a negative number to a power that is not whole; an infinite power counts as whole and even
    finite = b.op("lt", b.op("abs", x), constant(b, math.inf))
    invalid = b.op("and", b.op("and", b.op("lt", x, zero), finite), b.op("not", whole))
    flipped = b.select(invalid, constant(b, math.nan), flipped)
    flipped = b.select(b.op("eq", y, y), flipped, y)
    ones = b.op("or", b.op("eq", y, zero), b.op("eq", x, one))
    base = b.op("and", b.op("eq", x, constant(b, -1.0)), b.op(
        "eq", b.op("abs", y), constant(b, math.inf)
    ))  # fmt: skip
    return b.select(b.op("or", ones, base), one, flipped)
