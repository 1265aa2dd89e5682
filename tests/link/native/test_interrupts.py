"""Polling for interrupts in loops: the same results, wherever they poll."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_link.c.source import print_c
from occelo_link.loops.build import lower_graph
from occelo_link.loops.ir import cost
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Program
from occelo_link.native.llvm import interrupt_polling, parallel, print_llvm
from occelo_link.units import python_entry
from occelo_link.units.interface import UnitFailure
from occelo_testing.loop_programs import Compiled, compiled_c, has_compiler, inputs_of, output_of


@pytest.fixture(params=["llvm", *(["c"] if has_compiler() else [])])
def compiled(request: Any, tmp_path: Path) -> Callable[[Program], Callable[..., list[Any]]]:
    """Programs through one of the printers."""
    return Compiled if request.param == "llvm" else lambda program: compiled_c(tmp_path, program)[0]


def long_loop(carried: bool, lanes: int) -> Program:
    """Numbers from 0 on: their sum, or all of them."""
    builder = Builder()
    [source] = inputs_of(builder, ("float64", 1))
    count = builder.input_length(source, 0)
    result = output_of(builder, "float64", [] if carried else [count])
    with builder.loop(count, lanes=lanes) as loop:
        value = builder.load(source, loop.index)
        if carried:
            total = loop.carry(builder.const(0.0, "float64"), "add" if lanes > 1 else None)
            total.following = builder.op("add", total.param, value)
        else:
            builder.store(result, loop.index, builder.op("neg", value))
    if carried:
        builder.store(result, builder.i64(0), total.result)
    return builder.program


def long_while() -> Program:
    """Counts down from an input to 0."""
    builder = Builder()
    [source] = inputs_of(builder, ("int64", 0))
    result = output_of(builder, "int64", [])
    first = builder.load(source, builder.i64(0))
    one = builder.i64(1)
    [last, turns] = builder.repeat_while(
        [first, builder.i64(0)],
        lambda v: builder.lt(builder.i64(0), v[0]),
        lambda v: [builder.sub(v[0], one), builder.add(v[1], one)],
    )
    builder.store(result, builder.i64(0), builder.sub(turns, last))
    return builder.program


@pytest.fixture
def questions(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that grows by one with each question."""
    asked: list[int] = []
    plain = python_entry._POLL

    def noting(function: Any) -> Any:
        def poll(frame: int) -> int:
            asked.append(1)
            return int(function(frame))

        return plain(poll)

    monkeypatch.setattr(python_entry, "_POLL", noting)
    return asked


@pytest.fixture(params=[1, 3, 8, 1000])
def asking(request: Any, monkeypatch: pytest.MonkeyPatch, questions: list[int]) -> list[int]:
    """Loops ask every few turns; the list grows by one with each question."""
    for module in (cost, interrupt_polling):
        monkeypatch.setattr(module, "BUDGET", 4 * request.param)
    return questions


@pytest.mark.parametrize("carried", [False, True])
@pytest.mark.parametrize("lanes", [1, 4, 8])
def test_limits_change_no_results(
    asking: list[int], compiled: Any, carried: bool, lanes: int
) -> None:
    call = compiled(long_loop(carried, lanes))
    for count in (0, 7, 8, 501):
        values = np.random.default_rng(count).normal(size=count)
        [found] = call(values)
        if carried:
            np.testing.assert_allclose(found, values.sum(), rtol=1e-12, atol=1e-12)
        else:
            np.testing.assert_array_equal(found, -values)
    assert asking or cost.BUDGET > 1000


def test_loops_that_carry_on_while_something_holds_ask_too(
    asking: list[int], compiled: Any
) -> None:
    [found] = compiled(long_while())(np.array(5000))
    assert found == 5000
    assert asking


def test_nests_ask_in_their_outermost_loop(asking: list[int], compiled: Any) -> None:
    x = ot.dmatrix("x")
    outputs = [ot.softmax(x, axis=1), x.sum(axis=0), x.T * 2]
    value = np.random.default_rng(0).normal(size=(23, 17))
    found = compiled(lower_graph([x], outputs, og.toposort(outputs)))(value)
    np.testing.assert_allclose(found[1], value.sum(axis=0))
    np.testing.assert_array_equal(found[2], value.T * 2)
    np.testing.assert_allclose(found[0].sum(axis=1), np.ones(23))
    assert asking


def test_outlined_loops_ask_too(
    asking: list[int], compiled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "_LARGE", -1)
    x = ot.dvector("x")
    outputs = [ot.sin(x), x[1:] * 2.0, x + 3.0, x[::2] * 2.0]
    call = compiled(lower_graph([x], outputs, og.toposort(outputs)))
    for count in (1, 2, 9, 301):
        value = np.random.default_rng(count).normal(size=count)
        expected = [np.sin(value), value[1:] * 2.0, value + 3.0, value[::2] * 2.0]
        for found, right in zip(call(value), expected, strict=True):
            np.testing.assert_allclose(found, right, rtol=1e-14)
    assert asking or cost.BUDGET > 1000


