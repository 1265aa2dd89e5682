"""Continuous distributions on the whole line: normal, Student t, Cauchy, Laplace, logistic, Gumbel.

Users find the distributions in `occelo.tensor.stats`. Other modules of distributions use the functions and constants of this module, for
instance the normal distribution function `ndtr` and its inverse `ndtri`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from occelo_graph.ops.elemwise.arithmetic import abs, gt, le, lt, minimum, sign, sqrt, switch
from occelo_graph.ops.elemwise.error_functions import erfc
from occelo_graph.ops.elemwise.transcendental import (
    arctan2,
    exp,
    log,
    log1mexp,
    log1p,
    sigmoid,
    softplus,
    tan,
)
from occelo_special.functions import (
    betainc,
    betaincc,
    betainccinv,
    betaincinv,
    erfcinv,
    gammaln,
    log_ndtr,
    logit,
    psi,
)
from occelo_stats.beta_tails import log_beta
from occelo_stats.continuous import ContinuousDistribution
from occelo_stats.distribution import AnyFormula, Row, positive

__all__ = ["cauchy", "gumbel_l", "gumbel_r", "laplace", "logistic", "norm", "t"]

ROOT_TWO = math.sqrt(2.0)
LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)
_FAR = 1e15
"""For z above this bound, 1 + z^2 rounds to z^2."""


def largest_square_root(dtype: str) -> float:
    """A large number whose square does not overflow in the dtype."""
    return math.sqrt(float(np.finfo(dtype).max)) / 2.0


def ndtr(z: Any) -> Any:
    """The standard normal distribution function, precise in the lower tail."""
    return 0.5 * erfc(z * (-1.0 / ROOT_TWO))


def ndtri(q: Any) -> Any:
    """The standard normal quantile."""
    return -ROOT_TWO * erfcinv(2.0 * q)


norm = ContinuousDistribution(
    Row(
        "norm",
        "The normal distribution with mean ``loc`` and standard deviation ``scale``.",
        lambda z: -0.5 * (z * z) - LOG_ROOT_TWO_PI,
        support=None,
        symmetric=True,
        cdf=ndtr,
        logcdf=log_ndtr,
        ppf=ndtri,
        mean=lambda: 0.0,
        var=lambda: 1.0,
        entropy=lambda: LOG_ROOT_TWO_PI + 0.5,
    )
)


def log1p_of_square(z: Any) -> Any:
    """log(1 + z^2), finite even if the square overflows."""
    size = abs(z)
    far = gt(size, _FAR)
    near = switch(far, 1.0, z)
    return switch(far, 2.0 * log(switch(far, size, 1.0)), log1p(near * near))


def _cauchy_quantile(q: Any) -> Any:
    # each form is precise where it is used
    centred = q - 0.5
    near = lt(abs(centred), 0.25)
    tail = 1.0 / tan(math.pi * switch(near, 0.25, minimum(q, 1.0 - q)))
    centre = tan(math.pi * switch(near, centred, 0.0))
    return switch(near, centre, sign(centred) * tail)


cauchy = ContinuousDistribution(
    Row(
        "cauchy",
        "The Cauchy distribution around ``loc``; it has no mean.",
        lambda z: -log1p_of_square(z) - math.log(math.pi),
        support=None,
        symmetric=True,
        # with the arguments in this order, the arctangent is precise in the lower tail
        cdf=lambda z: arctan2(1.0, -z) / math.pi,
        ppf=_cauchy_quantile,
        mean=lambda: math.nan,
        var=lambda: math.nan,
        entropy=lambda: math.log(4.0 * math.pi),
    )
)


def _laplace_cdf(z: Any) -> Any:
    low = lt(z, 0.0)
    # not the absolute value, which has no derivative at 0: this function has one
    half = 0.5 * exp(switch(low, z, -z))
    return switch(low, half, 1.0 - half)


def _laplace_logcdf(z: Any) -> Any:
    low = lt(z, 0.0)
    return switch(low, z - math.log(2.0), log1p(-0.5 * exp(-switch(low, 0.0, z))))


def _laplace_quantile(q: Any) -> Any:
    low = lt(q, 0.5)
    tail = log(2.0 * switch(low, q, 1.0 - q))
    return switch(low, tail, -tail)


laplace = ContinuousDistribution(
    Row(
        "laplace",
        "The Laplace distribution: exponential on both sides of ``loc``.",
        lambda z: -abs(z) - math.log(2.0),
        support=None,
        symmetric=True,
        cdf=_laplace_cdf,
        logcdf=_laplace_logcdf,
        ppf=_laplace_quantile,
        mean=lambda: 0.0,
        var=lambda: 2.0,
        entropy=lambda: 1.0 + math.log(2.0),
    )
)


def _logistic_logdensity(z: Any) -> Any:
    size = abs(z)
    return -size - 2.0 * log1p(exp(-size))


logistic = ContinuousDistribution(
    Row(
        "logistic",
        "The logistic distribution, whose distribution function is the sigmoid.",
        _logistic_logdensity,
        support=None,
        symmetric=True,
        cdf=sigmoid,
        logcdf=lambda z: -softplus(-z),
        ppf=logit,
        mean=lambda: 0.0,
        var=lambda: math.pi**2 / 3.0,
        entropy=lambda: 2.0,
    )
)


def _log_of_rest(z: Any) -> Any:
    """log(1 - exp(-exp(-z))); for large z, where exp(-z) is far below 1, this is -z."""
    far = gt(z, 40.0)
    return switch(far, -z, log1mexp(-exp(-switch(far, 40.0, z))))


gumbel_r = ContinuousDistribution(
    Row(
        "gumbel_r",
        "The Gumbel distribution of largest values.",
        lambda z: -z - exp(-z),
        logcdf=lambda z: -exp(-z),
        logsf=_log_of_rest,
        from_logcdf=lambda logp: -log(-logp),
        mean=lambda: float(np.euler_gamma),
        var=lambda: math.pi**2 / 6.0,
        entropy=lambda: 1.0 + float(np.euler_gamma),
    )
)
gumbel_l = ContinuousDistribution(
    Row(
        "gumbel_l",
        "The Gumbel distribution of smallest values.",
        lambda z: z - exp(z),
        logsf=lambda z: -exp(z),
        logcdf=lambda z: _log_of_rest(-z),
        from_logsf=lambda logp: log(-logp),
        mean=lambda: -float(np.euler_gamma),
        var=lambda: math.pi**2 / 6.0,
        entropy=lambda: 1.0 + float(np.euler_gamma),
    )
)


def _t_constant(df: Any) -> Any:
    """log(gamma((df + 1) / 2) / gamma(df / 2)) - log(df / 2) / 2.

    For df above 60, an asymptotic series computes it (DLMF 5.11.13).
    """
    half = 0.5 * df
    large = gt(half, 30.0)
    x = switch(large, half, 30.0)
    inverse = 1.0 / (x * x)
    # -1 / (8 x) + 1 / (192 x^3) - 1 / (640 x^5) + 17 / (14336 x^7)
    series = -0.125 + inverse * (1 / 192 + inverse * (-1 / 640 + inverse * (17 / 14336)))
    small = switch(large, 1.0, half)
    direct = gammaln(small + 0.5) - gammaln(small) - 0.5 * log(small)
    return switch(large, series / x, direct)


def _t_centre(df: Any) -> tuple[Any, Any]:
    """The density of Student's t at 0, and minus the second derivative of the log density at 0."""
    return exp(_t_constant(df) - LOG_ROOT_TWO_PI), 1.0 + 1.0 / df


