"""Logarithms of products and quotients with one exponential and factors of which nothing is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot

FORMULAS: dict[str, Callable[..., Any]] = {
    "w exp(x)": lambda w, x, exp: w * exp(x),
    "w exp(x) / (3 exp(2 x))": lambda w, x, exp: w * exp(x) / (3 * exp(2 * x)),
    "w exp(x) / 3": lambda w, x, exp: w * exp(x) / 3,
    "w / exp(x)": lambda w, x, exp: w / exp(x),
    "exp(x) / w": lambda w, x, exp: exp(x) / w,
    "w exp(-x) / (w + 1)": lambda w, x, exp: w * exp(-x) / (w + 1),
    "w exp(-x**2 / 2) exp(x)": lambda w, x, exp: w * exp(-x * x / 2) * exp(x),
}
POINTS = [(2.0, -900.0), (0.5, 900.0), (3.0, 0.25), (1e-300, -300.0), (1e300, 300.0)]


def _exact(formula: Callable[..., Any], w: float, x: float) -> list[float]:
    """The value and both derivatives with 1,000 digits."""
    with mpmath.workdps(1000):

        def value(w: Any, x: Any) -> Any:
            return mpmath.log(formula(w, x, mpmath.exp))

        step = mpmath.mpf(10) ** -400
        a, b = mpmath.mpf(w), mpmath.mpf(x)
        of_w = (value(a + step, b) - value(a - step, b)) / (2 * step)
        of_x = (value(a, b + step) - value(a, b - step)) / (2 * step)
        return [float(v) for v in (value(a, b), of_w, of_x)]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", FORMULAS)
def test_value_and_gradient(name: str) -> None:
    formula = FORMULAS[name]
    w, x = ot.dvector("w"), ot.dvector("x")
    out = ot.log(formula(w, x, ot.exp))
    f = oc.function([w, x], [out, *og.grad(out.sum(), [w, x])])
    found = f(*map(np.array, zip(*POINTS, strict=True)))
    for i, point in enumerate(POINTS):
        for got, right in zip(found, _exact(formula, *point), strict=True):
            assert np.isclose(got[i], right, rtol=1e-14, atol=1e-13), (point, got[i], right)


def test_signs_and_zeros_of_factors() -> None:
    w, x = ot.dvector("w"), ot.dvector("x")
    f = oc.function([w, x], [ot.log(w * ot.exp(x)), ot.log(ot.exp(x) / w)])
    of_product, of_quotient = f([-1.0, 0.0, np.inf, np.nan], [2.0, 2.0, 2.0, 2.0])
    np.testing.assert_array_equal(of_product, [np.nan, -np.inf, np.inf, np.nan])
    np.testing.assert_array_equal(of_quotient, [np.nan, np.inf, -np.inf, np.nan])


def test_sums_of_weighted_powers_stay_as_they_were() -> None:
    w, x = ot.dvector("w"), ot.dvector("x")
    total = ot.log(ot.sum(w * ot.exp(x)))
    f = oc.function([w, x], [total, og.grad(total, x)])
    value, slope = f([1.0, -0.5], [900.0, 900.0])
    assert value == pytest.approx(900 + np.log(0.5), rel=1e-14)
    np.testing.assert_allclose(slope, [2.0, -1.0], rtol=1e-14)
