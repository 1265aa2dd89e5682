"""Distributions on whole numbers beside SciPy's and mpmath's: probabilities, tails, quantiles, moments, derivatives."""

from __future__ import annotations

import functools
import math
import os
import warnings
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.stats

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_stats import functions as stats
from occelo_stats.discrete import DiscreteDistribution
from occelo_stats.distribution import Row

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
INF, NAN = math.inf, math.nan
DISTRIBUTIONS: dict[str, list[tuple[float, ...]]] = {
    "bernoulli": [(0.3,), (0.0,), (1.0,)],
    "binom": [(7, 0.3), (7, 0.0), (7, 1.0), (400, 0.5), (0, 0.4)],
    "betabinom": [(7, 0.5, 2.0), (30, 3.0, 0.2)],
    "nbinom": [(3, 0.2), (2.5, 1.0), (40, 0.9)],
    "geom": [(0.3,), (1.0,), (1e-6,)],
    "poisson": [(3.0,), (0.0,), (0.4,), (250.0,)],
    "hypergeom": [(20, 7, 12), (50, 3, 2), (5, 5, 3)],
    "randint": [(-2, 7), (3, 4)],
}
"""The distributions, and values of their parameters; derivatives are at the first ones."""
CALLS = [(name, shapes) for name, rows in DISTRIBUTIONS.items() for shapes in rows]
COUNTS = np.array([-INF, -3, -1, 0, 1, 2, 3, 4, 7, 8, 20, 60, 300, INF, NAN])
CHANCES = np.array([1e-300, 1e-20, 1e-3, 0.3, 0.5, 0.7, 0.999, 1 - 1e-10])


def value(variable: Any) -> Any:
    return np.asarray(og.evaluate(variable, {}))


def methods(name: str, method: str) -> tuple[Any, Any]:
    return getattr(getattr(stats, name), method), getattr(getattr(scipy.stats, name), method)


OLD_SCIPY = pytest.mark.skipif(
    scipy.__version__.startswith("1.13"),
    reason="gammainc and gammaincc of SciPy 1.13, at NaN and 0, are not NaN",
)


@pytest.mark.parametrize(
    "method",
    [
        "logpmf",
        "pmf",
        pytest.param("cdf", marks=OLD_SCIPY),
        pytest.param("sf", marks=OLD_SCIPY),
    ],
)
def test_functions_of_counts(method: str) -> None:
    for name, shapes in CALLS:
        ours, theirs = methods(name, method)
        for place in ({}, {"loc": 1}):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = theirs(COUNTS, *shapes, **place)
            # SciPy has NaN for the probability of infinity
            limit = {"pmf": 0.0, "logpmf": -INF}.get(method, None)
            if limit is not None:
                expected = np.where(np.isinf(COUNTS), limit, expected)
            np.testing.assert_allclose(
                value(ours(COUNTS, *shapes, **place)),
                expected,
                rtol=2e-12,
                atol=1e-15 if method == "logpmf" else 0,
                err_msg=f"{name}{shapes}",
            )


def test_between_whole_numbers() -> None:
    between = np.array([-0.5, 0.5, 2.5])
    for name, shapes in CALLS:
        distribution = getattr(stats, name)
        assert not value(distribution.pmf(between, *shapes)).any()
        for method in ("cdf", "logsf"):
            np.testing.assert_array_equal(
                value(getattr(distribution, method)(between, *shapes)),
                value(getattr(distribution, method)(np.floor(between), *shapes)),
            )


