"""Derivatives of special functions: by parameters, by integers, of several dtypes, and where there are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import special

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_special import functions as sp
from occelo_special.ops import series

INTEGERS = ["int8", "uint8", "int16", "int32", "uint64"]
MIXED = [("float16", "float64"), ("float16", "float32"), ("int8", "float32"), ("int16", "float64")]


def slope(function: Callable[..., Any], point: tuple[Any, ...], position: int) -> float:
    """A derivative by differences, in the precision of mpmath."""
    step = mpmath.mpf(10) ** -14
    above, below = ([mpmath.mpf(each) for each in point] for _ in range(2))
    above[position] += step
    below[position] -= step
    return float((function(*above) - function(*below)) / (2 * step))


def test_series_of_derivatives_by_parameters_are_precise_in_tails() -> None:
    def lower_gamma(k: Any, x: Any) -> Any:
        return mpmath.gammainc(k, 0, x, True)

    def upper_gamma(k: Any, x: Any) -> Any:
        return mpmath.gammainc(k, x, mpmath.inf, True)

    def lower_beta(a: Any, b: Any, x: Any) -> Any:
        factor = x**a * (1 - x) ** b / (a * mpmath.beta(a, b))
        return factor * mpmath.hyp2f1(a + b, 1, a + 1, x)

    with mpmath.workdps(40):
        for k, x in [(2.5, 200.0), (2.5, 1e-20), (1000.0, 1300.0), (0.01, 3.0)]:
            point = (k, x)
            expected = -slope(upper_gamma, point, 0) if x > k else slope(lower_gamma, point, 0)
            np.testing.assert_allclose(series.gammainc_dk(k, x), expected, rtol=1e-12)
        for a, b, x in [
            (2.0, 3.0, 1e-20),
            (2.0, 400.0, 0.75),
            (700.0, 0.5, 0.5),
            (0.5, 5e4, 9e-5),
            (3e3, 7.0, 0.99),
        ]:
            for position, found in enumerate((series.betainc_da, series.betainc_db)):
                expected = (
                    -slope(lower_beta, (b, a, 1 - mpmath.mpf(x)), 1 - position)
                    if x > a / (a + b)
                    else slope(lower_beta, (a, b, x), position)
                )
                np.testing.assert_allclose(found(a, b, x), expected, rtol=1e-12)


def test_series_of_derivatives_by_parameters_agree_with_central_differences() -> None:
    step = 1e-6
    for k, x in [(0.5, 0.1), (3.0, 2.0), (10.0, 30.0), (50.0, 45.0)]:
        numeric = (special.gammainc(k + step, x) - special.gammainc(k - step, x)) / (2 * step)
        np.testing.assert_allclose(series.gammainc_dk(k, x), numeric, rtol=1e-6, atol=1e-9)
    for a, b, x in [(0.5, 2.0, 0.1), (3.0, 1.5, 0.9), (20.0, 30.0, 0.4), (20.0, 30.0, 0.6)]:
        numeric = (special.betainc(a + step, b, x) - special.betainc(a - step, b, x)) / (2 * step)
        np.testing.assert_allclose(series.betainc_da(a, b, x), numeric, rtol=1e-5, atol=1e-9)
        numeric = (special.betainc(a, b + step, x) - special.betainc(a, b - step, x)) / (2 * step)
        np.testing.assert_allclose(series.betainc_db(a, b, x), numeric, rtol=1e-5, atol=1e-9)
    for a, b, c, z in [(0.5, 1.5, 2.5, 0.9), (2.0, 3.0, 4.0, -0.8)]:
        numeric = (special.hyp2f1(a + step, b, c, z) - special.hyp2f1(a - step, b, c, z)) / (
            2 * step
        )
        np.testing.assert_allclose(series.hyp2f1_da(a, b, c, z), numeric, rtol=1e-6)
        numeric = (special.hyp2f1(a, b, c + step, z) - special.hyp2f1(a, b, c - step, z)) / (
            2 * step
        )
        np.testing.assert_allclose(series.hyp2f1_dc(a, b, c, z), numeric, rtol=1e-6)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda n, y: sp.xlogy(n, y), lambda n, y: n / y),
        (lambda n, y: sp.xlog1py(y, n), lambda n, y: np.log1p(n)),
    ],
)
def test_gradients_by_the_operand_beside_integers(build: Any, expected: Any, dtype: str) -> None:
    n, y = ot.vector("n", dtype=dtype), ot.dvector("y")
    numbers = np.array([1, 2, 7, 100]).astype(dtype)
    at = np.array([0.5, 1.25, 1.5, 0.9])
    wanted = expected(numbers.astype("float64"), at)
    values = {n: numbers, y: at}
    found = og.evaluate(og.grad(build(n, y).sum(), y), values)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    pushed = og.pushforward(build(n, y), y, ot.ones_like(y))
    np.testing.assert_allclose(og.evaluate(pushed, values), wanted, rtol=1e-12)


@pytest.mark.parametrize(("narrow", "wide"), MIXED)
@pytest.mark.parametrize("function", [sp.xlogy, sp.xlog1py], ids=str)
def test_derivatives_are_those_of_the_converted_operands(
    function: Any, narrow: str, wide: str
) -> None:
    x, y = ot.vector("x", dtype=narrow), ot.vector("y", dtype=wide)
    values = {
        x: np.array([1.0, 2.0, 3.037, 12.0, 119.5]).astype(narrow),
        y: np.array([0.75, 1.25, 4.0, 1.1, 1.0 / 3.0]).astype(wide),
    }
    dtype = function(x, y).dtype
    found = og.evaluate(og.grad(function(x, y).sum(), y), values)
    converted = function(x.astype(dtype), y.astype(dtype)).sum()
    assert found.dtype == wide
    np.testing.assert_array_equal(found, og.evaluate(og.grad(converted, y), values))


def test_there_are_no_derivatives_by_orders() -> None:
    x = ot.dvector("x")
    with pytest.raises(og.NullTypeGradError, match="by its order"):
        og.grad(sp.jv(x, x).sum(), x)
    slope = og.grad(ot.log(sp.gammainc(x, 2.0)).sum(), x)
    with pytest.raises(og.NullTypeGradError, match="the second derivative of gammainc"):
        og.pushforward(2.0 * ot.exp(slope), x, x)


def test_the_slope_of_xlogy_at_zero() -> None:
    x = ot.dscalar("x")
    assert og.evaluate(og.grad(sp.xlogy(x, 2.0), x), {x: 0.0}) == np.log(2.0)


AT_POLES = [
    (sp.rgamma, mpmath.rgamma, [(0.0,), (-3.0,), (-3.0 + 1e-9,), (-20.0,), (-20.5,), (0.75,)]),
    (sp.poch, mpmath.rf, [(-3.0, 0.5), (-1.0, 3.0), (0.0, -2.5), (0.0, 2.0), (1.5, 0.25)]),
    (sp.binom, mpmath.binomial, [(3.0, 5.0), (0.0, 2.0), (2.5, -2.0), (-2.5, 0.5), (4.5, 2.0)]),
    (sp.beta, mpmath.beta, [(-2.5, 0.5), (-0.5, -1.5), (0.5, -2.5), (-0.5, 2.0)]),
]


@pytest.mark.parametrize(("function", "wanted", "points"), AT_POLES, ids=lambda v: str(v)[:9])
def test_derivatives_of_two_orders_at_poles_of_gamma(
    function: Any, wanted: Any, points: Any
) -> None:
    variables = [ot.dscalar() for _ in points[0]]
    slopes = og.grad(function(*variables), variables)
    graphs = [(i, j, og.grad(s, variables[j])) for i, s in enumerate(slopes) for j in range(i + 1)]
    for point in points:
        values = dict(zip(variables, point, strict=True))
        with mpmath.workdps(60):
            at = list(map(mpmath.mpf, point))
            for i, s in enumerate(slopes):
                expected = mpmath.diff(wanted, at, [int(i == k) for k in range(len(at))])
                np.testing.assert_allclose(
                    og.evaluate(s, values), float(expected), rtol=1e-9, atol=1e-12
                )
            for i, j, curvature in graphs:
                orders = [int(i == k) + int(j == k) for k in range(len(at))]
                expected = mpmath.diff(wanted, at, orders)
                np.testing.assert_allclose(
                    og.evaluate(curvature, values), float(expected), rtol=1e-6, atol=1e-9
                )


def test_the_mixed_derivative_of_poch_where_nothing_is_added() -> None:
    z, m = ot.dscalars("z", "m")
    mixed = og.grad(og.grad(sp.poch(z, m), z), m)
    found = og.evaluate(mixed, {z: 1.5, m: 0.0})
    np.testing.assert_allclose(found, special.polygamma(1, 1.5), rtol=1e-12)
