"""Draws of counts by keys whose means are large: rounding must not change their distributions, beside SciPy and NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats

import occelo_graph as og
from occelo_random import functions as random

COUNT = 20_000
KEY = random.key(11)


def drawn(variable: Any) -> Any:
    return np.asarray(og.evaluate(variable, {}))


def require_normal(numbers: Any, mean: int, variance: float) -> None:
    """Counts with such means have the normal distribution, to less than the resolution of this test."""
    # differences of integers are exact
    z = (numbers - np.int64(mean)) / np.sqrt(variance)
    assert scipy.stats.kstest(z, "norm").pvalue > 1e-3
    assert abs(z.var() - 1) < 5 * np.sqrt(2 / COUNT)


@pytest.mark.parametrize("mean", [10**12, 10**16, 10**18, 2**62])
def test_many_events(mean: int) -> None:
    require_normal(drawn(random.poisson(KEY, float(mean), size=COUNT)), mean, float(mean))


@pytest.mark.parametrize("digits", [1, 20])
@pytest.mark.parametrize("n", [2**42, 2**53, 2**62])
def test_many_trials(n: int, digits: int) -> None:
    found = drawn(random.binomial(KEY, n, 0.5**digits, size=COUNT))
    mean = n >> digits
    require_normal(found, mean, mean * (1 - 0.5**digits))


def test_rare_successes_of_many_trials() -> None:
    found = drawn(random.binomial(KEY, 10**18, 1e-16, size=COUNT))
    assert (
        scipy.stats.kstest(
            found + drawn(random.uniform(random.key(12), size=COUNT)), _smoothed
        ).pvalue
        > 1e-3
    )


def _smoothed(x: Any) -> Any:
    """The distribution function of a Poisson number of mean 100 plus a uniform number."""
    distribution, whole = scipy.stats.poisson(100.0), np.floor(x)
    return distribution.cdf(whole - 1) + (x - whole) * distribution.pmf(whole)


@pytest.mark.parametrize("total", [2**40, 2**53])
def test_large_samples_without_replacement(total: int) -> None:
    found = drawn(random.hypergeometric(KEY, total // 2, total // 2, total // 4, size=COUNT))
    require_normal(found, total // 8, total / 64 * 3)


def test_numbers_of_trials_beyond_the_range() -> None:
    p = 1e-19
    found = drawn(random.geometric(KEY, p, size=COUNT))
    limit = np.iinfo("int64").max
    share = np.exp(limit * np.log1p(-p))
    assert abs((found == limit).mean() - share) < 5 * np.sqrt(share * (1 - share) / COUNT)
    inside = found[found < limit]
    assert inside.min() >= 1
    assert inside.max() > 2**62
    distribution = scipy.stats.truncexpon(limit * p, scale=1 / p)
    assert scipy.stats.kstest(inside.astype("float64"), distribution.cdf).pvalue > 1e-3


def test_failures_beyond_the_range() -> None:
    for n, p in ((np.inf, 0.5), (1.0, 1e-30), (1e19, 0.4)):
        with pytest.raises(ValueError, match="n too large or p too small"):
            random.negative_binomial(KEY, n, p)
        with pytest.raises(ValueError, match="n too large or p too small"):
            np.random.default_rng(1).negative_binomial(n, p)
    found = drawn(random.negative_binomial(KEY, 1.0, 1e-16, size=COUNT))
    assert (
        scipy.stats.kstest(found.astype("float64"), scipy.stats.expon(scale=1e16).cdf).pvalue > 1e-3
    )