@pytest.mark.parametrize("upper", [False, True])
def test_quantiles_are_inverses(upper: bool) -> None:
    for name, shapes in CALLS if THOROUGH else CALLS[::2]:
        distribution, reference = getattr(stats, name), getattr(scipy.stats, name)
        function, inverse = (
            (distribution.sf, distribution.isf) if upper else (distribution.cdf, distribution.ppf)
        )
        found = value(inverse(CHANCES, *shapes))
        here, before = (value(function(k, *shapes)) for k in (found, found - 1))
        reached = here <= CHANCES if upper else here >= CHANCES
        missed = before > CHANCES if upper else before < CHANCES
        assert reached.all(), (name, shapes, found)
        assert missed.all(), (name, shapes, found)
        ends = value(inverse(np.array([0.0, 1.0, -1.0, 2.0, NAN]), *shapes))
        with np.errstate(all="ignore"):
            usual = (reference.isf if upper else reference.ppf)(CHANCES[2:7], *shapes)
            spread = reference.var(*shapes)
        # SciPy's are no numbers of the support where all others have the probability 0
        if spread > 0:
            np.testing.assert_array_equal(found[2:7], usual)
        low, high = reference.support(*shapes)
        np.testing.assert_array_equal(
            ends, [*((high, low - 1) if upper else (low - 1, high)), NAN, NAN, NAN]
        )


def tails() -> list[tuple[Any, Callable[[], Any]]]:
    """Values that underflow or cancel in a plain formula, with the numbers of mpmath."""
    return [
        (stats.binom.logcdf(300, 400, 0.5), lambda: mpmath.log1p(-_binomial_sf(300, 400, 0.5))),
        (stats.binom.sf(390, 400, 0.5), lambda: _binomial_sf(390, 400, 0.5)),
        (stats.poisson.logcdf(20, 0.4), lambda: mpmath.log1p(-mpmath.gammainc(21, 0, mpmath.mpf(0.4), True))),
        (stats.poisson.logsf(400, 3.0), lambda: mpmath.log(mpmath.gammainc(401, 0, 3, True))),
        (stats.poisson.logcdf(3, 900.0), lambda: mpmath.log(mpmath.gammainc(4, 900, mpmath.inf, True))),
        (stats.poisson.sf(300, 3.0), lambda: mpmath.gammainc(301, 0, 3, True)),
        (stats.geom.logsf(10**9, 0.3), lambda: 10**9 * mpmath.log1p(-mpmath.mpf(0.3))),
        (stats.geom.logcdf(60, 0.3), lambda: mpmath.log1p(-mpmath.mpf(1 - mpmath.mpf(0.3)) ** 60)),
        (stats.binom.logcdf(3, 4000, 0.5), lambda: mpmath.log(_binomial_cdf(3, 4000, 0.5))),
        (stats.binom.logsf(3900, 4000, 0.3), lambda: mpmath.log(_binomial_sf(3900, 4000, 0.3))),
        (stats.nbinom.logcdf(3, 900, 0.3), lambda: mpmath.log(_binomial_sf(899, 903, 0.3))),
        (stats.nbinom.logsf(4000, 3, 0.3), lambda: mpmath.log(_binomial_cdf(2, 4003, 0.3))),
        (stats.nbinom.sf(2000, 3, 0.2), lambda: 1 - mpmath.betainc(3, 2001, 0, mpmath.mpf(0.2), True)),
    ]  # fmt: skip


def _binomial_sf(k: int, n: int, p: float) -> Any:
    one = mpmath.mpf(p)
    return mpmath.fsum(
        mpmath.binomial(n, j) * one**j * (1 - one) ** (n - j) for j in range(k + 1, n + 1)
    )


def _binomial_cdf(k: int, n: int, p: float) -> Any:
    return _binomial_sf(n - k - 1, n, 1 - mpmath.mpf(p))


def test_tails_are_precise() -> None:
    with mpmath.workdps(250):
        for position, (found, exact) in enumerate(tails()):
            case = f"case {position}"
            np.testing.assert_allclose(value(found), float(exact()), rtol=1e-12, err_msg=case)


