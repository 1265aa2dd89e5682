"""Loops that read the states of another loop use what that loop computed of them, in every direction and number of steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import occelo_compile as oc
from occelo_graph import grad
from occelo_graph import tensor as ot
from occelo_graph.ops.blas.products import Dot, MatMul
from occelo_graph.ops.blas.updates import Gemv
from occelo_graph.ops.control.branches import ifelse
from occelo_linalg import functions as linalg
from occelo_linalg.ops.factorizations.cholesky import Cholesky
from occelo_loops.ops.building.loops import loop
from occelo_loops.ops.iterate import Iterate

Array = npt.NDArray[Any]
LINKERS = ("native", "c", "numba")


def _values(x: Array, w: Array, start: Array, forward: bool) -> tuple[Array, Array, list[Array]]:
    """The last state, the states, and the results of a second loop that reads the states."""
    state = start
    states: list[Array] = []
    sums: list[Array] = []
    for element in x:
        states.append(state)
        state = np.tanh(state @ w) * element + state / 2
    total = np.zeros_like(start)
    for each in states if forward else states[::-1]:
        total = total * 0.5 + np.exp(-(each @ w)) * each
        sums.append(total)
    return state, np.array(states), sums if forward else sums[::-1]


def _program(forward: bool, skipped: int) -> tuple[list[Any], list[Any]]:
    x, w, start = ot.dtensor3("x"), ot.dmatrix("w"), ot.dmatrix("start")

    def step(state: Any, element: Any) -> Any:
        return ot.tanh(state @ w) * element + state / 2, state

    last, states = loop(step, start, x)

    def again(total: Any, state: Any) -> Any:
        total = total * 0.5 + ot.exp(-(state @ w)) * state
        return total, total

    _, sums = loop(again, ot.zeros_like(start), states[skipped:], reverse=not forward)
    cost = (last**2).sum() + (sums**2).sum()
    return [x, w, start], [last, states, sums, *grad(cost, [x, w, start])]


@pytest.mark.parametrize(("forward", "skipped"), [(True, 0), (False, 0), (True, 1)])
def test_the_results_are_those_of_loops_in_python(mode: str, forward: bool, skipped: int) -> None:
    if mode not in LINKERS or (mode == "numba" and forward):
        pytest.skip("the rule is the same for all linkers, and Numba's is slow to compile")
    f = oc.function(*_program(forward, skipped), mode=mode)
    generator = np.random.default_rng(0)
    for steps in (4, 1):
        given = [generator.normal(size=s) / 2 for s in ((steps, 2, 3), (3, 3), (2, 3))]

        def cost(x: Array, w: Array, start: Array) -> float:
            state, states, sums = _values(x, w, start, forward)
            if skipped:
                sums = _second(states[skipped:], w)
            return float((state**2).sum() + sum((s**2).sum() for s in sums))

        state, states, sums = _values(given[0], given[1], given[2], forward)
        found = f(*given)
        np.testing.assert_allclose(found[0], state, rtol=1e-11)
        np.testing.assert_allclose(found[1], states, rtol=1e-11)
        if not skipped:
            np.testing.assert_allclose(found[2], np.array(sums), rtol=1e-11)
        for k, array in enumerate(given):
            for i in np.ndindex(array.shape):
                near: list[float] = []
                for sign in (1, -1):
                    moved = [a.copy() for a in given]
                    moved[k][i] += sign * 1e-6
                    near.append(cost(moved[0], moved[1], moved[2]))
                slope = (near[0] - near[1]) / 2e-6
                np.testing.assert_allclose(found[3 + k][i], slope, rtol=1e-5, atol=1e-7)


def _second(states: Array, w: Array) -> list[Array]:
    total: Array = np.zeros(states.shape[1:])
    sums: list[Array] = []
    for each in states:
        total = total * 0.5 + np.exp(-(each @ w)) * each
        sums.append(total)
    return sums


@pytest.mark.parametrize(("skipped", "outside"), [(0, 0), (1, 1)])
def test_a_product_of_a_state_is_computed_once(skipped: int, outside: int) -> None:
    inputs, outputs = _program(True, skipped)
    f = oc.function(inputs, outputs[:3], mode="vm", on_unused_input="ignore")
    nodes = f.maker.fgraph.toposort()
    assert sum(isinstance(n.op, Iterate) for n in nodes) == 2
    assert sum(isinstance(n.op, Dot | MatMul) for n in nodes) == outside


def _filter(n: int | None, lazily: bool = False) -> tuple[list[Any], list[Any]]:
    """A loop that factors a matrix made of its state and solves with the factor, and its derivatives."""
    x = ot.tensor("x", dtype="float64", shape=(None, 2))
    start = ot.tensor("start", dtype="float64", shape=(n, n))

    def step(state: Any, e: Any) -> Any:
        s, total = state
        factor = linalg.cholesky(s @ s.T + ot.eye(2))
        if lazily:
            factor = ifelse(e[0] > 0, factor, s)
        part = linalg.solve_triangular(factor, s * ot.cos(e), lower=True)
        return (0.5 * s + part @ part.T, total + part), None

    (last, total), _ = loop(step, (start, start), x)
    cost = (total**2).sum() + last.sum()
    return [x, start], [cost, *grad(cost, [x, start])]


def _filtered(x: Array, start: Array, lazily: bool) -> float:
    s, total = start, start
    for e in x:
        factor = np.linalg.cholesky(s @ s.T + np.eye(2))
        if lazily and e[0] <= 0:
            factor = np.tril(s)
        part = np.linalg.solve(factor, s * np.cos(e))
        s, total = 0.5 * s + part @ part.T, total + part
    return float((total**2).sum() + s.sum())


@pytest.mark.parametrize("lazily", [False, True])
@pytest.mark.parametrize("n", [2, None])
def test_factors_are_read_as_they_are(mode: str, n: int | None, lazily: bool) -> None:
    if mode not in (("native", "c") if n else ("native",)):
        pytest.skip("the rule is the same for all linkers")
    f = oc.function(*_filter(n, lazily), mode=mode)
    generator = np.random.default_rng(0)
    for steps in (3, 1, 0):
        given = [generator.normal(size=(steps, 2)), np.eye(2) + generator.uniform(size=(2, 2)) / 3]
        found = f(*given)
        np.testing.assert_allclose(found[0], _filtered(given[0], given[1], lazily), rtol=1e-11)
        for k, array in enumerate(given):
            for i in np.ndindex(array.shape):
                near: list[float] = []
                for sign in (1, -1):
                    moved = [a.copy() for a in given]
                    moved[k][i] += sign * 1e-6
                    near.append(_filtered(moved[0], moved[1], lazily))
                slope = (near[0] - near[1]) / 2e-6
                np.testing.assert_allclose(found[1 + k][i], slope, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(("n", "lazily", "count"), [(2, False, 1), (2, True, 2), (None, False, 2)])
def test_a_small_matrix_is_factored_once(n: int | None, lazily: bool, count: int) -> None:
    f = oc.function(*_filter(n, lazily), mode="vm")
    bodies = [v.op.body for v in f.maker.fgraph.toposort() if isinstance(v.op, Iterate)]
    assert len(bodies) == 2
    assert sum(isinstance(v.op, Cholesky) for b in bodies for v in b.nodes) == count


def _descent(momentum: bool, batch: int | None = 18) -> tuple[list[Any], list[Any]]:
    """Gradient descent on batches that differ from step to step, and derivatives of its last error."""
    x = ot.tensor("x", dtype="float64", shape=(None, batch, 20))
    w, rate = ot.tensor("w", dtype="float64", shape=(20,)), ot.dscalar("rate")

    def step(state: Any, rows: Any) -> Any:
        at, speed = state if momentum else (state, None)
        slope = rows.T @ ot.tanh(rows @ at)
        if speed is None:
            return at - rate * slope, ()
        speed = 0.5 * speed - rate * slope
        return (at + speed, speed), ()

    last, _ = loop(step, (w, ot.zeros(20)) if momentum else w, x)
    cost = ((last[0] if momentum else last) ** 2).sum()
    return [x, w, rate], [cost, *grad(cost, [w, rate])]


def _descended(x: Array, w: Array, rate: float, momentum: bool) -> float:
    speed = np.zeros(20)
    for rows in x:
        slope = rows.T @ np.tanh(rows @ w)
        speed = (0.5 * speed if momentum else 0.0) - rate * slope
        w = w + speed
    return float((w**2).sum())


@pytest.mark.parametrize("momentum", [False, True])
def test_long_products_of_elements_are_read_as_they_are(mode: str, momentum: bool) -> None:
    if mode not in ("native", "c", "vm") or (mode != "native" and not momentum):
        pytest.skip("the rule is the same for all linkers")
    f = oc.function(*_descent(momentum), mode=mode)
    generator = np.random.default_rng(0)
    for steps in (3, 1, 0):
        x, w, rate = generator.normal(size=(steps, 18, 20)), generator.normal(size=20), 0.01
        cost, of_w, of_rate = f(x, w, rate)
        np.testing.assert_allclose(cost, _descended(x, w, rate, momentum), rtol=1e-11)
        near = [_descended(x, w, rate + d, momentum) for d in (1e-6, -1e-6)]
        np.testing.assert_allclose(of_rate, (near[0] - near[1]) / 2e-6, rtol=1e-5, atol=1e-7)
        for i in range(0, 20, 6):
            moved = [w + sign * 1e-6 * np.eye(20)[i] for sign in (1, -1)]
            near = [_descended(x, v, rate, momentum) for v in moved]
            slope = (near[0] - near[1]) / 2e-6
            np.testing.assert_allclose(of_w[i], slope, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    ("momentum", "batch", "count"), [(True, 18, 4), (False, 18, 4), (True, None, 6), (True, 12, 4)]
)
def test_products_are_kept_where_they_are_no_larger_than_the_states(
    momentum: bool, batch: int | None, count: int
) -> None:
    f = oc.function(*_descent(momentum, batch), mode="vm")
    bodies = [v.op.body for v in f.maker.fgraph.toposort() if isinstance(v.op, Iterate)]
    assert len(bodies) == 2
    products = [v for b in bodies for v in b.nodes if isinstance(v.op, Dot | Gemv)]
    # two of the loop, two of its derivatives, and those that are computed again, unless the tanh of one is kept
    assert len(products) == count
