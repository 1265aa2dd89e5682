"""`minimize` finds the minima that SciPy finds with derivatives by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize

import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_networks.minimizing import minimize


def rosenbrock(x: Any, y: Any) -> Any:
    return ((1 - x) ** 2 + 100 * (y - x**2) ** 2).sum()


METHODS = [
    "L-BFGS-B",
    "BFGS",
    "CG",
    "Nelder-Mead",
    "Newton-CG",
    "trust-ncg",
    "trust-exact",
    "trust-constr",
    "SLSQP",
]


@pytest.mark.parametrize("method", METHODS)
def test_methods(method: str) -> None:
    params = {"x": ot.dscalar("x"), "y": (ot.dscalar("y"),)}
    cost = rosenbrock(params["x"], params["y"][0])
    result = minimize(cost, params, {"x": -1.2, "y": [1.0]}, method=method, tol=1e-8)
    assert result.success
    np.testing.assert_allclose([result.params["x"], result.params["y"][0]], 1, atol=1e-3)
    assert type(result.params["y"]) is tuple


def test_the_same_steps_as_with_derivatives_by_hand() -> None:
    p = ot.dvector("p")
    cost = rosenbrock(p[0], p[1])
    mine = minimize(cost, p, np.array([-1.2, 1.0]))
    theirs = optimize.minimize(
        optimize.rosen, np.array([-1.2, 1.0]), jac=optimize.rosen_der, method="L-BFGS-B"
    )
    assert abs(mine.nfev - theirs.nfev) <= 2
    np.testing.assert_allclose(mine.x, theirs.x, atol=1e-5)


def test_shared_variables_and_given_values() -> None:
    rng = np.random.default_rng(1)
    data = rng.normal(size=(50, 3))
    truth = np.array([1.0, -2.0, 0.5], "float32")
    x, y = ot.dmatrix("x"), ot.dvector("y")
    params = {"w": oc.shared(np.zeros(3, "float32"), "w"), "b": oc.shared(0.0, "b")}
    cost = ((ot.dot(x, params["w"]) + params["b"] - y) ** 2).mean()
    result = minimize(
        cost,
        params,
        given={x: data, y: data @ truth + 3.0},
        bounds=[(None, 2.0)] + [(None, None)] * 3,
    )
    expected = np.linalg.lstsq(data, data @ truth + 1.0, rcond=None)[0]  # b is at its bound
    assert params["w"].get_value().dtype == "float32"
    np.testing.assert_allclose(params["w"].get_value(), expected, atol=1e-3)
    assert params["b"].get_value() == result.params["b"] == 2.0
    np.testing.assert_array_equal(result.params["w"], params["w"].get_value())


def test_mistakes() -> None:
    x = ot.dvector("x")
    with pytest.raises(TypeError, match=r"needs a start, since params\[0\] is no shared variable"):
        minimize((x**2).sum(), [x])
    with pytest.raises(TypeError, match=r"and params\['x'\] is 3"):
        minimize((x**2).sum(), {"x": 3}, {"x": 3})
    with pytest.raises(TypeError, match="The cost must be a scalar"):
        minimize(x**2, [x], [np.ones(2)])
    with pytest.raises(ValueError, match="start is a list of 2, not a list of 1"):
        minimize((x**2).sum(), [x], [np.ones(2), 1.0])
    with pytest.raises(ValueError, match="Unknown solver"):
        minimize((x**2).sum(), [x], [np.ones(2)], method="downhill")


def test_a_dict_from_variables_to_starts() -> None:
    x, s = ot.dvector("x"), ot.dscalar("s")
    cost = ((x - np.arange(3.0)) ** 2).sum() + (s + 1) ** 2
    for method in ("lbfgs", "L-BFGS", "BFGS"):
        found = minimize(cost, {x: np.ones(3), s: 2.0}, method=method)
        assert list(found.params) == [x, s]
        np.testing.assert_allclose(found.params[x], [0.0, 1.0, 2.0], atol=1e-4)
        np.testing.assert_allclose(found.params[s], -1.0, atol=1e-4)
    with pytest.raises(TypeError, match="Costs are minimized over variables"):
        minimize(cost, {x: np.ones(3), "s": 2.0})
    with pytest.raises(TypeError, match="Costs are minimized over variables"):
        minimize(cost, {"x": np.ones(3)})
