"""Continuous distributions with distribution functions that need numerical integration: skew-normal and von Mises.

Users find the distributions in `occelo.tensor.stats`. The probability of a tail is an integral of the density. The integrand is
divided by the density at the point where the tail begins. So the logarithm of the probability is precise, however small
the probability is. A Gauss-Legendre rule with 64 points computes the integral over an interval. Beyond this interval
the integrand is below exp(-40).
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from occelo_graph.ops.elemwise.arithmetic import abs, gt, lt, maximum, minimum, sqrt, switch
from occelo_graph.ops.elemwise.transcendental import cos, exp, log, log1p, sin
from occelo_graph.ops.reduce import sum as sum_of
from occelo_graph.tensors.constant import constant
from occelo_special.functions import ive, log_ndtr, owens_t
from occelo_stats.continuous import ContinuousDistribution
from occelo_stats.distribution import Row, not_negative, number
from occelo_stats.on_the_line import LOG_ROOT_TWO_PI, largest_square_root, ndtr

__all__ = ["skewnorm", "vonmises"]

_DEPTH = 40.0


@functools.cache
def _rule(dtype: str) -> tuple[Any, Any]:
    """The points (between 0 and 1) and weights (with sum 1) of the Gauss-Legendre rule."""
    points, weights = np.polynomial.legendre.leggauss(64)
    return constant((0.5 + 0.5 * points).astype(dtype)), constant((0.5 * weights).astype(dtype))


def _width(distance: Any, curvature: Any) -> Any:
    """The length of the interval of integration: the u > 0 with ``curvature (distance u + u^2 / 2)`` = 40.

    Callers choose ``curvature`` and ``distance`` so that the integrand falls about as fast as
    ``exp(-curvature (distance u + u^2 / 2))`` or faster, where u is the distance from the start of the interval.
    """
    twice = 2.0 * _DEPTH / curvature
    return twice / (sqrt(distance * distance + twice) + distance)


def _skewnorm_logdensity(z: Any, a: Any) -> Any:
    return math.log(2.0) - LOG_ROOT_TWO_PI - 0.5 * (z * z) + log_ndtr(a * z)


def _skewnorm_log_tail(z: Any, a: Any) -> Any:
    """Logarithm of the probability of a number above ``z``, for z >= 0."""
    # If the distribution is skewed to this side, the integrand changes fast near 0. The formula with Owen's
    # T is used there, since all its terms are positive.
    close = gt(a, 0.0) & lt(z, 1.0)
    near_z, near_a = switch(close, z, 0.0), switch(close, a, 1.0)
    direct = log(ndtr(-near_z) + 2.0 * owens_t(near_z, near_a))
    far_z, far_a = switch(close, 1.0, z), switch(close, 1.0, a)
    width = _width(far_z, switch(lt(far_a, 0.0), 1.0 + far_a * far_a, 1.0))
    points, weights = _rule(z.dtype)
    u = width[..., None] * points
    wide_z, wide_a = far_z[..., None], far_a[..., None]
    factor = log_ndtr(wide_a * (wide_z + u)) - log_ndtr(wide_a * wide_z)
    total = sum_of(weights * exp(factor - u * (wide_z + 0.5 * u)), axis=-1)
    far = log(width * total) + _skewnorm_logdensity(far_z, far_a)
    return switch(close, direct, far)


def _skewnorm_logsf(z: Any, a: Any) -> Any:
    z, a = z + 0.0 * a, a + 0.0 * z
    low = lt(z, 0.0)
    size = switch(low, -z, z)
    # beyond this bound the logarithm itself is -inf
    nothing = gt(size, largest_square_root(z.dtype))
    tail = _skewnorm_log_tail(switch(nothing, 1.0, size), switch(low, -a, a))
    tail = switch(nothing, -math.inf, tail)
    return switch(low, log1p(-exp(switch(low, tail, -1.0))), tail)


def _skewnorm_mean(a: Any) -> Any:
    return math.sqrt(2.0 / math.pi) * a / sqrt(1.0 + a * a)


def _skewnorm_entropy(a: Any) -> Any:
    # The entropy is a constant minus the expected logarithm of ndtr(w), with w = a z. For a = 0, w
    # does not vary, so a tiny number replaces a.
    size = maximum(abs(a), 1e-8)
    wide = gt(size, 1.0)
    points, weights = _rule(a.dtype)
    end = 9.0 * switch(wide, 1.0, size)[..., None]
    w = end * (2.0 * points - 1.0)
    z = w / size[..., None]
    log_factor = log_ndtr(w)
    terms = weights * exp(log_factor - 0.5 * (z * z) - LOG_ROOT_TWO_PI) * log_factor
    # dz is dw / a, and the length of the interval is 2 end
    length = 36.0 / switch(wide, size, 1.0)
    return LOG_ROOT_TWO_PI + 0.5 - math.log(2.0) - length * sum_of(terms, axis=-1)


skewnorm = ContinuousDistribution(
    Row(
        "skewnorm",
        "The skew-normal distribution: the normal density times twice the normal distribution function of ``a z``.",
        _skewnorm_logdensity,
        {"a": number},
        logcdf=lambda z, a: _skewnorm_logsf(-z, -a),
        logsf=_skewnorm_logsf,
        searched=True,
        mean=_skewnorm_mean,
        var=lambda a: 1.0 - (2.0 / math.pi) * (a * a) / (1.0 + a * a),
        entropy=_skewnorm_entropy,
    )
)


def _log_circle(kappa: Any) -> Any:
    """Logarithm of the integral of exp(kappa (cos z - 1)) over z from -pi to pi."""
    return math.log(2.0 * math.pi) + log(ive(0.0, kappa))


def _vonmises_logdensity(z: Any, kappa: Any) -> Any:
    half = sin(0.5 * z)
    return -2.0 * kappa * (half * half) - _log_circle(kappa)


def _vonmises_log_tail(z: Any, kappa: Any) -> Any:
    """Logarithm of the probability of an angle between ``z`` and pi, for z >= 0."""
    # Lower bounds of cos(z) - cos(z + u) = 2 sin(z + u/2) sin(u/2): sin(y) is at least 2/pi y up to
    # pi/2, and 0.3 y up to 3/4 pi. Beyond pi/2, sin(z + u/2) is at least cos(z/2).
    steep = gt(z, 0.5 * math.pi)
    some = switch(gt(kappa, 1.0), kappa, 1.0)
    linear = (0.5 * math.pi * _DEPTH) / (some * cos(0.5 * z))
    width = switch(steep, linear, _width(z, (0.6 / math.pi) * some))
    width = minimum(math.pi - z, width)
    points, weights = _rule(z.dtype)
    u = width[..., None] * points
    fall = 2.0 * sin(z[..., None] + 0.5 * u) * sin(0.5 * u)
    total = sum_of(weights * exp(-kappa[..., None] * fall), axis=-1)
    return log(width * total) + _vonmises_logdensity(z, kappa)


def _vonmises_logsf(z: Any, kappa: Any) -> Any:
    z, kappa = z + 0.0 * kappa, kappa + 0.0 * z
    low = lt(z, 0.0)
    tail = _vonmises_log_tail(switch(low, -z, z), kappa)
    return switch(low, log1p(-exp(switch(low, tail, -1.0))), tail)


def _vonmises_entropy(kappa: Any) -> Any:
    scaled = ive(0.0, kappa)
    return kappa * (1.0 - ive(1.0, kappa) / scaled) + _log_circle(kappa)


def _vonmises_var(kappa: Any) -> Any:
    """Variance of the angle, by an integral over the angles from 0 to pi."""
    some = switch(gt(kappa, 1.0), kappa, 1.0)
    width = minimum(math.pi, _width(0.0 * some, (4.0 / math.pi**2) * some))
    points, weights = _rule(kappa.dtype)
    z = width[..., None] * points
    half = sin(0.5 * z)
    total = sum_of(weights * z * z * exp(-2.0 * kappa[..., None] * (half * half)), axis=-1)
    return 2.0 * width * total * exp(-_log_circle(kappa))


vonmises = ContinuousDistribution(
    Row(
        "vonmises",
        """The von Mises distribution of angles, around ``loc`` with concentration ``kappa``.

        The density is periodic, as in SciPy. The distribution functions are those of angles between -pi and pi around ``loc``.
        """,
        _vonmises_logdensity,
        {"kappa": not_negative},
        support=(-math.pi, math.pi),
        periodic=True,
        logcdf=lambda z, kappa: _vonmises_logsf(-z, kappa),
        logsf=_vonmises_logsf,
        searched=True,
        mean=lambda kappa: 0.0,
        var=_vonmises_var,
        entropy=_vonmises_entropy,
    )
)
