"""Laws of lowering over random graphs: many ops fused, several outputs, empty tensors, all dtypes."""

from __future__ import annotations

import numpy as np

import occelo_graph as og
from occelo_link.loops.build import lower_graph
from occelo_link.loops.ir.verify import verify
from occelo_link.loops.registry import find_lowering
from occelo_testing.loop_interpreter import run_program
from occelo_testing.loop_programs import Compiled
from occelo_testing.programs.trying import RandomGraph, on_random_graphs

DTYPES = ("float64", "float32", "int64", "int8", "bool")
JUMPS = {"floor", "lt", "eq", "argmax", "Argmax"}
"""Where a rounding error may become a difference of 1."""


@on_random_graphs(most=20, dtypes=DTYPES)
def test_machine_code_gives_the_bits_of_the_interpreter(graph: RandomGraph) -> None:
    order = og.toposort(graph.outputs)
    if not all(find_lowering(node) for node in order):
        return
    program = lower_graph(graph.inputs, graph.outputs, order)
    verify(program)
    arrays = [np.ascontiguousarray(v) for v in graph.values]
    fast = Compiled(program)(*arrays)
    if any(":" in name for name in program.table):
        return  # calls of libraries are the machine's
    for a, b in zip(fast, run_program(program, arrays), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@on_random_graphs(most=20, dtypes=DTYPES)
def test_programs_compute_what_their_graphs_say(graph: RandomGraph) -> None:
    order = og.toposort(graph.outputs)
    names = {str(getattr(node.op, "scalar_op", type(node.op).__name__)) for node in order}
    if names & JUMPS or not all(find_lowering(node) for node in order):
        return
    fast = Compiled(lower_graph(graph.inputs, graph.outputs, order))(
        *[np.ascontiguousarray(v) for v in graph.values]
    )
    expected = og.evaluate(graph.outputs, graph.given())
    for a, b in zip(fast, expected, strict=True):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        dtypes = {v.type.dtype for n in order for v in n.outputs}
        # decompositions round after each op, the op's own NumPy code may not
        rtol = 1e-2 if "float16" in dtypes else 1e-3 if "float32" in dtypes else 1e-8
        size = np.nanmax(np.abs(b[np.isfinite(b)]), initial=1.0) if b.dtype.kind == "f" else 1.0
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * size)
