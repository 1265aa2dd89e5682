"""Every kind of key in loop programs: by their interpreter, and through LLVM and C."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import occelo_graph as og
from occelo_graph.testing.keys import Indexing, indexings
from occelo_link.loops.build import lower_graph
from occelo_link.loops.ir.interpret import run_program
from occelo_link.loops.ir.program import Program
from occelo_link.loops.ir.verify import verify
from occelo_link.testing import Compiled, compiled_c, has_compiler

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
