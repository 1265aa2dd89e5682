"""Continuous distributions on an interval: uniform, beta, power, triangular, truncated exponential and truncated normal.

Users find the distributions in `occelo.tensor.stats`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from occelo_graph.ops.elemwise.arithmetic import (
    abs,
    and_,
    clip,
    eq,
    ge,
    gt,
    isinf,
    le,
    lt,
    minimum,
    sqrt,
    switch,
)
from occelo_graph.ops.elemwise.error_functions import erf
from occelo_graph.ops.elemwise.transcendental import (
    exp,
    expm1,
    log,
    log1mexp,
    log1p,
    logaddexp,
    pow,
)
from occelo_special.functions import (
    betainc,
    betaincc,
    betainccinv,
    betaincinv,
    betaln,
    log_ndtr,
    ndtri_exp,
    psi,
    xlog1py,
    xlogy,
)
from occelo_stats.beta_tails import log_beta
from occelo_stats.continuous import ContinuousDistribution
from occelo_stats.distribution import Row, constant_in, number, positive, probability
from occelo_stats.gamma_tails import log_of_smaller
from occelo_stats.on_the_line import LOG_ROOT_TWO_PI, ROOT_TWO, largest_square_root, ndtr

__all__ = ["beta", "powerlaw", "triang", "truncexpon", "truncnorm", "uniform"]

uniform = ContinuousDistribution(
    Row(
        "uniform",
        "The uniform distribution on the interval from ``loc`` to ``loc + scale``.",
        lambda z: constant_in(z, 0.0),
        support=(0.0, 1.0),
        cdf=lambda z: z,
        sf=lambda z: 1.0 - z,
        ppf=lambda q: q,
        isf=lambda q: 1.0 - q,
        mean=lambda: 0.5,
        var=lambda: 1.0 / 12.0,
        entropy=lambda: 0.0,
    )
)


def _beta_entropy(a: Any, b: Any) -> Any:
    return betaln(a, b) - (a - 1.0) * psi(a) - (b - 1.0) * psi(b) + (a + b - 2.0) * psi(a + b)


def _beta_density(z: Any, a: Any, b: Any) -> Any:
    # the factor would be infinite only if a power is 0 at each bound, so a finite bound keeps the
    # product 0
    return pow(z, a - 1.0) * pow(1.0 - z, b - 1.0) * exp(minimum(-betaln(a, b), 85.0))


def _beta_quantile(q: Any, a: Any, b: Any) -> Any:
    """The number x with ``betainc(a, b, x)`` = q.

    A tiny x is computed from the first term of a series, since SciPy's ``betaincinv`` is wrong for some tiny x.
    """
    # x^a / (a B(a, b)), DLMF 8.17.8; the next term is less by a factor of about (a + b) x
    first = exp((log(q) + log(a) + betaln(a, b)) / a)
    tiny = lt(first * (1.0 + a + b), 1e-17)
    return switch(tiny, first, betaincinv(a, b, switch(tiny, 0.5, q)))


def _beta_logcdf(z: Any, a: Any, b: Any) -> Any:
    value, other = betainc(a, b, z), betaincc(a, b, z)
    return log_beta(value, other, a, b, z, 1.0 - z, log(z), log1p(-z))


def _beta_logsf(z: Any, a: Any, b: Any) -> Any:
    value, other = betaincc(a, b, z), betainc(a, b, z)
    return log_beta(value, other, b, a, 1.0 - z, z, log1p(-z), log(z))


beta = ContinuousDistribution(
    Row(
        "beta",
        "The beta distribution on the interval from ``loc`` to ``loc + scale``.",
        lambda z, a, b: xlogy(a - 1.0, z) + xlog1py(b - 1.0, -z) - betaln(a, b),
        {"a": positive, "b": positive},
        support=(0.0, 1.0),
        density=_beta_density,
        cdf=lambda z, a, b: betainc(a, b, z),
        sf=lambda z, a, b: betaincc(a, b, z),
        logcdf=_beta_logcdf,
        logsf=_beta_logsf,
        ppf=_beta_quantile,
        isf=lambda q, a, b: betainccinv(a, b, q),
        mean=lambda a, b: a / (a + b),
        var=lambda a, b: a / (a + b) * (b / (a + b)) / (a + b + 1.0),
        entropy=_beta_entropy,
    )
)
powerlaw = ContinuousDistribution(
    Row(
        "powerlaw",
        "The distribution on the interval from ``loc`` to ``loc + scale`` whose density is a power ``a - 1``.",
        lambda z, a: log(a) + xlogy(a - 1.0, z),
        {"a": positive},
        support=(0.0, 1.0),
        density=lambda z, a: a * pow(z, a - 1.0),
        logcdf=lambda z, a: a * log(z),
        from_logcdf=lambda logp, a: exp(logp / a),
        mean=lambda a: a / (a + 1.0),
        var=lambda a: a / ((a + 2.0) * (a + 1.0) * (a + 1.0)),
        entropy=lambda a: 1.0 - 1.0 / a - log(a),
    )
)


def _sides(z: Any, c: Any) -> tuple[Any, Any, Any]:
    """Whether z is on the rising side of the triangle, and the heights of the rising and the falling side at z.

    The height of the peak is 1. The height of a side is 1, too, if z is on the other side.
    """
    rising = switch(eq(c, 1.0), le(z, c), lt(z, c))
    up = switch(rising, z, 1.0) / switch(rising, c, 1.0)
    down = switch(rising, 1.0, 1.0 - z) / switch(rising, 1.0, 1.0 - c)
    return rising, up, down


def _triang_density(z: Any, c: Any) -> Any:
    rising, up, down = _sides(z, c)
    return 2.0 * switch(rising, up, down)


def _triang_logdensity(z: Any, c: Any) -> Any:
    rising, up, down = _sides(z, c)
    return log(switch(rising, up, down)) + math.log(2.0)


def _triang_cdf(z: Any, c: Any) -> Any:
    rising, up, _ = _sides(z, c)
    # 1 - (1 - z)^2 / (1 - c), without its cancellation where c and z are small
    falling = (z * (2.0 - z) - c) / switch(rising, 1.0, 1.0 - c)
    return switch(rising, z * up, falling)


def _triang_sf(z: Any, c: Any) -> Any:
    return _triang_cdf(1.0 - z, 1.0 - c)


def _triang_logcdf(z: Any, c: Any) -> Any:
    rising, up, _ = _sides(z, c)
    # here the square would underflow
    tiny = and_(rising, lt(z, 1e-100))
    inner = switch(tiny, 0.5, z)
    usual = log_of_smaller(_triang_cdf(inner, c), _triang_sf(inner, c))
    return switch(tiny, log(switch(tiny, z, 1.0)) + log(up), usual)


def _triang_ppf(q: Any, c: Any) -> Any:
    rising = lt(q, c)
    # the branch that is not chosen computes the root of 1, which has a finite derivative
    return switch(
        rising,
        sqrt(switch(rising, c * q, 1.0)),
        1.0 - sqrt(switch(rising, 1.0, (1.0 - c) * (1.0 - q))),
    )


def _triang_isf(q: Any, c: Any) -> Any:
    falling = lt(q, 1.0 - c)
    return switch(
        falling,
        1.0 - sqrt(switch(falling, (1.0 - c) * q, 1.0)),
        sqrt(switch(falling, 1.0, c * (1.0 - q))),
    )


triang = ContinuousDistribution(
    Row(
        "triang",
        "The distribution on the interval from ``loc`` to ``loc + scale`` whose density is a triangle with its top at ``loc + c scale``.",
        _triang_logdensity,
        {"c": probability},
        support=(0.0, 1.0),
        density=_triang_density,
        cdf=_triang_cdf,
        sf=_triang_sf,
        logcdf=_triang_logcdf,
        ppf=_triang_ppf,
        isf=_triang_isf,
        mean=lambda c: (c + 1.0) / 3.0,
        var=lambda c: (1.0 - c + c * c) / 18.0,
        entropy=lambda c: (0.5 - math.log(2.0)) + 0.0 * c,
    )
)


def _end(b: Any) -> Any:
    return b


def _half(b: Any) -> Any:
    return 0.5 * b


_BERNOULLI = (1/6, -1/30, 1/42, -1/30, 5/66, -691/2730, 7/6, -3617/510, 43867/798)  # fmt: skip
"""The Bernoulli numbers with the indices 2, 4, 6, ... (DLMF 24.2)."""


def _series(square: Any, factors: Sequence[float]) -> Any:
    """The sum of ``factors[k] * square**(k + 1)`` over all k, by Horner's scheme."""
    value: Any = 0.0
    for factor in reversed(factors):
        value = (value + factor) * square
    return value