def _t_cdf(z: Any, df: Any) -> Any:
    # The argument of the incomplete beta function is x = df / (df + z^2), or 1 - x if that is
    # smaller.
    slope, bend = _t_centre(df)
    # near z = 0 a Taylor series is used: both forms depend on a square root without a derivative at
    # 0
    flat = lt(z * z * bend, 1e-10)
    far = switch(flat, 1.0, z)
    square = far * far
    near = lt(square, df)
    tail = betainc(0.5 * df, 0.5, switch(near, 0.5, df / (df + square)))
    centre = betaincc(0.5, 0.5 * df, switch(near, square / (df + square), 0.5))
    half = 0.5 * switch(near, centre, tail)
    curved = switch(lt(far, 0.0), half, 1.0 - half)
    return switch(flat, 0.5 + slope * z * (1.0 - bend * z * z / 6.0), curved)


def _t_odds(z: Any, df: Any) -> Any:
    """log(1 + z^2 / df), finite even if the square overflows."""
    return log1p_of_square(z / sqrt(df))


def _t_logcdf(z: Any, df: Any) -> Any:
    low = lt(z, 0.0)
    size = switch(low, z, -z)
    lower = _t_cdf(size, df)
    # nearer to the centre, the logarithm of ``lower`` itself is precise
    outer = lt(lower, 0.25)
    far = switch(outer, size, -1.0)
    log_x = -_t_odds(far, df)
    ratio = far / sqrt(df)
    log_y = -log1p_of_square(1.0 / ratio)
    x, y = exp(log_x), exp(log_y)
    both = 2.0 * switch(outer, lower, 0.25)
    tail = log_beta(both, 0.5, 0.5 * df, 0.5 + 0.0 * df, x, y, log_x, log_y) - math.log(2.0)
    tail = switch(outer, tail, log(switch(outer, 0.25, lower)))
    return switch(low, tail, log1p(-switch(low, 0.25, lower)))


