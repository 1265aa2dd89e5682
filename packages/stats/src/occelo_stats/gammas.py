"""Continuous distributions on positive numbers with incomplete gamma or beta functions.

These are the distributions gamma, chi-squared, inverse gamma, generalized gamma and F.

Users find the distributions in `occelo.tensor.stats`.
"""

from __future__ import annotations

import math
from typing import Any

from occelo_graph.ops.elemwise.arithmetic import abs, and_, eq, gt, lt, minimum, switch
from occelo_graph.ops.elemwise.transcendental import exp, expm1, log, pow, sigmoid, softplus
from occelo_special.functions import (
    betainc,
    betaincc,
    betainccinv,
    betaincinv,
    betaln,
    gammainc,
    gammaincc,
    gammainccinv,
    gammaincinv,
    gammaln,
    psi,
    xlogy,
)
from occelo_stats.beta_tails import log_beta
from occelo_stats.continuous import ContinuousDistribution
from occelo_stats.distribution import Row, positive, positive_and_finite
from occelo_stats.gamma_tails import log_lower, log_upper
from occelo_stats.positive import HALF_LINE

__all__ = ["chi2", "f", "gamma", "gengamma", "invgamma"]

gamma = ContinuousDistribution(
    Row(
        "gamma",
        "The gamma distribution of shape ``a`` and rate ``1 / scale``.",
        lambda z, a: xlogy(a - 1.0, z) - z - gammaln(a),
        {"a": positive},
        support=HALF_LINE,
        density=lambda z, a: pow(z, a - 1.0) * exp(-z - gammaln(a)),
        cdf=lambda z, a: gammainc(a, z),
        sf=lambda z, a: gammaincc(a, z),
        logcdf=lambda z, a: log_lower(a, z),
        logsf=lambda z, a: log_upper(a, z),
        ppf=lambda q, a: gammaincinv(a, q),
        isf=lambda q, a: gammainccinv(a, q),
        mean=lambda a: a,
        var=lambda a: a,
        entropy=lambda a: a + gammaln(a) + (1.0 - a) * psi(a),
    )
)


def _chi2_entropy(df: Any) -> Any:
    half = 0.5 * df
    return half + math.log(2.0) + gammaln(half) + (1.0 - half) * psi(half)


chi2 = ContinuousDistribution(
    Row(
        "chi2",
        "The chi-squared distribution with ``df`` degrees of freedom.",
        lambda z, df: (
            xlogy(0.5 * df - 1.0, z) - 0.5 * z - gammaln(0.5 * df) - (0.5 * math.log(2.0)) * df
        ),
        {"df": positive},
        support=HALF_LINE,
        density=lambda z, df: (
            0.5 * pow(0.5 * z, 0.5 * df - 1.0) * exp(-0.5 * z - gammaln(0.5 * df))
        ),
        cdf=lambda z, df: gammainc(0.5 * df, 0.5 * z),
        sf=lambda z, df: gammaincc(0.5 * df, 0.5 * z),
        logcdf=lambda z, df: log_lower(0.5 * df, 0.5 * z),
        logsf=lambda z, df: log_upper(0.5 * df, 0.5 * z),
        ppf=lambda q, df: 2.0 * gammaincinv(0.5 * df, q),
        isf=lambda q, df: 2.0 * gammainccinv(0.5 * df, q),
        mean=lambda df: df,
        var=lambda df: 2.0 * df,
        entropy=_chi2_entropy,
    )
)
invgamma = ContinuousDistribution(
    Row(
        "invgamma",
        "The inverse gamma distribution: ``scale`` over numbers of the gamma distribution of shape ``a``.",
        lambda z, a: -(a + 1.0) * log(z) - gammaln(a) - 1.0 / z,
        {"a": positive},
        support=HALF_LINE,
        open_below=True,
        cdf=lambda z, a: gammaincc(a, 1.0 / z),
        sf=lambda z, a: gammainc(a, 1.0 / z),
        logcdf=lambda z, a: log_upper(a, 1.0 / z),
        logsf=lambda z, a: log_lower(a, 1.0 / z),
        ppf=lambda q, a: 1.0 / gammainccinv(a, q),
        isf=lambda q, a: 1.0 / gammaincinv(a, q),
        mean=lambda a: switch(gt(a, 1.0), 1.0 / (a - 1.0), math.inf),
        var=lambda a: switch(gt(a, 2.0), 1.0 / ((a - 1.0) * (a - 1.0) * (a - 2.0)), math.inf),
        entropy=lambda a: a - (a + 1.0) * psi(a) + gammaln(a),
    )
)