_MEAN = [each / math.factorial(2 * n) for n, each in enumerate(_BERNOULLI, 1)]
_VAR = [(2 * n - 1) * factor for n, factor in enumerate(_MEAN, 1)]


def _truncexpon_mean(b: Any) -> Any:
    small = lt(b, 1.0)
    near, far = switch(small, b, 1.0), switch(small, 1.0, b)
    return switch(small, 0.5 * near - _series(near * near, _MEAN), 1.0 - far / expm1(far))


def _truncexpon_var(b: Any) -> Any:
    small = lt(b, 1.0)
    near, far = switch(small, b, 1.0), switch(small, 1.0, b)
    # 1 - b^2 e^b / (e^b - 1)^2, written so that it does not overflow
    ratio = far / -expm1(-far)
    return switch(small, _series(near * near, _VAR), 1.0 - ratio * ratio * exp(-far))


def _truncexpon_logsf(z: Any, b: Any) -> Any:
    value = expm1(-z) / expm1(-b)
    small = lt(value, 0.5)
    whole = log(-expm1(-b))
    tail = log(-expm1(switch(small, -1.0, z - b))) - z - whole
    return switch(small, log1p(-switch(small, value, 0.5)), tail)


truncexpon = ContinuousDistribution(
    Row(
        "truncexpon",
        "The exponential distribution, restricted to the interval from ``loc`` to ``loc + b scale``.",
        lambda z, b: -z - log(-expm1(-b)),
        {"b": positive},
        support=(0.0, _end),
        inside=_half,
        cdf=lambda z, b: expm1(-z) / expm1(-b),
        sf=lambda z, b: exp(-z) * expm1(z - b) / expm1(-b),
        logsf=_truncexpon_logsf,
        ppf=lambda q, b: -log1p(q * expm1(-b)),
        isf=lambda q, b: -logaddexp(-b, log(q) + log1mexp(-b)),
        mean=_truncexpon_mean,
        var=_truncexpon_var,
        entropy=lambda b: log(-expm1(-b)) + _truncexpon_mean(b),
    )
)


