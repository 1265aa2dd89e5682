"""Distributions beside SciPy's: values in tails and at edges, quantiles, moments, dtypes, derivatives and errors."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special
import scipy.stats

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_stats import functions as stats

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
INF, NAN = math.inf, math.nan
LINE = np.array([-INF, -1e3, -40, -3, -1, -0.3, 0, 1e-10, 0.2, 0.5, 0.99, 1, 2, 10, 40, 800, INF, NAN])  # fmt: skip
CHANCES = np.array([0, 1e-20, 1e-3, 0.3, 0.5, 0.7, 0.999, 1, -1, 2, NAN])

CONTINUOUS: dict[str, list[tuple[float, ...]]] = {
    "norm": [()],
    "cauchy": [()],
    "laplace": [()],
    "logistic": [()],
    "gumbel_r": [()],
    "gumbel_l": [()],
    "t": [(0.3,), (3.0,), (1e5,)],
    "expon": [()],
    "weibull_min": [(3.0,), (0.4,)],
    "rayleigh": [()],
    "pareto": [(0.5,), (3.0,)],
    "lomax": [(0.5,), (3.0,)],
    "lognorm": [(0.3,), (2.0,)],
    "halfnorm": [()],
    "halfcauchy": [()],
    "invgauss": [(0.7,), (0.02,), (50.0,)],
    "wald": [()],
    "gamma": [(0.3,), (1.0,), (100.0,)],
    "chi2": [(1.0,), (7.0,)],
    "invgamma": [(0.4,), (5.0,)],
    "gengamma": [(2.0, 3.0), (2.0, -3.0), (0.5, 0.5)],
    "f": [(1.0, 3.0), (5.0, 30.0), (0.5, 2.0)],
    "uniform": [()],
    "beta": [(0.3, 0.7), (1.0, 1.0), (2.0, 30.0)],
    "powerlaw": [(0.4,), (3.0,)],
    "triang": [(0.3,), (0.0,), (1.0,)],
    "truncexpon": [(3.0,), (0.1,), (100.0,)],
    "truncnorm": [(-1.0, 2.0), (-INF, 0.5), (0.2, INF), (3.0, 10.0), (-10.0, -3.0), (30.0, 31.0)],
}
"""The distributions, and values of their shape parameters; derivatives are at the first ones."""
WORSE: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("halfnorm", "ppf"): lambda q: (q > 0) & (q < 1e-10),
    ("invgauss", "ppf"): lambda q: (q > 0) & (q < 1e-10),
    ("invgauss", "isf"): lambda q: (q > 0) & (q < 1e-10),
    ("truncnorm", "isf"): lambda q: (q > 0) & (q < 1e-10),
    ("f", "isf"): lambda q: (q > 0) & (q < 1e-10),
    ("f", "sf"): lambda x: x == 1e-10,  # of SciPy 1.13: 5e-11 off
    ("f", "logsf"): lambda x: x == 1e-10,
    ("triang", "isf"): lambda q: (q > 0) & (q < 1e-10),
    ("powerlaw", "pdf"): lambda x: (x == 0) | (x == 0.25),
    ("powerlaw", "logpdf"): lambda x: (x == 0) | (x == 0.25),
    **{
        (distribution, method): lambda x: x == 800
        for distribution in ("wald", "invgauss")
        for method in ("sf", "logsf", "logcdf")
    },
}
"""Where SciPy is wrong, or less precise than the bound; `tails` has the true values."""
BY_INTEGRALS = {"skewnorm": [(2.0,)], "vonmises": [(2.0,)]}
CALLS = [(name, shapes) for name, rows in CONTINUOUS.items() for shapes in rows]
PLACES: list[dict[str, float]] = [{}, {"loc": 0.25, "scale": 2.0}]


def value(variable: Any) -> Any:
    return np.asarray(og.evaluate(variable, {}))


def beside_scipy(
    method: str, points: Any, calls: Any = CALLS, bound: float = 1e-13, **more: Any
) -> None:
    """Compare a method of all distributions with SciPy's, whose NaN at infinite points is 0 (a density) here."""
    wrong: list[str] = []
    for name, shapes in calls:
        # searches run for long in the interpreter
        searched = method in ("ppf", "isf") and getattr(stats, name).row.searched
        for place in PLACES[1:] if searched else PLACES:
            found = value(getattr(getattr(stats, name), method)(points, *shapes, **place))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = getattr(getattr(scipy.stats, name), method)(points, *shapes, **place)
            worse = WORSE.get((name, method), np.isnan)
            limit = {"pdf": 0.0, "logpdf": -INF}.get(method)
            if limit is not None:
                expected = np.where(np.isinf(points), limit, expected)
            if method.startswith("log"):
                # the logarithm of a number that underflows; `tails` has the true ones
                lost = np.isneginf(expected) & (found < -690)
                expected = np.where(lost, found, expected)
            expected = np.where(worse(points), found, expected)
            try:
                np.testing.assert_allclose(found, expected, rtol=bound, atol=0, **more)
            except AssertionError as error:
                wrong.append(f"{name}{shapes} {place}: {error}")
    assert not wrong, "\n".join(wrong)