def _gengamma_logdensity(z: Any, a: Any, c: Any) -> Any:
    # at 0 with a negative exponent, both terms are infinite and the density is 0
    limit = and_(eq(z, 0.0), lt(c, 0.0))
    inner = switch(limit, 1.0, z)
    value = log(abs(c)) + xlogy(c * a - 1.0, inner) - pow(inner, c) - gammaln(a)
    return switch(limit, -math.inf, value)


def _gengamma_density(z: Any, a: Any, c: Any) -> Any:
    up = gt(c, 0.0)
    base, power = switch(up, z, 1.0), switch(up, c, 1.0)
    value = power * pow(base, power * a - 1.0) * exp(-pow(base, power) - gammaln(a))
    return switch(up, value, exp(_gengamma_logdensity(switch(up, 1.0, z), a, c)))


def _gengamma_cdf(z: Any, a: Any, c: Any) -> Any:
    power = pow(z, c)
    return switch(gt(c, 0.0), gammainc(a, power), gammaincc(a, power))


def _gengamma_sf(z: Any, a: Any, c: Any) -> Any:
    power = pow(z, c)
    return switch(gt(c, 0.0), gammaincc(a, power), gammainc(a, power))


def _gengamma_logcdf(z: Any, a: Any, c: Any) -> Any:
    up, power = gt(c, 0.0), pow(z, c)
    lower = log_lower(switch(up, a, 1.0), switch(up, power, 1.0), switch(up, c * log(z), 0.0))
    return switch(up, lower, log_upper(switch(up, 1.0, a), switch(up, 1.0, power)))


def _gengamma_logsf(z: Any, a: Any, c: Any) -> Any:
    up, power = gt(c, 0.0), pow(z, c)
    lower = log_lower(switch(up, 1.0, a), switch(up, 1.0, power), switch(up, 0.0, c * log(z)))
    return switch(up, log_upper(switch(up, a, 1.0), switch(up, power, 1.0)), lower)


def _gengamma_ppf(q: Any, a: Any, c: Any) -> Any:
    return pow(switch(gt(c, 0.0), gammaincinv(a, q), gammainccinv(a, q)), 1.0 / c)


def _gengamma_isf(q: Any, a: Any, c: Any) -> Any:
    return pow(switch(gt(c, 0.0), gammainccinv(a, q), gammaincinv(a, q)), 1.0 / c)


def _gengamma_logmoment(order: float, a: Any, c: Any) -> Any:
    return gammaln(a + order / c) - gammaln(a)


def _gengamma_var(a: Any, c: Any) -> Any:
    twice_log_mean = 2.0 * _gengamma_logmoment(1.0, a, c)
    return exp(twice_log_mean) * expm1(_gengamma_logmoment(2.0, a, c) - twice_log_mean)


gengamma = ContinuousDistribution(
    Row(
        "gengamma",
        "The generalized gamma distribution: the power 1/c of numbers of the gamma distribution of shape ``a``; ``c`` is not 0.",
        _gengamma_logdensity,
        {"a": positive, "c": lambda c: (c > 0) | (c < 0)},
        support=HALF_LINE,
        density=_gengamma_density,
        cdf=_gengamma_cdf,
        sf=_gengamma_sf,
        logcdf=_gengamma_logcdf,
        logsf=_gengamma_logsf,
        ppf=_gengamma_ppf,
        isf=_gengamma_isf,
        mean=lambda a, c: exp(_gengamma_logmoment(1.0, a, c)),
        var=_gengamma_var,
        entropy=lambda a, c: a * (1.0 - psi(a)) + psi(a) / c + gammaln(a) - log(abs(c)),
    )
)


def _f_logdensity(z: Any, dfn: Any, dfd: Any) -> Any:
    n, m = 0.5 * dfn, 0.5 * dfd
    return (
        m * log(dfd)
        + n * log(dfn)
        + xlogy(n - 1.0, z)
        - (n + m) * log(dfd + dfn * z)
        - betaln(n, m)
    )


def _f_density(z: Any, dfn: Any, dfd: Any) -> Any:
    n, m = 0.5 * dfn, 0.5 * dfd
    rest = m * log(dfd) + n * log(dfn) - (n + m) * log(dfd + dfn * z) - betaln(n, m)
    # this factor would be infinite only where the power is 0, so a finite bound leaves the product
    # 0
    return pow(z, n - 1.0) * exp(minimum(rest, 85.0))


