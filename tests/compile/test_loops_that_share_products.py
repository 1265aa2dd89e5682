"""Loops that read the states of another loop use what that loop computed of them, in every direction and number of steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import occelo_compile as oc
from occelo_graph import grad
from occelo_graph import tensor as ot
from occelo_graph.looping.iterate import Iterate
from occelo_graph.looping.loops import loop
from occelo_graph.ops.blas.products import Dot, MatMul

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
