"""What cannot be solved is said: NaN, times without an order, and values of mixed types give no wrong numbers."""

from __future__ import annotations

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
import occelo_optimize as optimize
from occelo_graph import tensor as ot

x, a, b = ot.dscalar("x"), ot.dscalar("a"), ot.dscalar("b")
v, times = ot.dvector("v"), ot.dvector("times")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("method", ["bisect", "brentq"])
def test_nan_in_a_bracket_is_no_root(method):
    result = optimize.root_scalar(x + ot.sqrt(a), x, method=method, bracket=(-5.0, 0.0))
    f = oc.function([x, a], result, on_unused_input="ignore")
    assert not f(0.0, -1.0).converged
    good = f(0.0, 4.0)
    assert good.converged
    np.testing.assert_allclose(good.root, -2.0)
    # in the middle of the bracket only
    inside = optimize.root_scalar(
        ot.switch(abs(x - 1.0) < a, np.nan, x - 1.5), x, method=method, bracket=(0.0, 2.0)
    )
    f = oc.function([x, a], inside, on_unused_input="ignore")
    assert not f(0.0, 0.9).converged


@pytest.mark.sampled(2)
@pytest.mark.parametrize("solve", [optimize.least_squares, optimize.root])
def test_nan_is_no_least_sum_of_squares(solve):
    success = solve(v**2 - a, v, method="lm")[1]
    f = oc.function([v, a], success)
    assert not f(np.array([1.0, 2.0]), np.nan)
    assert not f(np.array([np.nan, 2.0]), 4.0)
    assert f(np.array([1.0, 3.0]), 4.0)
    assert f(np.array([2.0, 2.0]), 4.0)  # the start is a root


def decay():
    return optimize.odeint(lambda y, t: -a * y, b, times)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("at", "known"),
    [
        ([0.0, 2.0, 1.0], 2),
        ([0.0, 2.0, 0.0], 1),
        ([0.0, -1.0, 1.0], 1),
        ([0.0, 1.0, np.nan], 1),
        ([0.0, 1.0, np.nan, 2.0], 2),
        ([0.0, 1.0, 1.0, 2.0], 4),
        ([1.0, 0.5, 0.5, 0.0], 4),
    ],
)
def test_times_without_an_order_have_no_values(at, known):
    found = oc.function([a, b, times], decay())(0.7, 2.0, at)
    wanted = 2.0 * np.exp(-0.7 * (np.array(at) - at[0]))
    for k, (value, right) in enumerate(zip(found, wanted, strict=True)):
        assert np.isnan(value) or np.isclose(value, right, rtol=1e-6)
        assert k > 0 or value == 2.0
    assert np.isfinite(found).sum() <= known
    assert np.isnan(found).any() == (known < len(at))


def test_gradients_by_one_time():
    y = decay()
    f = oc.function([a, b, times], og.grad(y.sum(), [a, b, times]))
    for found, wanted in zip(f(0.7, 2.0, [1.0]), [0.0, 1.0, [0.0]], strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("method", ["RK45", "Radau"])
def test_equations_of_float32(method):
    rate, start = ot.fscalar("rate"), ot.fvector("start")
    at = np.array([0.0, 1.0], "float32")
    y = optimize.odeint(lambda y, t: -rate * y, start, at, rtol=1e-5, atol=1e-6, method=method)
    f = oc.function([rate, start], [y, og.grad(y[1].sum(), rate)])
    found, slope = f(np.float32(0.5), np.array([1.0, 2.0], "float32"))
    assert found.dtype == slope.dtype == "float32"
    np.testing.assert_allclose(found[1], np.exp(-0.5) * np.array([1.0, 2.0]), rtol=1e-4)
    np.testing.assert_allclose(slope, -3.0 * np.exp(-0.5), rtol=1e-4)


def test_values_that_are_nan_inside_are_no_integral():
    whole, error = optimize.quad(lambda t: a * t, 0.0, 1.0, method="tanhsinh")
    part, _ = optimize.quad(lambda t: ot.sqrt(t - a), 0.0, 1.0, method="tanhsinh")
    far, _ = optimize.quad(lambda t: ot.exp(-t), 0.0, b, method="tanhsinh")
    f = oc.function([a, b], [whole, error, part, far])
    assert np.isnan(f(np.nan, np.nan)).all()
    found = f(0.5, np.inf)
    assert np.isnan(found[2:]).all()
    np.testing.assert_allclose(found[0], 0.25)
    np.testing.assert_allclose(f(0.0, 1.0)[2:], [2.0 / 3.0, 1.0 - np.exp(-1.0)])


def test_limits_of_two_dtypes():
    low = ot.fscalar("low")
    for ends, sign in (((low, b), 1.0), ((b, low), -1.0)):
        integral, _ = optimize.quad(lambda t: a * t, *ends)
        f = oc.function([low, a, b], [integral, og.grad(integral, low)])
        found, slope = f(np.float32(1.0), 2.0, 3.0)
        assert found.dtype == "float64"
        assert slope.dtype == "float32"
        np.testing.assert_allclose([found, slope], [sign * 8.0, sign * -2.0])


@pytest.mark.parametrize("mode", ["py", "native"])
@pytest.mark.parametrize("method", ["BFGS", "L-BFGS", "newton"])
def test_an_objective_that_is_nan_at_the_start_has_no_minimum(method, mode):
    v = ot.dvector("v")
    result = optimize.minimize(ot.log(v).sum() ** 2 + v.sum(), v, method=method)
    found = oc.function([v], result, mode=mode)([-0.5, 0.5])
    assert not found.success
    assert found.status == 2
    np.testing.assert_array_equal(found.x, [-0.5, 0.5])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "method",
    ["Nelder-Mead", "COBYLA", "COBYQA", "trust-exact", "trust-krylov", "CG", "BFGS", "L-BFGS-B"],
)
def test_methods_of_scipy_at_nan_and_without_elements(method: str, dtype: str) -> None:
    """SciPy raises errors for some of these, and COBYLA calls NaN a solution."""
    v = ot.vector("v", dtype=dtype)
    result = optimize.minimize(((v - 1.0) ** 2).sum(), v, method=method, using="scipy")
    f = oc.function([v], result, mode="py")
    failed = f([np.nan, 2.0])
    assert not failed.success
    assert failed.message
    nothing = f([])
    assert nothing.success
    assert nothing.x.shape == (0,)
    assert nothing.x.dtype == dtype
    assert f([0.5]).success


@pytest.mark.parametrize("method", ["hybr", "lm", "broyden1", "krylov"])
def test_roots_of_scipy_at_nan(method: str) -> None:
    v = ot.dvector("v")
    result = optimize.root(v**2 - 2.0, v, method=method, using="scipy")
    f = oc.function([v], result, mode="py")
    assert not f([np.nan, 1.0]).success
    assert f([]).status == 1
    assert f([1.0, 2.0]).success
    residuals = optimize.least_squares(v**2 - 2.0, v, method="trf")
    f = oc.function([v], residuals, mode="py")
    found = f([np.nan, 1.0])
    assert (bool(found.success), int(found.status)) == (False, 0)
    wrong = optimize.least_squares(v**2 - 2.0, v, bounds=([1.0, 1.0], [0.0, 0.0]))
    f = oc.function([v], wrong.x, mode="py")
    with pytest.raises(ValueError, match="strictly less"):  # an error of the call stays one
        f([0.5, 0.5])
