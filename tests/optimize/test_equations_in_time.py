"""Solutions of differential equations, beside SciPy's and beside closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate

import occelo_compile as oc
import occelo_graph as og
import occelo_optimize as optimize
from occelo_graph import tensor as ot

METHODS = ["RK45", "Radau", "DOP853", "RK23"]


def prey(y, t, a, b, c, d):
    return [a * y[0] - b * y[0] * y[1], -c * y[1] + d * y[0] * y[1]]


RATES = np.array([0.55, 0.028, 0.84, 0.026])
START = np.array([33.0, 6.1])
TIMES = np.array([0.0, 0.7, 1.0, 4.0])


def theirs(y0, times, rates):
    return integrate.odeint(prey, y0, times, tuple(rates), rtol=1e-12, atol=1e-12)


def numeric(function, args, i, size=1e-4):
    slopes = []
    for k in range(len(args[i])):
        step = size * abs(args[i][k])
        values = []
        for sign in (-1, 1):
            moved = [a.copy() for a in args]
            moved[i][k] += sign * step
            values.append(function(*moved))
        slopes.append((values[1] - values[0]) / (2 * step))
    return np.array(slopes)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("mode", ["native", "py"])
@pytest.mark.parametrize("method", METHODS)
def test_values_and_all_derivatives(method, mode):
    y0, times, rates = ot.dvector("y0"), ot.dvector("times"), ot.dvector("rates")
    values = optimize.odeint(prey, y0, times, args=tuple(rates[i] for i in range(4)), method=method)
    cost = (values[1:] ** 2).sum() + values[0].sum()
    moved = og.pushforward(values, [y0, times, rates], [y0, times, rates])
    f = oc.function([y0, times, rates], [values, *og.grad(cost, [y0, times, rates]), moved], mode)
    args = [START, TIMES + 0.5, RATES]
    found, *slopes, pushed = f(*args)
    np.testing.assert_allclose(found, theirs(*args), rtol=1e-6)

    def cost_of(*args):
        rows = theirs(*args)
        return (rows[1:] ** 2).sum() + rows[0].sum()

    for i, slope in enumerate(slopes):
        np.testing.assert_allclose(slope, numeric(cost_of, args, i), rtol=1e-4)
    ways = [theirs(*(a * (1 + e) for a in args)) for e in (-1e-5, 1e-5)]
    np.testing.assert_allclose(pushed, (ways[1] - ways[0]) / 2e-5, rtol=1e-4, atol=1e-4)


def test_parameters_that_depend_on_each_other():
    """`-k` does not depend on time, so it is a parameter of the equation like `k`."""
    k, times = ot.dscalar("k"), np.array([0.0, 0.5, 2.0])
    values = optimize.odeint(lambda y, t, k: ot.exp(-k * t) * k, ot.constant(0.0), times, args=(k,))
    slope = og.grad(values.sum(), k)
    pushed = og.pushforward(values, k, ot.constant(1.0))
    f = oc.function([k], [values, slope, pushed, og.grad(slope, k)])
    found, first, forward, second = f(0.7)
    e = np.exp(-0.7 * times)
    np.testing.assert_allclose(found, 1 - e, atol=1e-6)
    np.testing.assert_allclose(forward, times * e, atol=1e-6)
    np.testing.assert_allclose(first, (times * e).sum(), rtol=1e-5)
    np.testing.assert_allclose(second, -(times**2 * e).sum(), rtol=1e-5)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("method", METHODS)
def test_second_derivatives(method):
    k = ot.dscalar("k")
    end = optimize.odeint(lambda y, t: -k * y, 2.0, [0.0, 1.5], method=method)[-1]
    slope = og.grad(end, k)
    found = oc.function([k], [end, slope, og.grad(slope, k)])(0.8)
    wanted = 2 * np.exp(-1.2) * np.array([1.0, -1.5, 2.25])
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("method", METHODS)
def test_a_batch_and_its_gradient(method):
    k, many = ot.dscalar("k"), ot.dvector("many")
    end = optimize.odeint(lambda y, t: -k * y, 2.0, [0.0, 1.5], method=method)[-1]
    ends = og.vectorize_graph(end, {k: many})
    rates = np.array([0.1, 1.0, 20.0])
    found, slopes = oc.function([many], [ends, og.grad(ends.sum(), many)])(rates)
    np.testing.assert_allclose(found, 2 * np.exp(-1.5 * rates), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(slopes, -3 * np.exp(-1.5 * rates), rtol=1e-4, atol=1e-6)


def test_the_order_of_steps_and_of_what_is_between_them():
    """A tolerance that is smaller by 10^5 makes errors smaller by as much, also at times inside of a step."""
    times = np.linspace(0.0, 6.0, 61)
    for method, smallest in (("RK45", 1e-9), ("Radau", 1e-8), ("DOP853", 1e-9), ("RK23", 5e-9)):
        errors = []
        for tolerance in (1e-4, 1e-9):
            found = optimize.odeint(
                lambda y, t: ot.stack([y[1], -y[0]]),
                [0.0, 1.0],
                times,
                rtol=tolerance,
                atol=tolerance,
                method=method,
            )
            errors.append(abs(og.evaluate(found, {})[:, 0] - np.sin(times)).max())
        assert errors[1] < 10 * smallest
        assert 1e3 < errors[0] / errors[1] < 1e6


@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853"])
def test_steps_are_those_of_scipy(method):
    def spring(t, y):
        return [y[1], -y[0] + 0.1 * t]

    for tolerance in (1e-4, 1e-8):
        options = {"method": method, "rtol": tolerance, "atol": tolerance}
        between = np.linspace(0.0, 12.0, 101)
        result = optimize.solve_ivp(spring, (0.0, 12.0), [0.0, 1.0], t_eval=between, **options)
        found = oc.function([], result)()
        wanted = integrate.solve_ivp(spring, (0.0, 12.0), [0.0, 1.0], **options)
        assert (
            found.nit == wanted.t.size - 1 if method != "RK45" else found.nit <= wanted.t.size + 9
        )
        at = integrate.solve_ivp(spring, (0.0, 12.0), [0.0, 1.0], t_eval=between, **options)
        np.testing.assert_allclose(found.y, at.y, atol=10 * tolerance)


def test_stiff_equations():
    """Robertson's reactions: Dormand's and Prince's method would need millions of steps."""

    def reactions(t, y):
        fast, slow = 3e7 * y[1] ** 2, 1e4 * y[1] * y[2]
        return ot.stack([-0.04 * y[0] + slow, 0.04 * y[0] - slow - fast, fast])

    result = optimize.solve_ivp(
        reactions, (0.0, 1e4), [1.0, 0.0, 0.0], method="Radau", rtol=1e-6, atol=1e-10
    )
    found = oc.function([], result)()
    reference = integrate.solve_ivp(
        lambda t, y: [
            -0.04 * y[0] + 1e4 * y[1] * y[2],
            0.04 * y[0] - 1e4 * y[1] * y[2] - 3e7 * y[1] ** 2,
            3e7 * y[1] ** 2,
        ],
        (0.0, 1e4),
        [1.0, 0.0, 0.0],
        "Radau",
        rtol=1e-10,
        atol=1e-14,
    )
    assert found.success
    assert found.nit < 300
    np.testing.assert_allclose(found.y[:, 0], reference.y[:, -1], rtol=1e-4)


