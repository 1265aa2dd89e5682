"""The regularized incomplete gamma functions P(k, x) and Q(k, x), and the derivatives of P, as loop programs.

As in `occelo_special.traced.incomplete_gamma`: Temme's uniform expansion where x is near a large k (DLMF 8.12), below it the power series
(8.11.4), above it the continued fraction (8.9.2), and for Q at small k and x the series of 1 - P (8.7.1). For each element one of them runs. The
derivative by k is that of the same formulas, term by term. Series and fractions are functions that call themselves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowerings.elemwise.scalar import lowers_scalar_to_loops
from occelo_special.lowerings.gamma_function import gammaln_above_one
from occelo_special.lowerings.numbers import NAMESPACE, Formula, Number, applied, own, rarely, where
from occelo_special.ops.gamma_terms import (
    LARGE,
    NEAR,
    log_gamma_1p,
    relative_excess,
    stirling_rest,
    temme_sum,
    temme_sum_slopes,
)

_EPS = 2.0**-52
_STEPS = 2000.0
"""A bound of the steps of series and fractions, which need at most about 150."""
_FAR = 1.1
"""Up to here, the continued fraction converges slowly."""
_xp = NAMESPACE.xp


def _gamma_term(k: Number, x: Number) -> Number:
    """x^k exp(-x) / gamma(1 + k), for positive x and k >= 0."""
    large = k >= LARGE
    value = rarely(large, _gamma_term_by_stirling, k, x)
    return rarely(~large, _gamma_term_by_power, k, x, usually=value)


def _gamma_term_by_stirling(k: Number, x: Number) -> Number:
    exponent = -k * relative_excess(NAMESPACE, k, x) - stirling_rest(k)
    return _xp.exp(exponent) / _xp.sqrt((2.0 * math.pi) * k)


def _gamma_term_by_power(k: Number, x: Number) -> Number:
    factorial = Number(k.builder, gammaln_above_one(k.builder, (k + 1.0).value))
    half = _xp.exp(-0.5 * (x + factorial))  # the whole may be subnormal
    return applied("pow", x, k) * half * half


def _parts(k: Number, x: Number) -> tuple[Number, Number, Number]:
    """Whether x is near k, and so the expansion serves; above it, and so the fraction; or below, and so the series."""
    near = (k >= LARGE) & (_xp.abs(x - k) < NEAR * k)
    above = ~near & (x > _FAR) & (x > k)
    return near, above, ~near & ~above


def _incomplete_gamma(k: Number, x: Number, side: Number) -> Number:
    """P where ``side`` is -1, and Q where it is 1."""
    inside = (k > 0.0) & (k < math.inf) & (x > 0.0) & (x < math.inf)
    no_x, no_k = x.same(0.0), k.same(0.0)
    all_x, all_k = x.same(math.inf), k.same(math.inf)
    lower = where(no_x | all_k, 0.0, 1.0)
    limit = where(side < 0.0, lower, 1.0 - lower)
    undefined = (no_x & no_k) | (all_x & all_k) | ~((k >= 0.0) & (x >= 0.0))
    limit = where(undefined, math.nan, limit)
    return rarely(inside, _incomplete_gamma_inside, k, x, side, usually=limit)


def _incomplete_gamma_inside(k: Number, x: Number, side: Number) -> Number:
    near, above, below = _parts(k, x)
    small = below & (side > 0.0) & (x <= _FAR) & _is_small(k, x)
    value = rarely(near, _gamma_by_temme, k, x, side)
    value = rarely(above, _gamma_by_fraction, k, x, side, usually=value)
    value = rarely(below & ~small, _gamma_by_series, k, x, side, usually=value)
    return rarely(small, _upper_gamma_by_series, k, x, usually=value)


def _is_small(k: Number, x: Number) -> Number:
    """Whether Q is below a half or so, and 1 - P loses digits."""
    low = x <= 0.5
    return k <= where(low, -0.4 / _xp.log(where(low, x, 0.5)), 1.1 * x)


def _gamma_by_temme(k: Number, x: Number, side: Number) -> Number:
    h = relative_excess(NAMESPACE, k, x)
    sign = _xp.sign(x - k)
    # the tail on the side of x, without the cancellation of erfc with its factor
    whole = temme_sum(k, sign * _xp.sqrt(2.0 * h)) / _xp.sqrt(2.0 * math.pi * k)
    tail = _xp.exp(-k * h) * (0.5 * applied("erfcx", _xp.sqrt(k * h)) + sign * whole)
    return where(side * sign > 0.0, tail, 1.0 - tail)


def _gamma_by_fraction(k: Number, x: Number, side: Number) -> Number:
    one, first = k * 0.0 + 1.0, x + 1.0 - k
    fraction = own(_gamma_fraction, k, x, one, first, one * 0.0, first)
    upper = own(_gamma_term, k, x) * (k / fraction)
    return where(side > 0.0, upper, 1.0 - upper)


def _gamma_fraction(k: Number, x: Number, n: Number, c: Number, d: Number, value: Number) -> Number:
    """The continued fraction f with Q = x^k exp(-x) / gamma(k) / f, from the n-th step on."""
    top, below = n * (k - n), x + (2.0 * n + 1.0) - k
    d = 1.0 / (below + top * d)
    c = below + top / c
    step = c * d
    value = value * step
    more = (_xp.abs(step - 1.0) > _EPS) & (n < _STEPS)
    return rarely(more, _gamma_fraction, k, x, n + 1.0, c, d, value, usually=value)


def _gamma_by_series(k: Number, x: Number, side: Number) -> Number:
    one = k * 0.0 + 1.0
    lower = own(_gamma_term, k, x) * own(_gamma_series, k + 1.0, x, one, one)
    return where(side > 0.0, 1.0 - lower, lower)


def _gamma_series(following: Number, x: Number, term: Number, total: Number) -> Number:
    """The sum of x^n / (k + 1) ... (k + n), from the term after ``term`` on, whose last factor is ``following``."""
    term = term * (x / following)
    total = total + term
    more = term > _EPS / 8.0 * total
    return rarely(more, _gamma_series, following + 1.0, x, term, total, usually=total)


def _upper_gamma_by_series(k: Number, x: Number) -> Number:
    term: Number = k * 0.0 + 1.0
    total = term * 0.0
    for n in range(1, 26):
        term = -term * x / float(n)
        total = total + term / (k + float(n))
    log_power = k * _xp.log(x) - log_gamma_1p(NAMESPACE, k)
    return -applied("expm1", log_power) - k * _xp.exp(log_power) * total


def _gamma_slope(k: Number, x: Number) -> Number:
    """The derivative of P(k, x) by k. At the ends it is 0, as P and Q are."""
    inside = (k >= 0.0) & (k < math.inf) & (x > 0.0) & (x < math.inf)
    limit = where((k.same(k)) & (x.same(x)), 0.0, math.nan)
    return rarely(inside, _gamma_slope_inside, k, x, usually=limit)


def _gamma_slope_inside(k: Number, x: Number) -> Number:
    near, above, below = _parts(k, x)
    value = rarely(near, _gamma_slope_by_temme, k, x)
    value = rarely(above, _gamma_slope_by_fraction, k, x, usually=value)
    return rarely(below, _gamma_slope_by_series, k, x, usually=value)


def _gamma_slope_by_temme(k: Number, x: Number) -> Number:
    mu = (x - k) / k
    h = relative_excess(NAMESPACE, k, x)
    eta = _xp.sign(mu) * _xp.sqrt(2.0 * h)
    ratio = where(h > 0.0, mu / where(h > 0.0, eta, 1.0), 1.0)
    by_k, by_eta = temme_sum_slopes(k, eta)
    # eta changes by -mu / (k eta), and exp(-k h) / sqrt(k) by log(x / k) - 1 / (2 k) times itself
    whole = (mu - h - 0.5 / k) * temme_sum(k, eta) - ratio / k * by_eta + by_k
    factor = _xp.exp(-k * h) / _xp.sqrt(2.0 * math.pi * k)
    return factor * (0.5 * eta - ratio - whole)


def _gamma_slope_by_fraction(k: Number, x: Number) -> Number:
    one, first = k * 0.0 + 1.0, x + 1.0 - k
    # Q is scale k / f, and its logarithm has the derivative log(x) - psi(k + 1) + 1 / k - f' / f
    scale = own(_gamma_term, k, x)
    front = k * (_xp.log(x) - applied("psi", k + 1.0)) + 1.0
    zero = one * 0.0
    state = (one, first, -one, zero, zero, first, -1.0 / first)
    return -scale * own(_gamma_fraction_slope, k, x, front, *state)


def _gamma_fraction_slope(
    k: Number,
    x: Number,
    front: Number,
    n: Number,
    c: Number,
    c_dk: Number,
    d: Number,
    d_dk: Number,
    value: Number,
    slope: Number,
) -> Number:
    """(``front`` - k f' / f) / f, where f is that of `_gamma_fraction` and ``slope`` is f' / f so far."""
    top, below = n * (k - n), x + (2.0 * n + 1.0) - k
    d_dk = n * d + top * d_dk - 1.0
    d = 1.0 / (below + top * d)
    d_dk = -d * d * d_dk
    c_dk = (n - top * c_dk / c) / c - 1.0
    c = below + top / c
    step = c_dk / c + d_dk / d
    slope, value = slope + step, value * (c * d)
    more = (_xp.abs(step) > _EPS / 4.0 * _xp.abs(slope)) & (n < _STEPS)
    state = (n + 1.0, c, c_dk, d, d_dk, value, slope)
    usual = (front - k * slope) / value
    return rarely(more, _gamma_fraction_slope, k, x, front, *state, usually=usual)


def _gamma_slope_by_series(k: Number, x: Number) -> Number:
    slope = _xp.log(x) - applied("psi", k + 1.0)
    one = k * 0.0 + 1.0
    return own(_gamma_term, k, x) * own(_gamma_series_slope, k + 1.0, x, one, slope, slope)


def _gamma_series_slope(
    following: Number, x: Number, term: Number, slope: Number, total: Number
) -> Number:
    """The sum of the terms of `_gamma_series`, each times the derivative of its logarithm by k, which is ``slope``."""
    term, slope = term * (x / following), slope - 1.0 / following
    total = total + term * slope
    # the derivative of a term may be 0 by chance
    more = term * (1.0 + _xp.abs(slope)) > _EPS / 8.0 * _xp.abs(total)
    return rarely(more, _gamma_series_slope, following + 1.0, x, term, slope, total, usually=total)


def _gamma_density(k: Number, x: Number) -> Number:
    """x^(k - 1) exp(-x) / gamma(k), with its limits."""
    inside = (k > 0.0) & (k < math.inf) & (x > 0.0) & (x < math.inf)
    at_zero = where(k < 1.0, math.inf, where(k > 1.0, 0.0, 1.0))
    limit = where(x > 0.0, 0.0, at_zero)
    limit = where((k >= 0.0) & (x >= 0.0), limit, math.nan)
    return rarely(inside, _gamma_density_inside, k, x, usually=limit)


def _gamma_density_inside(k: Number, x: Number) -> Number:
    return own(_gamma_term, k, x) * (k / x)


def _register(name: str, side: float) -> None:
    @lowers_scalar_to_loops(name, cost=300)
    def lowering(b: Builder, dtype: str, args: Sequence[Value]) -> Value:
        k, x = (Number(b, b.cast(a, "float64")) for a in args)
        gamma = own(_incomplete_gamma, k, x, Number(b, b.const(side, "float64")))
        return b.cast(gamma.value, dtype)


_register("gammainc", -1.0)
_register("gammaincc", 1.0)


def _register_slope(name: str, cost: int, slope: Formula) -> None:
    @lowers_scalar_to_loops(name, cost=cost)
    def lowering(b: Builder, dtype: str, args: Sequence[Value]) -> Value:
        k, x = (Number(b, b.cast(a, "float64")) for a in args)
        return b.cast(own(slope, k, x).value, dtype)


_register_slope("gammainc_dk", 500, _gamma_slope)
_register_slope("gammainc_dx", 150, _gamma_density)
