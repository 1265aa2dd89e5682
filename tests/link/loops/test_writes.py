"""Random programs that write parts of tensors and read them through views, against NumPy."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_link.loops.build import lower_graph
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Program
from occelo_link.loops.ir.verify import InvalidProgram, verify
from occelo_testing.loop_interpreter import run_program
from occelo_testing.loop_programs import (
    Compiled,
    compiled_c,
    has_compiler,
    inputs_of,
    interpreted,
    output_of,
)
from occelo_testing.programs.generating import WRITES, random_program
from occelo_testing.programs.listing import listing
from occelo_testing.programs.program import Program as Written
from occelo_testing.programs.rounding import expected_results

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
COUNT = 20_000 if THOROUGH else 250
IN_C = 400 if THOROUGH else 40


def lowered(written: Written) -> Program:
    inputs, outputs = written.build()
    program = lower_graph(inputs, outputs, og.toposort(outputs))
    verify(program)
    return program


def check(run: Any, written: Written) -> None:
    """Compare the results with NumPy's, and the arguments with what they were."""
    arrays = [np.array(v, order="C") for v in written.values()]  # units need contiguous arrays
    for found, one in zip(run(arrays), expected_results(written), strict=True):
        wrong = one.difference(np.asarray(found))
        assert wrong is None, listing(written, wrong)
    for value, before in zip(arrays, written.values(), strict=True):
        np.testing.assert_array_equal(value, before)


@pytest.mark.parametrize("part", range(5))
def test_writes_are_seen_by_all_later_reads(part: int) -> None:
    for seed in range(part, COUNT, 5):
        written = random_program(seed, WRITES)
        program = lowered(written)
        check(lambda arrays, program=program: run_program(program, arrays), written)
        fast = Compiled(program)
        check(lambda arrays, fast=fast: fast(*arrays), written)


@pytest.mark.skipif(not has_compiler(), reason="needs a C compiler")
def test_writes_in_c(tmp_path: Path) -> None:
    programs = [random_program(seed, WRITES) for seed in range(IN_C)]
    for f, written in zip(compiled_c(tmp_path, *map(lowered, programs)), programs, strict=True):
        check(lambda arrays, f=f: f(*arrays), written)


@pytest.mark.parametrize("name", ["set", "inc"])
@pytest.mark.parametrize("key", [np.s_[::-1], [2, 0, 1], np.s_[0:1]])
def test_a_tensor_is_written_to_itself(name: str, key: Any) -> None:
    v = ot.dvector("v")
    x = ot.cumsum(v)
    value = np.array([1.0, 2.0, 4.0])
    of_x = np.cumsum(value)
    source = (x[0:1], of_x[0:1]) if key == np.s_[0:1] else (x, of_x)
    expected = of_x.copy()
    expected[key] = source[1] if name == "set" else of_x[key] + source[1]
    outputs = [getattr(x[key], name)(source[0])]
    program = lower_graph([v], outputs, og.toposort(outputs))
    verify(program)
    np.testing.assert_array_equal(run_program(program, [value])[0], expected)
    np.testing.assert_array_equal(Compiled(program)(value)[0], expected)


# what is remembered of memory


