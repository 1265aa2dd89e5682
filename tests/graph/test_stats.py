"""Laws beside SciPy's: values in tails and at edges, quantiles, moments, dtypes, derivatives and errors."""

from __future__ import annotations

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
from occelo_graph import stats
from occelo_graph import tensor as ot

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
    "gamma": [(0.3,), (1.0,), (100.0,)],
    "uniform": [()],
    "beta": [(0.3, 0.7), (1.0, 1.0), (2.0, 30.0)],
}
"""The laws, and values of their shape parameters."""
CALLS = [(name, shapes) for name, rows in CONTINUOUS.items() for shapes in rows]
PLACES: list[dict[str, float]] = [{}, {"loc": 0.25, "scale": 2.0}]


def value(variable: Any) -> Any:
    return np.asarray(og.evaluate(variable, {}))


def beside_scipy(
    method: str, points: Any, calls: Any = CALLS, bound: float = 1e-13, **more: Any
) -> None:
    """Compare a method of all laws with SciPy's, whose NaN at infinite points is 0 (a density) here."""
    wrong: list[str] = []
    for name, shapes in calls:
        for place in PLACES:
            found = value(getattr(getattr(stats, name), method)(points, *shapes, **place))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = getattr(getattr(scipy.stats, name), method)(points, *shapes, **place)
            limit = {"pdf": 0.0, "logpdf": -INF}.get(method)
            if limit is not None:
                expected = np.where(np.isinf(points), limit, expected)
            if method.startswith("log"):
                # the logarithm of a number that underflows; `tails` has the true ones
                lost = np.isneginf(expected) & (found < -690)
                expected = np.where(lost, found, expected)
            try:
                np.testing.assert_allclose(found, expected, rtol=bound, atol=0, **more)
            except AssertionError as error:
                wrong.append(f"{name}{shapes} {place}: {error}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("method", ["logpdf", "pdf", "cdf", "sf", "logcdf", "logsf"])
def test_functions_of_points(method: str) -> None:
    beside_scipy(method, LINE, bound=1e-12)


@pytest.mark.parametrize("method", ["ppf", "isf"])
def test_quantiles(method: str) -> None:
    beside_scipy(method, CHANCES, bound=1e-12)


@pytest.mark.parametrize("method", ["mean", "var", "std", "entropy"])
def test_moments(method: str) -> None:
    for name, shapes in CALLS:
        found = value(getattr(getattr(stats, name), method)(*shapes, loc=1.0, scale=3.0))
        expected = getattr(getattr(scipy.stats, name), method)(*shapes, loc=1.0, scale=3.0)
        np.testing.assert_allclose(found, expected, rtol=1e-12, err_msg=f"{name}{shapes}")


def test_invalid_parameters_give_nan() -> None:
    for name, (shapes, *_) in CONTINUOUS.items():
        for position in range(len(shapes) + 1):
            given = [*shapes, 1.0]
            given[position] = -1.0
            *parameters, scale = given
            for method, x in (("logpdf", [0.5]), ("cdf", [0.5]), ("ppf", [0.5]), ("mean", [])):
                law = getattr(stats, name)
                assert np.isnan(value(getattr(law, method)(*x, *parameters, scale=scale)))


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
        (stats.t.logpdf(0.5, 1e9), lambda: _log_t(0.5, 1e9)),
        (stats.beta.sf(0.999999, 2.0, 40.0), lambda: mpmath.betainc(40, 2, 0, 1 - mpmath.mpf(0.999999), True)),
        (stats.gamma.logcdf(1e-30, 8.0), lambda: mpmath.log(mpmath.gammainc(8, 0, 1e-30, True))),
    ]  # fmt: skip


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
        for found, exact in tails():
            np.testing.assert_allclose(value(found), float(exact()), rtol=1e-13)


def test_single_precision_is_kept() -> None:
    for name, shapes in CALLS:
        law, reference = getattr(stats, name), getattr(scipy.stats, name)
        if max(shapes, default=0.0) > 1e4:
            continue
        x = ot.vector("x", dtype="float32")
        for method, points in (
            ("logpdf", [0.2, 0.5, 0.9]),
            ("cdf", [0.2, 0.9]),
            ("ppf", [0.1, 0.8]),
        ):
            made = getattr(law, method)(x, *shapes)
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
TO_DIFFERENTIATE = ("logpdf", "cdf", "logsf", "ppf")


@pytest.mark.parametrize("method", TO_DIFFERENTIATE)
def test_derivatives(method: str) -> None:
    for name, rows in CONTINUOUS.items():
        shapes = [np.array(each) for each in rows[0]]
        place = [np.array(-0.05), np.array(1.4)]
        og.verify_grad(getattr(getattr(stats, name), method), [POINT, *shapes, *place], n_tests=1)


def test_second_derivatives() -> None:
    def slope_of(law: Any) -> Callable[..., Any]:
        return lambda x, *rest: og.grad(law.logpdf(x, *rest).sum(), x)

    for name in ("norm", "logistic", "t", "gamma", "beta"):
        given = [np.array(2.5), np.array(1.7)][: len(CONTINUOUS[name][0])]
        og.verify_grad(slope_of(getattr(stats, name)), [POINT, *given], n_tests=1)


def test_derivatives_outside_of_the_support_are_zero() -> None:
    x, a = ot.dvector("x"), ot.dscalar("a")
    cost = stats.gamma.cdf(x, a).sum() + stats.beta.pdf(-x, a, 2.0).sum()
    slopes = og.evaluate(og.grad(cost, [x, a]), {x: np.array([-1.5, -2.0]), a: np.array(0.5)})
    for slope in slopes:
        np.testing.assert_array_equal(slope, 0.0)


def test_wrong_calls_name_the_law() -> None:
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
    assert repr(stats.gamma) == "<law gamma(a, loc, scale)>"
