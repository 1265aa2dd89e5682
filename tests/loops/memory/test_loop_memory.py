"""Memory of loops: traces that are all written start without values, and turned factors are copied once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.fgraph.frozen import freeze
from occelo_link.loops.build import lower_graph
from occelo_link.loops.ir.program import Swap
from occelo_link.loops.ir.text import program_text
from occelo_loops.ops.building.classic import scan
from occelo_loops.ops.building.loops import loop
from occelo_loops.ops.iterate import Iterate
from occelo_testing.loop_interpreter import run_program
from occelo_testing.loop_programs import Compiled
from occelo_testing.looping import again


def filling(by: int, length: int, traces: int, stops: bool) -> Iterate:
    """A loop that carries a position, memory of some length, in which it writes, and a number."""
    at, memory, state = ot.lscalar(), ot.tensor(dtype="float64", shape=(length,)), ot.dscalar()
    results = [at + by if by > 0 else at - -by, state * 2.0, memory[at].set(state)]
    body = freeze([at, state, memory], [*results, ot.gt(state, 4.0)] if stops else results)
    return Iterate(body, 3, stops, traces)


@pytest.mark.parametrize(
    ("by", "count", "length", "traces", "stops", "initial"),
    [
        (1, 4, 4, 1, False, False),
        (-1, 4, 4, 1, False, False),
        (1, 1, 1, 1, False, False),
        (1, 0, 0, 1, False, False),
        (1, 4, 4, 0, False, True),
        (1, 3, 4, 1, False, True),
        (-1, 3, 4, 1, False, True),
        (1, 4, 4, 1, True, True),
    ],
)
def test_memory_starts_without_values_only_where_all_elements_are_written(
    by: int, count: int, length: int, traces: int, stops: bool, initial: bool
) -> None:
    x = ot.dscalar("x")
    start = np.int64(0 if by > 0 else count - 1)
    given = [np.int64(count), start, x, ot.alloc(5.0, length)]
    made = filling(by, length, traces, stops)(*given, return_list=True)[1:]
    program = lower_graph([x], made, og.toposort(made))
    stores = [t for t in program_text(program).splitlines() if "store" in t and "5.0" in t]
    assert bool(stores) == initial
    array = np.array(1.5)
    expected = og.evaluate(made, {x: array})
    # the interpreter of programs puts other numbers into new memory
    for found in (run_program(program, [array], {}), Compiled(program)(array)):
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("reverse", [False, True])
def test_traces_of_unknown_length_hold_what_steps_made(reverse: bool, tmp_path: Path) -> None:
    x, start = ot.dmatrix("x"), ot.dvector("start")

    def step(s: Any, element: Any) -> Any:
        return s * 0.5 + element, (s, s.sum())

    _, traces = loop(step, start, x, reverse=reverse)
    f = oc.function([x, start], list(traces), mode="native")
    texts = [p.read_text() for p in f.dump(tmp_path) if p.name.endswith(".program.txt")]
    # the sum starts with 0, no trace does
    assert not any("store" in t and "0.0:float64" in t for t in "".join(texts).splitlines())
    for length in (3, 1, 0):
        values, state = np.arange(2.0 * length).reshape(length, 2), np.array([1.0, -2.0])
        rows = np.zeros((length, 2))
        for k in range(length)[:: -1 if reverse else 1]:
            rows[k] = state
            state = state * 0.5 + values[k]
        found = f(values, np.array([1.0, -2.0]))
        np.testing.assert_array_equal(found[0], rows)
        np.testing.assert_allclose(found[1], rows.sum(axis=1), rtol=1e-15)


@pytest.mark.parametrize(("steps", "copied"), [(12, True), (6, False)])
def test_a_turned_factor_is_copied_for_many_steps(steps: int, copied: bool, tmp_path: Path) -> None:
    x, w = ot.tensor(dtype="float64", shape=(12, 30)), ot.tensor(dtype="float64", shape=(30, 30))
    last, _ = loop(lambda s: (ot.tanh(s @ w.T), ()), x, length=steps)
    f = oc.function([x, w], last, mode="native")
    a, b = np.random.default_rng(0).normal(size=(2, 30, 30)) / 5
    expected = a[:12]
    for _ in range(steps):
        expected = np.tanh(expected @ b.T)
    np.testing.assert_allclose(f(a[:12], b), expected, rtol=1e-9, atol=1e-12)
    (text,) = [p.read_text() for p in f.dump(tmp_path) if p.name.endswith(".program.txt")]
    calls = [line for line in text.splitlines() if "gemm(" in line]
    assert calls
    # with a copy, rows of both factors are contiguous
    assert all((line.count("&(78:int8)") == 2) == copied for line in calls)


@pytest.mark.parametrize(
    "step",
    [
        lambda t, m, i: (t[i].set(0.5 * t[i - 1]), m),
        lambda t, m, i: (t[i].set(ot.sin(t[i - 1]) + t[0]), m[i].set(t[i])),
        lambda t, m, i: (t[i].set(t[-i])[-i].set(t[i]), m[i].set(t[i + 1] * 2.0)),
        lambda t, m, i: (t[i : i + 2].inc(t[i - 2 : i]), m[i].set(t.max(axis=0))),
        lambda t, m, i: (t[ot.stack([i, i + 1])].set(t[ot.stack([i + 1, i])]), m),
        lambda t, m, i: (t[i].set(m[i] + t[i - 1]), m[i].set(t[i] - m[i + 1])),
    ],
    ids=["element", "elements", "swap", "slices", "positions", "two states"],
)
@pytest.mark.parametrize("ndim", [1, 2])
def test_elements_of_states_are_changed_in_place(step: Any, ndim: int) -> None:
    t, m = (ot.tensor(dtype="float64", shape=(None,) * ndim) for _ in range(2))
    n = ot.lscalar("n")
    made = again(n, [t, m, ot.constant(np.int64(2))], lambda t, m, i: [*step(t, m, i), i + 1])[:2]
    program = lower_graph([n, t, m], made, og.toposort(made))
    values = [np.linspace(low, low + 1, 24).reshape((12, 2) if ndim == 2 else -1) for low in (1, 3)]
    given = [np.array(7), *values]
    expected = og.evaluate(made, dict(zip([n, t, m], given, strict=True)))
    for found in (run_program(program, given, {}), Compiled(program)(*given)):
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-13)
    # a state that is not changed in place has two buffers, which are exchanged after each iteration
    assert not any(isinstance(s, Swap) for block in program.blocks() for s in block)


@pytest.mark.parametrize("ndim", [0, 2])
def test_a_trace_is_dropped_when_only_its_last_element_was_read(ndim: int) -> None:
    """The last element of a trace of states is the state after the loop. Then nothing reads the trace."""
    x, n = ot.tensor(dtype="float64", shape=(None,) * ndim), ot.lscalar("n")
    states = scan(lambda s: ot.sin(s) + 0.5, outputs_info=x, n_steps=n, return_updates=False)
    f = oc.function([x, n], states[-1], mode="native")
    (found,) = [node.op for node in f.maker.fgraph.apply_nodes if isinstance(node.op, Iterate)]
    assert found.traces == 0
    start = value = np.full((2,) * ndim, 0.25)
    for _ in range(5):
        value = np.sin(value) + 0.5
    np.testing.assert_allclose(f(start, 5), value, rtol=1e-12)