def test_backward_and_trees_and_time():
    a = ot.dscalar("a")

    def change(t, state, a):
        return {"x": -a * state["x"] + t, "m": ot.ones_like(state["m"]) * ot.cos(t)}

    y0 = {"x": np.array([1.0, 2.0]), "m": np.zeros((2, 1))}
    times = [2.0, 1.0, 0.5]
    result = optimize.solve_ivp(
        change, (2.0, 0.5), y0, t_eval=times, args=(a,), rtol=1e-9, atol=1e-9
    )
    found = oc.function([a], result)(0.7)
    reference = integrate.solve_ivp(
        lambda t, y: [-0.7 * y[0] + t, -0.7 * y[1] + t, np.cos(t), np.cos(t)],
        (2.0, 0.5),
        [1.0, 2.0, 0.0, 0.0],
        t_eval=times,
        rtol=1e-10,
        atol=1e-10,
    )
    np.testing.assert_allclose(found.y["x"], reference.y[:2], rtol=1e-7)
    np.testing.assert_allclose(found.y["m"][:, 0], reference.y[2:], atol=1e-7)
    assert found.t.tolist() == times


def test_what_is_not_reached_is_nan():
    """y' = y^2 has a pole at t = 1."""
    result = optimize.solve_ivp(
        lambda t, y: y**2, (0.0, 2.0), 1.0, t_eval=[0.5, 2.0], max_steps=300
    )
    found = oc.function([], result)()
    assert not found.success
    np.testing.assert_allclose(found.y, [2.0, np.nan], rtol=1e-3)


def test_only_one_time_and_no_equations():
    y = ot.dvector("y")
    f = oc.function([y], optimize.odeint(lambda y, t: -y, y, [0.0, 1.0]))
    assert f([]).shape == (2, 0)
    alone = og.evaluate(optimize.odeint(lambda y, t: -y, y, [0.3]), {y: np.ones(2)})
    np.testing.assert_array_equal(alone, np.ones((1, 2)))


def test_refused_arguments():
    y = ot.dvector("y")
    with pytest.raises(ValueError, match="as the derivative of"):
        optimize.odeint(lambda y, t: y.sum(), y, [0.0, 1.0])
    with pytest.raises(ValueError, match="no LSODA: Radau is the method for stiff equations"):
        optimize.odeint(lambda y, t: y, y, [0.0, 1.0], method="LSODA")
    with pytest.raises(ValueError, match="no 'Euler'"):
        optimize.odeint(lambda y, t: y, y, [0.0, 1.0], method="Euler")
    with pytest.raises(TypeError, match="a vector of times"):
        optimize.odeint(lambda y, t: y, y, 1.0)
    with pytest.raises(TypeError, match="is called with y, the time"):
        optimize.odeint(lambda y: y, y, [0.0, 1.0])
    with pytest.raises(ValueError, match="positive number as its rtol"):
        optimize.odeint(lambda y, t: y, y, [0.0, 1.0], rtol=0.0)