OLD_SCIPY = pytest.mark.skipif(
    scipy.__version__.startswith("1.13"),
    reason="SciPy 1.13 loses digits of small logarithms, and of quantiles",
)


@pytest.mark.parametrize(
    "method",
    [
        "logpdf",
        "pdf",
        "cdf",
        "sf",
        pytest.param("logcdf", marks=OLD_SCIPY),
        pytest.param("logsf", marks=OLD_SCIPY),
    ],
)
def test_functions_of_points(method: str) -> None:
    beside_scipy(method, LINE, bound=1e-12)


@OLD_SCIPY
@pytest.mark.parametrize("method", ["ppf", "isf"])
def test_quantiles(method: str) -> None:
    beside_scipy(method, CHANCES, bound=1e-12)


def _simpson(values: Any, step: float) -> float:
    return float(
        step / 3 * (values[0] + values[-1] + 4 * values[1:-1:2].sum() + 2 * values[2:-1:2].sum())
    )


def test_von_mises() -> None:
    distribution = stats.vonmises
    for kappa, angle in (
        (0.01, 3.0),
        (2.0, 1.0),
        (40.0, 2.0),
        (3000.0, 0.2),
        (3000.0, 3.0),
        (0.0, 1.0),
    ):
        end = min(math.pi, angle + 12 / math.sqrt(1 + kappa))
        t = np.linspace(angle, end, 40_001)
        tail = _simpson(np.exp(kappa * (np.cos(t) - np.cos(angle))), (end - angle) / 40_000)
        scale = kappa * (np.cos(angle) - 1) - np.log(2 * np.pi * scipy.special.i0e(kappa))
        expected = np.log(tail) + scale
        np.testing.assert_allclose(value(distribution.logsf(angle, kappa)), expected, rtol=1e-12)
        np.testing.assert_allclose(value(distribution.logcdf(-angle, kappa)), expected, rtol=1e-12)
        np.testing.assert_allclose(
            value(distribution.cdf(angle, kappa)), -np.expm1(expected), rtol=1e-12
        )
    angles = np.array([-7.0, -2.0, 0.0, 1.0, 10.0])
    np.testing.assert_allclose(
        value(distribution.logpdf(angles, 2.0, 0.5)),
        scipy.stats.vonmises.logpdf(angles, 2.0, 0.5),
        rtol=1e-13,
    )
    np.testing.assert_array_equal(value(distribution.cdf(angles, 2.0))[[0, 4]], [0.0, 1.0])
    spread = 4 * sum((-1) ** j / j**2 * scipy.special.ive(j, 2.0) for j in range(1, 40))
    np.testing.assert_allclose(
        value(distribution.var(2.0)),
        math.pi**2 / 3 + spread / scipy.special.ive(0, 2.0),
        rtol=1e-13,
    )
    q = np.array([1e-30, 0.3])
    np.testing.assert_allclose(
        value(distribution.cdf(distribution.ppf(q, 40.0), 40.0)), q, rtol=1e-11
    )
    np.testing.assert_allclose(
        value(distribution.entropy(2.0)), scipy.stats.vonmises.entropy(2.0), rtol=1e-13
    )