def _t_quantile(q: Any, df: Any) -> Any:
    slope, bend = _t_centre(df)
    straight = (q - 0.5) / slope
    flat = lt(straight * straight * bend, 1e-10)
    low = lt(q, 0.5)
    both = 2.0 * switch(flat, 0.25, minimum(q, 1.0 - q))
    w = betaincinv(0.5 * df, 0.5, both)
    far = le(w, 0.5)
    v = betainccinv(0.5, 0.5 * df, switch(far, 0.5, both))
    ratio = switch(far, (1.0 - w) / switch(far, w, 1.0), v / (1.0 - v))
    size = sqrt(df * ratio)
    centre = straight * (1.0 + bend * straight * straight / 6.0)
    return switch(flat, centre, switch(low, -size, size))


def _t_entropy(df: Any) -> Any:
    half = 0.5 * df
    large = gt(half, 30.0)
    x = switch(large, half, 30.0)
    inverse = 1.0 / (x * x)
    # psi(x + 1/2) - psi(x) for large x: 1 / (2 x) plus the derivative of the series in
    # `_t_constant`
    series = 0.125 + inverse * (-1 / 64 + inverse * (1 / 128 + inverse * (-17 / 2048)))
    small = switch(large, 1.0, half)
    gap = switch(large, 0.5 / x + series * inverse, psi(small + 0.5) - psi(small))
    return (half + 0.5) * gap + LOG_ROOT_TWO_PI - _t_constant(df)


def _with_finite(formula: AnyFormula) -> AnyFormula:
    """``formula``, extended to infinite degrees of freedom.

    The degrees of freedom are limited to 1e30. From there on the distribution equals the normal distribution to the last digit.
    """

    def limited(*arguments: Any) -> Any:
        return formula(*arguments[:-1], minimum(arguments[-1], 1e30))

    return limited


def _t_logdensity(z: Any, df: Any) -> Any:
    return _t_constant(df) - LOG_ROOT_TWO_PI - 0.5 * (df + 1.0) * _t_odds(z, df)


def _t_var(df: Any) -> Any:
    return switch(gt(df, 2.0), df / (df - 2.0), switch(gt(df, 1.0), math.inf, math.nan))


t = ContinuousDistribution(
    Row(
        "t",
        "Student's t with ``df`` degrees of freedom.",
        _with_finite(_t_logdensity),
        {"df": positive},
        support=None,
        symmetric=True,
        cdf=_with_finite(_t_cdf),
        logcdf=_with_finite(_t_logcdf),
        ppf=_with_finite(_t_quantile),
        mean=lambda df: switch(gt(df, 1.0), 0.0, math.inf),
        var=_with_finite(_t_var),
        entropy=_with_finite(_t_entropy),
    )
)
