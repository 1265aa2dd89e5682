"""The table of examples through LLVM and C, for several generations of processors: the same bits everywhere."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from occelo_graph import toposort
from occelo_graph.config import config
from occelo_link.blocks.vm import prepared
from occelo_link.c import pieces
from occelo_link.c.compiler import CompilerMissing, find_compiler
from occelo_link.c.source import print_c
from occelo_link.loops.build import find_lowering, lower_graph
from occelo_link.machine.processor import host_target
from occelo_link.machine.symbol_addresses import blas_library
from occelo_testing.checks import symbolic
from occelo_testing.examples import EXAMPLES
from occelo_testing.loop_programs import Compiled, compiled_c

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
STEP = 1 if THOROUGH else 80
BATCH = 40
"""Programs that C compiles at a time."""
LEVELS = ("x86-64", "x86-64-v3")


def programs(chosen: Any) -> list[tuple[Any, Any, list[Any]]]:
    """The examples with a loop lowering, their programs and their arguments."""
    found: list[tuple[Any, Any, list[Any]]] = []
    for example in chosen:
        inputs, output = symbolic(example, False)
        outputs = list(output) if isinstance(output, list | tuple) else [output]
        order = toposort(outputs)
        if not order or not all(find_lowering(node) for node in order):
            continue
        program = lower_graph(inputs, outputs, order, blas_integer=blas_library().integer)
        found.append((example, program, [prepared(np.asarray(a)) for a in example.arguments]))
    return found


def check(example: Any, one: Any, other: Any) -> None:
    for a, b in zip(one, other, strict=True):
        same = a.tobytes() == b.tobytes()
        # of a NaN only that it is one is promised
        assert same or np.array_equal(a, b, equal_nan=True), example.name


def level(cpu: str) -> None:
    triple, _, features = host_target()
    if not triple.startswith("x86_64") or (cpu == "x86-64-v3" and "+avx2" not in features):
        pytest.skip(f"this processor does not run code for {cpu}")


def test_most_examples_have_a_program() -> None:
    assert len(programs(EXAMPLES[::16])) > 0.8 * len(EXAMPLES[::16])


@pytest.mark.parametrize("cpu", LEVELS)
def test_llvm_for_an_older_processor(cpu: str) -> None:
    level(cpu)
    for example, program, arguments in programs(EXAMPLES[::STEP]):
        check(example, Compiled(program, cpu, "")(*arguments), Compiled(program)(*arguments))


@pytest.mark.parametrize("cpu", ["native", *LEVELS])
def test_c_beside_llvm(cpu: str, tmp_path: Path) -> None:
    try:
        find_compiler()
    except CompilerMissing:
        pytest.skip("there is no C compiler on this machine")
    if cpu != "native":
        level(cpu)
    made = programs(EXAMPLES[:: STEP * (1 if THOROUGH else 2)])
    with config.change_flags(gcc__cxxflags="" if cpu == "native" else f"-march={cpu}"):
        for first in range(0, len(made), BATCH):
            batch = made[first : first + BATCH]
            in_c = compiled_c(tmp_path, *[program for _, program, _ in batch])
            for (example, program, arguments), call in zip(batch, in_c, strict=True):
                check(example, call(*arguments), Compiled(program)(*arguments))


@pytest.mark.parametrize("divided", [False, True])
def test_c_without_warnings(divided: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        compiler = find_compiler()
    except CompilerMissing:
        pytest.skip("there is no C compiler on this machine")
    if divided:
        monkeypatch.setattr(pieces, "_LONG", 25)
        monkeypatch.setattr(pieces, "_PIECE", 8)
    made = programs(EXAMPLES[1 :: STEP * 2])
    for first in range(0, len(made), BATCH):
        batch = made[first : first + BATCH]
        source = tmp_path / "units.c"
        named = [(f"unit_{k}", program) for k, (_, program, _) in enumerate(batch)]
        source.write_text(print_c(named))
        strict = ["-O1", "-Wall", "-Wextra", "-Werror", "-c", str(source)]
        command = [*compiler, *strict, "-o", str(tmp_path / "units.o")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