def test_skew_normal() -> None:
    distribution, theirs = stats.skewnorm, scipy.stats.skewnorm
    z = np.array([-8.0, -5.0, -1.0, -0.1, 0.0, 0.3, 1.0, 1.5, 8.0, 30.0])
    # the greater one of two normal numbers
    np.testing.assert_allclose(
        value(distribution.logcdf(z, 1.0)), 2 * scipy.special.log_ndtr(z), rtol=3e-13
    )
    np.testing.assert_allclose(
        value(distribution.logsf(z, -1.0)), 2 * scipy.special.log_ndtr(-z), rtol=3e-13
    )
    centre = z[2:7]
    for a in (0.0, 0.3, -4.0):
        for method in ("logpdf", "cdf", "sf"):
            expected = getattr(theirs, method)(centre, a, 0.0, 2.0)
            np.testing.assert_allclose(
                value(getattr(distribution, method)(centre, a, 0.0, 2.0)), expected, rtol=1e-9
            )
        np.testing.assert_allclose(
            value(distribution.mean(a)), theirs.mean(a), rtol=1e-12, atol=1e-15
        )
        np.testing.assert_allclose(value(distribution.var(a)), theirs.var(a), rtol=1e-12)
        np.testing.assert_allclose(value(distribution.entropy(a)), theirs.entropy(a), rtol=1e-9)
    q = np.array([1e-20, 0.3, 0.99])
    np.testing.assert_allclose(
        value(distribution.isf(q**2, -1.0)), -scipy.special.ndtri(q), rtol=1e-12, atol=1e-14
    )


@pytest.mark.parametrize("method", ["mean", "var", "std", "entropy"])
def test_moments(method: str) -> None:
    for name, shapes in CALLS:
        found = value(getattr(getattr(stats, name), method)(*shapes, loc=1.0, scale=3.0))
        with np.errstate(invalid="ignore", divide="ignore"):
            expected = getattr(getattr(scipy.stats, name), method)(*shapes, loc=1.0, scale=3.0)
        if name == "truncnorm" and np.isnan(expected):
            continue
        # the moments of a narrow interval in a tail are differences of large numbers, here and in SciPy
        bound = 3e-11 if name.startswith("trunc") else 1e-12
        if (name, method) == ("wald", "entropy"):
            expected = scipy.stats.invgauss.entropy(1.0, scale=3.0)
        if method == "entropy" and name == "invgauss":
            bound = 1e-9  # SciPy's continued fraction is short
        np.testing.assert_allclose(found, expected, rtol=bound, err_msg=f"{name}{shapes}")


def test_invalid_parameters_give_nan() -> None:
    for name, (shapes, *_) in CONTINUOUS.items():
        for position in range(len(shapes) + 1):
            given = [*shapes, 1.0]
            given[position] = -1.0
            *parameters, scale = given
            if name == "truncnorm" and position < len(shapes):
                given[position] = [5.0, -5.0][position]  # not a < b
                parameters = given[:-1]
            for method, x in (("logpdf", [0.5]), ("cdf", [0.5]), ("ppf", [0.5]), ("mean", [])):
                distribution = getattr(stats, name)
                if name == "gengamma" and position == 1:
                    continue
                assert np.isnan(value(getattr(distribution, method)(*x, *parameters, scale=scale)))


