"""Distributions of vectors and matrices beside SciPy's: densities, moments, batches, supports, derivatives."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import scipy.special
import scipy.stats

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_stats import functions as stats

RNG = np.random.default_rng(5)
P = np.array([0.2, 0.5, 0.3])
ALPHA = np.array([0.4, 3.0, 7.5])
COV = np.array([[2.0, 0.3, -0.4], [0.3, 1.0, 0.1], [-0.4, 0.1, 0.5]])
MEAN = np.array([0.5, -1.0, 2.0])
X = RNG.normal(size=(4, 3))
SPD = scipy.stats.wishart.rvs(5, COV, size=3, random_state=1)


def value(variable: Any) -> Any:
    return np.asarray(og.evaluate(variable, {}))


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(value(found), expected, rtol=1e-12, atol=1e-14)


def test_categorical() -> None:
    close(stats.categorical.pmf([0, 1, 2, 3, -1, 1.5], P), [*P, 0, 0, 0])
    batch = np.stack([P, P[::-1], [1.0, 0.0, 0.0]])
    close(stats.categorical.logpmf([[0], [1]], batch[:2]), np.log([[0.2, 0.3], [0.5, 0.5]]))
    close(stats.categorical.entropy(batch), scipy.stats.entropy(batch, axis=-1))
    assert np.isneginf(value(stats.categorical.logpmf(1, batch[2])))
    assert np.isnan(value(stats.categorical.logpmf(0, 2 * P)))
    assert np.isnan(value(stats.categorical.logpmf(math.nan, P)))


def test_categorical_as_a_distribution_of_numbers() -> None:
    distribution, theirs = stats.categorical, scipy.stats.rv_discrete(values=([0, 1, 2], P))
    k = np.array([-2.0, -0.5, 0.0, 0.5, 1.0, 2.0, 7.0])
    for method in ("cdf", "sf"):
        close(getattr(distribution, method)(k, P), getattr(theirs, method)(k))
        logarithm = value(getattr(distribution, f"log{method}")(k, P))
        np.testing.assert_allclose(np.exp(logarithm), getattr(theirs, method)(k), atol=1e-15)
    q = np.array([0.0, 0.1, 0.2, 0.21, 0.7, 0.71, 0.99, 1.0])
    for method in ("ppf", "isf"):
        np.testing.assert_array_equal(
            value(getattr(distribution, method)(q[[0, 1, 3, 5, 6, 7]], P)),
            getattr(theirs, method)(q[[0, 1, 3, 5, 6, 7]]),
        )
    np.testing.assert_array_equal(value(distribution.ppf([-0.1, 1.1, math.nan], P)), [math.nan] * 3)
    for method in ("mean", "var", "std"):
        close(getattr(distribution, method)(np.stack([P, P])), [getattr(theirs, method)()] * 2)


def test_multinomial() -> None:
    counts = np.array([[1, 5, 4], [0, 10, 0], [3, 3, 3], [-1, 6, 5]])
    close(stats.multinomial.logpmf(counts, 10, P), scipy.stats.multinomial.logpmf(counts, 10, P))
    close(stats.multinomial.mean(10, P), 10 * P)
    close(stats.multinomial.cov(10, P), scipy.stats.multinomial.cov(10, P))
    close(stats.multinomial.pmf([2, 0, 0], 2, [1.0, 0.0, 0.0]), 1.0)
    close(stats.multinomial.var(10, P), np.diag(scipy.stats.multinomial.cov(10, P)))
    batch = np.stack([P, [1.0, 0.0, 0.0]])
    expected = [scipy.stats.multinomial.entropy(n, P) for n in (10, 3)]
    close(stats.multinomial.entropy([10, 3], P), expected)
    close(stats.multinomial.entropy(10, batch), [expected[0], 0.0])
    assert np.isnan(value(stats.multinomial.logpmf(counts, 9.5, P))).all()


def test_dirichlet() -> None:
    distribution, theirs = stats.dirichlet, scipy.stats.dirichlet
    close(distribution.logpdf(P, ALPHA), theirs.logpdf(P, ALPHA))
    close(
        distribution.logpdf(np.stack([P, P[::-1]]), ALPHA),
        theirs.logpdf(np.stack([P, P[::-1]]).T, ALPHA),
    )
    for method in ("mean", "var", "cov", "entropy"):
        close(getattr(distribution, method)(ALPHA), getattr(theirs, method)(ALPHA))
    assert np.isneginf(value(distribution.logpdf([0.2, 0.2, 0.2], ALPHA)))
    assert np.isneginf(value(distribution.logpdf([1.2, -0.2, 0.0], ALPHA)))
    assert np.isnan(value(distribution.logpdf(P, -ALPHA)))


def test_dirichlet_multinomial() -> None:
    distribution, theirs = stats.dirichlet_multinomial, scipy.stats.dirichlet_multinomial
    counts = np.array([[1, 5, 4], [0, 10, 0], [3, 3, 3]])
    close(distribution.logpmf(counts, ALPHA, 10), theirs.logpmf(counts, ALPHA, 10))
    for method in ("mean", "var", "cov"):
        close(getattr(distribution, method)(ALPHA, 10), getattr(theirs, method)(ALPHA, 10))
    assert np.isnan(value(distribution.var(-ALPHA, 10))).all()


def test_multivariate_normal() -> None:
    distribution, theirs = stats.multivariate_normal, scipy.stats.multivariate_normal
    expected = theirs.logpdf(X, MEAN, COV)
    close(distribution.logpdf(X, MEAN, COV), expected)
    close(distribution.logpdf(X, MEAN, cholesky=np.linalg.cholesky(COV)), expected)
    close(distribution.logpdf(X), theirs.logpdf(X, np.zeros(3)))
    close(distribution.logpdf(X, MEAN, 2.5), theirs.logpdf(X, MEAN, 2.5))
    close(distribution.pdf(X, MEAN, [1.0, 2.0, 3.0]), theirs.pdf(X, MEAN, np.diag([1.0, 2.0, 3.0])))
    close(distribution.entropy(MEAN, COV), theirs.entropy(MEAN, COV))
    close(distribution.entropy(MEAN, 2.0), theirs.entropy(MEAN, 2.0))
    for given in ({"cov": COV}, {"cholesky": np.linalg.cholesky(COV)}):
        close(distribution.cov(**given), COV)
        close(distribution.var(**given), np.diag(COV))
    close(distribution.cov([1.0, 2.0]), np.diag([1.0, 2.0]))
    batch = distribution.logpdf(X[:, None], MEAN, SPD)
    close(batch, [[theirs.logpdf(x, MEAN, c) for c in SPD] for x in X])
    assert np.isnan(value(distribution.logpdf(X, MEAN, -COV))).all()


def test_wishart() -> None:
    distribution, theirs = stats.wishart, scipy.stats.wishart
    close(distribution.logpdf(SPD, 4.5, COV), [theirs.logpdf(x, 4.5, COV) for x in SPD])
    close(
        distribution.logpdf(SPD, [3.0, 4.0, 5.0], COV),
        [theirs.logpdf(x, n, COV) for x, n in zip(SPD, (3, 4, 5), strict=True)],
    )
    for method in ("mean", "var", "entropy"):
        close(getattr(distribution, method)(4.5, COV), getattr(theirs, method)(4.5, COV))
    assert np.isneginf(value(distribution.logpdf(-COV, 4.5, COV)))
    assert np.isnan(value(distribution.logpdf(COV, 1.5, COV)))
    assert np.isnan(value(distribution.logpdf(COV, 4.5, -COV)))


def test_lkj() -> None:
    for eta in (0.7, 1.0, 3.0):
        # the integral over the only element is 1; for three rows the density is known up to the constant
        r = np.linspace(-0.9, 0.9, 5)
        pairs = np.array([[[1, each], [each, 1]] for each in r])
        constant = scipy.special.beta(0.5, eta)
        np.testing.assert_allclose(
            value(stats.lkj.pdf(pairs, eta)), (1 - r * r) ** (eta - 1) / constant, rtol=1e-12
        )
        np.testing.assert_allclose(
            value(stats.lkj.var(eta, 2)), (1 - np.eye(2)) / (1 + 2 * eta), rtol=1e-14
        )
        # the element of two rows has a beta distribution on an interval of length 2
        expected = scipy.stats.beta.entropy(eta, eta) + math.log(2)
        np.testing.assert_allclose(value(stats.lkj.entropy(eta, 2)), expected, rtol=1e-12)
    # the distribution is uniform, with three rows
    close(stats.lkj.entropy(1.0, 3), math.log(math.pi**2 / 2))
    close(stats.lkj.mean([1.0, 2.0], 3), [np.eye(3)] * 2)
    # the volume of the correlation matrices with three rows is pi^2 / 2
    close(stats.lkj.pdf(np.eye(3), 1.0), 2 / math.pi**2)
    assert np.isneginf(value(stats.lkj.logpdf(2 * np.eye(3), 1.0)))
    assert np.isneginf(value(stats.lkj.logpdf([[1.0, 1.5], [1.5, 1.0]], 1.0)))
    assert np.isnan(value(stats.lkj.logpdf(np.eye(3), -1.0)))


def test_derivatives() -> None:
    og.verify_grad(stats.multivariate_normal.logpdf, [X, MEAN, COV], n_tests=1)
    og.verify_grad(
        lambda x, factor: stats.multivariate_normal.logpdf(x, MEAN, cholesky=factor),
        [X, np.linalg.cholesky(COV)],
        n_tests=1,
    )
    og.verify_grad(lambda a: stats.dirichlet.logpdf(P, a), [ALPHA], n_tests=1)
    og.verify_grad(lambda n, v: stats.wishart.logpdf(SPD, n, v), [np.array(4.5), COV], n_tests=1)
    og.verify_grad(lambda e: stats.lkj.logpdf(np.eye(3), e), [np.array(1.5)], n_tests=1)
    # probabilities that add to 1, from free numbers
    og.verify_grad(
        lambda z: (
            stats.multinomial.logpmf([1, 5, 4], 10, ot.softmax(z))
            + stats.categorical.logpmf(2, ot.softmax(z))
        ),
        [np.array([0.1, -0.3, 0.7])],
        n_tests=1,
    )


def test_single_precision_is_kept() -> None:
    x = ot.fvector("x")
    assert stats.multivariate_normal.logpdf(x, 0.0, 2.0).dtype == "float32"
    assert stats.dirichlet.logpdf(x, x).dtype == "float32"
    assert stats.categorical.entropy(x).dtype == "float32"


def test_derivatives_where_a_probability_is_0() -> None:
    p = ot.dscalar("p")
    pair = ot.stack([p, 1.0 - p])
    for x, slope in (([0.0, 2.0], -2.0), ([1.0, 1.0], 2.0), ([2.0, 0.0], 0.0)):
        found = og.grad(stats.multinomial.pmf(np.array(x), 2.0, pair), p)
        assert og.evaluate(found, {p: 0.0}) == pytest.approx(slope, abs=1e-15)
    for k, slope in ((0, 1.0), (1, -1.0), (2, 0.0)):
        assert og.evaluate(og.grad(stats.categorical.pmf(k, pair), p), {p: 0.0}) == slope
    close(stats.multinomial.pmf([[2, 0, 1], [1, 1, 1], [1, 1, 0]], 3, [0.5, 0, 0.5]), [0.375, 0, 0])


@pytest.mark.skipif(
    scipy.__version__.startswith("1.13"), reason="SciPy 1.13 refuses a number of 0 draws"
)
def test_entropy_of_dirichlet_multinomial() -> None:
    for alpha, n in (([1.0, 2.0, 3.0], 4), ([0.3, 0.5], 7), ([2.0], 5), ([1.0, 1.0], 0)):
        total = 0.0
        for x in itertools.product(range(n + 1), repeat=len(alpha)):
            if sum(x) == n:
                chance = scipy.stats.dirichlet_multinomial.pmf(x, alpha, n)
                total -= chance * np.log(chance)
        close(stats.dirichlet_multinomial.entropy(np.array(alpha), n), total)
    batch = stats.dirichlet_multinomial.entropy(np.array([[1.0, 2.0], [3.0, -4.0]]), 4)
    assert np.isnan(value(batch)).tolist() == [False, True]


def test_distribution_function_of_normal_vectors() -> None:
    distribution, theirs = stats.multivariate_normal, scipy.stats.multivariate_normal
    # the probability of an orthant where all correlations are 1/2
    for n, error in ((1, 1e-15), (2, 1e-6), (3, 1e-6), (6, 2e-5)):
        cov = np.full((n, n), 0.5) + 0.5 * np.eye(n)
        found = value(distribution.cdf(np.zeros(n), None, cov))
        assert abs(found - 1 / (n + 1)) < error, n
        np.testing.assert_array_equal(
            value(distribution.cdf(np.zeros(n), cholesky=np.linalg.cholesky(cov))), found
        )
    batch = value(distribution.cdf(X[:, None], MEAN, np.stack([COV, 2 * COV])))
    expected = [[theirs.cdf(x, MEAN, c, abseps=1e-8) for c in (COV, 2 * COV)] for x in X]
    np.testing.assert_allclose(batch, expected, atol=2e-5)
    # independent elements, far in the tails
    far = np.array([-40.0, -50.0, 1.0])
    own = scipy.special.log_ndtr(far).sum()
    for cov in (1.0, np.ones(3), np.eye(3)):
        close(distribution.logcdf(far, None, cov), own)


def test_distribution_function_of_normal_vectors_at_edges() -> None:
    distribution, pair = stats.multivariate_normal, COV[:2, :2]
    assert value(distribution.cdf([math.inf, math.inf], None, pair)) == pytest.approx(
        1.0, abs=1e-14
    )
    assert value(distribution.cdf([-math.inf, 1.0], None, pair)) == 0.0
    assert value(distribution.cdf([math.inf, 1.0], None, pair)) == pytest.approx(
        scipy.stats.norm.cdf(1.0), abs=1e-5
    )
    assert np.isnan(value(distribution.cdf([0.0, 1.0], None, -pair)))
    assert np.isnan(value(distribution.cdf([0.0, math.nan], None, pair)))
    assert value(distribution.cdf(np.zeros((0, 2)), None, pair)).shape == (0,)
    with pytest.raises(ValueError, match="lengths up to 200, got 201"):
        distribution.cdf(np.zeros(201), None, np.eye(201))
    x, cov = ot.dvector("x"), ot.dmatrix("cov")
    unknown = distribution.logcdf(x, None, cov)
    with pytest.raises(ValueError, match="lengths up to 200"):
        unknown.eval({x: np.zeros(201), cov: np.eye(201)})


def test_derivatives_of_the_distribution_function_of_normal_vectors() -> None:
    b, r = ot.dvector("b"), ot.dscalar("r")
    cov = ot.stack([ot.stack([1.0, r]), ot.stack([r, 1.0])])
    mass = stats.multivariate_normal.cdf(b, None, cov)
    at = np.array([0.3, -0.2])
    given = {b: at, r: 0.4}
    by_bound, by_correlation = (og.evaluate(og.grad(mass, v), given) for v in (b, r))
    phi, root = scipy.stats.norm, math.sqrt(1 - 0.16)
    exact = phi.pdf(at) * phi.cdf((at[::-1] - 0.4 * at) / root)
    np.testing.assert_allclose(by_bound, exact, atol=1e-5)
    # Plackett's identity: the derivative by the correlation is the density
    density = scipy.stats.multivariate_normal.pdf(at, None, [[1, 0.4], [0.4, 1]])
    assert by_correlation == pytest.approx(density, abs=1e-4)
