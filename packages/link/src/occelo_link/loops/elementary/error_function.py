"""The error function `erf`, its complement `erfc`, and `erfcx`, which is ``exp(x**2) erfc(x)``.

`elemwise.transcendental` calls them to lower the scalar ops of the same names.

Near 0, ``erf(x) / x`` is computed as a polynomial in ``x**2``. For larger x, ``log(erfc(x)) / x`` is a polynomial in x for
erf, whose formula has no division (its form is that of Juffa's, see `_erf_of_float32`). For the others ``(1 + 2x) exp(x**2) erfc(x)`` is computed
as a polynomial in ``(x - K) / (x + K)`` with K = 3.75 (Shepherd and Laframboise, "Chebyshev approximation of (1 + 2x)
exp(x^2) erfc x", Mathematics of Computation 36, 1981).
"""

from __future__ import annotations

import math

from occelo_link.loops.elementary.building_blocks import (
    Pair,
    constant,
    fast_two_sum,
    horner,
    is_below,
    power_of_two,
    scale,
    two_chains,
    two_product,
    two_sum,
)
from occelo_link.loops.elementary.exponential import exp, exp_pair, exp_parts
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value

_K = 3.75
_ROOT = 0.5641895835477563  # 1 / sqrt(pi)
_ERF = (
    -4.230945824295338e-12,
    8.709045129053106e-11,
    -1.216456005728345e-09,
    1.4792401209404813e-08,
    -1.6364642158167616e-07,
    1.6462045441468418e-06,
    -1.4925647567519332e-05,
    0.00012055332902888736,
    -0.000854832702193483,
    0.0052239776254232985,
    -0.02686617064512984,
    0.1128379167095512,
    -0.37612638903183754,
    0.1283791670955126,
)  # erf(x) / x - 1 in x**2, up to x = 1
_ERF32 = (
    -5.96761703e-4,
    4.99119423e-3,
    -2.67681349e-2,
    1.12819925e-1,
    -3.76125336e-1,
    1.28379166e-1,
)  # erf(x) / x - 1 in x**2, up to x = 0.93
_LOG_OF_ERFC32 = (
    -1.72853470e-5,
    3.83197126e-4,
    -3.88396438e-3,
    2.42546219e-2,
    -1.06777877e-1,
    -6.34846687e-1,
    -1.28717512e-1,
)  # (log(erfc(x)) + x) / x in x, from x = 0.93 on
_LOG_OF_ERFC = (
    3.272769457226497e-14,
    -1.2331689768019428e-12,
    1.9359257135135808e-11,
    -1.3917394514107342e-10,
    -1.2335052159864237e-10,
    1.354665601361719e-08,
    -1.5998621553590573e-07,
    1.1486201656002606e-06,
    -5.876898636089175e-06,
    2.230198609180104e-05,
    -6.151123255106943e-05,
    0.00010703272326908272,
    -1.9706313712997973e-05,
    -0.0005511725957111175,
    0.0016699954856119483,
    -0.0001956125916513625,
    -0.019133674120009745,
    0.10277400925663638,
    0.6366195366831282,
    0.12837918561454284,
)  # -log(erfc(x)) / x - 1 in x, from 0.79 to 6, where its error matters as far as erfc(x) does
_ERFCX = (
    2.3860630382217525e-10,
    -3.8738915413036705e-09,
    -3.6114105396937343e-09,
    3.7112711850580335e-08,
    2.3292499973594014e-08,
    -2.578513998147095e-07,
    -5.7501532836000446e-08,
    1.7516408133107514e-06,
    -9.732203840715325e-07,
    -1.1444396688718516e-05,
    2.2384030369094827e-05,
    5.1649250725882926e-05,
    -0.0002901540040077682,
    0.0002937136195101557,
    0.0017556258357164943,
    -0.009746579550053558,
    0.02836227742125036,
    -0.058693398590408716,
    0.09230432116020998,
    -0.10880393014171144,
    0.0822767384901508,
    0.003585415485463733,
    -0.14024059858554702,
    1.2375126308378275,
)  # (1 + 2x) exp(x**2) erfc(x) in (x - K) / (x + K)