def tails() -> list[tuple[Any, Callable[[], Any]]]:
    """Values that SciPy or a plain formula loses, with the numbers of mpmath."""
    return [
        (stats.norm.logsf(40.0), lambda: mpmath.log(mpmath.ncdf(-40))),
        (stats.norm.logcdf(-1e4), lambda: -mpmath.mpf(1e8) / 2 - mpmath.log(mpmath.sqrt(2 * mpmath.pi) * 1e4) - mpmath.mpf(1e-8)),
        (stats.logistic.logcdf(-800.0), lambda: -mpmath.log1p(mpmath.exp(800))),
        (stats.gumbel_r.logsf(900.0), lambda: mpmath.mpf(-900)),
        (stats.laplace.logpdf(-900.0), lambda: -900 - mpmath.log(2)),
        (stats.laplace.logsf(900.0), lambda: -900 - mpmath.log(2)),
        (stats.cauchy.cdf(-1e200), lambda: 1 / (mpmath.pi * mpmath.mpf("1e200"))),
        (stats.expon.logcdf(1e-200), lambda: mpmath.log(mpmath.mpf("1e-200"))),
        (stats.beta.ppf(1e-300, 2.0, 30.0), lambda: mpmath.sqrt(mpmath.mpf("1e-300") * 2 * mpmath.beta(2, 30))),
        (stats.gamma.logsf(1000.0, 2.5), lambda: mpmath.log(mpmath.gammainc(2.5, 1000, mpmath.inf, True))),
        (stats.gamma.logcdf(1e-4, 100.0), lambda: mpmath.log(mpmath.gammainc(100, 0, mpmath.mpf(1e-4), True))),
        (stats.chi2.logsf(4000.0, 600.0), lambda: mpmath.log(mpmath.gammainc(300, 2000, mpmath.inf, True))),
        (stats.t.logpdf(0.5, 1e9), lambda: _log_t(0.5, 1e9)),
        (stats.beta.sf(0.999999, 2.0, 40.0), lambda: mpmath.betainc(40, 2, 0, 1 - mpmath.mpf(0.999999), True)),
        (stats.triang.isf(1e-20, 0.3), lambda: 1 - mpmath.sqrt(mpmath.mpf("0.7e-20"))),
        (stats.halfnorm.ppf(1e-20), lambda: mpmath.sqrt(mpmath.pi / 2) * mpmath.mpf("1e-20")),
        (stats.truncnorm.cdf(1e-20, 0.0, INF), lambda: mpmath.sqrt(2 / mpmath.pi) * mpmath.mpf(1e-20)),
        (stats.truncnorm.cdf(0.2 + 1e-9, 0.2, INF), lambda: _between(mpmath.mpf(0.2), mpmath.mpf(0.2 + 1e-9)) / _between(mpmath.mpf(0.2), mpmath.inf)),
        (stats.truncnorm.sf(9.5, 3.0, 10.0), lambda: _between(9.5, 10) / _between(3, 10)),
        (stats.truncnorm.isf(1e-20, 0.2, INF), lambda: _truncated_isf("1e-20", 0.2)),
        (stats.truncnorm.entropy(5.0, 7.0), lambda: _truncated_entropy(5, 7)),
        (stats.truncexpon.var(0.1), lambda: _truncated_exponential_var(mpmath.mpf(0.1))),
        (stats.f.isf(1e-20, 5.0, 30.0), lambda: _f_isf(5, 30)),
        (stats.wald.sf(800.0), lambda: _inverse_gaussian_sf(800, 1)),
        (stats.invgauss.logsf(400.0, 0.02), lambda: mpmath.log(_inverse_gaussian_sf(400, mpmath.mpf(0.02)))),
        (stats.invgauss.logcdf(0.01, 5.0), lambda: mpmath.log(1 - _inverse_gaussian_sf(mpmath.mpf(0.01), 5))),
        (stats.beta.logcdf(0.3, 2000.0, 30.0), lambda: _log_beta(2000, 30, 0.3)),
        (stats.beta.logsf(0.99, 2.0, 400.0), lambda: _log_beta(400, 2, 1 - mpmath.mpf(0.99))),
        (stats.t.logcdf(-1e200, 3.0), lambda: _log_beta(1.5, 0.5, 3 / (3 + mpmath.mpf("1e400"))) - mpmath.log(2)),
        (stats.t.logsf(40.0, 1e6), lambda: _log_beta(5e5, 0.5, 1e6 / (mpmath.mpf(1e6) + 1600)) - mpmath.log(2)),
        (stats.t.logpdf(1e200, 3.0), lambda: _log_t(1e200, 3.0)),
        (stats.cauchy.logpdf(-1e200), lambda: -mpmath.log(mpmath.pi) - 2 * mpmath.log(mpmath.mpf(1e200))),
        (stats.f.logcdf(1e-200, 5.0, 30.0), lambda: _log_beta(2.5, 15, 1 / (1 + 6 / mpmath.mpf(1e-200)))),
        (stats.f.logsf(3.0, 500.0, 3000.0), lambda: _log_beta(1500, 250, mpmath.mpf(2) / 3)),
        (stats.gengamma.logsf(1000.0, 2.0, 3.0), lambda: mpmath.log(mpmath.gammainc(2, mpmath.mpf(10) ** 9, mpmath.inf, True))),
        (stats.gengamma.logcdf(1e-160, 2.0, 3.0), lambda: 6 * mpmath.log(mpmath.mpf(1e-160)) - mpmath.log(2)),
        (stats.truncexpon.logsf(990.0, 1000.0), lambda: mpmath.log((mpmath.exp(-990) - mpmath.exp(-1000)) / -mpmath.expm1(-1000))),
        (stats.weibull_min.logcdf(1e-150, 3.0), lambda: 3 * mpmath.log(mpmath.mpf(1e-150))),
        (stats.rayleigh.logcdf(1e-200), lambda: 2 * mpmath.log(mpmath.mpf(1e-200)) - mpmath.log(2)),
        (stats.triang.logcdf(1e-200, 0.25), lambda: 2 * mpmath.log(mpmath.mpf(1e-200)) + mpmath.log(4)),
        (stats.gamma.logcdf(1e-30, 8.0), lambda: mpmath.log(mpmath.gammainc(8, 0, 1e-30, True))),
    ]  # fmt: skip


