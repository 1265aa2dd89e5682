"""Loops over the same steps that become one loop: the same results, and each state and each result of a step only once."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import grad
from occelo_graph import tensor as ot
from occelo_loops.ops.building.loops import loop
from occelo_loops.ops.iterate import Iterate

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*(jax|pytorch|cache|runs in Python|will be static)"
)
THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"


def bodies(f: Any) -> list[Any]:
    return [n.op for n in f.maker.fgraph.toposort() if isinstance(n.op, Iterate)]


def random_loops(seed: int) -> tuple[list[Any], list[Any]]:
    """Up to four loops with shared and own sequences, states and constants, some of which read others' results."""
    g = np.random.default_rng(seed)
    x, y, a, n = ot.dvector("x"), ot.dvector("y"), ot.dscalar("a"), ot.lscalar("n")
    pools: list[Any] = [x, y]
    starts: list[Any] = [ot.as_tensor_variable(0.5), a, ot.sin(a)]
    outputs: list[Any] = []

    def one(number: int) -> None:
        pick = [pools[i] for i in g.integers(len(pools), size=g.integers(0, 3))]
        init = [starts[i] for i in g.integers(len(starts), size=g.integers(1, 4))]
        ways, reverse = g.integers(4, size=8), bool(g.random() < 0.3)

        def step(state: list[Any], elements: list[Any]) -> Any:
            new: list[Any] = []
            for i, s in enumerate(state):
                other = [*elements, *state, a][ways[i] % (len(elements) + len(state) + 1)]
                new.append((s * 0.5 + other, ot.tanh(s * other), s - other * a, other)[ways[i + 4]])
            return new, (new[0] * 2, state[-1], *elements[:1])

        if pick:
            final, traces = loop(step, init, pick, length=n, reverse=reverse)
        else:
            final, traces = loop(lambda s: step(s, []), init, length=n, reverse=reverse)
        outputs.extend([*final, *traces])
        pools.extend(traces)
        starts.append(final[0])

    for number in range(g.integers(2, 5)):
        one(number)
    cost: Any = sum(ot.cos(v).sum() for v in outputs)
    slopes = [grad(cost, v, disconnected_inputs="ignore") for v in (x, y, a)]
    return [x, y, a, n], [*outputs, *slopes]


@pytest.mark.parametrize("mode", ["py", "vm", "native", "c", "c|py"] if THOROUGH else ["native"])
@pytest.mark.parametrize("seed", range(60 if THOROUGH else 4))
def test_random_loops(seed: int, mode: str) -> None:
    inputs, outputs = random_loops(seed)
    joined = oc.function(inputs, outputs, mode=mode, on_unused_input="ignore")
    apart = oc.function(
        inputs, outputs, mode=oc.get_mode("vm").excluding("join_scans"), on_unused_input="ignore"
    )
    assert len(bodies(joined)) <= len(bodies(apart))
    x, y = np.random.default_rng(seed).normal(size=(2, 6))
    for n in (5, 1, 0):
        for one, other in zip(joined(x, y, 0.3, n), apart(x, y, 0.3, n), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
    for f in (joined, apart):
        with pytest.raises(ValueError, match=r"number of steps|has only 6 elements"):
            f(x, y, 0.3, 7 if any(v.type.ndim for v in outputs[:1]) else -1)


def test_equal_states_and_traces_are_carried_once() -> None:
    x, a, b = ot.dvector("x"), ot.dscalar("a"), ot.dscalar("b")
    final, trace = loop(lambda s, e: (ot.tanh(a * s + b * e),) * 2, np.float64(0), x)
    cost = (trace**2).sum() + final
    slopes = [grad(cost, v) for v in (a, b, x)]  # three loops backwards, with equal cotangents
    f = oc.function([x, a, b], slopes, mode="vm")
    forwards, backwards = bodies(f)
    together = oc.function([x, a, b], grad(cost, [a, b, x]), mode="vm")
    assert [len(v.body.nodes) for v in bodies(together)] == [
        len(v.body.nodes) for v in (forwards, backwards)
    ]
    value = np.random.default_rng(0).normal(size=7)
    for one, other in zip(f(value, 0.5, 0.7), together(value, 0.5, 0.7), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_loops_that_stay_apart() -> None:
    x, a, n = ot.dvector("x"), ot.dscalar("a"), ot.lscalar("n")
    first, _ = loop(lambda s: (s * a, None), a, length=n)
    reads_it, _ = loop(lambda s: (s * first, None), a, length=n)
    back, _ = loop(lambda s, e: (s * 0.5 + e, None), a, x, length=n, reverse=True)
    ended, _ = loop(lambda s: (s * a + 1, None), a, length=n, until=lambda s: s > 9)
    multiplied, _ = loop(lambda s: (s @ s * a, None), ot.outer(x, x), length=n)
    f = oc.function([x, a, n], [first, reads_it, back, ended, multiplied.sum()], mode="vm")
    assert len(bodies(f)) == 5