def test_a_load_is_not_made_before_a_loop_that_has_written_to_it() -> None:
    b = Builder()
    (x,) = inputs_of(b, ("float64", 1))
    n = b.input_length(x, 0)
    out = output_of(b, "float64", [n])
    with b.loop(n) as loop:
        b.store(out, loop.index, b.load(x, loop.index))
        first = b.load(out, b.i64(0))
        b.store(out, loop.index, b.op("add", first, b.load(out, loop.index)))
    verify(b.program)
    (result,) = interpreted(b.program, np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(result, [2.0, 4.0, 5.0])
    np.testing.assert_array_equal(Compiled(b.program)(np.array([1.0, 2.0, 3.0]))[0], result)


def _with_hoisted_load() -> Program:
    """A loop that writes what is read of the same memory, once, before the loop."""
    b = Builder()
    (x,) = inputs_of(b, ("float64", 1))
    n = b.input_length(x, 0)
    out = output_of(b, "float64", [n])
    with b.loop(n) as loop:
        first = b.load(out, b.i64(0))
        b.store(out, loop.index, b.op("add", first, b.load(x, loop.index)))
    return b.program


def _with_value_across_a_write() -> Program:
    b = Builder()
    (x,) = inputs_of(b, ("float64", 1))
    out = output_of(b, "float64", [b.input_length(x, 0)])
    before = b.load(out, b.i64(0))
    b.store(out, b.i64(0), b.load(x, b.i64(0)))
    b.use(out, before)
    return b.program


def _with_value_across_a_write_through_other_memory() -> Program:
    b = Builder()
    (x,) = inputs_of(b, ("float64", 1))
    n = b.input_length(x, 0)
    one = b.buffer("float64", "work", ndim=1)
    b.alloc(one, n)
    b.store(one, b.i64(0), b.load(x, b.i64(0)))
    before = b.load(one, b.i64(0))
    out = b.buffer("float64", "output", position=0, ndim=1)
    b.program.outputs.append(out)
    b.alloc(out, n, [n], one, keeps=True)
    b.store(out, b.i64(0), b.op("add", before, before))
    b.use(one, before)
    return b.program


def _with_memory_that_was_handed_on() -> Program:
    b = Builder()
    (x,) = inputs_of(b, ("float64", 1))
    n = b.input_length(x, 0)
    one, two = (b.buffer("float64", "work", ndim=1) for _ in range(2))
    b.alloc(one, n)
    b.alloc(two, n, reuse=one)
    out = output_of(b, "float64", [n])
    b.store(out, b.i64(0), b.load(one, b.i64(0)))
    return b.program


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (_with_hoisted_load, "written since"),
        (_with_value_across_a_write, "written since"),
        (_with_value_across_a_write_through_other_memory, "written since"),
        (_with_memory_that_was_handed_on, "before it is allocated"),
    ],
)
def test_the_verifier_refuses_what_is_remembered_too_long(make: Any, message: str) -> None:
    with pytest.raises(InvalidProgram, match=message):
        verify(make())


SHAPES = [
    (0,),
    (1,),
    (9,),
    (0, 70),
    (3, 0),
    (1, 70),
    (5, 1),
    (6, 7),
    (6, 70),
    (5, 70, 2),
    (4, 5, 6),
]
AROUND = [
    (slice(2, None),),
    (slice(None, -1),),
    (slice(3, 2),),
    (slice(1, -1), slice(1, -1)),
    (slice(None), slice(2, 5)),
    (slice(-2, None), slice(3, None)),
    (slice(1, -1), slice(9, 3)),
    (slice(0, -1), slice(1, None), slice(1, None)),
]


@pytest.mark.parametrize("static", [False, True])
def test_what_is_around_a_block_is_copied(static: bool, tmp_path: Path) -> None:
    keys = [(shape, key) for shape in SHAPES for key in AROUND if len(key) <= len(shape)]
    programs: list[Program] = []
    cases: list[tuple[Any, Any, list[Any]]] = []
    for shape, key in keys if static or THOROUGH else keys[::3]:
        value = np.random.default_rng(0).normal(size=shape)
        part = np.random.default_rng(1).normal(size=value[key].shape)
        x = og.TensorType("float64", shape if static else (None,) * len(shape))("x")
        y = og.TensorType("float64", (None,) * len(shape))("y")
        outputs = [x[key].set(y), x[key].inc(y), (x + 1)[key].inc(2.0)]
        programs.append(lower_graph([x, y], outputs, og.toposort(outputs)))
        verify(programs[-1])
        expected = [value.copy(), value.copy(), value + 1]
        expected[0][key] = part
        expected[1][key] += part
        expected[2][key] += 2.0
        cases.append((value, part, expected))
    in_c = compiled_c(tmp_path, *programs) if has_compiler() else []
    for at, (value, part, expected) in enumerate(cases):
        program = programs[at]
        runs: list[Any] = [Compiled(program), *in_c[at : at + 1]]
        for results in [run_program(program, (value, part)), *(run(value, part) for run in runs)]:
            for result, one in zip(results, expected, strict=True):
                np.testing.assert_array_equal(result, one, err_msg=str(cases[at]))