def _log_beta(a: Any, b: Any, x: Any) -> Any:
    """Logarithm of the incomplete beta function, below its mean, by DLMF 8.17.8."""
    a, b, x = mpmath.mpf(a), mpmath.mpf(b), mpmath.mpf(x)
    factor = a * mpmath.log(x) + b * mpmath.log1p(-x) - mpmath.log(a * mpmath.beta(a, b))
    return factor + mpmath.log(mpmath.hyp2f1(a + b, 1, a + 1, x))


def _truncated_exponential_var(b: Any) -> Any:
    return 1 - b * b * mpmath.exp(b) / mpmath.expm1(b) ** 2


def _f_isf(n: int, m: int) -> Any:
    def excess(x: Any) -> Any:
        return mpmath.log(
            mpmath.betainc(m / 2, n / 2, 0, m / (m + n * x), True) * mpmath.mpf("1e20")
        )

    return mpmath.findroot(excess, 100)


def _between(low: Any, high: Any) -> Any:
    return mpmath.ncdf(-low) - mpmath.ncdf(-high)


def _truncated_isf(q: str, low: float) -> Any:
    mass = mpmath.mpf(q) * mpmath.ncdf(-mpmath.mpf(low))
    return mpmath.findroot(lambda x: mpmath.log(mpmath.ncdf(-x) / mass), 9.35)


def _truncated_entropy(low: Any, high: Any) -> Any:
    mass = _between(low, high)
    ends = low * mpmath.npdf(low) - high * mpmath.npdf(high)
    return mpmath.log(mpmath.sqrt(2 * mpmath.pi * mpmath.e) * mass) + ends / (2 * mass)


def _inverse_gaussian_sf(x: Any, mu: Any) -> Any:
    root = mpmath.sqrt(x)
    return mpmath.ncdf((1 - x / mu) / root) - mpmath.exp(2 / mu) * mpmath.ncdf(-(1 + x / mu) / root)


def _log_t(x: float, df: float) -> Any:
    z, n = mpmath.mpf(x), mpmath.mpf(df)
    return (
        mpmath.loggamma((n + 1) / 2)
        - mpmath.loggamma(n / 2)
        - mpmath.log(n * mpmath.pi) / 2
        - (n + 1) / 2 * mpmath.log1p(z * z / n)
    )


def test_tails_are_precise() -> None:
    with mpmath.workdps(60):
        for position, (found, exact) in enumerate(tails()):
            case = f"case {position}"
            np.testing.assert_allclose(value(found), float(exact()), rtol=1e-13, err_msg=case)


def test_infinite_degrees_of_freedom_make_a_normal_distribution() -> None:
    x, q = np.linspace(-9.0, 9.0, 19), np.array([0.0, 1e-20, 0.3, 0.5, 0.9, 1.0])
    for method in ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf"):
        points = q if method in ("ppf", "isf") else x
        found = value(getattr(stats.t, method)(points, math.inf))
        expected = getattr(scipy.stats.norm, method)(points)
        np.testing.assert_allclose(found, expected, rtol=2e-12, atol=1e-15, err_msg=method)
    assert value(stats.t.var(math.inf)) == 1.0
    np.testing.assert_allclose(value(stats.t.entropy(math.inf)), scipy.stats.norm.entropy())


