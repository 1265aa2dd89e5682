"""Continuous distributions on positive numbers, without incomplete gamma or beta functions.

These are the distributions exponential, Weibull, Rayleigh, Pareto, Lomax, log-normal, half-normal, half-Cauchy and inverse
Gaussian (`invgauss` and `wald`). Distributions with incomplete gamma or beta functions are in `gammas`. Users find the distributions in
`occelo.tensor.stats`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from occelo_graph.ops.elemwise.arithmetic import gt, le, lt, sqrt, switch
from occelo_graph.ops.elemwise.error_functions import erf, erfc, erfcx
from occelo_graph.ops.elemwise.transcendental import (
    arctan,
    arctan2,
    exp,
    expm1,
    log,
    log1mexp,
    log1p,
    pow,
    tan,
)
from occelo_special.functions import erfcinv, erfinv, gammaln, log_ndtr, xlogy
from occelo_stats.continuous import ContinuousDistribution
from occelo_stats.distribution import Row, positive
from occelo_stats.on_the_line import (
    LOG_ROOT_TWO_PI,
    ROOT_TWO,
    log1p_of_square,
    ndtr,
    ndtri,
)

__all__ = [
    "expon",
    "halfcauchy",
    "halfnorm",
    "invgauss",
    "lognorm",
    "lomax",
    "pareto",
    "rayleigh",
    "wald",
    "weibull_min",
]

HALF_LINE = (0.0, math.inf)
EULER = float(np.euler_gamma)

expon = ContinuousDistribution(
    Row(
        "expon",
        "The exponential distribution with mean ``scale``.",
        lambda z: -z,
        support=HALF_LINE,
        logsf=lambda z: -z,
        from_logsf=lambda logp: -logp,
        mean=lambda: 1.0,
        var=lambda: 1.0,
        entropy=lambda: 1.0,
    )
)


def _log_of_exponential(power: Any, log_power: Any) -> Any:
    """log(1 - exp(-power)); for a tiny ``power`` this is ``log_power``, the logarithm of ``power``."""
    tiny = lt(power, 1e-30)
    return switch(tiny, log_power, log1mexp(-switch(tiny, 1.0, power)))


weibull_min = ContinuousDistribution(
    Row(
        "weibull_min",
        "The Weibull distribution of shape ``c``: the power 1/c of exponential numbers.",
        lambda z, c: log(c) + xlogy(c - 1.0, z) - pow(z, c),
        {"c": positive},
        support=HALF_LINE,
        density=lambda z, c: c * pow(z, c - 1.0) * exp(-pow(z, c)),
        logsf=lambda z, c: -pow(z, c),
        logcdf=lambda z, c: _log_of_exponential(pow(z, c), c * log(z)),
        from_logsf=lambda logp, c: pow(-logp, 1.0 / c),
        mean=lambda c: exp(gammaln(1.0 + 1.0 / c)),
        var=lambda c: _variance_of_power(1.0 / c),
        entropy=lambda c: EULER * (1.0 - 1.0 / c) - log(c) + 1.0,
    )
)


def _variance_of_power(power: Any) -> Any:
    """The variance of x**power for exponential numbers x, from the logarithms of the first two moments."""
    twice_log_mean = 2.0 * gammaln(1.0 + power)
    return exp(twice_log_mean) * expm1(gammaln(1.0 + 2.0 * power) - twice_log_mean)


rayleigh = ContinuousDistribution(
    Row(
        "rayleigh",
        "The Rayleigh distribution: the length of a vector of two normal numbers of standard deviation ``scale``.",
        lambda z: log(z) - 0.5 * (z * z),
        support=HALF_LINE,
        density=lambda z: z * exp(-0.5 * (z * z)),
        logsf=lambda z: -0.5 * (z * z),
        logcdf=lambda z: _log_of_exponential(0.5 * (z * z), 2.0 * log(z) - math.log(2.0)),
        from_logsf=lambda logp: sqrt(-2.0 * logp),
        mean=lambda: math.sqrt(math.pi / 2.0),
        var=lambda: 2.0 - math.pi / 2.0,
        entropy=lambda: EULER / 2.0 + 1.0 - 0.5 * math.log(2.0),
    )
)


def _where_above(threshold: float, parameter: Any, value: Any) -> Any:
    """``value``, a moment that is finite only where ``parameter`` is above ``threshold``; inf elsewhere."""
    return switch(gt(parameter, threshold), value, math.inf)


pareto = ContinuousDistribution(
    Row(
        "pareto",
        "The Pareto distribution of exponent ``b``, on numbers from ``loc + scale`` on.",
        lambda z, b: log(b) - (b + 1.0) * log(z),
        {"b": positive},
        support=(1.0, math.inf),
        logsf=lambda z, b: -b * log(z),
        from_logsf=lambda logp, b: exp(-logp / b),
        mean=lambda b: _where_above(1.0, b, b / (b - 1.0)),
        var=lambda b: _where_above(2.0, b, b / ((b - 2.0) * (b - 1.0) * (b - 1.0))),
        entropy=lambda b: 1.0 + 1.0 / b - log(b),
    )
)
lomax = ContinuousDistribution(
    Row(
        "lomax",
        "The Pareto distribution of exponent ``c``, moved to begin at ``loc``.",
        lambda z, c: log(c) - (c + 1.0) * log1p(z),
        {"c": positive},
        support=HALF_LINE,
        logsf=lambda z, c: -c * log1p(z),
        from_logsf=lambda logp, c: expm1(-logp / c),
        mean=lambda c: _where_above(1.0, c, 1.0 / (c - 1.0)),
        var=lambda c: _where_above(2.0, c, c / ((c - 2.0) * (c - 1.0) * (c - 1.0))),
        entropy=lambda c: 1.0 + 1.0 / c - log(c),
    )
)


def _lognorm_logdensity(z: Any, s: Any) -> Any:
    log_z = log(z)
    deviation = log_z / s
    return -0.5 * (deviation * deviation) - LOG_ROOT_TWO_PI - log(s) - log_z


lognorm = ContinuousDistribution(
    Row(
        "lognorm",
        "The log-normal distribution: ``scale`` times the exponential of normal numbers of standard deviation ``s``.",
        _lognorm_logdensity,
        {"s": positive},
        support=HALF_LINE,
        open_below=True,
        cdf=lambda z, s: ndtr(log(z) / s),
        sf=lambda z, s: ndtr(-log(z) / s),
        logcdf=lambda z, s: log_ndtr(log(z) / s),
        logsf=lambda z, s: log_ndtr(-log(z) / s),
        ppf=lambda q, s: exp(s * ndtri(q)),
        isf=lambda q, s: exp(-s * ndtri(q)),
        mean=lambda s: exp(0.5 * s * s),
        var=lambda s: expm1(s * s) * exp(s * s),
        entropy=lambda s: 0.5 + LOG_ROOT_TWO_PI + log(s),
    )
)


def _halfnorm_logcdf(z: Any) -> Any:
    near = lt(z, 0.5)
    return switch(
        near,
        log(erf(switch(near, z, 0.5) / ROOT_TWO)),
        log1p(-erfc(switch(near, 0.5, z) / ROOT_TWO)),
    )


def _halfnorm_logsf(z: Any) -> Any:
    near = lt(z, 0.5)
    return switch(
        near,
        log1p(-erf(switch(near, z, 0.5) / ROOT_TWO)),
        log_ndtr(-switch(near, 0.5, z)) + math.log(2.0),
    )


halfnorm = ContinuousDistribution(
    Row(
        "halfnorm",
        "The absolute value of normal numbers of standard deviation ``scale``.",
        lambda z: 0.5 * math.log(2.0 / math.pi) - 0.5 * (z * z),
        support=HALF_LINE,
        cdf=lambda z: erf(z / ROOT_TWO),
        sf=lambda z: erfc(z / ROOT_TWO),
        logsf=_halfnorm_logsf,
        ppf=lambda q: ROOT_TWO * erfinv(q),
        isf=lambda q: ROOT_TWO * erfcinv(q),
        logcdf=_halfnorm_logcdf,
        mean=lambda: math.sqrt(2.0 / math.pi),
        var=lambda: 1.0 - 2.0 / math.pi,
        entropy=lambda: 0.5 * math.log(math.pi / 2.0) + 0.5,
    )
)


def _halfcauchy_quantile(q: Any) -> Any:
    low = le(q, 0.5)
    near = tan((0.5 * math.pi) * switch(low, q, 1.0 - q))
    return switch(low, near, 1.0 / near)


halfcauchy = ContinuousDistribution(
    Row(
        "halfcauchy",
        "The absolute value of Cauchy numbers.",
        lambda z: math.log(2.0 / math.pi) - log1p_of_square(z),
        support=HALF_LINE,
        cdf=lambda z: (2.0 / math.pi) * arctan(z),
        sf=lambda z: (2.0 / math.pi) * arctan2(1.0, z),
        ppf=_halfcauchy_quantile,
        isf=lambda q: 1.0 / tan(0.5 * math.pi * q),
        mean=lambda: math.inf,
        var=lambda: math.inf,
        entropy=lambda: math.log(2.0 * math.pi),
    )
)


def _invgauss_logdensity(z: Any, mu: Any) -> Any:
    deviation = (z - mu) / mu
    return -LOG_ROOT_TWO_PI - 1.5 * log(z) - 0.5 * (deviation * deviation) / z


def _invgauss_tails(z: Any, mu: Any) -> tuple[Any, Any, Any]:
    """Whether z is below mu, and the logarithms of the lower and the upper tail.

    The lower tail is valid only for z below mu, and the upper tail only for other z.

    The textbook formula is a sum of two terms, one with a factor exp(2 / mu), which overflows. Here each term is
    written as a product of exp(-u^2 / 2) and ``erfcx`` of u or v, with u = (z / mu - 1) / sqrt(z) and v = (z / mu + 1)
    / sqrt(z). No factor overflows.
    """
    below = lt(z, mu)
    root = sqrt(z)
    u, v = (z / mu - 1.0) / root, (z / mu + 1.0) / root
    far = erfcx(v / ROOT_TWO)
    size = switch(below, -u, u) / ROOT_TWO
    near = erfcx(size)
    lower = log(0.5 * (near + far)) - size * size
    # for z >= mu, ``near`` is much larger than ``far``, so their difference is positive
    upper = log(0.5 * (switch(below, 1.0, near) - switch(below, 0.0, far))) - size * size
    return below, lower, upper


def _invgauss_logcdf(z: Any, mu: Any) -> Any:
    below, lower, upper = _invgauss_tails(z, mu)
    return switch(below, lower, log1p(-exp(switch(below, -1.0, upper))))


def _invgauss_logsf(z: Any, mu: Any) -> Any:
    below, lower, upper = _invgauss_tails(z, mu)
    return switch(below, log1p(-exp(switch(below, lower, -1.0))), upper)


def _scaled_exponential_integral(x: Any) -> Any:
    """exp(x) E1(x), by its power series (DLMF 6.6.2) for x up to 2, and by a continued fraction (DLMF 6.9.1) above."""
    near = le(x, 2.0)
    small, large = switch(near, x, 2.0), switch(near, 2.0, x)
    series: Any = 0.0
    for k in range(24, 0, -1):
        series = (series + (-1.0) ** (k + 1) / (k * math.factorial(k))) * small
    below = large + 91.0
    for k in range(45, 0, -1):
        below = large + (2.0 * k - 1.0) - k * k / below
    return switch(near, exp(small) * (series - EULER - log(small)), 1.0 / below)


def _invgauss_entropy(mu: Any) -> Any:
    # G. S. Mudholkar and L. Tian, "An entropy characterization of the inverse Gaussian distribution", 2002
    rest = _scaled_exponential_integral(2.0 / mu)
    return LOG_ROOT_TWO_PI + 0.5 + 1.5 * (log(mu) - rest)


invgauss = ContinuousDistribution(
    Row(
        "invgauss",
        "The inverse Gaussian distribution of mean ``mu * scale`` and shape ``scale``.",
        _invgauss_logdensity,
        {"mu": positive},
        support=HALF_LINE,
        open_below=True,
        logcdf=_invgauss_logcdf,
        logsf=_invgauss_logsf,
        searched=True,
        mean=lambda mu: mu,
        var=lambda mu: mu * mu * mu,
        entropy=_invgauss_entropy,
    )
)
wald = ContinuousDistribution(
    Row(
        "wald",
        "The Wald distribution: the inverse Gaussian distribution with ``mu`` = 1.",
        lambda z: _invgauss_logdensity(z, 1.0),
        support=HALF_LINE,
        open_below=True,
        logcdf=lambda z: _invgauss_logcdf(z, 1.0),
        logsf=lambda z: _invgauss_logsf(z, 1.0),
        searched=True,
        mean=lambda: 1.0,
        var=lambda: 1.0,
        # exp(2) E1(2) is 0.36132...
        entropy=lambda: LOG_ROOT_TWO_PI + 0.5 - 1.5 * 0.3613286168882226,
    )
)
