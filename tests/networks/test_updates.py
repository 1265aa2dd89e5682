"""Update rules equal loops in NumPy over 20 steps, and PyTorch's optimizers where that is installed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.ir import trees
from occelo_networks import updates

STEPS = 20
A = np.array([[3.0, 1.0], [1.0, 2.0]])
START = np.array([1.0, -2.0])


def gradient_of(x: Any, offset: Any) -> Any:
    """The gradient of x A x / 2 + sin(x).sum() + offset * x.sum(), by hand."""
    return (A @ x + np.cos(x) + offset).astype(x.dtype)


def cost_of(x: Any, offset: Any) -> Any:
    return (x * ot.dot(A.astype(x.dtype), x)).sum() / 2 + ot.sin(x).sum() + offset * x.sum()


def plain(x: Any, g: Any, state: dict[str, Any], t: int, rate: float) -> Any:
    return x - rate * g


def with_momentum(x: Any, g: Any, state: dict[str, Any], t: int, rate: float) -> Any:
    state["v"] = 0.9 * state.get("v", 0) + g
    return x - rate * state["v"]


def with_nesterov(x: Any, g: Any, state: dict[str, Any], t: int, rate: float) -> Any:
    state["v"] = 0.8 * state.get("v", 0) + g
    return x - rate * (g + 0.8 * state["v"])


def by_adagrad(x: Any, g: Any, state: dict[str, Any], t: int, rate: float) -> Any:
    state["s"] = state.get("s", 0) + g * g
    return x - rate * g / (np.sqrt(state["s"]) + 1e-10)


def by_rmsprop(x: Any, g: Any, state: dict[str, Any], t: int, rate: float) -> Any:
    state["s"] = 0.99 * state.get("s", 0) + 0.01 * g * g
    return x - rate * g / (np.sqrt(state["s"]) + 1e-8)


def by_centered(x: Any, g: Any, state: dict[str, Any], t: int, rate: float) -> Any:
    state["s"] = 0.9 * state.get("s", 0) + 0.1 * g * g
    state["m"] = 0.9 * state.get("m", 0) + 0.1 * g
    state["v"] = 0.5 * state.get("v", 0) + g / (np.sqrt(state["s"] - state["m"] ** 2) + 1e-8)
    return x - rate * state["v"]


def by_adam(x: Any, g: Any, state: dict[str, Any], t: int, rate: float, decay: float = 0.0) -> Any:
    state["m"] = 0.9 * state.get("m", 0) + 0.1 * g
    state["s"] = 0.999 * state.get("s", 0) + 0.001 * g * g
    mean, square = state["m"] / (1 - 0.9 ** (t + 1)), state["s"] / (1 - 0.999 ** (t + 1))
    return x * (1 - rate * decay) - rate * mean / (np.sqrt(square) + 1e-8)


def by_adamw(x: Any, g: Any, state: dict[str, Any], t: int, rate: float) -> Any:
    return by_adam(x, g, state, t, rate, 0.01)


RULES: dict[
    str, tuple[Callable[..., Any], dict[str, Any], Callable[..., Any], str, dict[str, Any]]
] = {
    "sgd": (updates.sgd, {}, plain, "SGD", {}),
    "momentum": (updates.momentum, {}, with_momentum, "SGD", {"momentum": 0.9}),
    "nesterov": (
        updates.nesterov,
        {"decay": 0.8},
        with_nesterov,
        "SGD",
        {"momentum": 0.8, "nesterov": True},
    ),
    "adagrad": (updates.adagrad, {}, by_adagrad, "Adagrad", {}),
    "rmsprop": (updates.rmsprop, {}, by_rmsprop, "RMSprop", {}),
    "centered rmsprop": (
        updates.rmsprop,
        {"decay": 0.9, "momentum": 0.5, "centered": True},
        by_centered,
        "RMSprop",
        {"alpha": 0.9, "momentum": 0.5, "centered": True},
    ),
    "adam": (updates.adam, {}, by_adam, "Adam", {}),
    "adamw": (updates.adamw, {}, by_adamw, "AdamW", {}),
}


def trained(rule: Callable[..., Any], dtype: str, rate: Any, **options: Any) -> list[Any]:
    """The parameter after each step."""
    x, offset = oc.shared(START.astype(dtype), "x"), ot.scalar("offset", dtype=dtype)
    f = oc.function([offset], [], updates=rule(cost_of(x, offset), x, rate, **options))
    values: list[Any] = []
    for t in range(STEPS):
        f(math.sin(t) if dtype == "float64" else np.float32(math.sin(t)))
        values.append(x.get_value())
    return values


def by_hand(step: Callable[..., Any], dtype: str, rate: Callable[[int], float]) -> list[Any]:
    x, state = START.astype(dtype), dict[str, Any]()
    values: list[Any] = []
    for t in range(STEPS):
        offset = np.asarray(math.sin(t), dtype)
        x = step(x, gradient_of(x, offset), state, t, rate(t)).astype(dtype)
        values.append(x)
    return values


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", RULES)
def test_rules_equal_loops(name: str, dtype: str) -> None:
    rule, options, step, _, _ = RULES[name]
    got = trained(rule, dtype, 0.05, **options)
    assert all(value.dtype == dtype for value in got)
    tolerance = 1e-12 if dtype == "float64" else 2e-5
    np.testing.assert_allclose(
        got, by_hand(step, dtype, lambda t: 0.05), rtol=tolerance, atol=tolerance
    )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", RULES)
def test_rules_equal_those_of_torch(name: str, dtype: str) -> None:
    torch: Any = pytest.importorskip("torch")
    rule, options, _, theirs, their_options = RULES[name]
    x = torch.tensor(START.astype(dtype), requires_grad=True)
    optimizer = getattr(torch.optim, theirs)([x], lr=0.05, **their_options)
    got = trained(rule, dtype, 0.05, **options)
    tolerance = 1e-12 if dtype == "float64" else 2e-5
    for t in range(STEPS):
        x.grad = torch.tensor(gradient_of(x.detach().numpy(), np.asarray(math.sin(t), dtype)))
        optimizer.step()
        np.testing.assert_allclose(got[t], x.detach().numpy(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", ["sgd", "adam", "momentum"])
def test_a_schedule_gets_the_number_of_the_step(name: str) -> None:
    rule, options, step, _, _ = RULES[name]
    schedule = updates.exponential_decay(0.1, 5, 0.5)
    got = trained(rule, "float64", schedule, **options)
    expected = by_hand(step, "float64", lambda t: 0.1 * 0.5 ** (t / 5))
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)
    single = trained(rule, "float32", schedule, **options)
    np.testing.assert_allclose(single, expected, rtol=2e-5, atol=2e-5)


def test_a_rate_that_is_an_argument() -> None:
    x, rate = oc.shared(START.astype("float32"), "x"), ot.dscalar("rate")
    f = oc.function([rate], [], updates=updates.sgd((x**2).sum(), x, rate))
    f(0.25)
    np.testing.assert_array_equal(x.get_value(), np.float32(START / 2))


@dataclass
class Layer:
    w: Any
    b: Any = None


def test_trees_of_parameters_and_of_gradients() -> None:
    params = {
        "first": Layer(oc.shared(START, "w"), oc.shared(3.0, "b")),
        "rest": [oc.shared(A, "a")],
    }
    leaves = trees.leaves(params)
    cost = sum((v**3).sum() for v in leaves)
    before = [v.get_value() for v in leaves]
    of_cost = dict(updates.momentum(cost, params, 0.1))
    of_gradients = dict(updates.momentum(og.grad(cost, params), params, 0.1))
    halved = updates.sgd(trees.map(lambda g: g / 2, og.grad(cost, params)), params, 0.1)
    new = oc.function([], [[of_cost[v], of_gradients[v], dict(halved)[v]] for v in leaves])()
    for (one, two, half), old in zip(new, before, strict=True):
        np.testing.assert_allclose(one, old - 0.1 * 3 * old**2)
        np.testing.assert_array_equal(one, two)
        np.testing.assert_allclose(half, old - 0.05 * 3 * old**2)
    names = {v.name for v in of_cost}
    assert names == {"w", "b", "a", "w_velocity", "b_velocity", "a_velocity"}


def test_a_complex_parameter_descends() -> None:
    z = oc.shared(np.array([1 + 1j, -2j]), "z")
    cost = (abs(z - np.array([0.5, 1j])) ** 2).sum()
    f = oc.function([], cost, updates=updates.momentum(cost, z, 0.1, 0.5))
    costs = [float(f()) for _ in range(60)]
    assert costs[0] > 9
    assert costs[-1] < 1e-6


def test_a_shape_with_static_lengths() -> None:
    x = oc.shared(np.ones((1, 2)), "x", shape=(1, None))
    f = oc.function([], [], updates=updates.adam((x**2).sum(), x))
    f()
    np.testing.assert_allclose(x.get_value(), np.full((1, 2), 1 - 0.001))


# clipping

GRADIENTS = {"a": np.array([3.0, -4.0]), "b": [np.array(12.0)]}


@pytest.mark.parametrize(("limit", "above"), [(6.5, True), (13.0, False), (20.0, False)])
def test_clipping_by_the_global_norm(limit: float, above: bool) -> None:
    assert og.evaluate(updates.global_norm(GRADIENTS)) == 13.0
    clipped = trees.map(og.evaluate, updates.clip_by_global_norm(GRADIENTS, limit))
    factor = limit / 13 if above else 1.0
    np.testing.assert_allclose(clipped["a"], GRADIENTS["a"] * factor)
    np.testing.assert_allclose(clipped["b"][0], 12 * factor)


def test_clipping_by_leaves_and_elements() -> None:
    by_norm = trees.map(og.evaluate, updates.clip_by_norm(GRADIENTS, 10.0))
    np.testing.assert_allclose(by_norm["a"], GRADIENTS["a"])
    np.testing.assert_allclose(by_norm["b"][0], 10.0)
    by_value = trees.map(og.evaluate, updates.clip_by_value(GRADIENTS, 3.5))
    np.testing.assert_allclose(by_value["a"], [3.0, -3.5])
    np.testing.assert_allclose(by_value["b"][0], 3.5)
    zero = updates.clip_by_global_norm([np.zeros(2, "float32")], 1.0)[0]
    assert zero.dtype == "float32"
    np.testing.assert_array_equal(og.evaluate(zero), 0)
    lost = trees.map(og.evaluate, updates.clip_by_global_norm([np.array([np.nan, 1.0]), 2.0], 1.0))
    assert all(np.isnan(leaf).all() for leaf in lost)
    infinite = np.array([np.inf, 1.0])
    shrunk = og.evaluate(updates.clip_by_norm(infinite, 1.0))
    np.testing.assert_array_equal(shrunk, [np.nan, 0.0])
    turned = og.evaluate(updates.clip_by_norm(np.array([3 + 4j]), 1.0))
    np.testing.assert_allclose(turned, [0.6 + 0.8j])


# schedules


def cosine(t: float, start: float, steps: int, alpha: float, exponent: float) -> float:
    part = min(t, steps) / steps
    return start * ((1 - alpha) * (0.5 * (1 + math.cos(math.pi * part))) ** exponent + alpha)


SCHEDULES: dict[str, tuple[Any, Callable[[int], float]]] = {
    "constant": (updates.constant_schedule(0.3), lambda t: 0.3),
    "linear": (
        updates.linear_schedule(1.0, 0.2, 4, 2),
        lambda t: 1 - 0.8 * min(max(t - 2, 0), 4) / 4,
    ),
    "polynomial": (
        updates.polynomial_schedule(0.5, 0.1, 2, 5),
        lambda t: 0.4 * (1 - min(t, 5) / 5) ** 2 + 0.1,
    ),
    "exponential": (
        updates.exponential_decay(2.0, 3, 0.5, 1),
        lambda t: 2 * 0.5 ** (max(t - 1, 0) / 3),
    ),
    "staircase": (
        updates.exponential_decay(2.0, 3, 0.5, staircase=True, end_value=0.6),
        lambda t: max(2 * 0.5 ** (t // 3), 0.6),
    ),
    "growth": (
        updates.exponential_decay(1.0, 1, 2.0, end_value=100.0),
        lambda t: min(2.0**t, 100.0),
    ),
    "cosine": (
        updates.cosine_decay_schedule(0.8, 6, 0.25, 1.5),
        lambda t: cosine(t, 0.8, 6, 0.25, 1.5),
    ),
    "piecewise": (
        updates.piecewise_constant_schedule(1.0, {6: 0.1, 2: 0.5}),
        lambda t: (0.5 if t >= 2 else 1.0) * (0.1 if t >= 6 else 1.0),
    ),
    "joined": (
        updates.join_schedules(
            [lambda s: s * 1.0, lambda s: s * 10.0, updates.constant_schedule(7.0)], [3, 5]
        ),
        lambda t: t if t < 3 else (t - 3) * 10 if t < 5 else 7.0,
    ),
    "warmup": (
        updates.warmup_cosine_decay_schedule(0.0, 0.4, 3, 9, 0.1),
        lambda t: 0.4 * t / 3 if t < 3 else cosine(t - 3, 0.4, 6, 0.25, 1.0),
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules(name: str) -> None:
    schedule, formula = SCHEDULES[name]
    t = ot.lscalar("t")
    f = oc.function(
        [t], ot.cast(schedule(t), "float64"), on_unused_input="ignore", mode="FAST_COMPILE"
    )
    np.testing.assert_allclose(
        [f(i) for i in range(12)], [formula(i) for i in range(12)], rtol=1e-14
    )


x = oc.shared(START, "x")
MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "a parameter that is not shared": (
        lambda: updates.sgd(x.sum(), {"x": x, "y": [ot.dvector("y")]}, 0.1),
        TypeError,
        r"Rules update shared variables, and params\['y'\]\[0\] is <y: float64",
    ),
    "an integer": (
        lambda: updates.sgd(x.sum(), [oc.shared(np.arange(2), "i")], 0.1),
        TypeError,
        r"This rule updates real or complex parameters, and params\[0\] is int64",
    ),
    "a complex number": (
        lambda: updates.adam(x.sum(), oc.shared(1j, "z"), 0.1),
        TypeError,
        "This rule updates real parameters, and params is complex128",
    ),
    "gradients of another structure": (
        lambda: updates.sgd([x, x], [x], 0.1),
        ValueError,
        "gradients is a list of 2, not a list of 1",
    ),
    "no steps": (
        lambda: updates.cosine_decay_schedule(1.0, 0),
        ValueError,
        "decay_steps must be positive, got 0",
    ),
    "boundaries": (
        lambda: updates.join_schedules([updates.constant_schedule(1.0)] * 3, [5, 2]),
        ValueError,
        "3 schedules need 2 ascending boundaries",
    ),
    "a norm of nothing": (
        lambda: updates.global_norm({}),
        ValueError,
        "A tree without leaves has no norm",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    make, kind, message = MISTAKES[name]
    with pytest.raises(kind, match=message):
        make()


def test_warming_up_in_no_steps_is_the_cosine() -> None:
    warm = updates.warmup_cosine_decay_schedule(0.5, 1.0, 0, 4)
    cosine = updates.cosine_decay_schedule(1.0, 4)
    assert [warm(k).eval() for k in range(5)] == [cosine(k).eval() for k in range(5)]


def test_clipping_makes_integers_floats() -> None:
    (clipped,) = updates.clip_by_global_norm([np.array([3, 4])], 1.0)
    np.testing.assert_allclose(clipped.eval(), [0.6, 0.8])