def test_numbers_very_far_out() -> None:
    far = np.array([-1e300, 1e300])
    for distribution, shapes in (
        (stats.skewnorm, (2.0,)),
        (stats.skewnorm, (-3.0,)),
        (stats.truncnorm, (-INF, INF)),
    ):
        for method, expected in (("cdf", [0, 1]), ("sf", [1, 0]), ("logcdf", [-INF, 0])):
            np.testing.assert_array_equal(
                value(getattr(distribution, method)(far, *shapes)), expected
            )
    np.testing.assert_array_equal(value(stats.truncnorm.sf(1e300, 0.5, INF)), 0.0)
    np.testing.assert_allclose(value(stats.truncnorm.logsf(1e100, 0.5, INF)), -0.5e200)
    for kappa in (0.01, 2.0):
        np.testing.assert_allclose(value(stats.vonmises.isf(1e-20, kappa)), np.pi, rtol=1e-15)


@pytest.mark.parametrize(("low", "high"), [(0.0, INF), (-1.0, 2.0), (30.0, 40.0), (-0.5, -0.499)])
def test_derivatives_near_bounds(low: float, high: float) -> None:
    """The derivative of the distribution function is the density, also where hardly any probability is on one side."""
    width = min(high - low, 10.0)
    points = low + width * np.array([1e-12, 1e-6, 1e-3, 0.1])
    x = ot.dvector("x")
    density = scipy.stats.truncnorm.pdf(points, low, high)
    for method, sign in (("cdf", 1.0), ("sf", -1.0)):
        slope = og.grad(getattr(stats.truncnorm, method)(x, low, high).sum(), x)
        found = og.evaluate(slope, {x: points})
        np.testing.assert_allclose(found, sign * density, rtol=1e-9)


AT_BOUNDS: list[tuple[str, tuple[float, ...], float]] = [
    ("gamma", (2.5,), 0.0), ("gamma", (2.0,), 0.0), ("gamma", (1.0,), 0.0), ("gamma", (1e3,), 0.0),
    ("chi2", (7.0,), 0.0), ("chi2", (4.0,), 0.0), ("weibull_min", (2.0,), 0.0), ("weibull_min", (1.0,), 0.0),
    ("weibull_min", (3.0,), 0.0), ("rayleigh", (), 0.0), ("beta", (2.0, 3.0), 0.0), ("beta", (3.0, 2.0), 1.0),
    ("beta", (1.0, 2.0), 0.0), ("beta", (1.0, 2.0), 1.0), ("beta", (1e3, 1e3), 0.0), ("powerlaw", (2.0,), 0.0),
    ("triang", (0.3,), 0.0), ("triang", (0.3,), 1.0), ("triang", (0.0,), 1.0), ("triang", (1.0,), 0.0),
    ("f", (4.0, 3.0), 0.0), ("f", (2.0, 3.0), 0.0), ("f", (2e3, 2e3), 0.0), ("gengamma", (2.0, 1.0), 0.0),
    ("gengamma", (1.0, 2.0), 0.0), ("gengamma", (2.0, -1.5), 0.0),
]  # fmt: skip


def test_derivatives_of_densities_at_bounds() -> None:
    """The density may be 0 there, where its logarithm has infinite derivatives."""
    for name, shapes, bound in AT_BOUNDS:
        distribution = getattr(scipy.stats, name)(*shapes, 1.0, 2.0)
        parameters = [ot.dscalar(f"p{i}") for i in range(len(shapes) + 3)]
        x, *rest = parameters
        density = getattr(stats, name).pdf(x, *rest)
        at = 1.0 + 2.0 * bound
        numbers = (np.float64(v) for v in (at, *shapes, 1.0, 2.0))
        given = dict(zip(parameters, numbers, strict=True))
        found, *slopes = (
            float(np.asarray(og.evaluate(v, given)))
            for v in (density, *og.grad(density, parameters))
        )
        assert found == pytest.approx(distribution.pdf(at), rel=1e-12, abs=1e-300), name
        h = 1e-6 * (1 - 2 * bound)
        inside = (
            -3 * distribution.pdf(at) + 4 * distribution.pdf(at + h) - distribution.pdf(at + 2 * h)
        ) / (2 * h)
        assert slopes[0] == pytest.approx(inside, rel=1e-5, abs=1e-4), name
        assert np.isfinite(slopes).all(), name


def test_parameters_that_are_not_finite() -> None:
    for found, expected in (
        (stats.t.logsf(LINE, INF), scipy.stats.norm.logsf(LINE)),
        (stats.f.cdf(2.0, INF, 3.0), NAN),
        (stats.norm.entropy(loc=NAN), NAN),
        (stats.gamma.var(2.0, NAN), NAN),
        (stats.gamma.var(2.0, INF), 2.0),
    ):
        np.testing.assert_allclose(value(found), expected, rtol=1e-13)


