"""Roots and minima of functions of one number, beside SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize as scipy_optimize

import occelo_compile as oc
import occelo_graph as og
import occelo_optimize as optimize
from occelo_graph import tensor as ot

OPEN = ["newton", "halley", "secant"]
CLOSED = ["bisect", "brentq"]
MODES = ["py", "native"]


def hard(x, a):
    return ot.exp(a * x) - 3.0 + x**3 if isinstance(x, og.Variable) else np.exp(a * x) - 3 + x**3


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("method", [*OPEN, *CLOSED])
def test_roots_and_their_derivatives(method, mode):
    x, a = ot.dscalar("x"), ot.dscalar("a")
    bracket = [0.0, 2.0] if method in CLOSED else None
    result = optimize.root_scalar(hard(x, a), x, method=method, bracket=bracket)
    slope = og.grad(result.root, a)
    f = oc.function([x, a], [result, slope, og.grad(slope, a)], mode, on_unused_input="ignore")
    for value in (0.8, 1.0, 1.3):
        wanted = [
            scipy_optimize.brentq(hard, 0.0, 2.0, args=(value + e,), xtol=1e-15)
            for e in (-1e-3, 0.0, 1e-3)
        ]
        found, first, second = f(1.4, value)
        assert found.converged
        np.testing.assert_allclose(found.root, wanted[1], rtol=1e-10)
        np.testing.assert_allclose(found.fun, hard(found.root, value), atol=1e-15)
        np.testing.assert_allclose(first, (wanted[2] - wanted[0]) / 2e-3, rtol=1e-4)
        np.testing.assert_allclose(
            second, (wanted[2] - 2 * wanted[1] + wanted[0]) / 1e-6, rtol=1e-3
        )


def test_steps_are_those_of_scipy():
    x = ot.dscalar("x")
    for method in ("newton", "secant", "bisect", "brentq"):
        bracket = [0.1, 2.0] if method in CLOSED else None
        result = optimize.root_scalar(x**3 - 2.0, x, method=method, bracket=bracket)
        theirs = scipy_optimize.root_scalar(
            lambda t: t**3 - 2, x0=1.0, fprime=lambda t: 3 * t**2, method=method, bracket=bracket
        )
        found = og.evaluate([result.root, result.nit], {x: np.float64(1.0)})
        np.testing.assert_allclose(found[0], theirs.root, rtol=1e-12)
        assert abs(int(found[1]) - theirs.iterations) <= 1


@pytest.mark.parametrize("mode", MODES)
def test_a_batch_whose_elements_need_different_steps(mode):
    a, x = ot.dvector("a"), ot.dscalar("x")
    one = ot.dscalar("one")
    for method in (*OPEN, *CLOSED):
        bracket = [0.0, 100.0] if method in CLOSED else None
        result = optimize.root_scalar(x**3 - one, x, method=method, bracket=bracket)
        root, converged = og.vectorize_graph([*result], {one: a})
        slopes = og.grad((root**2).sum(), a)
        f = oc.function([x, a], [root, converged, slopes], mode, on_unused_input="ignore")
        values = np.array([1.0, 8.0, 1000.0, 0.125])
        found, good, pulled = f(2.0, values)
        assert good.all()
        np.testing.assert_allclose(found, np.cbrt(values), rtol=1e-9)
        np.testing.assert_allclose(pulled, 2 / 3 / np.cbrt(values), rtol=1e-8)
        assert f(2.0, values[:0])[0].shape == (0,)


@pytest.mark.parametrize("mode", MODES)
def test_no_root_is_no_success(mode):
    x = ot.dscalar("x")
    for method in OPEN:
        result = optimize.root_scalar(x**2 + 1.0, x, method=method)
        assert not oc.function([x], result.success, mode)(0.9)
    flat = optimize.root_scalar(x**2 + 1.0, x, method="newton")
    assert not oc.function([x], flat.success, mode)(0.0)
    few = optimize.root_scalar(x**2 - 2.0, x, bracket=[0, 2], maxiter=3)
    assert not oc.function([x], few.success, mode, on_unused_input="ignore")(0.0)


@pytest.mark.parametrize("mode", MODES)
def test_ends_of_brackets(mode):
    x, a = ot.dscalar("x"), ot.dscalar("a")
    for method in CLOSED:
        result = optimize.root_scalar(x - a, x, method=method, bracket=[1.0, 2.0])
        f = oc.function([a], [*result], mode)
        for end in (1.0, 2.0):
            assert f(end) == [end, True]
        backward = optimize.root_scalar(x - a, x, method=method, bracket=[2.0, 1.0])
        np.testing.assert_allclose(oc.function([a], [*backward], mode)(1.3), [1.3, True])
        with pytest.raises(ValueError, match="must have different signs"):
            f(3.0)


def test_functions_of_python():
    a = ot.dscalar("a")
    result = optimize.root_scalar(lambda x, c: x**2 - c, x0=1, args=(a,))
    found = oc.function([a], [*result, og.grad(result.root, a)])(9.0)
    np.testing.assert_allclose(found, [3.0, True, 1 / 6])
    bracketed = optimize.root_scalar(lambda x: ot.cos(x) - x, bracket=(0, 1))
    np.testing.assert_allclose(og.evaluate(bracketed.root, {}), 0.7390851332151607)


def test_float32():
    x, a = ot.fscalar("x"), ot.fscalar("a")
    for method in (*OPEN, *CLOSED):
        bracket = [0.0, 4.0] if method in CLOSED else None
        result = optimize.root_scalar(
            x**2 - a, x, method=method, bracket=bracket, xtol=1e-5, rtol=1e-6
        )
        assert result.root.dtype == "float32"
        f = oc.function([x, a], [*result], on_unused_input="ignore")
        np.testing.assert_allclose(f(1.0, 2.0), [2**0.5, True], rtol=1e-5)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("method", ["brent", "golden", "bounded"])
def test_minima(method, mode):
    x, a = ot.dscalar("x"), ot.dscalar("a")

    def cost(x, a):
        return (x - a) ** 2 * (1.0 + 0.1 * x**2) + 0.1 * x

    options = {"bounds": [-1.0, 4.0]} if method == "bounded" else {"bracket": [0.0, 1.0]}
    result = optimize.minimize_scalar(cost(x, a), x, method=method, **options)
    slope = og.grad(result.x, a)
    f = oc.function([x, a], [result, slope], mode, on_unused_input="ignore")
    for value in (0.3, 1.7, 2.6):
        theirs = scipy_optimize.minimize_scalar(cost, args=(value,), method=method, **options)
        found, first = f(0.0, value)
        assert found.success
        np.testing.assert_allclose(found.x, theirs.x, atol=1e-5 if method == "bounded" else 1e-7)
        np.testing.assert_allclose(found.fun, theirs.fun, rtol=1e-8)
        near = [
            scipy_optimize.minimize_scalar(cost, args=(value + e,), tol=1e-12).x
            for e in (-1e-4, 1e-4)
        ]
        np.testing.assert_allclose(first, (near[1] - near[0]) / 2e-4, rtol=1e-3)


def test_three_points_and_their_order():
    x = ot.dscalar("x")
    for method in ("brent", "golden"):
        result = optimize.minimize_scalar((x - 1.0) ** 2, x, method=method, bracket=[-2, 0, 5])
        np.testing.assert_allclose(og.evaluate(result.x, {x: np.float64(0.0)}), 1.0, atol=1e-7)
        for bracket in ([-8.0, -1.0, 10.0], [9.0, 0.5, -3.0]):  # no golden sections
            result = optimize.minimize_scalar((x - 1.0) ** 2, x, method=method, bracket=bracket)
            np.testing.assert_allclose(og.evaluate(result.x, {x: np.float64(0.0)}), 1.0, atol=1e-7)
        wrong = optimize.minimize_scalar((x - 1.0) ** 2, x, method=method, bracket=[-2, 4.5, 5])
        with pytest.raises(ValueError, match="three numbers"):
            og.evaluate(wrong.x, {x: np.float64(0.0)})
    swapped = optimize.minimize_scalar((x - 1.0) ** 2, x, bounds=[2.0, 0.0])
    with pytest.raises(ValueError, match="lower bound exceeds"):
        og.evaluate(swapped.x, {x: np.float64(0.0)})


def test_what_does_not_depend_on_the_variable_is_outside():
    x, data = ot.dscalar("x"), ot.dvector("data")
    total = ot.exp(data).sum()
    result = optimize.root_scalar(x**2 - total, x)
    assert total in result.root.owner.inputs
    wanted = np.sqrt(np.exp([0.0, 1.0]).sum())
    found = og.evaluate(result.root, {x: np.float64(1.0), data: np.array([0.0, 1.0])})
    np.testing.assert_allclose(found, wanted)


def test_refused_arguments():
    x, v, i = ot.dscalar("x"), ot.dvector("v"), ot.lscalar("i")
    with pytest.raises(ValueError, match=r"does not depend on x .*which is the start"):
        optimize.root_scalar(ot.dscalar("y") ** 2, x)
    with pytest.raises(TypeError, match="scalar as its variable"):
        optimize.root_scalar(v.sum(), v)
    with pytest.raises(TypeError, match="tensor of floats"):
        optimize.root_scalar(i * 2.0, i)
    with pytest.raises(ValueError, match="no 'brentz'"):
        optimize.root_scalar(x**2, x, method="brentz")
    with pytest.raises(ValueError, match="needs a bracket"):
        optimize.root_scalar(x**2, x, method="brentq")
    with pytest.raises(TypeError, match="no 'tolerance'"):
        optimize.root_scalar(x**2, x, options={"tolerance": 1})
    with pytest.raises(ValueError, match="needs bounds"):
        optimize.minimize_scalar(x**2, x, method="bounded")
    with pytest.raises(TypeError, match="for a Python function only"):
        optimize.minimize_scalar(x**2, x, args=(1.0,))


@pytest.mark.parametrize("using", ["loops", "scipy"])
@pytest.mark.parametrize("method", ["newton", "halley", "secant", "bisect", "brentq"])
def test_calls_are_counted_as_in_scipy(method, using):
    x = ot.dscalar("x")
    ends = {"bracket": [0.0, 2.0]} if method in ("bisect", "brentq") else {}
    result = optimize.root_scalar(x**3 - 2.0, x, method=method, using=using, **ends)
    found = oc.function([x], result, on_unused_input="ignore")(1.0)
    wanted = scipy_optimize.root_scalar(
        lambda x: x**3 - 2.0,
        x0=None if ends else 1.0,
        fprime=lambda x: 3.0 * x**2,
        fprime2=lambda x: 6.0 * x,
        method=method,
        **ends,
    )
    assert found.flag == wanted.flag == "converged"
    # loops take one more step of Halley's, as they do not ask whether its value is 0 before it
    more = {"halley": 2, "secant": 1}.get(method, 0) if using == "loops" else 0
    assert found.function_calls == wanted.function_calls + more
    failed = optimize.root_scalar(x**2 + 1.0, x)
    assert oc.function([x], failed)(1.0).flag == "convergence error"
