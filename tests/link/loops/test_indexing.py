"""Every kind of key in loop programs: by their interpreter, and through LLVM and C."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_link.loops.build import lower_graph
from occelo_link.loops.ir.program import For, Program
from occelo_link.loops.ir.verify import verify
from occelo_link.units.interface import UnitFailure
from occelo_testing.keys import Indexing, indexings
from occelo_testing.loop_interpreter import run_program
from occelo_testing.loop_programs import Compiled, compiled_c, has_compiler

settings.register_profile(
    "ci", max_examples=120, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.register_profile(
    "thorough", max_examples=5000, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
DTYPES = ("float64", "float32", "int64", "int8", "bool")


def lowered(indexing: Indexing) -> Program:
    outputs = indexing.outputs()
    program = lower_graph(indexing.inputs, outputs, og.toposort(outputs))
    verify(program)
    return program


def check(results: list[object], indexing: Indexing) -> None:
    for number, (value, wanted) in enumerate(zip(results, indexing.expected(), strict=True)):
        np.testing.assert_array_equal(value, wanted, err_msg=f"{number} of {indexing.plain}")


@given(indexings(dtypes=DTYPES))
def test_keys_mean_what_they_mean_in_numpy(indexing: Indexing) -> None:
    program = lowered(indexing)
    check(run_program(program, indexing.values), indexing)
    check(Compiled(program)(*indexing.values), indexing)


@pytest.mark.skipif(not has_compiler(), reason="needs a C compiler")
def test_keys_in_c(tmp_path: Path) -> None:
    drawn: list[Indexing] = []

    @settings(max_examples=25)
    @given(indexings(dtypes=DTYPES))
    def draw(indexing: Indexing) -> None:
        drawn.append(indexing)

    draw()
    functions = compiled_c(tmp_path, *map(lowered, drawn))
    for function, indexing in zip(functions, drawn, strict=True):
        check(function(*indexing.values), indexing)


def test_ranges_from_0_are_checked_without_a_loop() -> None:
    x, n = ot.dvector("x"), ot.lscalar("n")
    for index, loops in ((ot.arange(n), 1), (ot.arange(n) + 0 * n, 2)):
        outputs = [x[index]]
        program = lower_graph([x, n], outputs, og.toposort(outputs))
        assert sum(isinstance(s, For) for s in program.body.statements) == loops


@pytest.mark.parametrize("dtype", ["int64", "int32", "int8"])
@pytest.mark.parametrize(("start", "step"), [(0, 1), (0, 2), (2, 1), (-3, 1), (4, -1), (4, -2)])
def test_ranges_as_positions(dtype: str, start: int, step: int) -> None:
    x, n = ot.dmatrix("x"), ot.lscalar("n")
    position = ot.arange(start, n, step, dtype=dtype)
    outputs = [x[position], x[position, position], ot.set_subtensor(x[position, 1], -1.0)]
    run = Compiled(lower_graph([x, n], outputs, og.toposort(outputs)))
    value = np.arange(25.0).reshape(5, 5)
    for stop in (-9, -7, -2, -1, 0, 1, 2, 4, 5, 6, 7, 127):
        where = np.arange(start, stop, step).astype(dtype)
        arrays = value, np.asarray(stop)
        try:
            written = value.copy()
            written[where, 1] = -1.0
            expected = [value[where], value[where, where], written]
        except IndexError:
            with pytest.raises(UnitFailure):
                run(*arrays)
            continue
        for found, wanted in zip(run(*arrays), expected, strict=True):
            np.testing.assert_array_equal(found, wanted, err_msg=f"up to {stop}")


@pytest.mark.parametrize("stop", [-(2**63), -1, 0, 3, 4])
def test_ranges_over_an_empty_dimension(stop: int) -> None:
    x, n = ot.dmatrix("x"), ot.lscalar("n")
    outputs = [x[ot.arange(n)], x[:, ot.arange(n)]]
    run = Compiled(lower_graph([x, n], outputs, og.toposort(outputs)))
    value = np.zeros((4, 4))
    rows, columns = run(value, np.asarray(stop))
    assert (rows.shape, columns.shape) == ((max(stop, 0), 4), (4, max(stop, 0)))
    if stop > 0:
        with pytest.raises(UnitFailure):
            run(value[:0], np.asarray(stop))
    else:
        assert run(value[:0], np.asarray(stop))[0].shape == (0, 4)
