"""Roots of systems and minima of functions of tensors, beside SciPy's."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import optimize as scipy_optimize

import occelo_compile as oc
import occelo_graph as og
import occelo_optimize as optimize
from occelo_graph import tensor as ot

MODES = ["py", "native"]
MINIMIZERS = ["BFGS", "L-BFGS", "newton"]


def valley(x, a, b):
    return (b * (x[1:] - x[:-1] ** 2) ** 2 + (a - x[:-1]) ** 2).sum()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("method", MINIMIZERS)
def test_minima_and_their_derivatives(method, mode):
    x, a, b = ot.dvector("x"), ot.dscalar("a"), ot.dscalar("b")
    result = optimize.minimize(valley(x, a, b), x, method=method, tol=1e-9)
    slopes = og.grad(result.x.sum(), [a, b])
    f = oc.function([x, a, b], [result, *slopes], mode)
    for n, value, weight in ((2, 1.0, 100.0), (5, 0.8, 3.0)):
        found, by_a, by_b = f(np.zeros(n), value, weight)
        assert found.success
        np.testing.assert_allclose(found.jac, 0.0, atol=1e-9)

        def theirs(a, b, n=n):
            return scipy_optimize.minimize(valley, np.zeros(n), (a, b), "Powell", tol=1e-14).x

        np.testing.assert_allclose(found.x, theirs(value, weight), rtol=1e-5)
        for slope, moves in ((by_a, (1e-3, 0.0)), (by_b, (0.0, 1e-3 * weight))):
            moved = [
                theirs(value + sign * moves[0], weight + sign * moves[1]).sum() for sign in (-1, 1)
            ]
            np.testing.assert_allclose(
                slope, (moved[1] - moved[0]) / (2 * sum(moves)), rtol=1e-3, atol=1e-4
            )


@pytest.mark.parametrize("method", MINIMIZERS)
def test_hard_minima(method):
    """Functions of the collection of Moré, Garbow and Hillstrom, from their usual starts."""
    x = ot.dvector("x")
    powell = (
        (x[0] + 10 * x[1]) ** 2
        + 5 * (x[2] - x[3]) ** 2
        + (x[1] - 2 * x[2]) ** 4
        + 10 * (x[0] - x[3]) ** 4
    )
    beale = (
        (1.5 - x[0] * (1 - x[1])) ** 2
        + (2.25 - x[0] * (1 - x[1] ** 2)) ** 2
        + (2.625 - x[0] * (1 - x[1] ** 3)) ** 2
    )
    scaled = (x[0] - 1e3) ** 2 + (1e3 * x[1] - 2.0) ** 2 + 1.0
    for cost, start, least in (
        (powell, [3.0, -1.0, 0.0, 1.0], 0.0),
        (beale, [1.0, 1.0], 0.0),
        (scaled, [0.0, 0.0], 1.0),
    ):
        found = oc.function([x], optimize.minimize(cost, x, method=method), "py")(start)
        assert found.success
        np.testing.assert_allclose(found.fun, least, atol=1e-6)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("method", MINIMIZERS)
def test_what_is_no_minimum_is_no_success(method):
    x = ot.dvector("x")
    for cost in (x.sum(), -(x**2).sum()):
        result = optimize.minimize(cost, x, method=method, options={"maxiter": 50})
        assert not oc.function([x], result.success, "py")([1.0, 2.0])
    at_once = optimize.minimize(((x - 1.0) ** 2).sum(), x, method=method)
    assert oc.function([x], [at_once.success, at_once.nit], "py")([1.0, 1.0]) == [True, 0]
    nothing = oc.function([x], [*at_once], "py")([])
    assert nothing[0].shape == (0,)
    assert nothing[1]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("method", MINIMIZERS)
def test_a_batch_of_minima(method, mode):
    x, a, b = ot.dvector("x"), ot.dscalar("a"), ot.dscalar("b")
    many = ot.dvector("many")
    result = optimize.minimize(valley(x, a, b), x, method=method, tol=1e-9)
    found = og.vectorize_graph([*result], {a: many})
    slopes = og.grad(found[0].sum(), [many, b])
    pushed = og.pushforward(found[0], [many], [ot.ones_like(many)])
    f = oc.function([x, many, b], [*found, *slopes, pushed], mode)
    values = np.array([0.5, 1.0, 1.5])
    solution, success, by_a, by_b, moved = f([0.0, 0.0], values, 2.0)
    assert success.all()
    np.testing.assert_allclose(solution, np.stack([values, values**2], 1), rtol=1e-6)
    np.testing.assert_allclose(by_a, 1 + 2 * values, rtol=1e-6)
    np.testing.assert_allclose(by_b, 0.0, atol=1e-7)
    np.testing.assert_allclose(moved, np.stack([np.ones(3), 2 * values], 1), rtol=1e-6)


def test_trees_of_tensors():
    u, w, s = ot.dmatrix("u"), ot.dvector("w"), ot.dscalar("s")
    cost = ((u - 1.0) ** 2).sum() + ((w - s) ** 2).sum() + (s - 2.0) ** 2
    result = optimize.minimize(cost, {"u": u, "rest": (w, s)}, tol=1e-8)
    found = oc.function([u, w, s], result.x)(np.zeros((2, 3)), np.zeros(2), 0.0)
    np.testing.assert_allclose(found["u"], np.ones((2, 3)))
    np.testing.assert_allclose(found["rest"][0], [2.0, 2.0])
    np.testing.assert_allclose(found["rest"][1], 2.0)


def test_scalars_and_functions_of_python():
    a = ot.dscalar("a")
    result = optimize.minimize(lambda x, c: (x - c) ** 2, 0.0, args=(a,))
    assert result.x.ndim == 0
    np.testing.assert_allclose(oc.function([a], [*result])(3.0), [3.0, True])
    roots = optimize.root(
        lambda t: ot.stack([t["p"] ** 2 - a, t["q"] - t["p"]]), {"p": 1, "q": 2.0}
    )
    found = oc.function([a], [roots.x["q"], og.grad(roots.x["q"], a)])(9.0)
    np.testing.assert_allclose(found, [3.0, 1 / 6])


def system(x, w):
    return [x[0] ** 2 + w[0] * x[1] - 1.0, x[0] - w[1] * x[1] ** 3]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("method", ["newton", "lm"])
def test_roots_of_systems(method, mode):
    x, w, many = ot.dvector("x"), ot.dvector("w"), ot.dmatrix("many")
    result = optimize.root(ot.stack(system(x, w)), x, method=method)
    found = og.vectorize_graph([*result], {w: many})
    pulled = og.grad((found[0] ** 2).sum(), many)
    f = oc.function([x, many], [*found, pulled], mode)
    weights = np.array([[1.5, 0.4], [0.5, 2.0], [1.0, 1.0]])
    solution, success, slopes = f([0.3, 0.8], weights)
    assert success.all()

    def theirs(w):
        return scipy_optimize.root(system, [0.3, 0.8], (w,), tol=1e-13).x

    for row, weight, slope in zip(solution, weights, slopes, strict=True):
        np.testing.assert_allclose(row, theirs(weight), rtol=1e-9)
        for i in range(2):
            moved = [(theirs(weight + e * np.eye(2)[i]) ** 2).sum() for e in (-1e-6, 1e-6)]
            np.testing.assert_allclose(slope[i], (moved[1] - moved[0]) / 2e-6, rtol=1e-5)


def test_systems_without_a_root():
    x = ot.dvector("x")
    for method in ("newton", "lm"):
        result = optimize.root(x**2 + 1.0, x, method=method)
        found = oc.function([x], [result.success, result.fun])([0.5, 2.0])
        assert not found[0] or method == "lm"
    singular = optimize.root(ot.stack([x.sum(), x.sum()]), x)
    assert not oc.function([x], singular.success)([0.5, 2.0])


def test_saved_and_printed_solvers(tmp_path):
    x, a = ot.dvector("x"), ot.dscalar("a")
    solution = og.vectorize_graph(
        optimize.minimize(((x - a) ** 2).sum(), x).x, {a: ot.dvector("c")}
    )
    og.save(tmp_path / "graph.occelo", [solution])
    loaded = og.load(tmp_path / "graph.occelo")
    assert og.digest(loaded) == og.digest([solution])


def test_refused_arguments():
    x, i = ot.dvector("x"), ot.lvector("i")
    with pytest.raises(TypeError, match="a scalar as its objective"):
        optimize.minimize(x**2, x)
    with pytest.raises(TypeError, match="tensor of floats"):
        optimize.minimize((i * 2.0).sum(), i)
    with pytest.raises(ValueError, match="no 'Nelder'"):
        optimize.minimize((x**2).sum(), x, method="Nelder")
    with pytest.raises(ValueError, match="as many equations as variables, got 1 for 2"):
        optimize.root(lambda t: t[0], np.zeros(2))
    with pytest.raises(TypeError, match="for a variable in it, and the start"):
        optimize.root(x**2, [1.0, 2.0])


@pytest.mark.parametrize("mode", MODES)
def test_numbers_and_texts_of_results(mode):
    v, a = ot.dvector("v"), ot.dscalar("a")
    cost = (a - v[0]) ** 2 + 5.0 * (v[1] - v[0] ** 2) ** 2
    for method in MINIMIZERS:
        f = oc.function([v, a], optimize.minimize(cost, v, method=method), mode=mode)
        found = f([0.0, 0.0], 1.0)
        assert found.status == 0
        assert found.message == "The solution was found."
        assert found.nfev == found.njev >= found.nit + 1
        assert f([1.0, 1.0], 1.0).nfev == 1  # a minimum from the start
    found = oc.function([v, a], optimize.minimize(cost, v, options={"maxiter": 2}), mode=mode)(
        [0.0, 0.0], 1.0
    )
    assert not found.success
    assert found.status == 1
    assert "most iterations" in found.message
    found = oc.function([v, a], optimize.minimize(a * v.sum(), v), mode=mode)([0.0, 0.0], 1.0)
    assert found.status == 2
    assert "no step" in found.message
    system = ot.stack([v[0] ** 2 - a, v[1] - v[0]])
    f = oc.function([v, a], optimize.root(system, v), mode=mode)
    assert f([1.0, 1.0], 9.0).status == 1
    assert "no step" in f([1.0, 1.0], -9.0).message
    residuals = ot.stack([v[0] - a, v[1] * v[0] - 1.0, v.sum() - 2.5])
    found = oc.function([v, a], optimize.least_squares(residuals, v), mode=mode)([1.0, 1.0], 2.0)
    assert found.status in (1, 2, 3)
    assert "tolerance" in found.message
    assert found.nfev == found.nit + 1
    np.testing.assert_allclose(found.optimality, abs(found.grad).max())


def test_results_of_methods_of_scipy_are_scipys():
    v = ot.dvector("v")
    result = optimize.minimize(
        (v[0] - 1.0) ** 2 + 5.0 * (v[1] - v[0] ** 2) ** 2, v, method="BFGS", using="scipy"
    )
    found = oc.function([v], result)([0.0, 0.0])
    wanted = scipy_optimize.minimize(
        lambda x: (x[0] - 1.0) ** 2 + 5.0 * (x[1] - x[0] ** 2) ** 2,
        np.zeros(2),
        method="BFGS",
        jac=lambda x: np.array(
            [2.0 * (x[0] - 1.0) - 20.0 * x[0] * (x[1] - x[0] ** 2), 10.0 * (x[1] - x[0] ** 2)]
        ),
    )
    for name in ("nit", "nfev", "njev", "status", "success"):
        assert getattr(found, name) == getattr(wanted, name), name
    result = optimize.minimize(v.sum(), v, method="Nelder-Mead", options={"maxiter": 3})
    found = oc.function([v], result)([0.0, 0.0])
    assert found.status == 2
    assert found.message == "Maximum number of iterations has been exceeded."
    of_batch = og.vectorize_graph(result.x, {v: ot.dmatrix("many")})
    assert of_batch.ndim == 2


def banana(x):
    return (x[0] - 1.0) ** 2 + 5.0 * (x[1] - x[0] ** 2) ** 2


def banana_slope(x):
    away = x[1] - x[0] ** 2
    return np.array([2.0 * (x[0] - 1.0) - 20.0 * x[0] * away, 10.0 * away])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_inverse_hessians(dtype):
    v = ot.vector("v", dtype=dtype)
    exact = np.linalg.inv([[42.0, -20.0], [-20.0, 10.0]])
    for method in ("BFGS", "L-BFGS"):
        result = optimize.minimize(banana(v), v, method=method, tol=1e-5)
        inverse = result.hess_inv
        whole = inverse if method == "BFGS" else inverse.todense()
        product = inverse @ ot.constant(np.array([1.0, 2.0], dtype))
        found, dense, products = oc.function([v], [result, whole, product])(np.zeros(2, dtype))
        assert dense.dtype == dtype
        np.testing.assert_allclose(dense, exact, rtol=0.1)
        np.testing.assert_allclose(products, exact @ [1.0, 2.0], rtol=0.1)
        if method == "L-BFGS":
            assert found.hess_inv.shape == (2, 2)
            columns = np.array([[1.0, 0.0, 1.0], [2.0, 1.0, 0.0]], dtype)
            np.testing.assert_allclose(found.hess_inv @ columns, dense @ columns, rtol=1e-4)
            copy = pickle.loads(pickle.dumps(found)).hess_inv
            np.testing.assert_array_equal(copy.todense(), found.hess_inv.todense())
    nothing = oc.function([v], optimize.minimize((v**2).sum(), v, method="L-BFGS"))([])
    assert nothing.hess_inv.todense().shape == (0, 0)
    at_once = oc.function([v], optimize.minimize(banana(v), v, method="L-BFGS"))([1.0, 1.0])
    np.testing.assert_array_equal(at_once.hess_inv.todense(), np.eye(2))


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "trust-exact", "Newton-CG"])
def test_further_attributes_of_methods_of_scipy(method):
    v = ot.dvector("v")
    options = {"maxcor": 3} if method == "L-BFGS-B" else None
    settings = {"method": method, "options": options}
    found = oc.function([v], optimize.minimize(banana(v), v, using="scipy", **settings))([0.0, 0.0])

    def second(x):
        return np.array(
            [[2.0 - 20.0 * x[1] + 60.0 * x[0] ** 2, -20.0 * x[0]], [-20.0 * x[0], 10.0]]
        )

    more = {"hess": second} if method in ("trust-exact", "Newton-CG") else {}
    wanted = scipy_optimize.minimize(banana, np.zeros(2), jac=banana_slope, **settings, **more)
    assert found.message == wanted.message
    if more:
        assert found.nhev == wanted.nhev
    elif method == "BFGS":
        np.testing.assert_allclose(found.hess_inv, wanted.hess_inv, rtol=1e-9)
    else:
        np.testing.assert_allclose(found.hess_inv.todense(), wanted.hess_inv.todense(), rtol=1e-9)


def test_a_message_of_a_batch_and_of_variables():
    v, a, many = ot.dvector("v"), ot.dscalar("a"), ot.dvector("many")
    result = optimize.root(v**2 - a, v)
    with pytest.raises(AttributeError, match="text"):
        result.message
    status, success = og.vectorize_graph([result.status, result.success], {a: many})
    found = oc.function([v, many], [status, success])([1.0], [4.0, -4.0])
    of_batch = optimize.OptimizeResult(None, found[1], "root", status=found[0])
    assert [text.split()[1] for text in of_batch.message] == ["solution", "search"]
    assert pickle.loads(pickle.dumps(of_batch)).message == of_batch.message
