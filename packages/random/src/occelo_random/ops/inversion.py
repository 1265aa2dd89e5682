"""Draws by keys, by inversion of a distribution function: Cauchy, Laplace, logistic, Gumbel, Pareto, Weibull and others.

Users call the functions from `occelo.tensor.random`. Each number is a function of one uniform number and the
parameters, so it has derivatives with respect to all parameters. If a parameter is invalid, a ValueError names it.
``size`` and ``dtype`` are as in `draws.uniform`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from occelo_graph.ops.elemwise.arithmetic import (
    abs,
    add,
    le,
    lt,
    minimum,
    mul,
    neg,
    reciprocal,
    sqrt,
    sub,
    switch,
    true_div,
)
from occelo_graph.ops.elemwise.transcendental import exp, expm1, log, log1p, pow, tan
from occelo_random.ops.draws import normal_numbers
from occelo_random.ops.either_way import either_way
from occelo_random.ops.parameters import NOT_NEGATIVE, POSITIVE, begin, require
from occelo_special.functions import logit

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "cauchy",
    "gumbel",
    "gumbel_l",
    "halfcauchy",
    "halfnormal",
    "laplace",
    "logistic",
    "lognormal",
    "lomax",
    "pareto",
    "power",
    "rayleigh",
    "triangular",
    "truncexpon",
    "weibull",
]


def _signed(u: Any, magnitude: Any) -> Any:
    return switch(lt(u, 0.5), neg(magnitude), magnitude)


def _tail(u: Any) -> Any:
    """The smaller one of u and 1 - u. It is exact, as u is an odd multiple of 2**-53 (float64) or 2**-24 (float32)."""
    return minimum(u, sub(1.0, u))


@either_way
def cauchy(
    key: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, dtype: str | None = None
) -> TensorVariable:
    """Cauchy numbers with median ``loc`` and scale ``scale``, the half width of the density at half of its maximum."""
    distribution = begin(key, size, dtype, loc=loc, scale=(scale, NOT_NEGATIVE))
    loc, scale = distribution.values
    u = distribution.uniform(half=True)
    return add(loc, mul(scale, _signed(u, reciprocal(tan(mul(_tail(u), math.pi))))))


@either_way
def halfcauchy(
    key: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, dtype: str | None = None
) -> TensorVariable:
    """Half-Cauchy numbers: ``loc`` plus absolute values of Cauchy numbers with median 0 and scale ``scale``."""
    distribution = begin(key, size, dtype, loc=loc, scale=(scale, NOT_NEGATIVE))
    loc, scale = distribution.values
    u = distribution.uniform(half=True)
    # tan(u pi / 2), computed from the distance to the nearer end of (0, 1)
    near = tan(mul(_tail(u), math.pi / 2))
    return add(loc, mul(scale, switch(lt(u, 0.5), near, reciprocal(near))))


@either_way
def halfnormal(
    key: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, dtype: str | None = None
) -> TensorVariable:
    """Half-normal numbers: ``loc`` plus absolute values of normal numbers with mean 0 and standard deviation ``scale``."""
    distribution = begin(key, size, dtype, loc=loc, scale=(scale, NOT_NEGATIVE))
    loc, scale = distribution.values
    return add(
        loc,
        mul(scale, abs(normal_numbers(distribution.key, distribution.shape, distribution.dtype))),
    )


@either_way
def laplace(
    key: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, dtype: str | None = None
) -> TensorVariable:
    """Laplace numbers: ``loc`` plus or minus exponential numbers with mean ``scale``."""
    distribution = begin(key, size, dtype, loc=loc, scale=(scale, NOT_NEGATIVE))
    loc, scale = distribution.values
    u = distribution.uniform(half=True)
    return add(loc, mul(scale, _signed(u, neg(log(mul(_tail(u), 2.0))))))


@either_way
def logistic(
    key: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, dtype: str | None = None
) -> TensorVariable:
    """Logistic numbers with mean ``loc`` and scale ``scale``."""
    distribution = begin(key, size, dtype, loc=loc, scale=(scale, NOT_NEGATIVE))
    loc, scale = distribution.values
    return add(loc, mul(scale, logit(distribution.uniform(half=True))))


@either_way
def gumbel(
    key: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, dtype: str | None = None
) -> TensorVariable:
    """Gumbel numbers of maxima, with mode ``loc`` and scale ``scale``."""
    distribution = begin(key, size, dtype, loc=loc, scale=(scale, NOT_NEGATIVE))
    loc, scale = distribution.values
    return sub(loc, mul(scale, log(neg(log(distribution.uniform(half=True))))))


@either_way
def gumbel_l(
    key: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, dtype: str | None = None
) -> TensorVariable:
    """Gumbel numbers of minima, with mode ``loc`` and scale ``scale``."""
    distribution = begin(key, size, dtype, loc=loc, scale=(scale, NOT_NEGATIVE))
    loc, scale = distribution.values
    return add(loc, mul(scale, log(_exponential(distribution))))


@either_way
def lognormal(
    key: Any, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None, dtype: str | None = None
) -> TensorVariable:
    """Log-normal numbers: exponentials of normal numbers with mean ``mean`` and standard deviation ``sigma``."""
    distribution = begin(key, size, dtype, mean=mean, sigma=(sigma, NOT_NEGATIVE))
    mean, sigma = distribution.values
    return exp(
        add(
            mean,
            mul(sigma, normal_numbers(distribution.key, distribution.shape, distribution.dtype)),
        )
    )


@either_way
def lomax(
    key: Any, c: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, dtype: str | None = None
) -> TensorVariable:
    """Lomax numbers, as in SciPy: ``loc + scale * (x - 1)`` for Pareto numbers x with exponent ``c``."""
    distribution = begin(key, size, dtype, c=(c, POSITIVE), loc=loc, scale=(scale, NOT_NEGATIVE))
    c, loc, scale = distribution.values
    return add(loc, mul(scale, expm1(true_div(_exponential(distribution), c))))


@either_way
def pareto(
    key: Any, b: Any, scale: Any = 1.0, size: Any = None, dtype: str | None = None
) -> TensorVariable:
    """Pareto numbers with exponent ``b``, which are at least ``scale``, as in SciPy. (NumPy's are smaller by 1.)"""
    distribution = begin(key, size, dtype, b=(b, POSITIVE), scale=(scale, NOT_NEGATIVE))
    b, scale = distribution.values
    return mul(scale, exp(true_div(_exponential(distribution), b)))


@either_way
def power(key: Any, a: Any, size: Any = None, dtype: str | None = None) -> TensorVariable:
    """Numbers of the power distribution: in [0, 1], with the density ``a x**(a - 1)``."""
    distribution = begin(key, size, dtype, a=(a, POSITIVE))
    (a,) = distribution.values
    return exp(true_div(log(distribution.uniform(half=True)), a))


@either_way
def rayleigh(
    key: Any, scale: Any = 1.0, size: Any = None, dtype: str | None = None
) -> TensorVariable:
    """Rayleigh numbers: lengths of vectors of two normal numbers with standard deviation ``scale``."""
    distribution = begin(key, size, dtype, scale=(scale, NOT_NEGATIVE))
    (scale,) = distribution.values
    return mul(scale, sqrt(mul(_exponential(distribution), 2.0)))


def _ordered(left: Any, mode: Any) -> Any:
    return left <= mode


def _distinct(left: Any, right: Any) -> Any:
    return left < right


@either_way
def triangular(
    key: Any, left: Any, mode: Any, right: Any, size: Any = None, dtype: str | None = None
) -> TensorVariable:
    """Triangular numbers in [left, right]. Their density is a triangle with its top at ``mode``.

    ValueError unless left <= mode <= right and left < right.
    """
    distribution = begin(key, size, dtype, left=left, mode=mode, right=right)
    left, mode, right = distribution.values
    checked = require(distribution.key, _ordered, left, mode, message="left > mode")
    checked = require(checked, _ordered, mode, right, message="mode > right")
    checked = require(checked, _distinct, left, right, message="left == right")
    u = distribution._replace(key=checked).uniform()
    width, rise, fall = sub(right, left), sub(mode, left), sub(right, mode)
    rising = le(mul(u, width), rise)
    # the branch that is not chosen must not take the root of 0: its infinite slope would spoil the derivative
    up = sqrt(mul(switch(rising, u, 1.0), width, rise))
    down = sqrt(mul(sub(1.0, switch(rising, 0.0, u)), width, fall))
    return switch(rising, add(left, up), sub(right, down))


@either_way
def truncexpon(
    key: Any,
    b: Any,
    loc: Any = 0.0,
    scale: Any = 1.0,
    size: Any = None,
    dtype: str | None = None,
) -> TensorVariable:
    """Truncated exponential numbers in [loc, loc + b scale], as in SciPy.

    They are ``loc`` plus exponential numbers with mean ``scale`` that are at most ``b scale``.
    """
    distribution = begin(key, size, dtype, b=(b, POSITIVE), loc=loc, scale=(scale, NOT_NEGATIVE))
    b, loc, scale = distribution.values
    u = distribution.uniform()
    return add(loc, mul(scale, neg(log1p(mul(u, expm1(neg(b)))))))


@either_way
def weibull(
    key: Any, a: Any, scale: Any = 1.0, size: Any = None, dtype: str | None = None
) -> TensorVariable:
    """Weibull numbers: ``scale * x**(1/a)`` for exponential numbers x with mean 1."""
    distribution = begin(key, size, dtype, a=(a, POSITIVE), scale=(scale, NOT_NEGATIVE))
    a, scale = distribution.values
    return mul(scale, pow(_exponential(distribution), reciprocal(a)))


def _exponential(distribution: Any) -> Any:
    """Exponential numbers with mean 1. They are never 0, so that their logarithms and powers are finite."""
    return neg(log(distribution.uniform(half=True)))
