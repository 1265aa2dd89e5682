"""The logarithm of the gamma function, and its derivative `psi`, as loop programs.

Near 1 and 2, where the logarithm has its roots, it is a polynomial times the distance from the root; above, Stirling's series is replaced
by a polynomial in ``1 / x**2`` (DLMF 5.11.1), and the same is done for `psi` (5.11.2), which has a polynomial around its root. Negative arguments
are reflected (5.5.3, 5.5.4). The polynomials interpolate at Chebyshev's points.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from occelo_link.loops.elementary import logarithm
from occelo_link.loops.elementary.building_blocks import (
    constant,
    fast_two_sum,
    horner,
    is_below,
    two_product,
)
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowerings.elemwise.scalar import lowers_scalar_to_loops

_NEAR = (
    0.22572465091022406,
    -0.2187406585345881,
    -0.15451312846864212,
    0.13542077457632806,
    0.14615630186062623,
    -0.13438726490702405,
    0.01401846525674186,
    -0.022456051679162866,
    0.05998208640697869,
    -0.06121615823425831,
    0.0577132948243038,
    -0.061705415608634656,
    0.0667857419916784,
    -0.07150989282636849,
    0.07692398168109267,
    -0.08334878150293593,
    0.09095443749385229,
    -0.10009967655333044,
    0.11133425250711947,
    -0.1255096636295921,
    0.1440498970225762,
    -0.16955717708657106,
    0.20738555102616543,
    -0.2705808084271579,
    0.4006856343865412,
    -0.8224670334241145,
    0.5772156649015329,
)  # -log gamma(1 + d) / d in d, from -0.5 to 0.5
_MIDDLE = (
    -5.200013202462422e-15,
    1.5070099685364548e-14,
    3.817049986451688e-14,
    -1.0181140177930308e-13,
    -3.060738599289433e-13,
    8.357782045240465e-13,
    9.210431897559642e-14,
    2.1087518936203456e-13,
    -8.3990042167809e-12,
    2.5090062892971306e-11,
    -6.391229728488612e-11,
    2.049429615534678e-10,
    -6.727126623458867e-10,
    2.1426773516224807e-09,
    -6.844922838471517e-09,
    2.20556741384158e-08,
    -7.152551390802596e-08,
    2.336870841869176e-07,
    -7.707166398554052e-07,
    2.571979190146659e-06,
    -8.712849587606865e-06,
    3.0101124360208656e-05,
    -0.00010678360732625726,
    0.00039312727140126236,
    -0.0015286783000939897,
    0.006484486727878134,
    -0.03217012111440857,
    0.22963715453852182,
    0.6931471805599453,
)  # log gamma(x) / (x - 2) in x - 3, from 1.5 to 4.5
_STIRLING = (
    0.048410347898782694,
    -0.02094479474823875,
    0.0060482958129430275,
    -0.0019079867130106537,
    0.000841597784812698,
    -0.0005952366884892094,
    0.0007936507870966689,
    -0.0027777777777659306,
    0.08333333333333333,
)  # x times the rest of Stirling's formula, in 1 / x**2, from 4.5 on
_PSI = (
    0.0002599100450715037,
    -0.0003787189650984702,
    0.00022695205071257896,
    -0.0003543744160632095,
    0.0007234757252061551,
    -0.001077880610440127,
    0.0015565879761797945,
    -0.002337499646304059,
    0.0035190141649363805,
    -0.0052809116593940525,
    0.007926943794456376,
    -0.011908145672170784,
    0.017907252496345213,
    -0.02697580007767358,
    0.04076083381023946,
    -0.0619221331892193,
    0.09498872445498366,
    -0.1484049230548794,
    0.2405424842407739,
    -0.4236274212814572,
    0.951055876031833,
)  # psi(x) / (x - root) in x - 1.5, from 1 to 2
_PSI_FAR = (
    17176208.245104127,
    -50423786.970432505,
    69499146.60710058,
    -59815364.28577712,
    36076192.093269214,
    -16227193.225897484,
    5659851.627475141,
    -1572911.1769852436,
    355758.17976721964,
    -66762.27051190796,
    10618.581487758382,
    -1472.428155988248,
    185.6702852142965,
    -22.689243496229373,
    2.930291282616754,
    -0.44001473701279364,
    0.08326816128770315,
    -0.021091842974439733,
    0.007575748055427207,
    -0.004166666607421836,
    0.0039682539680560725,
    -0.008333333333333068,
    0.08333333333333333,
)  # (log(x) - 1 / (2 x) - psi(x)) x**2 in 1 / x**2, from 2 on
_SIN = (
    -7.114065604843714e-09,
    2.5303275845361074e-07,
    -6.9758512173374104e-06,
    0.00014842878972880794,
    -0.0023460810351702967,
    0.02614784781764093,
    -0.19075182412208389,
    0.8117424252833536,
    -1.6449340668482264,
)  # (sin(pi r) / (pi r) - 1) / r**2 in r**2, from -0.5 to 0.5
_COS = (
    1.339157599107019e-07,
    -4.266740680408553e-06,
    0.00010357048789408868,
    -0.0019036815015994557,
    0.025330970991451755,
    -0.22899788760925316,
    1.278013296952197,
    -3.7392088021787173,
    4.0,
)  # cos(pi r) / (1 / 4 - r**2) in r**2
_ROOT, _ROOT_LOW = 0.46163214496836236, -1.5522348162858677e-17  # psi(1 + _ROOT + _ROOT_LOW) = 0
_HALF_LOG = 0.4189385332046727  # (log(2 pi) - 1) / 2


def gammaln(b: Builder, x: Value) -> Value:
    """log of ``|gamma(x)|``, within 4 ulp for positive x."""
    zero, one = constant(b, 0.0), constant(b, 1.0)
    size = b.op("abs", x)
    log = b.apply("log", logarithm.log, size)
    low = b.op("lt", size, constant(b, 0.5))
    above = _log_gamma_above(b, size, log, low)
    positive = b.op("sub", above, b.select(low, log, zero))
    # gamma(-x) gamma(1 + x) = -pi / sin(pi x)
    rest = _from_whole(b, size)
    factor, lost = _sine(b, rest)
    factor, rounded = two_product(b, factor, b.select(low, one, size))
    lost = b.op("fma", lost, b.select(low, one, size), rounded)
    wave = b.op("abs", b.op("mul", factor, rest))
    whole = b.op("eq", rest, zero)
    log = b.apply("log", logarithm.log, wave)
    negative = b.op("add", b.op("add", log, above), b.op("div", lost, factor))
    negative = b.select(whole, constant(b, math.inf), b.op("neg", negative))
    value = b.select(b.op("lt", x, zero), negative, positive)
    # as SciPy, and so the interpreter, where gamma(x) overflows
    infinite = constant(b, math.inf)
    value = b.select(b.op("eq", b.op("div", one, size), infinite), infinite, value)
    return b.select(b.op("eq", x, b.op("neg", infinite)), x, value)


def _log_gamma_above(b: Builder, x: Value, log: Value, low: Value) -> Value:
    """log gamma(1 + x) if ``low``, which is x < 0.5, and otherwise log gamma(x). ``log`` is log(x)."""
    one, half = constant(b, 1.0), constant(b, 0.5)
    # less d: so the logarithm of 1 is 0, and not -0
    less = b.select(low, b.op("neg", x), b.op("sub", one, x))
    near = b.op("mul", less, horner(b, _NEAR, b.op("neg", less)))
    polynomial = horner(b, _MIDDLE, b.op("sub", x, constant(b, 3.0)))
    middle = b.op("mul", b.op("sub", x, constant(b, 2.0)), polynomial)
    inverse = b.op("div", one, x)
    series = b.op("mul", inverse, horner(b, _STIRLING, b.op("mul", inverse, inverse)))
    by_log = b.op("mul", b.op("sub", x, half), b.op("sub", log, one))
    far = b.op("add", by_log, b.op("add", constant(b, _HALF_LOG), series))
    value = b.select(b.op("lt", x, constant(b, 4.5)), middle, far)
    return b.select(b.op("lt", x, constant(b, 1.5)), near, value)


def gammaln_above_one(b: Builder, x: Value) -> Value:
    """log gamma(x) where x is not below 1."""
    return _log_gamma_above(b, x, b.apply("log", logarithm.log, x), b.const(False, "bool"))


def _sine(b: Builder, r: Value) -> tuple[Value, Value]:
    """A pair whose sum is sin(pi r) / (pi r), for r from -0.5 to 0.5."""
    square = b.op("mul", r, r)
    return fast_two_sum(b, constant(b, 1.0), b.op("mul", square, horner(b, _SIN, square)))


def _from_whole(b: Builder, x: Value) -> Value:
    """``x`` less the nearest whole number, exactly."""
    return b.op("sub", x, b.op("rint", x))


def psi(b: Builder, x: Value) -> Value:
    """The derivative of the logarithm of gamma, within 4 ulp for positive x. At 0 it has the sign of ``-x``."""
    zero, one = constant(b, 0.0), constant(b, 1.0)
    negative = b.op("lt", x, zero)
    size = b.select(negative, b.op("neg", x), x)
    inverse = b.op("div", one, size)
    low = b.op("lt", size, one)
    above = _psi_above(b, size, inverse, low)
    positive = b.op("sub", above, b.select(low, inverse, zero))
    # psi(-x) = psi(1 + x) + pi / tan(pi x)
    rest = _from_whole(b, size)
    square = b.op("mul", rest, rest)
    cosine = b.op("mul", b.op("sub", constant(b, 0.25), square), horner(b, _COS, square))
    wave = b.op("div", cosine, b.op("mul", rest, b.op("add", *_sine(b, rest))))
    reflected = b.op("add", b.op("add", above, b.select(low, zero, inverse)), wave)
    reflected = b.select(b.op("eq", rest, zero), constant(b, math.nan), reflected)
    return b.select(negative, reflected, positive)


def _psi_above(b: Builder, x: Value, inverse: Value, low: Value) -> Value:
    """psi(1 + x) if ``low``, and otherwise psi(x), where x is not below 1."""
    d = b.select(low, x, b.op("sub", x, constant(b, 1.0)))
    from_root = b.op("sub", b.op("sub", d, constant(b, _ROOT)), constant(b, _ROOT_LOW))
    near = b.op("mul", from_root, horner(b, _PSI, b.op("sub", d, constant(b, 0.5))))
    square = b.op("mul", inverse, inverse)
    rest = b.op("fma", square, horner(b, _PSI_FAR, square), b.op("mul", constant(b, 0.5), inverse))
    far = b.op("sub", b.apply("log", logarithm.log, x), rest)
    return b.select(is_below(b, x, 2.0), near, far)


def _register(name: str, function: Callable[[Builder, Value], Value], cost: int) -> None:
    @lowers_scalar_to_loops(name, cost=cost)
    def lowering(b: Builder, dtype: str, args: Sequence[Value]) -> Value:
        return b.cast(b.apply(name, function, b.cast(args[0], "float64")), dtype)


_register("gammaln", gammaln, 150)
_register("psi", psi, 100)
