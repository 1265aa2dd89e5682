"""Second derivatives where intermediate results underflow, cancel or lose digits, against arithmetic of 400 digits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import mpmath
import numpy as np
import pytest

import occelo.tensor as ot
import occelo.tensor.linalg as ol
import occelo_graph as og
from occelo_compile import function

mp: Any = mpmath.mp.clone()
mp.dps = 400
STEP = mp.mpf(10) ** -100


def exact_hessian(f: Callable[[list[Any]], Any], at: Sequence[float]) -> list[list[float]]:
    """Second derivatives by finite differences; about 200 digits are right."""
    start, n = [mp.mpf(float(v)) for v in at], len(at)

    def moved(i: int, a: int, j: int, b: int) -> Any:
        point = list(start)
        point[i] += a * STEP
        point[j] += b * STEP
        return f(point)

    def entry(i: int, j: int) -> float:
        ends = [a * b * moved(i, a, j, b) for a in (1, -1) for b in (1, -1)]
        return float(sum(ends) / (4 * STEP**2))

    return [[entry(i, j) for j in range(n)] for i in range(n)]


def hessian(cost: Any, x: Any, at: Sequence[float], mode: str = "FAST_RUN") -> Any:
    second: Any = cast(Any, og.hessian)(cost, x)
    with np.errstate(all="ignore"):
        found: Any = cast(Any, function([x], second, mode=mode))(np.array(at))
    return found


SPECTRA: dict[str, Callable[[Any, Any, Any], Any]] = {
    "length first": lambda m, a, b: m.sqrt(m.exp(a) * m.exp(-500 * m.exp(a) ** 2) * m.exp(b) ** 2),
    "height first": lambda m, a, b: m.sqrt(m.exp(b) * m.exp(-500 * m.exp(a) ** 2)),
    "constant": lambda m, a, b: m.sqrt(2.5 * (m.exp(a) * m.exp(-500 * m.exp(a) ** 2)) * m.exp(b)),
    "quotient": lambda m, a, b: m.sqrt(b**2 / m.exp(500 * m.exp(a) ** 2)),
    "power": lambda m, a, b: ((1 + b**2) * m.exp(-500 * m.exp(a))) ** 0.5,
}


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("at", [(-2.0, 0.5), (0.1, 0.5), (0.6195, -2.0), (2.0, 0.5)])
def test_roots_of_products_with_a_power(name: str, at: tuple[float, float]) -> None:
    """The spectral density of a Gaussian process underflows at high frequencies, and its root has a slope of 0 there."""
    x = ot.dvector("x")
    found = hessian(SPECTRA[name](ot, x[0], x[1]), x, at)
    right = exact_hessian(lambda p: SPECTRA[name](mp, *p), at)
    np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-280)


@pytest.mark.parametrize("mode", ["FAST_RUN", "py"])
def test_slopes_of_a_large_logsumexp(mode: str) -> None:
    """The weights of logsumexp have a sum of 1, also of terms that are so large that x - logsumexp(x) has few digits."""
    x, weights = ot.dvector("x"), np.array([2.2e5, 1.1e5, -3.0])
    terms = -6e6 + weights * x[0] + x[1] * np.array([0.0, 1e-3, 1.0])
    found = hessian(ot.logsumexp(terms), x, (0.25, 0.5), mode)

    def cost(p: list[Any]) -> Any:
        pairs = zip(weights, (0.0, 1e-3, 1.0), strict=True)
        return mp.log(sum(mp.exp(-6e6 + w * p[0] + p[1] * e) for w, e in pairs))

    np.testing.assert_allclose(found, exact_hessian(cost, (0.25, 0.5)), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("on_error", ["raise", "nan"])
def test_density_of_a_normal_law_with_a_stated_factor(on_error: str, upper: bool) -> None:
    """cholesky(L L^T) is differentiated as L: the derivative of the product loses as many digits as L L^T."""
    x, rows, columns = ot.dvector("x"), *np.tril_indices(3)
    deviation = np.array([-2.0, 12.0, -3.5])
    factor = ot.set_subtensor(ot.zeros((3, 3))[rows, columns], x)
    factor = ot.assume(factor, lower_triangular=True)
    product = factor @ factor.T
    root = ol.cholesky(product, lower=not upper, on_error=on_error)
    root = root.T if upper else root
    solved = ol.solve_triangular(root, deviation, lower=True)
    cost = ot.sqr(solved).sum() + ot.log(ot.diagonal(root)).sum()
    at = (3e-3, 1.9651, -3341.5, 1.2667, -4.6065, 2.6e-5)
    found = hessian(cost, x, at)

    def exact_cost(p: list[Any]) -> Any:
        first = deviation[0] / p[0]
        second = (deviation[1] - p[1] * first) / p[2]
        third = (deviation[2] - p[3] * first - p[4] * second) / p[5]
        logs = mp.log(abs(p[0])) + mp.log(abs(p[2])) + mp.log(abs(p[5]))
        return first**2 + second**2 + third**2 + logs

    np.testing.assert_allclose(found, exact_hessian(exact_cost, at), rtol=1e-11)


@pytest.mark.parametrize("pivot", [0.0, 1.0])
def test_singular_product(pivot: float) -> None:
    """Where a pivot is 0, the gradient raises an error or is NaN, as the factor itself."""
    x = ot.dmatrix("x", shape=(2, 2))
    factor = ot.assume(ot.tril(x), lower_triangular=True)
    value = np.array([[1.0, 5.0], [2.0, pivot]])
    slopes = [
        function([x], og.grad(ol.cholesky(factor @ factor.T, on_error=way).sum(), x))
        for way in ("raise", "nan")
    ]
    if pivot:
        for slope in slopes:
            np.testing.assert_array_equal(slope(value), [[1, 0], [1, 1]])
        return
    with pytest.raises(np.linalg.LinAlgError):
        slopes[0](value)
    assert np.isnan(slopes[1](value)).any()


def test_product_itself_is_differentiated() -> None:
    """By the product L L^T, the derivative is that of the Cholesky factor."""
    x = ot.dmatrix("x", shape=(2, 2))
    factor = ot.assume(ot.tril(x), lower_triangular=True)
    product: og.TensorVariable = factor @ factor.T
    slope = og.grad(ol.cholesky(product)[1, 1], product)
    found: Any = function([x], slope)(np.array([[2.0, 0.0], [1.0, 3.0]]))
    # the element is sqrt(c - b^2 / a) for the product [[a, b], [b, c]]; b is read below the diagonal
    np.testing.assert_allclose(found, [[(1 / 16 * 4) / 6, 0], [-2 * 2 / 4 / 6, 1 / 6]])