def _f_parts(z: Any, dfn: Any, dfd: Any) -> tuple[Any, Any, Any]:
    """Whether r is below 1/2, r itself, and 1 - r, for r = dfn z / (dfn z + dfd).

    Callers use only the smaller of r and 1 - r, which is precise. In place of the larger one, 1/2 is returned, so that
    formulas whose results are not used, and their derivatives, are finite.
    """
    whole = dfn * z + dfd
    low = lt(dfn * z, dfd)
    return low, switch(low, dfn * z / whole, 0.5), switch(low, 0.5, dfd / whole)


def _f_cdf(z: Any, dfn: Any, dfd: Any) -> Any:
    low, part, rest = _f_parts(z, dfn, dfd)
    n, m = 0.5 * dfn, 0.5 * dfd
    return switch(low, betainc(n, m, part), betaincc(m, n, rest))


def _f_sf(z: Any, dfn: Any, dfd: Any) -> Any:
    low, part, rest = _f_parts(z, dfn, dfd)
    n, m = 0.5 * dfn, 0.5 * dfd
    return switch(low, betaincc(n, m, part), betainc(m, n, rest))


def _f_logcdf(z: Any, dfn: Any, dfd: Any) -> Any:
    return _f_log_tail(_f_cdf(z, dfn, dfd), _f_sf(z, dfn, dfd), dfn, dfd, log(dfn) + log(z))


def _f_logsf(z: Any, dfn: Any, dfd: Any) -> Any:
    return _f_log_tail(_f_sf(z, dfn, dfd), _f_cdf(z, dfn, dfd), dfd, dfn, log(dfd) - log(z))


def _f_log_tail(value: Any, other: Any, df: Any, other_df: Any, log_weight: Any) -> Any:
    """The logarithm of ``value``, which is betainc(df / 2, other_df / 2, x).

    The logarithm is precise even if ``value`` underflows. ``other`` is 1 - ``value``, and x follows from
    x / (1 - x) = exp(log_weight) / other_df.
    """
    log_odds = log_weight - log(other_df)
    x, y = sigmoid(log_odds), sigmoid(-log_odds)
    return log_beta(
        value, other, 0.5 * df, 0.5 * other_df, x, y, -softplus(-log_odds), -softplus(log_odds)
    )


def _f_quantile(part: Any, rest: Any, dfn: Any, dfd: Any) -> Any:
    low = lt(part, 0.5)
    part, rest = switch(low, part, 0.5), switch(low, 0.5, rest)
    return dfd / dfn * switch(low, part / (1.0 - part), (1.0 - rest) / rest)


def _f_ppf(q: Any, dfn: Any, dfd: Any) -> Any:
    n, m = 0.5 * dfn, 0.5 * dfd
    return _f_quantile(betaincinv(n, m, q), betainccinv(m, n, q), dfn, dfd)


def _f_isf(q: Any, dfn: Any, dfd: Any) -> Any:
    n, m = 0.5 * dfn, 0.5 * dfd
    return _f_quantile(betainccinv(n, m, q), betaincinv(m, n, q), dfn, dfd)


def _f_var(dfn: Any, dfd: Any) -> Any:
    less = dfd - 2.0
    value = 2.0 * dfd * dfd * (dfn + less) / (dfn * less * less * (dfd - 4.0))
    return switch(gt(dfd, 4.0), value, math.inf)


def _f_entropy(dfn: Any, dfd: Any) -> Any:
    n, m = 0.5 * dfn, 0.5 * dfd
    return (
        log(dfd)
        - log(dfn)
        + betaln(n, m)
        + (1.0 - n) * psi(n)
        - (1.0 + m) * psi(m)
        + (n + m) * psi(n + m)
    )


f = ContinuousDistribution(
    Row(
        "f",
        "The F distribution with ``dfn`` and ``dfd`` degrees of freedom.",
        _f_logdensity,
        {"dfn": positive_and_finite, "dfd": positive_and_finite},
        support=HALF_LINE,
        density=_f_density,
        cdf=_f_cdf,
        sf=_f_sf,
        logcdf=_f_logcdf,
        logsf=_f_logsf,
        ppf=_f_ppf,
        isf=_f_isf,
        mean=lambda dfn, dfd: switch(gt(dfd, 2.0), dfd / (dfd - 2.0), math.inf),
        var=_f_var,
        entropy=_f_entropy,
    )
)
