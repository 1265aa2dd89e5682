"""What a loop keeps of its steps is written where the function returns it, and results never share memory."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import occelo_compile as oc
from occelo_graph import grad
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_loops.ops.building.loops import fori_loop, loop

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*(jax|pytorch|cache|runs in Python|will be static)"
)
Array = npt.NDArray[Any]
THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"


def states(x: Array, w: Array) -> Array:
    s = x[0]
    found: list[Array] = []
    for element in x:
        s = np.tanh(s @ w + element)
        found.append(s)
    return np.array(found)


def cost(x: Array, w: Array) -> float:
    found = states(x, w)
    return float(found.sum() + (found.sum(axis=1) ** 2).sum())


def slopes(array: Array, x: Array, w: Array, step: float = 1e-6) -> Array:
    """Central differences of the cost by each element of ``array``, which is one of the others and is changed meanwhile."""
    found = np.empty_like(array)
    for i in np.ndindex(array.shape):
        before = array[i]
        array[i] = before + step
        more = cost(x, w)
        array[i] = before - step
        found[i] = (more - cost(x, w)) / (2 * step)
        array[i] = before
    return found


def test_a_trace_is_a_result_and_is_read(mode: str) -> None:
    if mode not in (("native", "c", "numba") if THOROUGH else ("native", "c")):
        pytest.skip("other linkers share no code with these, and Numba's is slow to compile")
    x, w = ot.dmatrix("x"), ot.dmatrix("w")

    def step(s: Any, element: Any) -> Any:
        s = ot.tanh(s @ w + element)
        return s, (s, s.sum())

    last, (trace, sums) = loop(step, x[0], x)
    total = trace.sum() + (sums**2).sum()
    outputs = [trace, trace, trace[1:], trace[::-1], sums, last, trace.sum(), trace.reshape((-1,))]
    f = oc.function([x, w], [*outputs, *grad(total, [x, w])], mode=mode)
    generator = np.random.default_rng(0)
    for length, width in ((5, 3), (1, 3), (2, 1)):
        a, b = generator.normal(size=(length, width)) / 2, generator.normal(size=(width, width)) / 2
        s = states(a, b)
        wanted = [s, s, s[1:], s[::-1], s.sum(axis=1), s[-1], s.sum(), s.ravel()]
        found = f(a, b)
        for one, other in zip(found, wanted, strict=False):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
        for one, array in zip(found[-2:], (a, b), strict=True):
            np.testing.assert_allclose(one, slopes(array, a, b), rtol=1e-4, atol=1e-6)
        assert not any(np.shares_memory(p, q) for p, q in itertools.combinations(found[:2], 2))
        f(2 * a, b)
        np.testing.assert_allclose(found[0], s, rtol=1e-10)


def test_states_that_change_places_or_are_updated_are_results(mode: str) -> None:
    if mode not in ("native", "c", "numba"):
        pytest.skip("other linkers share no code with these")
    n, x = ot.lscalar("n"), ot.dmatrix("x")
    exchanged = fori_loop(0, n, lambda i, p: (p[1], p[0] + p[1]), (x, x * 2))

    def turn(s: Any) -> Any:
        return ot.concatenate([s[-1:], s[:-1]]), s[0]

    turned = loop(turn, x[:, 0], length=n)
    f = oc.function([n, x], [*exchanged, *turned], mode=mode)
    shared = oc.shared(np.zeros(3))
    updated = fori_loop(0, n, lambda i, v: v * 0.5 + i, shared)
    g = oc.function([n], updated, updates=[(shared, updated)], mode=mode)
    a = np.arange(6.0).reshape(3, 2)
    state = np.zeros(3)
    for count in (0, 1, 2, 5):
        p, q = (a, 2 * a), a[:, 0]
        kept: list[Any] = []
        for _ in range(count):
            kept.append(q[0])
            p, q = (p[1], p[0] + p[1]), np.roll(q, 1)
        for one, other in zip(f(count, a), [*p, q, np.array(kept)], strict=True):
            np.testing.assert_array_equal(one, other)
        for i in range(count):
            state = state * 0.5 + i
        result = g(count)
        np.testing.assert_array_equal(result, state)
        np.testing.assert_array_equal(shared.get_value(), state)
        assert not np.shares_memory(result, shared.get_value(borrow=True))


def test_a_trace_is_not_copied(tmp_path: Path) -> None:
    x, start = ot.dvector("x"), ot.dscalar("start")
    _, trace = loop(lambda s, element: (s * 0.5 + element, s), start, x)
    with config.change_flags(native__threads=1):  # else a sum has memory for its parts
        f = oc.function([x, start], [trace, trace.sum()], mode="native")
        (program,) = [p for p in f.dump(tmp_path) if p.name.endswith(".program.txt")]
    allocated = [line for line in program.read_text().splitlines() if line.startswith("  alloc")]
    # the trace and its sum
    assert len(allocated) == 2
