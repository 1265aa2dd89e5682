"""Minima at bounds and under constraints: values and derivatives beside SciPy's own calls and central differences."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.optimize as so
import scipy.sparse

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
@pytest.mark.parametrize(
    ("method", "kind"),
    # COBYQA searches for seconds along an equation to get this close
    [*itertools.product(["SLSQP", "trust-constr", "COBYLA"], ["eq", "ineq"]), ("COBYQA", "ineq")],
)
def test_constraints(method: str, kind: str) -> None:
    limit: Any = {"type": kind, "fun": lambda x: 1.0 - x[0] - 2.0 * x[1]}
    solution, slope = compiled(method=method, constraints=[limit])(START, 1.5)

    def solve(at: float) -> np.ndarray:
        return so.minimize(cost, START, (at,), "SLSQP", constraints=[limit], tol=1e-14).x

    np.testing.assert_allclose(solution, solve(1.5), atol=1e-5)
    np.testing.assert_allclose(slope, by_differences(solve, 1.5, 1e-2), atol=1e-4)


def test_batches_single_precision_and_unknown_lengths() -> None:
    """The nearest point of a plane: each element moves by the same amount."""
    for dtype in ("float64", "float32"):
        x, a = ot.vector("x", dtype=dtype), ot.vector("a", dtype=dtype)
        total = ot.scalar("s", dtype=dtype)
        plane = {"type": "eq", "fun": x.sum() - total}
        result = optimize.minimize(((x - a) ** 2).sum(), x, constraints=plane)
        slopes = [og.grad(result.x[0], total), og.grad(result.x[0], a)]
        function = oc.function([x, a, total], [result.x, *slopes])
        batch = ot.vector("batch", dtype=dtype)
        many = oc.function([x, a, batch], og.vectorize_graph([result.x, slopes[0]], {total: batch}))
        for n in (1, 3):
            targets = np.arange(n, dtype=dtype)
            start = np.zeros(n, dtype)
            nearest = targets + (5 - targets.sum()) / n
            solution, by_total, by_target = function(start, targets, 5.0)
            np.testing.assert_allclose(solution, nearest, rtol=1e-5)
            np.testing.assert_allclose(by_total, 1 / n, rtol=1e-5)
            np.testing.assert_allclose(by_target, (np.arange(n) == 0) - 1 / n, atol=1e-5)
            solutions, by_totals = many(start, targets, np.array([5.0, 5.0], dtype))
            np.testing.assert_allclose(solutions, [nearest, nearest], rtol=1e-5)
            np.testing.assert_allclose(by_totals, [1 / n, 1 / n], rtol=1e-5)


LIMITS: dict[str, Callable[[], dict[str, Any]]] = {
    "bounds": lambda: {"bounds": so.Bounds([0.0, -np.inf], [0.5, np.inf])},
    "one bound of all": lambda: {"bounds": so.Bounds(-np.inf, 0.7)},
    "no free element": lambda: {"bounds": so.Bounds([0.1, -1.0], [0.1, 0.2]), "method": "SLSQP"},
    "linear": lambda: {"constraints": so.LinearConstraint([[1.0, 2.0], [1.0, 0.0]], [-1, -np.inf], [1.0, 0.4])},
    "linear, one row": lambda: {"constraints": so.LinearConstraint([1.0, 2.0], 1.0, 1.0)},
    "linear, sparse": lambda: {"constraints": so.LinearConstraint(scipy.sparse.csr_array([[1.0, 2.0]]), -1.0, 1.0)},
    "nonlinear": lambda: {"constraints": [so.NonlinearConstraint(lambda x: x[0] ** 2 + x[1] ** 2, -1.0, 1.0)]},
    "vector": lambda: {"constraints": so.NonlinearConstraint(lambda x: x**2, [0.0, 0.0], [0.5, 2.0])},
    "equation of all": lambda: {"constraints": so.NonlinearConstraint(lambda x: x[0] + x[1], 0.5, 0.5)},
    "with bounds": lambda: {
        "constraints": [so.LinearConstraint([1.0, 1.0], -np.inf, 1.0), {"type": "ineq", "fun": lambda x: x[1] + 3.0}],
        "bounds": so.Bounds(-5.0, 0.2),
    },
    "with pairs": lambda: {"constraints": so.LinearConstraint([1.0, 1.0], -np.inf, 1.0), "bounds": BOUNDS},
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:delta_grad == 0.0")
@pytest.mark.parametrize("name", LIMITS)
def test_limits_that_are_objects_of_scipy(name: str) -> None:
    given = LIMITS[name]()
    solution, slope = compiled(**given)(START, 1.5)

    def solve(at: float) -> np.ndarray:
        method = given.get("method", "SLSQP" if "constraints" in given else "L-BFGS-B")
        own = {**LIMITS[name](), "method": method, "tol": 1e-14}
        return so.minimize(cost, START, (at,), **own).x

    np.testing.assert_allclose(solution, solve(1.5), atol=1e-5)
    np.testing.assert_allclose(slope, by_differences(solve, 1.5, 1e-2), atol=1e-3)


def test_limits_of_scipy_for_lengths_that_are_not_known() -> None:
    x, a = ot.dvector("x"), ot.dvector("a")
    objective = ((x - a) ** 2).sum()
    for given in (
        {"bounds": so.Bounds(0.0, 1.0)},
        {"constraints": so.NonlinearConstraint(lambda v: 2.0 * v, 0.0, 2.0)},
    ):
        f = oc.function([x, a], optimize.minimize(objective, x, **given).x, mode="py")
        for n in (1, 3):
            np.testing.assert_allclose(f(np.full(n, 0.5), np.arange(n) - 0.5), np.clip(np.arange(n) - 0.5, 0, 1), atol=1e-5)  # fmt: skip
    many = so.NonlinearConstraint(lambda v: v, [0.0, 0.0], 1.0)
    f = oc.function([x, a], optimize.minimize(objective, x, constraints=many).x, mode="py")
    with pytest.raises(ValueError, match="was specified"):
        f(np.zeros(3), np.zeros(3))
    with pytest.raises(ValueError, match="vectors as their ends"):
        optimize.minimize(
            objective, x, constraints=so.NonlinearConstraint(lambda v: v, np.eye(2), 1.0)
        )


@pytest.mark.parametrize("using", ["loops", "scipy"])
def test_a_number_at_its_bound(using: str) -> None:
    x, a = ot.dscalar("x"), ot.dscalar("a")
    result = optimize.minimize_scalar((x - a) ** 2, x, bounds=(0.0, 1.0), using=using)
    function = oc.function(
        [x, a], [result.x, og.grad(result.x, a)], mode="py", on_unused_input="ignore"
    )
    np.testing.assert_allclose(function(0.5, 0.3), [0.3, 1.0], atol=1e-4)
    np.testing.assert_allclose(function(0.5, 2.0), [1.0, 0.0], atol=1e-4)


def test_a_bound_that_is_a_variable_moves_the_solution() -> None:
    x, a, high = ot.dscalar("x"), ot.dscalar("a"), ot.dscalar("high")
    result = optimize.minimize_scalar((x - a) ** 2, x, bounds=ot.stack([0.0 * high, high]))
    slope = og.grad(result.x, high)
    function = oc.function([x, a, high], [result.x, slope], mode="py", on_unused_input="ignore")
    np.testing.assert_allclose(function(0.5, 2.0, 0.7), [0.7, 1.0], atol=1e-4)
    np.testing.assert_allclose(function(0.5, 0.2, 0.7), [0.2, 0.0], atol=1e-4)


def test_least_squares_at_a_bound() -> None:
    def residuals(x: Any, a: Any) -> list[Any]:
        return [x[0] - a, x[1] - 2.0 * a, x[0] * x[1] - 1.0]

    bounds = ([0.0, 0.0], [0.4, np.inf])
    x, a = ot.dvector("x", shape=(2,)), ot.dscalar("a")
    same = optimize.least_squares(ot.stack(residuals(x, a)), x, bounds=so.Bounds(*bounds))
    result = optimize.least_squares(ot.stack(residuals(x, a)), x, bounds=bounds)
    slope = ot.stack([og.grad(result.x[i], a) for i in range(2)])
    function = oc.function([x, a], [result.x, slope, same.x], mode="py")
    solution, derivative, other = function(START, 1.5)
    np.testing.assert_array_equal(solution, other)

    def solve(at: float) -> np.ndarray:
        close = dict.fromkeys(("xtol", "ftol", "gtol"), 1e-14)
        return so.least_squares(residuals, START, args=(at,), bounds=bounds, **close).x

    assert solution[0] == pytest.approx(0.4, abs=1e-6)
    np.testing.assert_allclose(solution, solve(1.5), atol=1e-5)
    np.testing.assert_allclose(derivative, by_differences(solve, 1.5, 1e-2), atol=1e-3)

    for method in ("trf", "dogbox", "lm"):
        own = None if method == "lm" else ([-1.0, -np.inf], [0.4, 9.0])
        given = {"method": method, "bounds": own, "using": "scipy"}
        found = oc.function(
            [x], optimize.least_squares(ot.stack(residuals(x, 1.5)), x, **given), mode="py"
        )(START)

        def jacobian(v: Any, _: Any) -> Any:
            return np.array([[1.0, 0.0], [0.0, 1.0], [v[1], v[0]]])

        every = own or (-np.inf, np.inf)
        wanted = so.least_squares(residuals, START, jacobian, every, method, args=(1.5,))
        np.testing.assert_array_equal(found.active_mask, wanted.active_mask)
        np.testing.assert_allclose(found.optimality, wanted.optimality, rtol=1e-6, atol=1e-12)
        assert found.message == wanted.message


@pytest.mark.parametrize("bounds", [None, [(0.3, 0.5), (None, None)]])
@pytest.mark.parametrize("method", ["COBYLA", "COBYQA"])
def test_the_largest_violation_is_that_of_scipy(method: str, bounds: Any) -> None:
    limits: Any = [
        {"type": "ineq", "fun": lambda x: 1.0 - x[0] - 2.0 * x[1]},
        {"type": "eq", "fun": lambda x: x[0] * x[1] + 3.0},
    ]
    if method == "COBYLA":  # of SciPy 1.13, it takes no equations
        limits[1] = {"type": "ineq", "fun": lambda x: x[0] * x[1] - 3.0}
    x = ot.dvector("x", shape=(2,))
    given = {"method": method, "constraints": limits, "bounds": bounds, "options": {"maxiter": 9}}
    found = oc.function([x], optimize.minimize(cost(x, 1.5), x, **given), mode="py")([0.35, 0.1])
    wanted = so.minimize(cost, [0.35, 0.1], (1.5,), **given)
    np.testing.assert_allclose(found.x, wanted.x, rtol=1e-6)
    np.testing.assert_allclose(found.maxcv, wanted.maxcv, rtol=1e-6)
    assert found.maxcv > 0.0
    assert found.message == wanted.message


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