def test_arrays_without_elements() -> None:
    none = np.zeros((0, 3))
    for name, (shapes, *_) in (CONTINUOUS | BY_INTEGRALS).items():
        for method in ("logpdf", "logsf", "ppf"):
            assert value(getattr(getattr(stats, name), method)(none, *shapes)).shape == (0, 3), name


def test_single_precision_is_kept() -> None:
    for name, shapes in CALLS:
        distribution, reference = getattr(stats, name), getattr(scipy.stats, name)
        if np.abs(shapes).max(initial=0.0) > 1e4 or distribution.row.searched:
            continue
        x = ot.vector("x", dtype="float32")
        for method, points in (
            ("logpdf", [0.2, 0.5, 0.9]),
            ("cdf", [0.2, 0.9]),
            ("ppf", [0.1, 0.8]),
        ):
            made = getattr(distribution, method)(x, *shapes)
            assert made.dtype == "float32"
            given = np.array(points, "float32")
            expected = getattr(reference, method)(given.astype("float64"), *shapes)
            found = og.evaluate(made, {x: given})
            np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6, err_msg=name)
    assert stats.norm.logpdf(ot.lscalar()).dtype == "float64"
    assert stats.norm.logpdf(ot.fscalar(), ot.dscalar()).dtype == "float64"


def test_arguments_broadcast() -> None:
    loc, scale = np.zeros((2, 1)), np.array([1.0, 2.0, 3.0])
    for made, shape in (
        (stats.uniform.logpdf(0.5, loc, scale), (2, 3)),
        (stats.norm.mean(loc, scale), (2, 3)),
        (stats.norm.entropy(loc, scale), (2, 3)),
        (stats.gamma.ppf(np.full((4, 1, 1), 0.5), scale, loc=loc), (4, 2, 3)),
    ):
        assert value(made).shape == shape


POINT = np.array([0.23, 0.61])
FARTHER = np.array([1.9, 3.4])
TO_DIFFERENTIATE = ("logpdf", "cdf", "logsf", "ppf")


@pytest.mark.parametrize("method", TO_DIFFERENTIATE)
def test_derivatives(method: str) -> None:
    distributions = list((CONTINUOUS | BY_INTEGRALS).items())
    if not THOROUGH:
        distributions = distributions[TO_DIFFERENTIATE.index(method) :: len(TO_DIFFERENTIATE)]
    for name, rows in distributions:
        if method == "ppf" and getattr(stats, name).row.searched:
            continue
        shapes = [np.array(each) for each in rows[0]]
        place = [np.array(-0.05), np.array(1.4)]
        og.verify_grad(
            getattr(getattr(stats, name), method),
            [FARTHER if name == "pareto" and method != "ppf" else POINT, *shapes, *place],
            n_tests=1,
        )


def test_the_slope_of_the_distribution_function_is_the_density_at_the_centre() -> None:
    x, q = ot.dvector("x"), ot.dscalar("q")
    points = np.array([-1e-3, -1e-7, 0.0, 1e-7, 1e-3])
    for name in ("norm", "t", "cauchy", "laplace", "logistic", "gumbel_r", "skewnorm", "vonmises"):
        distribution = getattr(stats, name)
        shapes = (CONTINUOUS | BY_INTEGRALS)[name][0]
        slope = og.grad(distribution.cdf(x, *shapes).sum(), x)
        found, density = og.evaluate([slope, distribution.pdf(x, *shapes)], {x: points})
        np.testing.assert_allclose(found, density, rtol=1e-8, err_msg=name)
        if distribution.row.symmetric:
            inverse = og.grad(distribution.ppf(q, *shapes), q)
            np.testing.assert_allclose(
                og.evaluate(inverse, {q: np.array(0.5)}), 1 / density[2], rtol=1e-12, err_msg=name
            )


def test_all_distributions_are_tested() -> None:
    vectors = (
        "categorical dirichlet dirichlet_multinomial multinomial multivariate_normal lkj wishart"
    )
    distributions = {
        name
        for name in dir(stats)
        if hasattr(getattr(stats, name), "entropy") or name in vectors.split()
    }
    counts = {name for name in distributions if hasattr(getattr(stats, name), "logpmf")} - set(
        vectors.split()
    )
    assert distributions - counts == set(CONTINUOUS) | set(BY_INTEGRALS) | set(vectors.split())
    from occelo_stats import counts as module

    assert counts == set(module.__all__)