def _log_mass(low: Any, high: Any) -> Any:
    """Logarithm of the probability that a normal number lies between two bounds, precise in tails and at the centre."""
    # beyond this bound the log probabilities are -inf, so their difference would be NaN
    farthest = largest_square_root(low.dtype)
    low, high = (clip(each, -farthest, farthest) for each in (low, high))
    nothing = ge(low, farthest) | le(high, -farthest)
    middle, width = 0.5 * (low + high), high - low
    narrow = and_(gt(width, 0.0), lt(width * (1.0 + abs(middle)), 1e-3))
    beyond = gt(low, 0.0)
    low, high = switch(beyond, -high, low), switch(beyond, -low, high)
    in_tail = le(high, -0.5)
    lower, upper = (log_ndtr(switch(in_tail, *each)) for each in ((low, -2.0), (high, -1.0)))
    # a number replaces differences of 0, since log1mexp(0) is -inf with an infinite derivative
    apart = in_tail & ~narrow
    tail = upper + log1mexp(switch(apart, lower - upper, -1.0))
    across = ~(in_tail | narrow)
    centre = _log_mass_of_centre(switch(across, low, -1.0), switch(across, high, 1.0))
    near = _log_mass_of_few(switch(narrow, middle, 0.0), switch(narrow, width, 1e-3))
    mass = switch(narrow, near, switch(in_tail, tail, centre))
    return switch(nothing, -math.inf, mass)


def _log_mass_of_few(middle: Any, width: Any) -> Any:
    """`_log_mass` of a short interval, from the density and its second derivative in the middle."""
    square = middle * middle
    bend = (square - 1.0) * width * width / 24.0
    return log(width) - 0.5 * square - LOG_ROOT_TWO_PI + log1p(bend)


