"""Integrals beside SciPy's, and linear systems by products beside NumPy's solutions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate
from scipy.sparse import linalg

import occelo_compile as oc
import occelo_graph as og
import occelo_optimize as optimize
from occelo_graph import tensor as ot
from occelo_optimize.ops.methods import quadrature

METHODS = ["quad", "tanhsinh"]


def test_the_rule_is_exact_for_polynomials():
    powers = np.arange(32)
    exact = (1.0 - (-1.0) ** (powers + 1)) / (powers + 1)
    for weights, degree in ((quadrature.WEIGHTS, 31), (quadrature.GAUSS_WEIGHTS, 19)):
        found = (weights[:, None] * quadrature.NODES[:, None] ** powers).sum(0)
        np.testing.assert_allclose(found[: degree + 1], exact[: degree + 1], atol=1e-15)
    assert abs(found[20] - exact[20]) > 1e-8


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mode", ["py", "native"])
@pytest.mark.parametrize("method", METHODS)
def test_integrals_and_all_derivatives(method, mode):
    a, b, c = ot.dscalars("a", "b", "c")
    integral, error = optimize.quad(
        lambda x: ot.exp(-c * x) * ot.sin(5.0 * x) ** 2, a, b, method=method
    )
    slopes = og.grad(integral, [a, b, c])
    moved = og.pushforward(integral, [a, b, c], [a, b, c])
    f = oc.function([a, b, c], [integral, error, *slopes, og.grad(slopes[2], c), moved], mode)

    def g(x):
        return np.exp(-1.5 * x) * np.sin(5 * x) ** 2

    value, bound, *found, second, pushed = f(-0.3, 2.0, 1.5)
    np.testing.assert_allclose(value, integrate.quad(g, -0.3, 2.0)[0], rtol=1e-8)
    assert bound < 1e-6
    wanted = [-g(-0.3), g(2.0), integrate.quad(lambda x: -x * g(x), -0.3, 2.0)[0]]
    np.testing.assert_allclose(found, wanted, rtol=1e-8)
    np.testing.assert_allclose(second, integrate.quad(lambda x: x * x * g(x), -0.3, 2.0)[0])
    np.testing.assert_allclose(pushed, np.dot(wanted, [-0.3, 2.0, 1.5]), rtol=1e-8)


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "ends", [(0, np.inf), (-np.inf, np.inf), (-np.inf, 1), (np.inf, 0.5), (1, -np.inf)]
)
@pytest.mark.parametrize("method", METHODS)
def test_infinite_limits(method, ends):
    c = ot.dscalar("c")
    integral, _ = optimize.quad(lambda x: ot.exp(-c * (x - 0.2) ** 2), *ends, method=method)
    value, slope = oc.function([c], [integral, og.grad(integral, c)], "py")(2.0)

    def g(x):
        return np.exp(-2 * (x - 0.2) ** 2)

    np.testing.assert_allclose(value, integrate.quad(g, *ends)[0], rtol=1e-7)
    wanted = integrate.quad(lambda x, g=g: -((x - 0.2) ** 2) * g(x), *ends)[0]
    np.testing.assert_allclose(slope, wanted, rtol=1e-7)


def test_peaks_and_singular_ends():
    peak = optimize.quad(lambda x: 1.0 / (1e-4 + (x - 0.3) ** 2), 0.0, 1.0)
    exact = 100 * (np.arctan(70.0) + np.arctan(30.0))
    np.testing.assert_allclose(og.evaluate(peak.integral, {}), exact, rtol=1e-8)
    ends = optimize.quad(lambda x: ot.log(x) / ot.sqrt(x), 0.0, 1.0, method="tanhsinh")
    np.testing.assert_allclose(og.evaluate(ends.integral, {}), -4.0, rtol=1e-8)
    few = optimize.quad(lambda x: 1.0 / (1e-6 + (x - 0.3) ** 2), 0.0, 1.0, limit=3)
    assert og.evaluate(few.abserr, {}) > 1.0


def test_parameters_that_depend_on_each_other():
    """`-k` does not depend on x, so it is a parameter of the integrand like `k`."""
    k = ot.dscalar("k")
    value, _ = optimize.quad(lambda x: ot.exp(-k * x) * k, 0.0, 2.0)
    slope = og.grad(value, k)
    pushed = og.pushforward(value, k, ot.constant(1.0))
    f = oc.function([k], [value, slope, pushed, og.grad(slope, k)])
    e = np.exp(-1.4)
    np.testing.assert_allclose(f(0.7), [1 - e, 2 * e, 2 * e, -4 * e], rtol=1e-8)


def test_tensors_and_batches():
    c, many, n = ot.dscalar("c"), ot.dvector("many"), ot.dvector("n")
    integral = optimize.quad(lambda x: c * x**n, 0.0, 1.0).integral
    batch = og.vectorize_graph(integral, {c: many})
    f = oc.function([n, many], [batch, og.grad(batch.sum(), many)])
    found, slopes = f([0.0, 1.0, 3.0], [1.0, 2.0])
    np.testing.assert_allclose(found, np.outer([1.0, 2.0], [1.0, 0.5, 0.25]))
    np.testing.assert_allclose(slopes, [1.75, 1.75])
    assert f([], [1.0, 2.0])[0].shape == (2, 0)


def matrices(name):
    rng = np.random.default_rng(3)
    m = rng.normal(size=(9, 9))
    return {"cg": m @ m.T + np.eye(9), "minres": m + m.T, "gmres": m}[name]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", ["py", "native"])
@pytest.mark.parametrize("name", ["cg", "minres", "gmres"])
def test_linear_systems_and_their_derivatives(name, mode):
    a, b = ot.dmatrix("a"), ot.dvector("b")
    solve = getattr(optimize, name)
    x, info = solve(a, b, rtol=1e-11)
    moved = og.pushforward(x, [b], [b])
    f = oc.function([a, b], [x, info, *og.grad((x**2).sum(), [a, b]), moved], mode)
    matrix, right = matrices(name), np.arange(9.0)
    found, flag, by_a, by_b, pushed = f(matrix, right)
    wanted = np.linalg.solve(matrix, right)
    weights = np.linalg.solve(matrix.T, 2 * wanted)
    assert flag == 0
    for got, expected in (
        (found, wanted),
        (by_b, weights),
        (by_a, -np.outer(weights, wanted)),
        (pushed, wanted),
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-8 * abs(expected).max())
    theirs, failed = getattr(linalg, name)(matrix, right, rtol=1e-11)
    assert not failed
    np.testing.assert_allclose(found, theirs, rtol=1e-6)


def test_functions_batches_and_preconditioners():
    a, b, rows = ot.dmatrix("a"), ot.dvector("b"), ot.dmatrix("rows")
    matrix = np.random.default_rng(4).normal(size=(6, 6))
    x, _ = optimize.cg(lambda v: a @ (a.T @ v) + v, b, rtol=1e-11)
    many = og.vectorize_graph(x, {b: rows})
    f = oc.function([a, rows], [many, og.grad(many.sum(), rows)])
    square = matrix @ matrix.T + np.eye(6)
    right = np.eye(6)[:4]
    found, slopes = f(matrix, right)
    np.testing.assert_allclose(found, np.linalg.solve(square, right.T).T, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(slopes, np.tile(np.linalg.inv(square).sum(0), (4, 1)), rtol=1e-7)
    hard = np.diag(10.0 ** np.arange(6)) + 0.1
    for solve in (optimize.cg, optimize.gmres):
        x, info = solve(a, b, M=lambda v: v / a.diagonal(), rtol=1e-10, maxiter=12)
        found, flag = oc.function([a, b], [x, info], "py")(hard, np.ones(6))
        assert flag == 0
        np.testing.assert_allclose(found, np.linalg.solve(hard, np.ones(6)), rtol=1e-6)
    x, info = optimize.cg(a, b, rtol=1e-12, maxiter=2)
    assert oc.function([a, b], info, "py")(hard, np.ones(6)) == 2
    assert oc.function([a, b], optimize.gmres(a, b), "py")(np.eye(2), [0.0, 0.0])[1] == 0


def test_refused_arguments():
    m, b = ot.dmatrix("m"), ot.dvector("b")
    with pytest.raises(TypeError, match="a real vector as its right side"):
        optimize.cg(m, m)
    with pytest.raises(ValueError, match="a square matrix"):
        optimize.gmres(np.zeros((2, 3)), b)
    with pytest.raises(TypeError, match="a real scalar as its limit b"):
        optimize.quad(lambda x: x, 0.0, b)
    with pytest.raises(TypeError, match="real values"):
        optimize.quad(lambda x: x > 0, 0.0, 1.0)
    with pytest.raises(ValueError, match="same infinity"):
        optimize.quad(lambda x: x, np.inf, np.inf)
