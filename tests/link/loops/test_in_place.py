"""Results that take over the memory of dead operands: where they should, and never where they must not."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_link.loops.build import lower_graph
from occelo_link.loops.ir.program import Alloc, For, Program
from occelo_link.loops.ir.verify import verify
from occelo_testing.loop_interpreter import run_program
from occelo_testing.loop_programs import Compiled

settings.register_profile(
    "ci", max_examples=80, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.register_profile(
    "thorough", max_examples=3000, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def lowered(inputs: Sequence[Any], outputs: Sequence[Any]) -> Program:
    program = lower_graph(inputs, outputs, og.toposort(outputs))
    verify(program)
    return program


def in_place(program: Program) -> int:
    """How many results take memory with what is in it."""
    return sum(isinstance(s, Alloc) and s.keeps for b in program.blocks() for s in b)


def own_memory(program: Program) -> int:
    """How many tensors are given memory of their own."""
    return sum(
        isinstance(s, Alloc) and s.reuse is None and bool(s.buffer.ndim)
        for b in program.blocks()
        for s in b
    )


def check(inputs: Sequence[Any], outputs: Sequence[Any], *arrays: Any) -> Program:
    """Compare both ways to run the program with the reference; returns the program."""
    program = lowered(inputs, outputs)
    before = [a.copy() for a in arrays]
    fast, slow = Compiled(program)(*arrays), run_program(program, arrays)
    expected = og.evaluate(list(outputs), dict(zip(inputs, arrays, strict=True)))
    for a, b, c in zip(fast, slow, expected, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(a, c, rtol=1e-13, atol=1e-13)
    for array, copy in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, copy)
    return program


x = ot.dvector("x")
X = np.linspace(-1.0, 1.0, 37)


def test_parts_are_written_one_after_the_other_in_one_array() -> None:
    y: Any = ot.exp(x)
    for i in range(5):
        y = y[i].set(float(i))
    program = check([x], [y[7:].inc(x[7:])], X)
    assert (in_place(program), own_memory(program)) == (6, 1)


def test_inputs_are_never_written() -> None:
    program = check([x], [x[0].set(5.0)], X)
    assert (in_place(program), own_memory(program)) == (0, 1)


def test_what_is_read_later_is_copied() -> None:
    y: Any = ot.exp(x)
    changed = y[0].set(5.0)
    assert in_place(check([x], [y, changed], X)) == 0
    again: Any = ot.cumsum(y) + changed  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    check([x], [again, changed], X)
    # each of two changes needs the tensor as it was; only the second may take its memory
    program = check([x], [changed, y[1].set(3.0)], X)
    assert (in_place(program), own_memory(program)) == (1, 2)


def test_what_is_written_is_not_read_from_what_it_writes_over() -> None:
    y: Any = ot.exp(x)
    i = ot.lvector("i")
    at = np.array([0, 3, 3, 5])
    # the elements to write are copied, and not the others
    for changed in (y[1:].set(y[:-1]), y[1:].inc(y[:-1])):
        program = check([x, i], [changed], X, at)
        assert (in_place(program), own_memory(program)) == (1, 2)
    for changed in (y[i].inc(y[i]), y[i].set(y[::-1][i])):
        for positions in (at, at - 37):
            program = check([x, i], [changed], X, positions)
        # the positions have a name for the input, or memory of their own if some are negative
        assert (in_place(program), own_memory(program)) == (3, 3)
    # an input must be copied as a whole in any case
    assert own_memory(check([x], [x[1:].set(x[:-1])], X)) == 1


def test_a_change_comes_after_all_that_reads_the_tensor() -> None:
    y: Any = ot.exp(x)
    changed = y[0].set(5.0)
    for other in (y.sum(), y[::-1] * 2.0, ot.cumsum(y), y[3:7], y[1].set(y[2])):
        for outputs in ([changed, other], [other, changed]):
            program = check([x], outputs, X)
            assert in_place(program) == 1
    # a swap of two elements reads the second one after the first was written
    first, last = y[0], y[-1]
    program = check([x], [y[0].set(last)[-1].set(first)], X)
    assert (in_place(program), own_memory(program)) == (2, 1)
    # what needs the tensor before and after the change keeps it from being changed in place
    assert in_place(check([x], [changed, changed[::-1] + y[::-1]], X)) == 0


def test_a_kernel_stores_over_the_elements_that_it_reads() -> None:
    y: Any = ot.exp(x)
    total = y.sum()
    program = check([x], [y / total], X)
    assert (in_place(program), own_memory(program)) == (1, 1)
    # nor where another result of the same loop reads them after
    program = check([x], [y / total, y * total, y - total], X)
    assert (in_place(program), own_memory(program)) == (1, 3)
    # nor where elements are read elsewhere than they are written
    assert in_place(check([x], [(y / total)[::-1] + y], X)) == 0
    assert in_place(check([x], [y / total + y[::-1]], X)) == 0


def test_what_a_loop_passes_on_has_no_memory_to_take() -> None:
    y: Any = ot.exp(x)
    program = check([x], [y * 2.0 + 1.0, y[0].set(1.0), (y - 1.0) * y], X)
    assert own_memory(program) == 3
    check([x], [1.0 - y, y * (1.0 - y), y * 3.0], X)


def test_a_result_of_another_dtype_takes_no_memory() -> None:
    y: Any = ot.exp(x)
    total = y.sum()
    assert in_place(check([x], [ot.cast(y / total, "float32")], X)) == 0


def test_an_output_that_is_read_again_keeps_what_it_has() -> None:
    y: Any = ot.exp(x)
    share = y / y.sum()
    cubed = share * share.max()
    program = check([x], [share, cubed * cubed.sum()], X)
    assert in_place(program) >= 1


def test_changes_of_states_are_written_last_and_in_one_go() -> None:
    s = ot.dvector("s")
    changed = ot.exp(s).sum() + s[0]
    outputs = [s[1:].inc(ot.sin(x)[1:])[0].set(2.0), changed]
    program = lower_graph([s, x], outputs, og.toposort(outputs), states={0: 0})
    verify(program)
    order = list(program.body)
    (taken,) = (
        i for i, a in enumerate(order) if isinstance(a, Alloc) and a.reuse in program.inputs
    )
    before, after = (
        [a for a in part if isinstance(a, For)] for part in (order[:taken], order[taken:])
    )
    assert after
    assert all(loop.non_interruptible for loop in after)
    assert any(loop.parallel for loop in before)
    expected = og.evaluate(outputs, {s: X, x: X})
    for run in (Compiled(program), lambda *arrays: run_program(program, arrays)):
        given = X.copy()
        for a, b in zip(run(given, X), expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-13)
        np.testing.assert_array_equal(given, X)


MOVES = (
    "exp",
    "half",
    "shared",
    "normal",
    "set",
    "inc",
    "scatter",
    "gather",
    "reverse",
    "add",
    "running",
)


@st.composite
def pipelines(draw: st.DrawFn) -> list[Any]:
    """Vectors of one length, each made from those before; and the outputs."""
    known: list[Any] = [x]
    for _ in range(draw(st.integers(1, 12))):
        move = draw(st.sampled_from(MOVES))
        first, second = (draw(st.sampled_from(known)) for _ in range(2))
        known.append(moved(move, first, second, draw(st.integers(0, 4))))
    outputs = draw(st.lists(st.sampled_from(known[1:]), min_size=1, max_size=4))
    return [*outputs, known[-1]]


def moved(move: str, a: Any, b: Any, k: int) -> Any:
    if move == "exp":
        return ot.exp(-abs(a))
    if move == "half":
        return a * 0.5 + 0.125 * b
    if move == "shared":
        c = ot.tanh(a)
        return c * (1.0 - c) + 0.5 * b
    if move == "normal":
        return a / (1.0 + abs(a).sum())
    if move == "set":
        return a[k : k + 6].set(b[1:7])
    if move == "inc":
        return a[k].inc(b[k + 1] * 0.5)
    if move == "scatter":
        return a[ot.constant(np.array([k, 7, k]))].inc(b[:3] * 0.25)
    if move == "gather":
        return b[ot.constant((np.arange(X.size) * 5 + k) % X.size)] * 0.5 + a
    if move == "reverse":
        return a[::-1]
    if move == "running":
        return ot.cumsum(a) * 0.01
    return a + b * 0.5


@pytest.mark.measured(0)
@given(pipelines())
def test_random_pipelines_keep_their_values(outputs: list[Any]) -> None:
    check([x], outputs, X)


@pytest.mark.parametrize("count", [0, 1, 8, 9])
def test_lengths_that_are_not_a_multiple_of_the_lanes(count: int) -> None:
    y: Any = ot.exp(x)
    check([x], [y / (1.0 + y.sum())], X[:count])
