"""Distributions on whole numbers.

These are the distributions Bernoulli, binomial, beta-binomial, negative binomial, geometric, Poisson, hypergeometric and
uniform.

Users find them in `occelo.tensor.stats`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from occelo_graph.ops.elemwise.arithmetic import (
    and_,
    eq,
    floor,
    gt,
    le,
    lt,
    maximum,
    minimum,
    switch,
)
from occelo_graph.ops.elemwise.transcendental import exp, log, log1p, pow
from occelo_special.functions import (
    betainc,
    betaincc,
    betaln,
    gammainc,
    gammaincc,
    gammaln,
    xlog1py,
    xlogy,
)
from occelo_stats.beta_tails import log_beta
from occelo_stats.discrete import DiscreteDistribution
from occelo_stats.distribution import (
    Row,
    constant_in,
    not_negative,
    number,
    positive,
    probability,
    probability_above_zero,
    whole,
)
from occelo_stats.gamma_tails import log_lower, log_upper
from occelo_stats.sums import entropy_of_counts, log_of_sums, sum_of_probabilities

__all__ = [
    "bernoulli",
    "betabinom",
    "binom",
    "geom",
    "hypergeom",
    "nbinom",
    "poisson",
    "randint",
]

_FROM_ZERO = (0.0, math.inf)


def _binary_entropy(p: Any) -> Any:
    return -xlogy(p, p) - xlog1py(1.0 - p, -p)


bernoulli = DiscreteDistribution(
    Row(
        "bernoulli",
        "One with probability ``p``, zero otherwise.",
        lambda k, p: xlogy(k, p) + xlog1py(1.0 - k, -p),
        {"p": probability},
        support=(0.0, 1.0),
        density=lambda k, p: k * p + (1.0 - k) * (1.0 - p),
        ends={"p": (0.0, 1.0)},
        cdf=lambda k, p: constant_in(k, 1.0 - p),
        sf=lambda k, p: constant_in(k, p),
        mean=lambda p: p,
        var=lambda p: p * (1.0 - p),
        entropy=_binary_entropy,
    )
)


def _log_choose(n: Any, k: Any) -> Any:
    return -log(n + 1.0) - betaln(n - k + 1.0, k + 1.0)


def _binomial_coefficient(k: Any, logarithm: Any) -> Any:
    """A binomial coefficient, computed from its ``logarithm``; 1 for ``k`` = 0.

    If the coefficient would overflow, a large finite number replaces it. Callers multiply the coefficient by powers of
    probabilities, and where it would overflow, these powers underflow to 0. So the product is 0, not NaN.
    """
    largest = 0.75 * math.log(np.finfo(logarithm.dtype).max)
    return exp(switch(eq(k, 0.0), 0.0, minimum(logarithm, largest)))


def _binom_pmf(k: Any, n: Any, p: Any) -> Any:
    return (
        _binomial_coefficient(minimum(k, n - k), _log_choose(n, k))
        * pow(p, k)
        * pow(1.0 - p, n - k)
    )


def _binom_logcdf(k: Any, n: Any, p: Any) -> Any:
    value, other = betaincc(k + 1.0, n - k, p), betainc(k + 1.0, n - k, p)
    return log_beta(value, other, n - k, k + 1.0, 1.0 - p, p, log1p(-p), log(p))


def _binom_logsf(k: Any, n: Any, p: Any) -> Any:
    value, other = betainc(k + 1.0, n - k, p), betaincc(k + 1.0, n - k, p)
    return log_beta(value, other, k + 1.0, n - k, p, 1.0 - p, log(p), log1p(-p))


def _nbinom_logcdf(k: Any, n: Any, p: Any) -> Any:
    value, other = betainc(n, k + 1.0, p), betaincc(n, k + 1.0, p)
    return log_beta(value, other, n, k + 1.0, p, 1.0 - p, log(p), log1p(-p))


def _nbinom_logsf(k: Any, n: Any, p: Any) -> Any:
    value, other = betaincc(n, k + 1.0, p), betainc(n, k + 1.0, p)
    return log_beta(value, other, k + 1.0, n, 1.0 - p, p, log1p(-p), log(p))


def _trials(n: Any, *rest: Any) -> Any:
    return n


def _binom_logpmf(k: Any, n: Any, p: Any) -> Any:
    return _log_choose(n, k) + xlogy(k, p) + xlog1py(n - k, -p)


def _binom_entropy(n: Any, p: Any) -> Any:
    mean = n * p
    return entropy_of_counts(_binom_logpmf, (0.0, n), mean, mean * (1.0 - p), 40.0, n, p)


binom = DiscreteDistribution(
    Row(
        "binom",
        "The number of successes among ``n`` trials that succeed with probability ``p``.",
        _binom_logpmf,
        {"n": whole, "p": probability},
        support=(0.0, _trials),
        density=_binom_pmf,
        ends={"p": (0.0, 1.0)},
        cdf=lambda k, n, p: betaincc(k + 1.0, n - k, p),
        sf=lambda k, n, p: betainc(k + 1.0, n - k, p),
        logcdf=_binom_logcdf,
        logsf=_binom_logsf,
        mean=lambda n, p: n * p,
        var=lambda n, p: n * p * (1.0 - p),
        entropy=_binom_entropy,
    )
)


def _betabinom_logpmf(k: Any, n: Any, a: Any, b: Any) -> Any:
    return _log_choose(n, k) + betaln(k + a, n - k + b) - betaln(a, b)


def _betabinom_var(n: Any, a: Any, b: Any) -> Any:
    both = a + b
    return n * (a / both) * (b / both) * ((both + n) / (both + 1.0))


def _betabinom_entropy(n: Any, a: Any, b: Any) -> Any:
    # the tails decrease only like a power, so the sum runs over all numbers
    return entropy_of_counts(_betabinom_logpmf, (0.0, n), 0.0 * a, 0.0 * b, n, n, a, b)


betabinom = DiscreteDistribution(
    Row(
        "betabinom",
        "The binomial distribution whose probability has the beta distribution of ``a`` and ``b``.",
        _betabinom_logpmf,
        {"n": whole, "a": positive, "b": positive},
        support=(0.0, _trials),
        cdf=lambda k, n, a, b: sum_of_probabilities(_betabinom_logpmf, 0.0, k, n, a, b),
        sf=lambda k, n, a, b: sum_of_probabilities(_betabinom_logpmf, k + 1.0, n, n, a, b),
        logcdf=lambda k, n, a, b: log_of_sums(
            _betabinom_logpmf, (0.0 * k, k), (k + 1.0, n), n, a, b
        ),
        logsf=lambda k, n, a, b: log_of_sums(
            _betabinom_logpmf, (k + 1.0, n), (0.0 * k, k), n, a, b
        ),
        mean=lambda n, a, b: n * a / (a + b),
        var=_betabinom_var,
        entropy=_betabinom_entropy,
    )
)


def _nbinom_logpmf(k: Any, n: Any, p: Any) -> Any:
    return -log(n + k) - betaln(n, k + 1.0) + n * log(p) + xlog1py(k, -p)


def _nbinom_pmf(k: Any, n: Any, p: Any) -> Any:
    return _binomial_coefficient(k, -log(n + k) - betaln(n, k + 1.0)) * pow(p, n) * pow(1.0 - p, k)


def _nbinom_entropy(n: Any, p: Any) -> Any:
    mean = n * (1.0 - p) / p
    # far above the mean, each probability is nearly 1 - p times the previous probability
    reach = 40.0 - 45.0 / log1p(-minimum(p, 0.9))
    return entropy_of_counts(_nbinom_logpmf, _FROM_ZERO, mean, mean / p, reach, n, p)


nbinom = DiscreteDistribution(
    Row(
        "nbinom",
        "The number of failures before the ``n``-th success, in trials that succeed with probability ``p``; ``n`` need not be whole.",
        _nbinom_logpmf,
        {"n": positive, "p": probability_above_zero},
        support=_FROM_ZERO,
        density=_nbinom_pmf,
        ends={"p": (1.0,)},
        cdf=lambda k, n, p: betainc(n, k + 1.0, p),
        sf=lambda k, n, p: betaincc(n, k + 1.0, p),
        logcdf=_nbinom_logcdf,
        logsf=_nbinom_logsf,
        mean=lambda n, p: n * (1.0 - p) / p,
        var=lambda n, p: n * (1.0 - p) / (p * p),
        entropy=_nbinom_entropy,
    )
)
geom = DiscreteDistribution(
    Row(
        "geom",
        "The number of trials up to the first success, with probability ``p`` of each.",
        lambda k, p: xlog1py(k - 1.0, -p) + log(p),
        {"p": probability_above_zero},
        support=(1.0, math.inf),
        density=lambda k, p: p * pow(1.0 - p, k - 1.0),
        ends={"p": (1.0,)},
        logsf=lambda k, p: k * log1p(-p),
        mean=lambda p: 1.0 / p,
        var=lambda p: (1.0 - p) / (p * p),
        entropy=lambda p: _binary_entropy(p) / p,
    )
)


def _poisson_logpmf(k: Any, mu: Any) -> Any:
    return xlogy(k, mu) - gammaln(k + 1.0) - mu


def _poisson_entropy(mu: Any) -> Any:
    # large means use the asymptotic series of R. J. Evans and J. Boersma, "The entropy of a Poisson
    # distribution", 1988
    large = gt(mu, 1000.0)
    inverse = 1.0 / switch(large, mu, 1000.0)
    series = inverse * (-1 / 12 + inverse * (-1 / 24 + inverse * (-19 / 360)))
    far = 0.5 * (math.log(2.0 * math.pi) + 1.0 - log(inverse)) + series
    small = switch(large, 1.0, mu)
    near = entropy_of_counts(_poisson_logpmf, _FROM_ZERO, small, small, 40.0, small)
    return switch(large, far, near)


poisson = DiscreteDistribution(
    Row(
        "poisson",
        "The Poisson distribution with mean ``mu``.",
        _poisson_logpmf,
        {"mu": not_negative},
        support=_FROM_ZERO,
        density=lambda k, mu: pow(mu, k) * exp(-mu - gammaln(k + 1.0)),
        ends={"mu": (0.0,)},
        cdf=lambda k, mu: gammaincc(k + 1.0, mu),
        sf=lambda k, mu: gammainc(k + 1.0, mu),
        logcdf=lambda k, mu: log_upper(k + 1.0, mu),
        logsf=lambda k, mu: log_lower(k + 1.0, mu),
        mean=lambda mu: mu,
        var=lambda mu: mu,
        entropy=_poisson_entropy,
    )
)


def _hypergeom_logpmf(k: Any, M: Any, n: Any, N: Any) -> Any:
    return _log_choose(n, k) + _log_choose(M - n, N - k) - _log_choose(M, N)


def _within(M: Any, n: Any, N: Any) -> Any:
    return and_(le(n, M), le(N, M))


def _fewest(M: Any, n: Any, N: Any) -> Any:
    return maximum(N - (M - n), 0.0)


def _most(M: Any, n: Any, N: Any) -> Any:
    return minimum(n, N)


def _hypergeom_var(M: Any, n: Any, N: Any) -> Any:
    share = n / M
    single = eq(M, 1.0)
    rest = switch(single, 0.0, (M - N) / switch(single, 1.0, M - 1.0))
    return N * share * (1.0 - share) * rest


def _hypergeom_below(k: Any, M: Any, n: Any, N: Any) -> tuple[Any, Any]:
    return _fewest(M, n, N), k


def _hypergeom_above(k: Any, M: Any, n: Any, N: Any) -> tuple[Any, Any]:
    return k + 1.0, _most(M, n, N)


def _hypergeom_cdf(k: Any, *shapes: Any) -> Any:
    return sum_of_probabilities(_hypergeom_logpmf, *_hypergeom_below(k, *shapes), *shapes)


def _hypergeom_sf(k: Any, *shapes: Any) -> Any:
    return sum_of_probabilities(_hypergeom_logpmf, *_hypergeom_above(k, *shapes), *shapes)


def _hypergeom_logcdf(k: Any, *shapes: Any) -> Any:
    below, above = _hypergeom_below(k, *shapes), _hypergeom_above(k, *shapes)
    return log_of_sums(_hypergeom_logpmf, below, above, *shapes)


def _hypergeom_logsf(k: Any, *shapes: Any) -> Any:
    below, above = _hypergeom_below(k, *shapes), _hypergeom_above(k, *shapes)
    return log_of_sums(_hypergeom_logpmf, above, below, *shapes)


def _hypergeom_entropy(M: Any, n: Any, N: Any) -> Any:
    support = _fewest(M, n, N), _most(M, n, N)
    mean, var = N * (n / M), _hypergeom_var(M, n, N)
    return entropy_of_counts(_hypergeom_logpmf, support, mean, var, 40.0, M, n, N)


hypergeom = DiscreteDistribution(
    Row(
        "hypergeom",
        "The number of marked ones among ``N`` drawn without replacement from ``M``, of which ``n`` are marked.",
        _hypergeom_logpmf,
        {"M": whole, "n": whole, "N": whole},
        valid=_within,
        support=(_fewest, _most),
        cdf=_hypergeom_cdf,
        sf=_hypergeom_sf,
        logcdf=_hypergeom_logcdf,
        logsf=_hypergeom_logsf,
        mean=lambda M, n, N: N * (n / M),
        var=_hypergeom_var,
        entropy=_hypergeom_entropy,
    )
)


def _ordered(low: Any, high: Any) -> Any:
    return lt(low, high) & eq(floor(low), low) & eq(floor(high), high)


def _lowest(low: Any, high: Any) -> Any:
    return low


def _highest(low: Any, high: Any) -> Any:
    return high - 1.0


randint = DiscreteDistribution(
    Row(
        "randint",
        "Whole numbers from ``low`` to ``high - 1``, with equal probability.",
        lambda k, low, high: constant_in(k, -log(high - low)),
        {"low": number, "high": number},
        valid=_ordered,
        support=(_lowest, _highest),
        cdf=lambda k, low, high: (k - low + 1.0) / (high - low),
        sf=lambda k, low, high: (high - 1.0 - k) / (high - low),
        mean=lambda low, high: 0.5 * (low + high - 1.0),
        var=lambda low, high: (high - low - 1.0) * (high - low + 1.0) / 12.0,
        entropy=lambda low, high: log(high - low),
    )
)
