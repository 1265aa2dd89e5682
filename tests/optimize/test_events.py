"""Events of differential equations, beside SciPy's and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate

import occelo_compile as oc
import occelo_graph as og
import occelo_optimize as optimize
from occelo_graph import tensor as ot


def swinging(t, y, rate):
    return [y[1], -(rate**2) * y[0]]


def marked(function, **marks):
    """A function with SciPy's attributes of events."""
    vars(function).update(marks)
    return function


CASES = {
    "all": ({}, {}),
    "up": ({"direction": 1}, {}),
    "down": ({"direction": -1}, {"direction": 1.0}),
    "first": ({"terminal": True}, {}),
    "third": ({"terminal": 3}, {"direction": -1.0}),
    "both": ({"terminal": 4}, {"terminal": 2}),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("method", ["RK45", "Radau"])
@pytest.mark.parametrize("span", [(0.0, 7.0), (0.0, -7.0), (0.5, 0.5), (0.0, 0.2)])
@pytest.mark.parametrize("case", CASES)
def test_events_are_those_of_scipy(case, span, method):
    of_place, of_speed = CASES[case]

    def place():
        return marked(lambda t, y, rate: y[0] - 0.25, **of_place)

    def speed():
        return marked(lambda t, y, rate: y[1] + 0.1 * t, **of_speed)

    between = np.linspace(*span, 9)
    start, rate = ot.dvector("start"), ot.dscalar("rate")
    options = {"method": method, "t_eval": between, "rtol": 1e-8, "atol": 1e-8}
    found = optimize.solve_ivp(
        swinging, span, start, args=(rate,), events=[place(), speed()], **options
    )
    f = oc.function([start, rate], found)
    result = f([0.1, 1.0], 2.0)
    expected = integrate.solve_ivp(
        swinging, span, [0.1, 1.0], args=(2.0,), events=[place(), speed()], **options
    )
    for ours, theirs in zip(result.t_events, expected.t_events, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)
    for ours, theirs in zip(result.y_events, expected.y_events, strict=True):
        np.testing.assert_allclose(ours, np.reshape(theirs, (-1, 2)), atol=1e-5)
    assert result.status == expected.status
    assert result.success
    if span[0] == span[1]:  # SciPy leaves out all times
        assert result.t.size == 9
        return
    np.testing.assert_allclose(result.t, expected.t)
    np.testing.assert_allclose(result.y, np.reshape(expected.y, (2, -1)), atol=1e-5)


@pytest.mark.parametrize("mode", ["native", "py"])
def test_times_and_values_of_events_have_derivatives(mode):
    """A ball that is thrown up with speed v is back at 2 v / g; it is highest, with v^2 / 2 g, at v / g."""
    v, g = ot.dscalar("v"), ot.dscalar("g")
    ground = marked(lambda t, y: y["height"], terminal=True, direction=-1)
    result = optimize.solve_ivp(
        lambda t, y: {"height": y["speed"], "speed": -g},
        (0.0, 100.0),
        {"height": ot.constant(0.0), "speed": v},
        events=[ground, lambda t, y: y["speed"]],
    )
    back, top = result.t_events[0][0], result.y_events[1]["height"][0]
    outputs = [back, top, result.t[0], *og.grad(back, [v, g]), *og.grad(top, [v, g])]
    outputs += [*og.grad(result.t[0], [v, g]), og.pushforward(top, v, ot.constant(1.0))]
    f = oc.function([v, g], outputs, mode)
    a, b = 10.0, 9.81
    expected = [
        2 * a / b,
        a * a / 2 / b,
        2 * a / b,
        2 / b,
        -2 * a / b**2,
        a / b,
        -(a**2) / 2 / b**2,
    ]
    expected += [2 / b, -2 * a / b**2, a / b]
    np.testing.assert_allclose(f(a, b), expected, rtol=1e-5)


def test_no_event_and_a_failure():
    x = ot.dscalar("x")
    event = marked(lambda t, y: y - 50.0, terminal=True)
    result = optimize.solve_ivp(lambda t, y: y * y, (0.0, 1.0), x, events=event)
    f = oc.function([x], [result.status, result.success, result.t_events[0], result.t])
    status, success, times, last = f(0.5)
    assert (status, success, times.size) == (0, True, 0)
    np.testing.assert_allclose(last, [1.0])
    status, success, times, last = f(2.0)  # infinite at 0.5, and 50 before that
    assert (status, success) == (1, True)
    np.testing.assert_allclose(times, [0.48], rtol=1e-3)
    np.testing.assert_allclose(last, times)
    without = optimize.solve_ivp(lambda t, y: y * y, (0.0, 1.0), x, events=lambda t, y: y + 1.0)
    assert oc.function([x], without.status)(2.0) == -1


def test_the_solution_at_other_times():
    rate = ot.dscalar("rate")
    result = optimize.solve_ivp(
        lambda t, y: [-rate * y[0], rate * y[0]], (0.0, 2.0), [1.0, 0.0], rtol=1e-8, atol=1e-8
    )
    at = np.array([0.0, 0.3, 2.0])
    f = oc.function([rate], [result.sol(at), result.sol(0.7), og.grad(result.sol(0.7)[0], rate)])
    rows, one, slope = f(0.9)
    np.testing.assert_allclose(rows, [np.exp(-0.9 * at), 1 - np.exp(-0.9 * at)], atol=1e-7)
    np.testing.assert_allclose(one, [np.exp(-0.63), 1 - np.exp(-0.63)], atol=1e-7)
    np.testing.assert_allclose(slope, -0.7 * np.exp(-0.63), rtol=1e-6)


def test_refused_events():
    with pytest.raises(TypeError, match="needs functions of t and y as its events, got 3"):
        optimize.solve_ivp(lambda t, y: -y, (0, 1), 1.0, events=[3])
    with pytest.raises(TypeError, match="An event of solve_ivp is a real scalar"):
        optimize.solve_ivp(lambda t, y: [-y[0]], (0, 1), [1.0], events=lambda t, y: y)
