"""Draws by keys of all other distributions, beside SciPy's distributions: distribution, moments, dtypes, derivatives and errors."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
import scipy.special
import scipy.stats

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_random import functions as random

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
COUNT = 1_000_000 if THOROUGH else 20_000
KEY = random.key(41)


def drawn(variable: Any, **given: Any) -> Any:
    return np.asarray(og.evaluate(variable, {}))


CONTINUOUS: list[tuple[str, tuple[float, ...], Any]] = [
    ("cauchy", (1.0, 2.0), scipy.stats.cauchy(1.0, 2.0)),
    ("halfcauchy", (1.0, 2.0), scipy.stats.halfcauchy(1.0, 2.0)),
    ("halfnormal", (1.0, 2.0), scipy.stats.halfnorm(1.0, 2.0)),
    ("laplace", (1.0, 2.0), scipy.stats.laplace(1.0, 2.0)),
    ("logistic", (1.0, 2.0), scipy.stats.logistic(1.0, 2.0)),
    ("gumbel", (1.0, 2.0), scipy.stats.gumbel_r(1.0, 2.0)),
    ("gumbel_l", (1.0, 2.0), scipy.stats.gumbel_l(1.0, 2.0)),
    ("lognormal", (0.5, 0.75), scipy.stats.lognorm(0.75, scale=np.exp(0.5))),
    ("lomax", (5.0, 1.0, 2.0), scipy.stats.lomax(5.0, 1.0, 2.0)),
    ("pareto", (5.0, 2.0), scipy.stats.pareto(5.0, scale=2.0)),
    ("power", (0.5,), scipy.stats.powerlaw(0.5)),
    ("rayleigh", (2.0,), scipy.stats.rayleigh(scale=2.0)),
    ("triangular", (-1.0, 0.5, 2.0), scipy.stats.triang(0.5, -1.0, 3.0)),
    ("truncexpon", (1.5, 1.0, 2.0), scipy.stats.truncexpon(1.5, 1.0, 2.0)),
    ("weibull", (1.5, 2.0), scipy.stats.weibull_min(1.5, scale=2.0)),
]
BY_GAMMA: list[tuple[str, tuple[float, ...], Any]] = [
    ("gamma", (0.25, 2.0), scipy.stats.gamma(0.25, scale=2.0)),
    ("gamma", (3.5, 2.0), scipy.stats.gamma(3.5, scale=2.0)),
    ("gamma", (500.0, 2.0), scipy.stats.gamma(500.0, scale=2.0)),
    ("invgamma", (5.0, 2.0), scipy.stats.invgamma(5.0, scale=2.0)),
    ("gengamma", (3.0, 2.0, 1.5), scipy.stats.gengamma(1.5, 2.0, scale=1.5)),
    ("chisquare", (5.0,), scipy.stats.chi2(5.0)),
    ("beta", (0.5, 2.5), scipy.stats.beta(0.5, 2.5)),
    ("beta", (0.05, 0.5), scipy.stats.beta(0.05, 0.5)),
    ("f", (5.0, 12.0), scipy.stats.f(5.0, 12.0)),
    ("t", (5.0, 1.0, 2.0), scipy.stats.t(5.0, 1.0, 2.0)),
    ("vonmises", (0.0, 0.0), scipy.stats.uniform(-np.pi, 2 * np.pi)),
    ("vonmises", (0.0, 1.5), scipy.stats.vonmises(1.5)),
    ("vonmises", (0.5, 1e6), scipy.stats.norm(0.5, 1e-3)),
    ("wald", (2.0, 3.0), scipy.stats.invgauss(2 / 3, scale=3.0)),
    ("skewnorm", (3.0, 1.0, 2.0), scipy.stats.skewnorm(3.0, 1.0, 2.0)),
    ("truncnorm", (-1.0, 0.5, 1.0, 2.0), scipy.stats.truncnorm(-1.0, 0.5, 1.0, 2.0)),
    ("truncnorm", (3.0, np.inf), scipy.stats.truncnorm(3.0, np.inf)),
]
BY_NAME = {
    f"{name}{args}": (name, args, distribution)
    for name, args, distribution in CONTINUOUS + BY_GAMMA
}


def follows(values: Any, distribution: Any) -> None:
    assert scipy.stats.kstest(values, distribution.cdf).pvalue > 1e-3
    mean, variance, kurtosis = distribution.stats("mvk")
    if np.isfinite(variance):
        assert abs(values.mean() - mean) < 4.5 * np.sqrt(variance / len(values))
    if np.isfinite(kurtosis):
        assert abs(values.var() / variance - 1) < 4.5 * np.sqrt((kurtosis + 2) / len(values))
    # the tails have as many numbers as they should
    for tail in (1e-3, 1 - 1e-3):
        share = np.mean(values <= distribution.ppf(tail))
        assert abs(share - tail) < 5 * np.sqrt(1e-3 / len(values))


@pytest.mark.parametrize("case", BY_NAME)
def test_continuous_distributions(case: str) -> None:
    name, args, distribution = BY_NAME[case]
    draw = getattr(random, name)
    follows(drawn(draw(KEY, *args, size=COUNT)), distribution)
    single = drawn(draw(KEY, *args, size=1000, dtype="float32"))
    assert single.dtype == "float32"
    assert scipy.stats.kstest(single, distribution.cdf).pvalue > 1e-3
    # parameters and keys by rows
    rows = [ot.constant(np.array([a, a])) for a in args]
    keys = random.split(KEY, 2)
    one = [drawn(draw(keys[i], *args)) for i in range(2)]
    np.testing.assert_array_equal(drawn(draw(keys, *rows)), one)


@pytest.mark.parametrize("case", [f"{name}{args}" for name, args, _ in CONTINUOUS])
def test_derivatives_of_draws(case: str) -> None:
    name, args, _ = BY_NAME[case]
    points = [np.array([a, 1.1 * a]) for a in args]
    og.verify_grad(lambda *p: getattr(random, name)(KEY, *p), points)


def slope_of_quantile(quantile: Any, p: Any, parameter: Any) -> Any:
    """The derivative of a quantile by a parameter, where the probability stays the same."""
    h = 1e-4 * parameter
    near = quantile(p, parameter + h) - quantile(p, parameter - h)
    far = quantile(p, parameter + 2 * h) - quantile(p, parameter - 2 * h)
    return (8 * near - far) / (12 * h)


@pytest.mark.parametrize("a", [1.0, 1.5, 7.0, 300.0, 1e5, 1.1e5, 1e8, 1e12])
def test_implicit_derivatives_of_gamma_numbers(a: float) -> None:
    parameter = ot.dvector("a")
    draw = random.gamma(KEY, parameter)
    points = np.full(50, a)
    values, slopes = (
        np.asarray(og.evaluate(v, {parameter: points}))
        for v in (draw, og.grad(draw.sum(), parameter))
    )
    p = scipy.special.gammainc(a, values)
    quantile = slope_of_quantile(lambda q, b: scipy.special.gammaincinv(b, q), p, a)
    np.testing.assert_allclose(slopes, quantile, rtol=2e-5)


@pytest.mark.parametrize("kappa", [0.2, 2.0, 30.0, 1000.0])
def test_implicit_derivatives_of_angles(kappa: float) -> None:
    parameter = ot.dvector("kappa")
    draw = random.vonmises(KEY, 0.0, parameter)
    points = np.full(30, kappa)
    values, slopes = (
        np.asarray(og.evaluate(v, {parameter: points}))
        for v in (draw, og.grad(draw.sum(), parameter))
    )
    h = 1e-5 * kappa
    up, down = (scipy.stats.vonmises(kappa + d).cdf(values) for d in (h, -h))
    exact = -(up - down) / (2 * h) / scipy.stats.vonmises(kappa).pdf(values)
    np.testing.assert_allclose(slopes, exact, rtol=2e-6)


@pytest.mark.parametrize(("mean", "scale"), [(2.0, 3.0), (0.5, 100.0), (100.0, 0.5), (1e-3, 1e-3)])
def test_implicit_derivatives_of_wald_numbers(mean: float, scale: float) -> None:
    """Which of two roots a number is depends on the parameters, so the slope of the root that it is would be wrong."""
    parameters = [ot.dvector("mean"), ot.dvector("scale")]
    draw = random.wald(KEY, *parameters)
    given = dict(zip(parameters, (np.full(30, mean), np.full(30, scale)), strict=True))
    values, *slopes = (
        np.asarray(og.evaluate(v, given)) for v in (draw, *og.grad(draw.sum(), parameters))
    )

    def cdf(m: float, s: float) -> Any:
        return scipy.stats.invgauss(m / s, scale=s).cdf(values)

    pdf = scipy.stats.invgauss(mean / scale, scale=scale).pdf(values)
    h, k = 1e-5 * mean, 1e-5 * scale
    by_mean = (cdf(mean + h, scale) - cdf(mean - h, scale)) / (2 * h)
    by_scale = (cdf(mean, scale + k) - cdf(mean, scale - k)) / (2 * k)
    np.testing.assert_allclose(slopes[0], -by_mean / pdf, rtol=1e-5)
    np.testing.assert_allclose(slopes[1], -by_scale / pdf, rtol=1e-5, atol=1e-8 * mean / scale)


def test_distributions_near_their_limits() -> None:
    for draw, distribution in (
        (random.vonmises(KEY, 0.0, 1e12, size=COUNT), scipy.stats.norm(0.0, 1e-6)),
        (random.vonmises(KEY, 0.0, 1e26, size=COUNT), scipy.stats.norm(0.0, 1e-13)),
        (random.t(KEY, np.inf, size=COUNT), scipy.stats.norm()),
        (random.skewnorm(KEY, np.inf, size=COUNT), scipy.stats.halfnorm()),
        (-random.skewnorm(KEY, -1e200, size=COUNT), scipy.stats.halfnorm()),
        (random.wald(KEY, 1e200, 1e-100, size=COUNT) * 1e100, scipy.stats.invgamma(0.5, scale=0.5)),
    ):
        assert scipy.stats.kstest(drawn(draw), distribution.cdf).pvalue > 1e-3
    for kappa in (1e40, 1e160, np.inf):
        np.testing.assert_allclose(drawn(random.vonmises(KEY, 0.3, kappa, size=9)), 0.3, rtol=1e-14)
    np.testing.assert_array_equal(drawn(random.truncnorm(KEY, 1e200, np.inf, size=3)), 1e200)
    np.testing.assert_array_equal(drawn(random.truncnorm(KEY, -1e300, -1e200, size=3)), -1e200)


@pytest.mark.parametrize(
    ("low", "high"), [(40.0, np.inf), (-50.0, -45.0), (30.0, 30.001), (4.9, 5.2), (-np.inf, np.inf)]
)
def test_normal_numbers_between_bounds_in_the_tails(low: float, high: float) -> None:
    values = drawn(random.truncnorm(KEY, low, high, size=1000))
    assert ((low <= values) & (values <= high)).all()
    assert scipy.stats.kstest(values, scipy.stats.truncnorm(low, high).cdf).pvalue > 1e-3


def test_derivatives_by_bounds_and_shapes() -> None:
    low, high = np.array([-1.0, 0.5, 6.0]), np.array([0.5, 3.0, 8.0])
    loc, scale = np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 0.5])
    og.verify_grad(lambda a, b, m, s: random.truncnorm(KEY, a, b, m, s), [low, high, loc, scale])
    og.verify_grad(lambda a, m, s: random.skewnorm(KEY, a, m, s), [low, loc, scale])
    covariance = np.array([[2.0, 0.6], [0.6, 1.0]])
    og.verify_grad(lambda m, s: random.multivariate_normal(KEY, m, s), [loc[:2], covariance])


COVARIANCE = np.array([[2.0, 0.6, 0.1], [0.6, 1.0, -0.3], [0.1, -0.3, 0.5]])


def test_multivariate_normal() -> None:
    mean = np.array([1.0, 2.0, 3.0])
    for options in (
        {"cov": COVARIANCE},
        {"cov": COVARIANCE, "method": "eigh"},
        {"cov": COVARIANCE, "method": "svd"},
        {"chol": np.linalg.cholesky(COVARIANCE)},
    ):
        values = drawn(random.multivariate_normal(KEY, mean, size=COUNT, **options))
        np.testing.assert_allclose(values.mean(axis=0), mean, atol=7 / np.sqrt(COUNT))
        np.testing.assert_allclose(np.cov(values.T), COVARIANCE, atol=14 / np.sqrt(COUNT))
    two = np.array([COVARIANCE, 2 * COVARIANCE])
    assert drawn(random.multivariate_normal(KEY, mean, two, size=(5, 2))).shape == (5, 2, 3)
    keys = random.split(KEY, 2)
    rows = drawn(random.multivariate_normal(keys, np.array([mean, mean]), two))
    np.testing.assert_allclose(
        rows[1], drawn(random.multivariate_normal(keys[1], mean, two[1])), rtol=1e-14
    )
    with pytest.raises(ValueError, match="either cov or chol"):
        random.multivariate_normal(KEY, mean)
    with pytest.raises(ValueError, match="cholesky, eigh or svd"):
        random.multivariate_normal(KEY, mean, COVARIANCE, method="qr")


def test_wishart_matrices() -> None:
    values = drawn(random.wishart(KEY, 5.5, COVARIANCE, size=COUNT))
    np.testing.assert_allclose(values.mean(axis=0), 5.5 * COVARIANCE, atol=40 / np.sqrt(COUNT))
    for i in range(3):
        follows(values[:, i, i] / COVARIANCE[i, i], scipy.stats.chi2(5.5))
    with pytest.raises(ValueError, match="df <= n - 1"):
        drawn(random.wishart(KEY, 1.5, COVARIANCE))


@pytest.mark.parametrize("eta", [0.7, 1.0, 4.0])
def test_correlation_matrices(eta: float) -> None:
    values = drawn(random.lkj(KEY, 3, eta, size=COUNT // 2))
    np.testing.assert_allclose(np.diagonal(values, axis1=1, axis2=2), 1.0, rtol=1e-14)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        distribution = scipy.stats.beta(eta + 0.5, eta + 0.5)
        assert scipy.stats.kstest((values[:, i, j] + 1) / 2, distribution.cdf).pvalue > 1e-3
    assert drawn(random.lkj(KEY, 1)).tolist() == [[1.0]]


MEANS: list[tuple[str, tuple[float, ...], Any]] = [
    ("gamma", (0.4, 2.0), lambda a, s: a * s + a * (a + 1) * s**2),
    ("beta", (0.5, 1.5), lambda a, b: a / (a + b) + a * (a + 1) / (a + b) / (a + b + 1)),
    ("t", (9.0, 0.5, 2.0), lambda df, m, s: m + m**2 + s**2 * df / (df - 2)),
    ("f", (5.0, 20.0), lambda m, n: n / (n - 2) + (n / (n - 2)) ** 2 * (1 + 2 * (m + n - 2) / (m * (n - 4)))),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args", "moment"), MEANS)
def test_gradients_of_means(name: str, args: tuple[float, ...], moment: Any) -> None:
    """The mean of the gradients of x + x**2 is the gradient of its mean."""
    keys = random.split(KEY, COUNT)
    parameters = [ot.constant(np.full(COUNT, a)) for a in args]
    x = getattr(random, name)(keys, *parameters)
    slopes = [np.asarray(og.evaluate(g, {})) for g in og.grad((x + x**2).sum(), parameters)]
    for i, each in enumerate(slopes):
        h = 1e-5 * args[i]
        up, down = ([*args[:i], args[i] + d, *args[i + 1 :]] for d in (h, -h))
        exact = (moment(*up) - moment(*down)) / (2 * h)
        assert abs(each.mean() - exact) < 4.5 * each.std() / np.sqrt(COUNT)


def test_dirichlet() -> None:
    alpha = np.array([0.05, 1.0, 3.0])
    values = drawn(random.dirichlet(KEY, alpha, size=COUNT))
    assert values.shape == (COUNT, 3)
    np.testing.assert_allclose(values.sum(axis=1), 1.0, rtol=1e-14)
    for i, a in enumerate(alpha):
        follows(values[:, i], scipy.stats.beta(a, alpha.sum() - a))
    correlation = scipy.stats.dirichlet(alpha).cov()
    np.testing.assert_allclose(np.cov(values.T), correlation, atol=10 / np.sqrt(COUNT))
    two = drawn(random.dirichlet(random.split(KEY, 2), np.array([alpha, alpha + 1])))
    one = drawn(random.dirichlet(random.split(KEY, 2)[1], alpha + 1))
    np.testing.assert_array_equal(two[1], one)


COUNTS: list[tuple[str, tuple[float, ...], Any]] = [
    ("poisson", (0.5,), scipy.stats.poisson(0.5)),
    ("poisson", (9.9,), scipy.stats.poisson(9.9)),
    ("poisson", (10.0,), scipy.stats.poisson(10.0)),
    ("poisson", (3e6,), scipy.stats.poisson(3e6)),
    ("binomial", (12, 0.3), scipy.stats.binom(12, 0.3)),
    ("binomial", (50, 0.2), scipy.stats.binom(50, 0.2)),
    ("binomial", (10**8, 0.8), scipy.stats.binom(10**8, 0.8)),
    ("negative_binomial", (3.5, 0.3), scipy.stats.nbinom(3.5, 0.3)),
    ("betabinom", (12, 0.6, 2.0), scipy.stats.betabinom(12, 0.6, 2.0)),
    ("geometric", (0.2,), scipy.stats.geom(0.2)),
    ("hypergeometric", (5, 3, 4), scipy.stats.hypergeom(8, 5, 4)),
    ("hypergeometric", (20, 50, 60), scipy.stats.hypergeom(70, 20, 60)),
    ("hypergeometric", (4000, 3000, 800), scipy.stats.hypergeom(7000, 4000, 800)),
]


def frequencies_fit(values: Any, distribution: Any) -> None:
    """Chi-square over about 40 classes of equal probability, each of whole numbers."""
    bounds = np.unique(distribution.ppf(np.linspace(0, 1, 41)[1:-1]))
    expected = np.diff([0.0, *distribution.cdf(bounds), 1.0]) * len(values)
    edges = [-np.inf, *(bounds + 0.5), np.inf]
    found = np.histogram(values, edges)[0]
    kept = expected > 5
    rest = (found[~kept].sum(), expected[~kept].sum())
    assert abs(rest[0] - rest[1]) < 5 * np.sqrt(rest[1]) + 1e-6
    expected = expected[kept] * found[kept].sum() / expected[kept].sum()
    assert scipy.stats.chisquare(found[kept], expected).pvalue > 1e-3


@pytest.mark.parametrize("case", [f"{name}{args}" for name, args, _ in COUNTS])
def test_counts(case: str) -> None:
    name, args, distribution = next(row for row in COUNTS if f"{row[0]}{row[1]}" == case)
    values = drawn(getattr(random, name)(KEY, *args, size=COUNT))
    assert values.dtype == np.int64
    frequencies_fit(values, distribution)
    assert abs(values.mean() - distribution.mean()) < 4.5 * distribution.std() / np.sqrt(COUNT)


MOST = 2**63 - 1


def test_counts_of_certain_results() -> None:
    for variable, expected in (
        (random.poisson(KEY, 0.0, size=3), [0, 0, 0]),
        (random.binomial(KEY, [0, 5, 5], [0.5, 0.0, 1.0]), [0, 0, 5]),
        (random.geometric(KEY, 1.0, size=2), [1, 1]),
        (random.negative_binomial(KEY, 2.0, 1.0, size=2), [0, 0]),
        (random.hypergeometric(KEY, [0, 4, 7, 2], [4, 0, 7, 2], [2, 2, 14, 0]), [0, 2, 7, 0]),
        (random.multinomial(KEY, 4, [0.0, 1.0, 0.0]), [0, 4, 0]),
        (random.multinomial(KEY, 4, [1.0]), [4]),
        (random.binomial(KEY, MOST, 1.0, size=2), [MOST, MOST]),
        (random.binomial(KEY, 2**53 + 1, [0.0, 1.0]), [0, 2**53 + 1]),
        (random.betabinom(KEY, MOST, 1e9, 1e-9, size=2), [MOST, MOST]),
        (random.multinomial(KEY, MOST, [0.0, 1.0]), [0, MOST]),
        (random.multinomial(KEY, MOST, [1.0]), [MOST]),
        (random.multinomial(KEY, MOST - 5, [0.1] * 10).sum(), MOST - 5),
        (random.hypergeometric(KEY, 2**52, 0, [2**52, 3]), [2**52, 3]),
        (random.multinomial(random.split(KEY, 2), 4, [1.0], size=3), [[[4]] * 3] * 2),
    ):
        np.testing.assert_array_equal(drawn(variable), expected)


def test_dirichlet_multinomial() -> None:
    alpha = np.array([0.6, 2.0, 5.0])
    values = drawn(random.dirichlet_multinomial(KEY, alpha, [12, 0], size=(COUNT, 2)))
    assert values.shape == (COUNT, 2, 3)
    assert values.dtype == "int64"
    np.testing.assert_array_equal(values.sum(axis=-1), [[12, 0]] * COUNT)
    distribution = scipy.stats.dirichlet_multinomial(alpha, 12)
    np.testing.assert_allclose(values[:, 0].mean(axis=0), distribution.mean(), rtol=0.05)
    np.testing.assert_allclose(np.cov(values[:, 0].T), distribution.cov(), rtol=0.1)
    # each count has the beta-binomial distribution
    for i in range(3):
        single = scipy.stats.betabinom(12, alpha[i], alpha.sum() - alpha[i])
        found = np.bincount(values[:, 0, i], minlength=13)
        expected = single.pmf(np.arange(13)) * COUNT
        # rare counts together, one of which is always there
        rare = expected <= max(5, expected.min())
        found, expected = (np.append(v[~rare], v[rare].sum()) for v in (found, expected))
        assert scipy.stats.chisquare(found, expected).pvalue > 1e-3
    keys = random.split(KEY, 2)
    batch = drawn(random.dirichlet_multinomial(keys, alpha, 12, size=3))
    for k, row in zip(drawn(keys), batch, strict=True):
        np.testing.assert_array_equal(row, drawn(random.dirichlet_multinomial(k, alpha, 12, 3)))
    assert drawn(random.dirichlet_multinomial(KEY, [2.0], 4)).tolist() == [4]
    with pytest.raises(ValueError, match="alpha <= 0"):
        random.dirichlet_multinomial(KEY, [0.0, 1.0], 4)
    concentration = ot.tensor("concentration", dtype="float64", shape=(2,))
    draw = random.dirichlet_multinomial(KEY, concentration, 4)
    with pytest.raises(og.NullTypeGradError, match="dirichlet_multinomial"):
        og.grad(draw.astype("float64").sum(), concentration)


def test_multinomial() -> None:
    p = np.array([0.2, 0.3, 0.5])
    values = drawn(random.multinomial(KEY, [20, 0], p, size=(COUNT, 2)))
    assert values.shape == (COUNT, 2, 3)
    np.testing.assert_array_equal(values.sum(axis=-1), np.tile([20, 0], (COUNT, 1)))
    for i, share in enumerate(p):
        frequencies_fit(values[:, 0, i], scipy.stats.binom(20, share))
    covariance = 20 * (np.diag(p) - np.outer(p, p))
    np.testing.assert_allclose(np.cov(values[:, 0].T), covariance, atol=60 / np.sqrt(COUNT))


def test_orders_are_equally_likely() -> None:
    orders = drawn(random.permutation(random.split(KEY, COUNT), 4))
    assert (np.sort(orders) == np.arange(4)).all()
    found = np.bincount(orders @ [64, 16, 4, 1])
    assert (found > 0).sum() == 24
    assert scipy.stats.chisquare(found[found > 0]).pvalue > 1e-3
    table = np.arange(12).reshape(3, 4)
    for axis in (0, 1):
        other = drawn(random.permutation(KEY, table, axis))
        at = drawn(random.permutation(KEY, table.shape[axis]))
        np.testing.assert_array_equal(other, np.take(table, at, axis))
    assert drawn(random.permutation(KEY, 0)).shape == (0,)


@pytest.mark.parametrize("outcomes", [1, 5, 32, 33, 300])
def test_categorical_numbers(outcomes: int) -> None:
    p = np.random.default_rng(outcomes).dirichlet(np.ones(outcomes))
    found = np.bincount(drawn(random.categorical(KEY, p, size=COUNT)), minlength=outcomes)
    assert len(found) == outcomes
    likely = p * COUNT > 5
    expected = p[likely] * found[likely].sum() / p[likely].sum()
    assert outcomes == 1 or scipy.stats.chisquare(found[likely], expected).pvalue > 1e-3
    rows = np.array([p, p[::-1]])
    both = drawn(random.categorical(KEY, rows, size=(3, 2)))
    np.testing.assert_array_equal(both[:, 0], drawn(random.categorical(KEY, p, size=(3, 2)))[:, 0])


def test_choices() -> None:
    p = np.array([0.5, 0.3, 0.15, 0.05, 0.0])
    pairs = [(i, j) for i in range(4) for j in range(4) if i != j]
    key = ot.scalar("key", dtype="uint64")
    one = random.choice(key, 5, size=2, replace=False, p=p)
    count = COUNT // 20
    keys = drawn(random.split(KEY, count))
    chosen = [tuple(np.asarray(og.evaluate(one, {key: k}))) for k in keys]
    expected = [p[i] * p[j] / (1 - p[i]) * count for i, j in pairs]
    found = [chosen.count(pair) for pair in pairs]
    assert sum(found) == count
    assert scipy.stats.chisquare(found, expected).pvalue > 1e-3
    rows = np.arange(12.0).reshape(4, 3)
    assert drawn(random.choice(KEY, rows, size=(2, 5), axis=1)).shape == (4, 2, 5)
    every = drawn(random.choice(KEY, rows, size=4, replace=False))
    np.testing.assert_array_equal(np.sort(every, axis=0), rows)
    for call, message in (
        (lambda: random.choice(KEY, 3, size=4, replace=False), "size is larger than a"),
        (lambda: random.choice(KEY, 2, size=2, replace=False, p=[1.0, 0.0]), "entries with p > 0"),
        (lambda: random.choice(KEY, 2, p=[0.6, 0.6]), "p does not sum to 1"),
        (lambda: random.choice(KEY, 3, p=[0.4, 0.6]), "a and p must have the same size"),
        (lambda: random.choice(KEY, rows, p=[0.4, 0.6]), "a and p must have the same size"),
        (lambda: random.choice(KEY, 1, p=[[0.4, 0.6]]), "p must be a vector"),
        (lambda: random.choice(KEY, 0), "a must be positive unless no samples are taken"),
        (lambda: random.choice(KEY, rows[:0], size=2), "a must be positive unless no samples"),
    ):
        with pytest.raises(ValueError, match=message):
            drawn(call())


def test_choices_of_nothing() -> None:
    rows, p, n = ot.dmatrix("rows"), ot.dvector("p"), ot.lscalar("n")
    for replace in (True, False):
        assert drawn(random.choice(KEY, 0, size=(0, 2), replace=replace)).shape == (0, 2)
        found = random.choice(KEY, rows, size=n, replace=replace)
        table = np.zeros((0, 3))
        none = og.evaluate(found, {rows: table, n: np.int64(0)})
        assert np.shape(none) == (0, 3)
        with pytest.raises(ValueError, match=r"a must be positive|size is larger than a"):
            og.evaluate(found, {rows: table, n: np.int64(1)})
        weighted = random.choice(KEY, rows, size=n, replace=replace, p=p)
        with pytest.raises(ValueError, match="a and p must have the same size"):
            og.evaluate(weighted, {rows: table, n: np.int64(1), p: np.ones(1)})
    with pytest.raises(TypeError, match="an integer or an array"):
        random.choice(KEY, 2.5)


def test_integers_have_no_derivative() -> None:
    p = ot.dscalar("p")
    for distribution, draw in {
        "poisson": random.poisson(KEY, p),
        "binomial": random.binomial(KEY, 5, p),
        "bernoulli": random.bernoulli(KEY, p),
        "categorical": random.categorical(KEY, ot.stack([p, 1 - p])),
    }.items():
        with pytest.raises(
            og.NullTypeGradError, match=f"distribution {distribution} has no derivative"
        ):
            og.grad(draw * 1.5, p)


INVALID: list[tuple[str, tuple[float, ...], str]] = [
    ("uniform", (1.0, 0.5), "high < low"),
    ("uniform", (0.0, np.inf), "high - low is not finite"),
    ("uniform", (-np.inf, 0.0), "high - low is not finite"),
    ("uniform", (-1.5e308, 1.5e308), "high - low is not finite"),
    ("uniform", (np.nan, 0.0), "high - low is not finite"),
    ("normal", (0.0, -1.0), "scale < 0"),
    ("exponential", (-1.0,), "scale < 0"),
    ("bernoulli", (1.5,), "p < 0, p > 1 or p is NaN"),
    ("cauchy", (0.0, -1.0), "scale < 0"),
    ("lognormal", (0.0, -1.0), "sigma < 0"),
    ("pareto", (0.0,), "b <= 0"),
    ("weibull", (0.0,), "a <= 0"),
    ("triangular", (0.0, -1.0, 1.0), "left > mode"),
    ("triangular", (0.0, 2.0, 1.0), "mode > right"),
    ("triangular", (1.0, 1.0, 1.0), "left == right"),
    ("integers", (3, 3), "low >= high"),
    ("gamma", (0.0, 1.0), "shape <= 0"),
    ("gamma", (1.0, -1.0), "scale < 0"),
    ("beta", (1.0, 0.0), "b <= 0"),
    ("t", (0.0,), "df <= 0"),
    ("poisson", (-1.0,), "lam < 0"),
    ("vonmises", (0.0, -1.0), "kappa < 0"),
    ("truncnorm", (1.0, 1.0), "a >= b"),
    ("wald", (1.0, 0.0), "scale <= 0"),
    ("binomial", (-1, 0.5), "n < 0"),
    ("binomial", (2, 1.5), "p < 0, p > 1 or p is NaN"),
    ("geometric", (0.0,), "p <= 0"),
    ("hypergeometric", (1, 1, 3), r"ngood \+ nbad < nsample"),
    ("hypergeometric", (2**62, 2**62, 3), r"ngood > 2\*\*52"),
]


@pytest.mark.parametrize(("name", "args", "message"), INVALID)
def test_invalid_parameters(name: str, args: tuple[float, ...], message: str) -> None:
    draw = getattr(random, name)
    with pytest.raises(ValueError, match=message):
        draw(KEY, *args)
    symbols = [ot.scalar(f"p{i}", dtype=np.asarray(a).dtype) for i, a in enumerate(args)]
    variable = draw(KEY, *symbols)
    with pytest.raises(ValueError, match=message):
        og.evaluate(variable, dict(zip(symbols, map(np.asarray, args), strict=True)))


def test_the_widest_uniform_numbers() -> None:
    for dtype in ("float32", "float64"):
        most = np.finfo(dtype).max
        ends = np.array([-most / 2, most / 2], dtype)
        found = og.evaluate(random.uniform(KEY, *ends, size=500), {})
        assert found.dtype == dtype
        assert np.isfinite(found).all()
        assert abs(found / most).max() > 0.49
    same = og.evaluate(random.uniform(KEY, 3.0, 3.0, size=5), {})
    np.testing.assert_array_equal(same, 3.0)


def test_parameters_that_do_not_fit_the_size() -> None:
    with pytest.raises(ValueError, match=r"shape \(2,\), to which a parameter of shape \(3,\)"):
        random.normal(KEY, np.zeros(3), size=2)
    with pytest.raises(ValueError, match=r"shape \(1,\), to which a parameter of shape \(3,\)"):
        random.laplace(KEY, np.zeros(3), size=1)
