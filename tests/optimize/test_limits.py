"""Minima at bounds and under constraints: values and derivatives beside SciPy's own calls and central differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.optimize as so

import occelo_compile as oc
import occelo_graph as og
import occelo_optimize as optimize
from occelo_graph import tensor as ot

START = np.array([0.2, 0.1])
BOUNDS = [(0.0, 0.5), (None, None)]


def cost(x: Any, a: Any) -> Any:
    """A quadratic form whose least value moves with ``a``."""
    return ((x - a) ** 2).sum() + x[0] * x[1]


def by_differences(
    solve: Callable[[float], np.ndarray], at: float, step: float = 1e-4
) -> np.ndarray:
    """The derivative of a solution."""
    return (solve(at + step) - solve(at - step)) / (2 * step)


def compiled(**given: Any) -> Any:
    """The solution and its derivative with respect to ``a``."""
    x, a = ot.dvector("x", shape=(2,)), ot.dscalar("a")
    result = optimize.minimize(cost(x, a), x, tol=1e-12, **given)
    slope = ot.stack([og.grad(result.x[i], a) for i in range(2)])
    return oc.function([x, a], [result.x, slope], mode="py")


@pytest.mark.parametrize("a", [2.0, 0.3])
def test_an_element_at_its_bound_stays_there(a: float) -> None:
    solution, slope = compiled(bounds=BOUNDS)(START, a)

    def solve(at: float) -> np.ndarray:
        return so.minimize(cost, START, (at,), "L-BFGS-B", bounds=BOUNDS, tol=1e-14).x

    np.testing.assert_allclose(solution, solve(a), atol=1e-5)
    np.testing.assert_allclose(slope, by_differences(solve, a, 1e-2), atol=1e-3)


@pytest.mark.filterwarnings(
    "ignore:delta_grad == 0.0"
)  # SciPy says so of constraints that are linear
@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
@pytest.mark.parametrize("kind", ["eq", "ineq"])
def test_constraints(method: str, kind: str) -> None:
    limit: Any = {"type": kind, "fun": lambda x: 1.0 - x[0] - 2.0 * x[1]}
    solution, slope = compiled(method=method, constraints=[limit])(START, 1.5)

    def solve(at: float) -> np.ndarray:
        return so.minimize(cost, START, (at,), "SLSQP", constraints=[limit], tol=1e-14).x

    np.testing.assert_allclose(solution, solve(1.5), atol=1e-5)
    np.testing.assert_allclose(slope, by_differences(solve, 1.5, 1e-2), atol=1e-4)


def test_other_constraints_are_refused() -> None:
    x = ot.dvector("x", shape=(2,))
    objective = cost(x, 1.0)
    with pytest.raises(TypeError, match="dicts of 'type' and 'fun'"):
        optimize.minimize(objective, x, constraints=[x.sum()])
    with pytest.raises(ValueError, match="no 'le'"):
        optimize.minimize(objective, x, constraints={"type": "le", "fun": x.sum()})
    with pytest.raises(ValueError, match="takes no constraints"):
        optimize.minimize(objective, x, method="BFGS", constraints={"type": "eq", "fun": x.sum()})
    with pytest.raises(ValueError, match="a pair of numbers or None"):
        optimize.minimize(objective, x, bounds=[1.0, 2.0])