@pytest.mark.parametrize("method", ["mean", "var", "std", "entropy"])
def test_moments(method: str) -> None:
    for name, shapes in CALLS:
        ours, theirs = methods(name, method)
        with np.errstate(all="ignore"):
            expected = theirs(*shapes, loc=1)
        expected = 0.0 if (name, shapes, method) == ("geom", (1.0,), "entropy") else expected
        bound = 1e-10 if method == "entropy" else 1e-12
        np.testing.assert_allclose(value(ours(*shapes, loc=1)), expected, rtol=bound, atol=3e-16)


def test_entropies_and_tails_by_sums() -> None:
    with mpmath.workdps(30):
        for mu in (0.3, 1200.0):
            width = 14 * math.sqrt(mu) + 60
            counts = range(max(0, int(mu - width)), int(mu + width))
            logs = [k * mpmath.log(mu) - mu - mpmath.loggamma(k + 1) for k in counts]
            exact = -mpmath.fsum(mpmath.exp(each) * each for each in logs)
            np.testing.assert_allclose(value(stats.poisson.entropy(mu)), float(exact), rtol=1e-12)
        chances = [
            mpmath.binomial(600, k) * mpmath.beta(k + 50, 5600 - k) / mpmath.beta(50, 5000)
            for k in range(591, 601)
        ]
        found = value(stats.betabinom.logsf(590, 600, 50.0, 5000.0))
        np.testing.assert_allclose(found, float(mpmath.log(mpmath.fsum(chances))), rtol=1e-13)
        few = mpmath.fsum(
            mpmath.binomial(900, k) * mpmath.binomial(900, 700 - k) for k in range(3)
        ) / mpmath.binomial(1800, 700)
        found = value(stats.hypergeom.logcdf(2, 1800, 900, 700))
        np.testing.assert_allclose(found, float(mpmath.log(few)), rtol=1e-13)
    og.verify_grad(
        lambda p, m: stats.binom.entropy(7, p) + stats.poisson.entropy(m),
        [np.array(0.3), np.array(1.4)],
        n_tests=1,
    )


def test_methods_without_a_formula_name_the_distribution() -> None:
    distribution = DiscreteDistribution(
        Row("unknown", "A distribution of which little is known.", lambda k: -k)
    )
    with pytest.raises(NotImplementedError, match=r"unknown\.entropy\(\) has no formula"):
        distribution.entropy()


def test_invalid_parameters_give_nan() -> None:
    wrong: list[tuple[str, tuple[float, ...]]] = [
        ("bernoulli", (1.5,)),
        ("binom", (2.5, 0.5)),
        ("binom", (-1, 0.5)),
        ("nbinom", (3, 0.0)),
        ("geom", (0.0,)),
        ("poisson", (-1.0,)),
        ("hypergeom", (5, 6, 2)),
        ("randint", (4, 4)),
        ("betabinom", (4, NAN, 1.0)),
    ]
    for name, shapes in wrong:
        for method, x in (("logpmf", [1]), ("cdf", [1]), ("ppf", [0.5]), ("mean", [])):
            assert np.isnan(value(getattr(getattr(stats, name), method)(*x, *shapes))), (
                name,
                method,
            )


def test_derivatives() -> None:
    for name, shapes in (
        ("bernoulli", (0.3,)), ("binom", (0.3,)), ("poisson", (3.2,)), ("geom", (0.3,)),
        ("nbinom", (2.5, 0.2)), ("betabinom", (0.5, 2.0)),
    ):  # fmt: skip
        distribution = getattr(stats, name)
        first = {"binom": [7], "betabinom": [7]}.get(name, [])
        k = np.array([1.0, 3.0]) if name != "bernoulli" else np.array([0.0, 1.0])
        for method in ("logpmf", "cdf", "logsf") if THOROUGH else ("cdf",):
            if name == "bernoulli" and method == "logsf":
                k = np.array([0.0])
            og.verify_grad(
                functools.partial(getattr(distribution, method), k, *first),
                [np.array(each) for each in shapes],
                n_tests=1,
            )