def test_derivatives_of_quantiles_that_are_searched() -> None:
    q, mu = ot.dscalar("q"), ot.dscalar("mu")
    distribution = stats.invgauss
    x = distribution.ppf(q, mu)
    point = {q: np.array(0.3), mu: np.array(0.7)}
    found, by_q, by_mu = og.evaluate([x, *og.grad(x, [q, mu])], point)
    step = 1e-6
    above, below = (scipy.stats.invgauss.cdf(found, 0.7 + d) for d in (step, -step))
    density = scipy.stats.invgauss.pdf(found, 0.7)
    np.testing.assert_allclose(
        [by_q, by_mu], [1 / density, -(above - below) / (2 * step) / density], rtol=1e-7
    )


def test_derivatives_in_tails() -> None:
    def log_upper_gamma(z: Any, a: Any) -> Any:
        return mpmath.log(mpmath.gammainc(a, z, mpmath.inf, True))

    def log_t(z: Any, df: Any) -> Any:
        return _log_beta(df / 2, 0.5, df / (df + z * z)) - mpmath.log(2)

    cases: list[tuple[Any, Any, list[tuple[float, ...]]]] = [
        (stats.gamma.logsf, log_upper_gamma, [(50.0, 2.5), (1000.0, 2.5)]),
        (stats.beta.logcdf, lambda z, a, b: _log_beta(a, b, z), [(1e-20, 2, 3), (0.3, 2000, 30)]),
        (stats.t.logsf, log_t, [(5.0, 3.0), (1e120, 3.0), (40.0, 1e3)]),
    ]
    step = mpmath.mpf(10) ** -14
    for method, exact, points in cases:
        given = [ot.dvector() for _ in points[0]]
        columns = dict(zip(given, np.array(points).T, strict=True))
        found = og.evaluate(og.grad(method(*given).sum(), given), columns)
        with mpmath.workdps(50):
            for position, point in enumerate(points):
                for i, slopes in enumerate(found):
                    at = [[mpmath.mpf(each) for each in point] for _ in range(2)]
                    at[0][i] *= 1 - step
                    at[1][i] *= 1 + step
                    change = (exact(*at[1]) - exact(*at[0])) / (at[1][i] - at[0][i])
                    np.testing.assert_allclose(slopes[position], float(change), rtol=1e-11)


def test_second_derivatives() -> None:
    def slope_of(distribution: Any) -> Callable[..., Any]:
        return lambda x, *rest: og.grad(distribution.logpdf(x, *rest).sum(), x)

    for name in ("norm", "logistic", "t", "gamma", "beta"):
        given = [np.array(2.5), np.array(1.7)][: len(CONTINUOUS[name][0])]
        og.verify_grad(slope_of(getattr(stats, name)), [POINT, *given], n_tests=1)


def test_derivatives_outside_of_the_support_are_zero() -> None:
    x, a = ot.dvector("x"), ot.dscalar("a")
    cost = stats.gamma.cdf(x, a).sum() + stats.beta.pdf(-x, a, 2.0).sum()
    slopes = og.evaluate(og.grad(cost, [x, a]), {x: np.array([-1.5, -2.0]), a: np.array(0.5)})
    for slope in slopes:
        np.testing.assert_array_equal(slope, 0.0)


def test_wrong_calls_name_the_distribution() -> None:
    x = ot.dscalar("x")
    with pytest.raises(TypeError, match=r"gamma\.logpdf\(\) needs a"):
        stats.gamma.logpdf(x)
    with pytest.raises(TypeError, match=r"norm\.cdf\(\) has no parameter 'sigma', but loc, scale"):
        stats.norm.cdf(x, sigma=1.0)
    with pytest.raises(TypeError, match=r"takes the parameters loc, scale, got 3"):
        stats.norm.cdf(x, 1.0, 2.0, 3.0)
    with pytest.raises(TypeError, match=r"two values for 'loc'"):
        stats.norm.cdf(x, 1.0, loc=2.0)
    with pytest.raises(TypeError, match="real"):
        stats.norm.logpdf(ot.zscalar())
    assert repr(stats.gamma) == "<distribution gamma(a, loc, scale)>"