_ERFCX_LOW = 1.0528860575552289e-16  # the rounding error of the last coefficient of _ERFCX
_SLOPE = (
    0.6408780073798258,
    -0.7367791945968962,
    0.2125989256971007,
    0.05419313090343124,
    -0.13972117010038454,
)  # approximates the derivative of the polynomial _ERFCX
_SERIES = (
    10395.0,
    -945.0,
    105.0,
    -15.0,
    3.0,
    -1.0,
    0.0,
)  # sqrt(pi) x erfcx(x) - 1 in 1 / (2 x**2), from x = 28 on (DLMF 7.12.1)


def _near(b: Builder, x: Value) -> tuple[Value, Value]:
    """Two terms whose sum is erf(x), for ``|x| <= 1``: ``x``, and an approximation of erf(x) - x."""
    z = b.op("mul", x, x)
    return x, b.op("mul", x, two_chains(b, _ERF, z))


def _scaled(b: Builder, size: Value) -> Pair:
    """A pair whose sum is erfcx(size), for a size from 0.45 to 28.

    One division serves both quotients, whose errors are corrected.
    """
    k, one = constant(b, _K), constant(b, 1.0)
    above, above_low = two_sum(b, size, b.op("neg", k))
    below, below_low = two_sum(b, size, k)
    divisor, divisor_low = two_sum(b, b.op("add", size, size), one)
    both = b.op("div", one, b.op("mul", below, divisor))
    by_below, by_divisor = b.op("mul", both, divisor), b.op("mul", both, below)
    t = b.op("mul", above, by_below)
    minus = b.op("neg", t)
    lost = b.op("add", b.op("fma", minus, below, above), b.op("fma", minus, below_low, above_low))
    slope = b.op("mul", b.op("mul", lost, by_below), horner(b, _SLOPE, t))
    first = constant(b, _ERFCX[-1])
    top, top_low = fast_two_sum(b, first, b.op("mul", t, two_chains(b, _ERFCX[:-1], t)))
    top_low = b.op("add", top_low, b.op("add", slope, constant(b, _ERFCX_LOW)))
    quotient = b.op("mul", top, by_divisor)
    minus = b.op("neg", quotient)
    lost = b.op("fma", minus, divisor_low, b.op("fma", minus, divisor, top))
    return quotient, b.op("mul", b.op("add", lost, top_low), by_divisor)


def _far(b: Builder, size: Value) -> Value:
    """erfc(size), for a size from 0.45 to 28."""
    quotient, lost = _scaled(b, size)
    high, low = two_product(b, size, size)
    p, tail, power = exp_pair(b, b.op("neg", high), b.op("neg", low))
    product, rest = two_product(b, p, quotient)
    rest = b.op("fma", p, lost, rest)
    rest = b.op("fma", tail, quotient, rest)
    return scale(b, b.op("add", product, rest), power)


def _erf_of_float32(b: Builder, x: Value) -> Value:
    """The error function by formulas of Juffa ("Vectorizable implementation of the error function erff", 2016): near 0 a
    polynomial, and further out one minus the exponential of a polynomial.
    """
    one, size = constant(b, 1.0, x.dtype), b.op("abs", x)
    z = b.op("mul", x, x)
    near = b.op("fma", horner(b, _ERF32, z), x, x)
    far = b.op("fma", horner(b, _LOG_OF_ERFC32, size), size, b.op("neg", size))
    far = b.op("copysign", b.op("sub", one, exp(b, far)), x)
    return b.select(b.op("lt", constant(b, 0.927734375, x.dtype), size), far, near)


