"""Loop programs on 64-bit ARM processors: LLVM compiles them, and they give this machine's bits under an emulator."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_link.loops.build import lower_graph
from occelo_link.loops.ir.program import Program
from occelo_link.loops.lowering import NotLowered
from occelo_link.native.llvm import print_llvm
from occelo_testing import emulated
from occelo_testing.checks import symbolic
from occelo_testing.examples import EXAMPLES
from occelo_testing.loop_programs import Compiled

STEP = 3 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 80
PROCESSORS = ("generic", "neoverse-v1")
"""A processor with vectors of 128 bits, and one with vectors of 256 bits as well."""


@functools.cache
def programs() -> list[tuple[str, Program, list[Any]]]:
    """The programs of examples, with arguments. Those that call BLAS, LAPACK or Python are left out."""
    lowered: list[tuple[str, Program, list[Any]]] = []
    for example in EXAMPLES[::STEP]:
        inputs, output = symbolic(example, known_shapes=False)
        try:
            program = lower_graph(inputs, [output], og.toposort([output]))
        except NotLowered:
            continue
        if emulated.is_standalone(program):
            lowered.append((str(example), program, [np.array(a) for a in example.arguments]))
    return lowered


@pytest.mark.parametrize("processor", PROCESSORS)
def test_llvm_compiles_for_arm(processor: str) -> None:
    assert len(programs()) > 1500 // STEP // 2
    for name, program, _ in programs()[::3]:
        code = emulated.compiled_for_arm(print_llvm(program, features=""), processor)
        assert code[:4] == b"\x7fELF", name
        assert code[18:20] == b"\xb7\x00", f"{name}: the machine of the ELF header is not AArch64"


@pytest.mark.skipif(emulated.missing() is not None, reason=f"{emulated.missing()} is not installed")
def test_programs_give_the_same_bits_on_arm(tmp_path: Path) -> None:
    cases = [(program, arrays) for _, program, arrays in programs()]
    emulated_results = emulated.run_emulated(cases, tmp_path)
    for (name, program, arrays), results in zip(programs(), emulated_results, strict=True):
        assert not isinstance(results, int), f"{name} ended with {results}"
        for theirs, ours in zip(results, Compiled(program)(*arrays), strict=True):
            assert theirs.dtype == ours.dtype
            # the signs of NaN are the processor's
            np.testing.assert_array_equal(theirs, ours, strict=True, err_msg=name)
            if not np.isnan(ours).any():
                assert theirs.tobytes() == ours.tobytes(), name
