"""Loops whose steps have thousands of nodes, on every backend, against loops over NumPy's functions.

Each step computes with scalars, small vectors and products with a matrix, and each node has numbers of its own, so that
no rule can make the step much shorter. Derivatives are compared with those of the loop in NumPy in one direction, by a
step in the imaginary direction: it needs no difference of nearby values, so it is as exact as the values are.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import occelo_compile as oc
from occelo_graph import FrozenFunctionGraph, grad
from occelo_graph import tensor as ot
from occelo_graph.ir.traversal import toposort
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_link import make_linker
from occelo_loops.ops.building.loops import loop
from occelo_loops.ops.iterate import Iterate
from occelo_loops.ops.scan_op import Scan

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
NODES = 10_000 if THOROUGH else 1_000
"""The least number of nodes of a step."""
NODES_OF_LEVEL = 300 if THOROUGH else 50
"""The least number of nodes of a step of each of three levels, without the loop inside of it."""
PART = 11
"""The number of nodes of each part of a step."""
MODES = ["native", "c", "numba", "jax", "pytorch", "py", "vm", "c|py"]

pytestmark = pytest.mark.filterwarnings("ignore:.*runs in Python:UserWarning")
Array = npt.NDArray[Any]


def _step(lib: Any, state: Any, w: Any, m: Any, parts: int) -> Any:
    """A step of ``parts`` parts, in ``lib``: the functions of Occelo or of NumPy. The state is a number and a vector."""
    s, v = state
    small = 1.0 / parts
    for k in range(parts):
        c = 0.5 + k % 97 / 100.0 + k * 1e-5
        if k % 3 == 0:
            v = v + small * (m @ lib.tanh(v * c))
            s = s + lib.sin(s * c + v[k % 4]) * small
        elif k % 3 == 1:
            v = v + lib.sin(v * c + s) * small
            s = s + lib.exp(-s * s * c) * small
        else:
            v = v * (1.0 - small * c) + w * small * c
            s = s + (v * v).sum() * small * c - lib.tanh(s * c) * small
    return s, v


def _processors() -> int:
    """The number of processors that this process may use."""
    affinity: Any = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def _mode(mode: str) -> Any:
    pytest.importorskip({"numba": "numba", "jax": "jax", "pytorch": "torch"}.get(mode, "numpy"))
    if mode == "pytorch" and not THOROUGH:
        # Inductor takes half a minute to start; the loop is machine code either way
        linker: Any = type(make_linker(mode))
        return oc.Mode(linker(compiled=False))
    return mode


def _check(
    mode: str, build: Callable[[Any, Any, Any, Any], Any], by_hand: Callable[..., Any]
) -> oc.Function:
    """Compare a cost and its derivatives with a program by hand, in one direction. Returns the compiled function."""
    s, w, m = ot.dscalar("s"), ot.tensor("w", "float64", (4,)), ot.tensor("m", "float64", (4, 4))
    cost = build(ot, s, w, m)
    forward = oc.function([s, w, m], cost, mode=_mode(mode))
    f = oc.function([s, w, m], [cost, *grad(cost, [s, w, m])], mode=_mode(mode))
    rng = np.random.default_rng(0)
    at = [np.float64(0.3), rng.normal(size=4), np.linalg.qr(rng.normal(size=(4, 4)))[0]]
    direction = [np.float64(0.7), rng.normal(size=4), rng.normal(size=(4, 4))]
    value, *slopes = f(*at)
    np.testing.assert_allclose(value, by_hand(*at), rtol=1e-11)
    np.testing.assert_allclose(forward(*at), by_hand(*at), rtol=1e-11)
    moved = by_hand(*(a + 1e-30j * d for a, d in zip(at, direction, strict=True)))
    along = sum(np.sum(g * d) for g, d in zip(slopes, direction, strict=True))
    np.testing.assert_allclose(along, moved.imag / 1e-30, rtol=1e-9)
    # each derivative by itself
    for i, (slope, d) in enumerate(zip(slopes, direction, strict=True)):
        moved = by_hand(*(a + 1e-30j * d if i == j else a + 0j for j, a in enumerate(at)))
        np.testing.assert_allclose(np.sum(slope * d), moved.imag / 1e-30, rtol=1e-9, atol=1e-10)
    return f


def _bodies(variable: Any) -> list[FrozenFunctionGraph]:
    return [n.op.body for n in toposort([variable]) if isinstance(n.op, Scan)]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("steps", [3, 1], ids=["loop", "unrolled"])
@pytest.mark.parametrize("mode", MODES)
def test_a_step_of_many_nodes(mode: str, steps: int) -> None:
    if mode == "jax" and THOROUGH and _processors() < 2:
        pytest.skip(
            "on one processor XLA compiles so many parts by recursion, and overflows the stack"
        )
    parts = -(-NODES // PART)

    def build(lib: Any, s: Any, w: Any, m: Any) -> Any:
        (last, v), trace = loop(
            lambda state: ((made := _step(lib, state, w, m, parts)), made[0]), (s, w), length=steps
        )
        (body,) = _bodies(trace)
        assert len(body.nodes) >= NODES
        return last + v.sum() + trace.sum()

    def by_hand(s: Any, w: Any, m: Any) -> Any:
        state, total = (s, w), 0.0
        for _ in range(steps):
            state = _step(np, state, w, m, parts)
            total = total + state[0]
        return state[0] + state[1].sum() + total

    _check(mode, build, by_hand)


@pytest.mark.parametrize("mode", MODES)
def test_three_levels_of_long_steps(mode: str) -> None:
    parts = -(-NODES_OF_LEVEL // PART)

    def looped(step: Callable[[Any], Any], state: Any) -> Any:
        return loop(lambda s: (step(s), None), state, length=2)[0]

    def build(lib: Any, s: Any, w: Any, m: Any) -> Any:
        def nested(state: Any, level: int) -> Any:
            """A long step, and after it a loop of such steps, down to the third level."""
            made = _step(lib, state, w, m, parts)
            return looped(lambda inner: nested(inner, level + 1), made) if level < 3 else made

        last, v = looped(lambda state: nested(state, 1), (s, w))
        return last + v.sum()

    def by_hand(s: Any, w: Any, m: Any) -> Any:
        state = (s, w)
        for _ in range(2):
            state = _step(np, state, w, m, parts)
            for _ in range(2):
                state = _step(np, state, w, m, parts)
                for _ in range(2):
                    state = _step(np, state, w, m, parts)
        return state[0] + state[1].sum()

    _check(mode, build, by_hand)


def test_a_gradient_keeps_no_more_of_a_long_step_than_of_a_short_one() -> None:
    """Products of a long step are computed again, since keeping all of them would need memory for each node."""
    w, m = ot.tensor("w", "float64", (4,)), ot.tensor("m", "float64", (4, 4))
    rows: list[int] = []
    for parts in (12, 60, 120):

        def step(state: Any, parts: int = parts) -> Any:
            return _step(ot, state, w, m, parts), None

        (s, v), _ = loop(step, (np.float64(0.3), w), length=50)
        f = oc.function([w, m], grad(s + v.sum(), [w, m]), mode="native")
        loops = [n.op for n in f.maker.fgraph.toposort() if isinstance(n.op, Iterate)]
        assert len(loops) == 2
        rows.append(sum(op.traces for op in loops))
    assert rows[0] >= rows[1] == rows[2] <= 4


def test_rules_leave_the_step_long() -> None:
    """Every transcendental function and every product of the step is still there in the compiled loop."""
    parts = -(-NODES // PART)
    s, w, m = ot.dscalar("s"), ot.tensor("w", "float64", (4,)), ot.tensor("m", "float64", (4, 4))
    (last, _), _ = loop(lambda state: (_step(ot, state, w, m, parts), None), (s, w), length=3)
    f = oc.function([s, w, m], last, mode=oc.Mode("vm").excluding("fusion"))
    found = Counter[str]()
    for node in f.maker.fgraph.toposort():
        body = getattr(node.op, "body", None)
        if isinstance(body, FrozenFunctionGraph):
            found.update(n.op.scalar_op.name for n in body.nodes if isinstance(n.op, Elemwise))
    kinds = Counter(k % 3 for k in range(parts))
    wanted = {"sin": kinds[0] + kinds[1], "exp": kinds[1], "tanh": kinds[0] + kinds[2]}
    assert {name: found[name] for name in wanted} == wanted