def test_quantiles_have_no_slope() -> None:
    mu = ot.dscalar("mu")
    slope = og.grad(stats.poisson.ppf(0.3, mu) + stats.poisson.logpmf(2, mu), mu)
    np.testing.assert_allclose(og.evaluate(slope, {mu: np.array(4.0)}), 2 / 4 - 1)


def test_arrays_without_elements() -> None:
    none = np.zeros((0, 3))
    for name, (shapes, *_) in DISTRIBUTIONS.items():
        distribution = getattr(stats, name)
        for method in ("logpmf", "cdf", "logsf", "ppf"):
            assert value(getattr(distribution, method)(none, *shapes)).shape == (0, 3), (
                name,
                method,
            )
        assert value(distribution.entropy(*(none + each for each in shapes))).shape == (0, 3), name


def test_quantiles_in_single_precision() -> None:
    q = np.array([0.1, 0.8], "float32")
    for name, shapes in CALLS:
        found = getattr(stats, name).ppf(q, *(np.float32(each) for each in shapes))
        assert found.dtype == "float32"
        # SciPy's is no number of the support where only one is possible
        if (name, shapes) != ("geom", (1e-6,)) and value(getattr(stats, name).var(*shapes)) > 0:
            expected = getattr(scipy.stats, name).ppf(q, *shapes)
            np.testing.assert_array_equal(value(found), expected)


def test_single_precision_is_kept() -> None:
    p = ot.scalar("p", dtype="float32")
    for method, x in (("logpmf", 3), ("cdf", 3), ("ppf", 0.4)):
        made = getattr(stats.binom, method)(x, 10, p)
        assert made.dtype == "float32"
        expected = getattr(scipy.stats.binom, method)(x, 10, 0.25)
        np.testing.assert_allclose(og.evaluate(made, {p: np.float32(0.25)}), expected, rtol=1e-5)


ENDS: dict[str, tuple[Callable[[Any], Any], float, list[tuple[float, float, float, float]]]] = {
    # for a count: the probability and its first and second derivative, all by hand
    "binom at 0": (
        lambda p: (3.0, p), 0.0, [(0, 1, -3, 6), (1, 0, 3, -12), (2, 0, 0, 6), (3, 0, 0, 0)],
    ),
    "binom at 1": (
        lambda p: (3.0, p), 1.0, [(0, 0, 0, 0), (1, 0, 0, 6), (2, 0, -3, -12), (3, 1, 3, 6)],
    ),
    "binom of many": (lambda p: (2000.0, p), 0.0, [(1000, 0, 0, 0)]),
    "bernoulli": (lambda p: (p,), 0.0, [(0, 1, -1, 0), (1, 0, 1, 0)]),
    "geom": (lambda p: (p,), 1.0, [(1, 1, 1, 0), (2, 0, -1, -2), (3, 0, 0, 2)]),
    "nbinom": (lambda p: (2.0, p), 1.0, [(0, 1, 2, 2), (1, 0, -2, -8), (2, 0, 0, 6)]),
    "poisson": (lambda p: (p,), 0.0, [(0, 1, -1, 1), (1, 0, 1, -2), (2, 0, 0, 1)]),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDS)
def test_derivatives_of_probabilities_where_a_parameter_is_at_its_end(name: str) -> None:
    shapes, end, rows = ENDS[name]
    distribution = getattr(stats, name.split()[0])
    for k, *expected in rows:
        p = ot.dscalar("p")
        mass = distribution.pmf(k, *shapes(p))
        slope = og.grad(mass, p)
        found = [og.evaluate(v, {p: end}) for v in (mass, slope, og.grad(slope, p))]
        np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14, err_msg=f"{k}")
        # numbers elsewhere of one vector are not touched
        v = ot.dvector("v")
        several = og.grad(distribution.pmf(k, *shapes(v)).sum(), v)
        near, there = og.evaluate(several, {v: np.array([0.3, end])})
        assert there == found[1]
        assert near == pytest.approx(og.evaluate(slope, {p: 0.3}), rel=1e-13)