def test_outlined_loops_that_are_told_to_end_end(
    asking: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "_LARGE", -1)
    plain = python_entry._POLL
    monkeypatch.setattr(
        python_entry, "_POLL", lambda function: plain(lambda frame: function(frame) + 1)
    )
    x = ot.dvector("x")
    outputs = [ot.sin(x), ot.cos(x)]
    with pytest.raises(UnitFailure) as caught:
        Compiled(lower_graph([x], outputs, og.toposort(outputs)))(np.zeros(5000))
    assert caught.value.site == -1
    assert len(asking) == 1


def nest_with_lengths_from_within(depth_of_length: int) -> Program:
    """Counts the innermost turns of four loops, whose last has a length that is read in an outer one."""
    builder = Builder()
    [source] = inputs_of(builder, ("int64", 1))
    count = builder.input_length(source, 0)
    result = output_of(builder, "int64", [])
    builder.store(result, builder.i64(0), builder.i64(0))
    lengths: list[Any] = [count] * 4
    with ExitStack() as stack:
        for depth in range(4):
            loop = stack.enter_context(builder.loop(lengths[depth], fixed=True))
            if depth == depth_of_length:
                lengths[3] = builder.load(source, loop.index)
        before = builder.load(result, builder.i64(0))
        builder.store(result, builder.i64(0), builder.add(before, builder.i64(1)))
    return builder.program


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_lengths_from_within_are_not_asked_for_outside(
    asking: list[int], compiled: Any, depth: int
) -> None:
    run = compiled(nest_with_lengths_from_within(depth))
    for lengths in ([], [3], [2, 0, -7, 4]):
        wanted = len(lengths) ** 2 * sum(max(n, 0) for n in lengths)
        assert run(np.array(lengths, "int64"))[0] == wanted


def backwards() -> Program:
    """Counts the turns of a loop in a loop that begins at 1, whatever its end."""
    builder = Builder()
    lengths = inputs_of(builder, ("float64", 1), ("float64", 1))
    rows, columns = (builder.input_length(v, 0) for v in lengths)
    result = output_of(builder, "int64", [])
    builder.store(result, builder.i64(0), builder.i64(0))
    for _ in range(3):
        with (
            builder.loop(rows, fixed=True),
            builder.loop(columns, start=builder.i64(1), fixed=True),
        ):
            before = builder.load(result, builder.i64(0))
            builder.store(result, builder.i64(0), builder.add(before, builder.i64(1)))
    return builder.program


def test_loops_that_end_before_they_begin_count_for_nothing(
    asking: list[int], compiled: Any
) -> None:
    run = compiled(backwards())
    for rows, columns in ((4, 0), (4, 1), (4, 3), (0, 0)):
        assert run(np.zeros(rows), np.zeros(columns))[0] == 3 * rows * max(columns - 1, 0)


def test_a_unit_that_is_told_to_end_ends(
    compiled: Any, monkeypatch: pytest.MonkeyPatch, asking: list[int]
) -> None:
    plain = python_entry._POLL
    monkeypatch.setattr(
        python_entry, "_POLL", lambda function: plain(lambda frame: function(frame) + 1)
    )
    with pytest.raises(UnitFailure) as caught:
        compiled(long_while())(np.array(5000))
    assert caught.value.site == -1
    assert len(asking) == 1


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("shape", [(500, 500), (250_000, 1), (1, 250_000), (60_000, 4)])
def test_sums_in_pieces_ask_as_seldom_as_what_they_do_takes(
    compiled: Any, questions: list[int], axis: int | None, shape: tuple[int, int]
) -> None:
    x = ot.dmatrix("x")
    y = ot.sqr(x).sum(axis=axis)
    value = np.random.default_rng(0).normal(size=shape)
    [found] = compiled(lower_graph([x], [y], og.toposort([y])))(value)
    np.testing.assert_allclose(found, (value * value).sum(axis=axis))
    # a piece of up to 2048 elements counts in full, however short the rows are
    assert len(questions) <= 1 + shape[0] // 2000


def test_short_loops_do_not_ask() -> None:
    x = ot.tensor("x", dtype="float64", shape=(100,))
    y = ot.exp(x)
    program = lower_graph([x], [y], og.toposort([y]))
    assert "interrupted" not in print_llvm(program)
    assert "poll_fn)table" not in print_c([("unit", program)])


def test_a_signal_ends_a_call_by_python(compiled: Callable[[Program], Any]) -> None:
    run = compiled(long_while())
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for _ in range(3):
            timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                run(np.array(10**10))
            timer.join()
    finally:
        signal.signal(signal.SIGINT, before)
