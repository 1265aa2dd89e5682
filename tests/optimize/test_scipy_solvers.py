"""Methods of SciPy in graphs, least squares and fixed points, beside SciPy's own functions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize as scipy_optimize

import occelo_compile as oc
import occelo_graph as og
import occelo_optimize as optimize
from occelo_graph import tensor as ot
from occelo_optimize.ops import scipy_calls

TIMES = np.linspace(0.0, 1.0, 8)
DATA = np.exp(-1.3 * TIMES) * 2 + 0.01 * np.cos(9 * TIMES)


def valley(x, a):
    return (3.0 * (x[1:] - x[:-1] ** 2) ** 2 + (a - x[:-1]) ** 2).sum()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("method", sorted(set(scipy_calls.MINIMIZERS)))
def test_minimizers(method):
    x, a = ot.dvector("x"), ot.dscalar("a")
    result = optimize.minimize(valley(x, a), x, method=method, tol=1e-9, using="scipy")
    f = oc.function([x, a], [*result, og.grad(result.x.sum(), a)], "py")
    found, success, slope = f([0.2, 0.1], 0.8)
    assert success
    np.testing.assert_allclose(found, [0.8, 0.64], atol=2e-4)
    np.testing.assert_allclose(slope, 2.6, atol=2e-3)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("method", scipy_calls.ROOTS)
def test_roots_of_systems(method):
    x, a = ot.dvector("x"), ot.dscalar("a")
    equations = ot.stack([a - x[0] - 0.1 * x[1] ** 2, 0.5 - x[1] - 0.1 * ot.sin(x[0])])
    # their steps are alpha times the equations
    options = {"alpha": 0.5} if method in ("linearmixing", "excitingmixing") else None
    settings = {"line_search": None, "jac_options": options} if options else None
    result = optimize.root(equations, x, method=method, using="scipy", options=settings)
    exact = optimize.root(equations, x)
    f = oc.function(
        [x, a], [*result, exact.x, og.grad(result.x.sum(), a), og.grad(exact.x.sum(), a)], "py"
    )
    found, success, wanted, slope, exact_slope = f([0.9, 0.4], 1.0)
    assert success
    np.testing.assert_allclose(found, wanted, atol=1e-4)
    np.testing.assert_allclose(slope, exact_slope, atol=1e-4)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("method", scipy_calls.SCALAR_ROOTS)
def test_roots(method):
    x, a = ot.dscalar("x"), ot.dscalar("a")
    closed = method not in ("newton", "secant", "halley")
    result = optimize.root_scalar(
        x**3 - a, x, method=method, using="scipy", bracket=[0.0, 3.0] if closed else None
    )
    f = oc.function([x, a], [*result, og.grad(result.root, a)], "py", on_unused_input="ignore")
    np.testing.assert_allclose(f(1.0, 8.0), [2.0, True, 1 / 12], rtol=1e-8)


def test_batches_and_compiled_code():
    x, a, many = ot.dscalar("x"), ot.dscalar("a"), ot.dvector("many")
    result = optimize.root_scalar(x**3 - a, x, method="newton", using="scipy")
    roots = og.vectorize_graph(result.root, {a: many})
    f = oc.function([x, many], [roots, og.grad(roots.sum(), many)], "native")
    found, slopes = f(1.5, [1.0, 8.0])
    np.testing.assert_allclose(found, [1.0, 2.0])
    np.testing.assert_allclose(slopes, [1 / 3, 1 / 12])
    for method in ("brent", "golden", "bounded"):
        closed = method == "bounded"
        settings = {"options": {"xatol": 1e-7}, "bounds": [0.0, 9.0]} if closed else {"tol": 1e-7}
        least = optimize.minimize_scalar(
            (x - a) ** 2, x, method=method, using="scipy", optimizer_kwargs=settings
        )
        f = oc.function([x, a], [*least, og.grad(least.x, a)], "py", on_unused_input="ignore")
        np.testing.assert_allclose(f(0.0, 3.0), [3.0, True, 1.0], atol=1e-6)


def test_one_call_for_value_and_gradient(monkeypatch):
    calls = []
    compiled = scipy_calls.ScipySolver._compiled

    def counted(self):
        function = compiled(self)
        return lambda *args: calls.append(1) or function(*args)

    monkeypatch.setattr(scipy_calls.ScipySolver, "_compiled", counted)
    x, a = ot.dvector("x"), ot.dscalar("a")
    result = optimize.minimize(valley(x, a), x, using="scipy", optimizer_kwargs={"tol": 1e-6})
    oc.function([x, a], result.x, "py")([0.0, 0.0], 0.8)
    theirs = scipy_optimize.minimize(
        valley,
        [0.0, 0.0],
        (0.8,),
        tol=1e-6,
        jac=lambda x, a: np.array(
            [-12 * x[0] * (x[1] - x[0] ** 2) - 2 * (a - x[0]), 6 * (x[1] - x[0] ** 2)]
        ),
    )
    assert len(calls) == theirs.nfev


def test_bounds():
    x, a = ot.dvector("x"), ot.dscalar("a")
    result = optimize.minimize(((x - a) ** 2).sum(), x, bounds=[(0.0, 0.5), (None, None)])
    found = oc.function([x, a], result.x, "py")([0.1, 0.1], 2.0)
    np.testing.assert_allclose(found, [0.5, 2.0], rtol=1e-6)


def model(v, scale):
    return v[0] * np.exp(-v[1] * TIMES) - scale * DATA


@pytest.mark.parametrize("method", ["lm", "trf", "dogbox"])
def test_least_squares(method):
    v, scale = ot.dvector("v"), ot.dscalar("scale")
    residuals = v[0] * ot.exp(-v[1] * TIMES) - scale * DATA
    result = optimize.least_squares(residuals, v, method=method)
    f = oc.function([v, scale], [result, og.grad(result.x[0], scale)], "py")
    found, slope = f([1.0, 1.0], 1.0)
    theirs = scipy_optimize.least_squares(model, [1.0, 1.0], args=(1.0,), xtol=1e-14, ftol=1e-14)
    assert found.success
    np.testing.assert_allclose(found.x, theirs.x, rtol=1e-6)
    np.testing.assert_allclose(found.cost, theirs.cost, rtol=1e-10)
    np.testing.assert_allclose(found.fun, theirs.fun, atol=1e-6)
    np.testing.assert_allclose(found.jac, theirs.jac, atol=1e-5)
    np.testing.assert_allclose(found.grad, 0.0, atol=1e-6)
    # the model is linear in its first parameter
    np.testing.assert_allclose(slope, theirs.x[0], rtol=1e-5)


def test_least_squares_compiled_in_a_batch():
    v, scale, many = ot.dvector("v"), ot.dscalar("scale"), ot.dvector("many")
    result = optimize.least_squares(v[0] * ot.exp(-v[1] * TIMES) - scale * DATA, v)
    found = og.vectorize_graph(result.x, {scale: many})
    solution = oc.function([v, many], found)([1.0, 1.0], [1.0, 2.0, 3.0])
    np.testing.assert_allclose(solution[:, 0], solution[0, 0] * np.arange(1, 4), rtol=1e-6)
    np.testing.assert_allclose(solution[:, 1], solution[0, 1], rtol=1e-6)


@pytest.mark.parametrize("method", ["del2", "iteration"])
@pytest.mark.parametrize("mode", ["py", "native"])
def test_fixed_points(method, mode):
    x, a, many = ot.dvector("x"), ot.dscalar("a"), ot.dvector("many")
    result = optimize.fixed_point(a * ot.cos(x), x, method=method, xtol=1e-12)
    found = og.vectorize_graph(result.x, {a: many})
    f = oc.function(
        [x, many], [result.success, found, og.grad(found.sum(), many)], mode, givens={a: many[0]}
    )
    success, solution, slopes = f([1.0, 0.5], [0.9, 0.5])
    assert success
    for row, value, slope in zip(solution, (0.9, 0.5), slopes, strict=True):
        theirs = scipy_optimize.fixed_point(lambda x, a: a * np.cos(x), [1.0, 0.5], (value,), 1e-12)
        np.testing.assert_allclose(row, theirs, rtol=1e-10)
        np.testing.assert_allclose(slope, 2 * np.cos(row[0]) / (1 + value * np.sin(row[0])))
    far = optimize.fixed_point(2.0 * x + 1.0, x, method="iteration")
    assert not oc.function([x], far.success, mode)([1.0])


def test_refused_arguments():
    x = ot.dvector("x")
    with pytest.raises(TypeError, match="numbers and texts as options here, and tol is"):
        optimize.minimize((x**2).sum(), x, method="powell", tol=ot.dscalar("tol"))
    with pytest.raises(ValueError, match="using 'loops' or 'scipy'"):
        optimize.minimize((x**2).sum(), x, using="numpy")
    with pytest.raises(ValueError, match="takes no bounds"):
        optimize.minimize((x**2).sum(), x, method="BFGS", bounds=[(0, 1)])
    with pytest.raises(ValueError, match="a tensor like its argument"):
        optimize.fixed_point(x.sum(), x)