def erf(b: Builder, x: Value) -> Value:
    """The error function, within 1 ulp: near 0 by a polynomial, and further out as ``1 - exp(log(erfc(x)))``."""
    if x.dtype == "float32":
        return _erf_of_float32(b, x)
    size = b.op("abs", x)
    size = b.select(b.op("lt", constant(b, 6.0), size), constant(b, 6.0), size)
    one = constant(b, 1.0)
    # above 0.9 the polynomial has an error of up to 1.13 ulp
    inside = b.op("lt", size, constant(b, 0.8))
    base, rest = _near(b, b.select(inside, size, one))
    near = b.op("add", base, rest)
    size = b.select(inside, one, size)
    # the exponent is a pair: the less erfc is, the less its error matters
    high, low = two_product(b, size, two_chains(b, _LOG_OF_ERFC, size))
    total, rest = two_sum(b, size, high)
    p, k = exp_parts(b, b.op("neg", total), b.op("neg", b.op("add", rest, low)))
    far = b.op("fma", b.op("neg", p), power_of_two(b, k), one)
    value = b.select(inside, near, far)
    value = b.select(b.op("eq", x, x), value, x)
    return b.op("copysign", value, x)


def erfc(b: Builder, x: Value) -> Value:
    """1 - erf(x) within 2 ulp."""
    one, half = constant(b, 1.0), constant(b, 0.5)
    size = b.op("abs", x)
    size = b.select(b.op("lt", constant(b, 28.0), size), constant(b, 28.0), size)
    inside = b.op("lt", size, half)
    base, rest = _near(b, b.select(inside, x, constant(b, 0.0)))
    total, lost = fast_two_sum(b, one, b.op("neg", base))
    near = b.op("add", total, b.op("sub", lost, rest))
    far = _far(b, b.select(inside, one, size))
    negative = b.op("lt", x, constant(b, 0.0))
    far = b.select(negative, b.op("sub", constant(b, 2.0), far), far)
    value = b.select(inside, near, far)
    return b.select(b.op("eq", x, x), value, x)


def erfcx(b: Builder, x: Value) -> Value:
    """exp(x**2) erfc(x) within 2 ulp. It is infinite below -26.63, where exp(x**2) overflows."""
    zero, one, end = constant(b, 0.0), constant(b, 1.0), constant(b, 28.0)
    size = b.op("abs", x)
    inside = b.op("lt", size, constant(b, 0.5))
    outside = b.op("lt", end, size)
    limited = b.select(outside, end, size)
    high, low = two_product(b, limited, limited)
    p, tail, power = exp_pair(b, high, low)
    base, rest = _near(b, b.select(inside, x, zero))
    total, lost = fast_two_sum(b, one, b.op("neg", base))
    rest = b.op("sub", lost, rest)
    # exp(x**2), whose power of two is 0 here, times the pair
    product, near = two_product(b, p, total)
    near = b.op("add", near, b.op("fma", p, rest, b.op("mul", tail, b.op("add", total, rest))))
    near = b.op("add", product, near)
    quotient, lost = _scaled(b, b.select(inside, one, limited))
    inverse = b.op("div", constant(b, _ROOT), size)
    series = horner(b, _SERIES, b.op("div", constant(b, 0.5), b.op("mul", size, size)))
    quotient = b.select(outside, b.op("fma", inverse, series, inverse), quotient)
    lost = b.select(outside, zero, lost)
    # erfcx(-x) = 2 exp(x**2) - erfcx(x)
    twice = scale(b, b.op("add", p, p), power)
    total, rest = fast_two_sum(b, twice, b.op("neg", quotient))
    rest = b.op("add", rest, b.op("sub", scale(b, b.op("add", tail, tail), power), lost))
    negative = b.select(is_below(b, total, math.inf), b.op("add", total, rest), total)
    far = b.select(b.op("lt", x, zero), negative, b.op("add", quotient, lost))
    value = b.select(inside, near, far)
    return b.select(b.op("eq", x, x), value, x)