def _log_mass_of_centre(low: Any, high: Any) -> Any:
    """`_log_mass` of an interval around 0, computed from the smaller of the probabilities inside and outside of it."""
    outside = ndtr(low) + ndtr(-high)
    wide = lt(outside, 0.5)
    below, above = switch(wide, -1.0, low), switch(wide, 1.0, high)
    inside = 0.5 * (erf(above / ROOT_TWO) - erf(below / ROOT_TWO))
    return switch(wide, log1p(-switch(wide, outside, 0.5)), log(inside))


def _truncnorm_logcdf(z: Any, a: Any, b: Any) -> Any:
    whole = _log_mass(a, b)
    value = _log_mass(a, z) - whole
    small = lt(value, -0.1)
    return switch(small, value, log1p(-exp(switch(small, -1.0, _log_mass(z, b) - whole))))


def _truncnorm_logsf(z: Any, a: Any, b: Any) -> Any:
    return _truncnorm_logcdf(-z, -b, -a)


def _truncnorm_ppf(q: Any, a: Any, b: Any) -> Any:
    whole = _log_mass(a, b)
    left = lt(a, 0.0)
    # Probabilities are measured from the lower end if it is below 0, else from the upper end: from
    # the end nearer to a tail, they are precise.
    beyond = logaddexp(log_ndtr(switch(left, a, -b)), switch(left, log(q), log1p(-q)) + whole)
    z = ndtri_exp(beyond)
    return clip(switch(left, z, -z), a, b)


def _truncnorm_isf(q: Any, a: Any, b: Any) -> Any:
    return -_truncnorm_ppf(q, -b, -a)


def _at_bounds(a: Any, b: Any) -> tuple[Any, Any, Any, Any]:
    """The densities of the truncated distribution at both bounds, and the products of each bound with its density.

    The product is 0 for an infinite bound.
    """
    whole = _log_mass(a, b)
    at_a, at_b = (exp(-0.5 * (each * each) - LOG_ROOT_TWO_PI - whole) for each in (a, b))
    return at_a, at_b, switch(isinf(a), 0.0, a) * at_a, switch(isinf(b), 0.0, b) * at_b


def _truncnorm_mean(a: Any, b: Any) -> Any:
    at_a, at_b, _, _ = _at_bounds(a, b)
    return at_a - at_b


def _truncnorm_var(a: Any, b: Any) -> Any:
    at_a, at_b, a_at_a, b_at_b = _at_bounds(a, b)
    mean = at_a - at_b
    return 1.0 + (a_at_a - b_at_b) - mean * mean


def _truncnorm_entropy(a: Any, b: Any) -> Any:
    _, _, a_at_a, b_at_b = _at_bounds(a, b)
    return LOG_ROOT_TWO_PI + 0.5 + _log_mass(a, b) + 0.5 * (a_at_a - b_at_b)


def _lower(a: Any, b: Any) -> Any:
    return a


def _upper(a: Any, b: Any) -> Any:
    return b


def _in_order(a: Any, b: Any) -> Any:
    return lt(a, b)


def _between(a: Any, b: Any) -> Any:
    low = switch(isinf(a), switch(isinf(b), 0.0, b - 1.0), a)
    return 0.5 * (low + switch(isinf(b), low + 1.0, b))


truncnorm = ContinuousDistribution(
    Row(
        "truncnorm",
        "The normal distribution, restricted to the interval from ``loc + a scale`` to ``loc + b scale``; the bounds may be infinite.",
        lambda z, a, b: -0.5 * (z * z) - LOG_ROOT_TWO_PI - _log_mass(a, b),
        {"a": number, "b": number},
        valid=_in_order,
        support=(_lower, _upper),
        inside=_between,
        logcdf=_truncnorm_logcdf,
        logsf=_truncnorm_logsf,
        ppf=_truncnorm_ppf,
        isf=_truncnorm_isf,
        mean=_truncnorm_mean,
        var=_truncnorm_var,
        entropy=_truncnorm_entropy,
    )
)
