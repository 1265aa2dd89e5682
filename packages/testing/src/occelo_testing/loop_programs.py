"""Helpers for tests: building, compiling and running loop programs, and compiling ops by their decompositions.

The tests of printers, lowerings, linkers and compiled functions call these helpers.
"""

from __future__ import annotations

import ctypes
import functools
import os
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from occelo_graph import Apply, FunctionGraph, Op, Variable, toposort
from occelo_graph.examples.example import Example
from occelo_graph.ir.decomposing import decomposition
from occelo_link.c.compiler import CompilerMissing, find_compiler, shared_library
from occelo_link.c.source import print_c
from occelo_link.cache.store import Store
from occelo_link.entry_kinds import LIST
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Buffer, Program, Value
from occelo_link.loops.ir.verify import verify
from occelo_link.loops.registry import find_lowering, lowers_to_loops
from occelo_link.native.llvm import print_llvm
from occelo_link.registry import make_linker
from occelo_link.units.engine import compile_module, load_object
from occelo_link.units.interface import UnitInterface
from occelo_link.units.python_entry import PythonEntry
from occelo_link.units.unit import NativeUnit
from occelo_link.withheld_lowerings import without_lowering
from occelo_testing.checks import symbolic
from occelo_testing.examples import by_family
from occelo_testing.loop_interpreter import run_program


@contextmanager
def interrupted_after(seconds: float) -> Generator[None, None, None]:
    """Send the signal SIGINT to this process after ``seconds``, as Ctrl-C does.

    Python's default handler of the signal is active within the ``with`` block. Then the previous handler is restored.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)


_LOOSE = {"float32": 1e-5, "float16": 4e-3, "complex64": 1e-5}


def _decomposed(outputs: list[Variable]) -> list[Apply]:
    """Return the nodes of a graph whose ops have a decomposition."""
    return [node for node in toposort(outputs) if decomposition(node) is not None]


@functools.cache
def _decomposable(family: str, each: bool) -> list[tuple[Example, list[Any], Variable, set[Any]]]:
    """Return the examples of a family that contain ops with a decomposition, each with its inputs, its output and these
    ops.

    If ``each`` is false, an example is left out if earlier examples contain all of its ops.
    """
    cases: list[tuple[Example, list[Any], Variable, set[Any]]] = []
    seen: set[Any] = set()
    for example in by_family(family):
        inputs, output = symbolic(example, known_shapes=False)
        ops = {node.op if node.op.elementwise else type(node.op) for node in _decomposed([output])}
        if ops and (each or not ops <= seen):
            cases.append((example, inputs, output, ops))
        seen |= ops
    return cases


def decomposed_ops(family: str) -> set[Any]:
    """Return the ops with a decomposition in the examples of a family.

    The set contains elementwise ops themselves, and the classes of all other ops.
    """
    return set[Any]().union(*(ops for *_, ops in _decomposable(family, False)))


def agree_by_decompositions(
    linker: str, family: str, each: bool = True, at_once: int | None = None, step: int = 1
) -> int:
    """Compile examples of a family with all ops replaced by their decompositions, and compare the results with NumPy's.

    If ``each`` is false, an example is left out if earlier examples contain all of its ops. Of the remaining examples,
    the first and then every ``step``-th is run. ``at_once`` is the number of examples in one graph, by default all;
    some compilers need too long for large functions. Raises AssertionError if a result differs by more than the
    tolerance of the example. Returns the number of examples that were run.
    """
    cases = _decomposable(family, each)[::step]
    size = at_once or len(cases)
    for start in range(0, len(cases), size or 1):
        _agree_by_decompositions(linker, cases[start : start + size])
    return len(cases)


def _agree_by_decompositions(
    linker: str, cases: list[tuple[Example, list[Any], Variable, set[Any]]]
) -> None:
    inputs = [v for _, own, _, _ in cases for v in own]
    with without_lowering(*set().union(*(ops for *_, ops in cases))):
        graph = FunctionGraph(inputs, [output for _, _, output, _ in cases])
        vm, containers, results = make_linker(linker).accept(graph).make_thunk()
        arrays = [a for example, *_ in cases for a in example.arguments]
        for container, array in zip(containers, arrays, strict=True):
            container.value = np.array(array)
        vm()
    for (example, _, output, _), result in zip(cases, results, strict=True):
        value = np.asarray(result.value)
        with np.errstate(all="ignore"):
            expected = np.asarray(example.reference(*example.arguments))
        tolerance = max(example.tolerance, _LOOSE.get(value.dtype.name, 0.0))
        assert value.dtype.name == output.type.dtype, example
        assert value.shape == expected.shape, example
        np.testing.assert_allclose(value, expected, tolerance, tolerance, err_msg=str(example))


def has_compiler() -> bool:
    """Whether this machine has a C compiler."""
    try:
        find_compiler()
    except CompilerMissing:
        return False
    return True


def inputs_of(builder: Builder, *kinds: tuple[str, int]) -> list[Buffer]:
    """Add inputs to a program; each kind is a dtype and a number of dimensions. Returns the buffers of the inputs."""
    buffers: list[Buffer] = []
    for dtype, ndim in kinds:
        buffer = builder.buffer(dtype, "input", position=len(buffers), ndim=ndim)
        buffers.append(buffer)
    builder.program.inputs.extend(buffers)
    return buffers


def output_of(builder: Builder, dtype: str, lengths: list[Value]) -> Buffer:
    """Add an output to a program, and the statement that allocates its memory. Returns the buffer of the output."""
    position = len(builder.program.outputs)
    buffer = builder.buffer(dtype, "output", position=position, ndim=len(lengths))
    builder.program.outputs.append(buffer)
    builder.alloc(buffer, builder.product(lengths), lengths)
    return buffer


def interface_of(program: Program) -> UnitInterface:
    """Return the interface of a program whose inputs may have any lengths."""
    return UnitInterface(
        [(b.holds, (None,) * b.ndim) for b in program.inputs],
        [(b.holds, b.ndim) for b in program.outputs],
        dict(program.table),
        list(program.constants),
    )


def map_program(function: Callable[..., Value], count: int = 1, lanes: int = 8) -> Program:
    """Make a program that applies a function of ``count`` scalars, elementwise, to ``count`` vectors of float64.

    ``function`` gets the `Builder` and the scalars, and returns the result. ``lanes`` is the number of lanes of the
    loop.
    """
    b = Builder()
    vectors = inputs_of(b, *[("float64", 1)] * count)
    n = b.input_length(vectors[0], 0)
    out = output_of(b, "float64", [n])
    with b.loop(n, lanes=lanes) as loop:
        b.store(out, loop.index, function(b, *[b.load(v, loop.index) for v in vectors]))
    return b.program


class Compiled:
    """A callable that runs a program, compiled by LLVM.

    ``cpu`` and ``features`` name the processor, by default this machine's. Another processor must have the same
    architecture.
    """

    def __init__(
        self, program: Program, cpu: str | None = None, features: str | None = None
    ) -> None:
        verify(program)
        self.unit = load_object(
            compile_module(print_llvm(program, features=features), cpu, features)
        )
        self.entry = PythonEntry(self.unit.address, interface_of(program))

    def __call__(self, *arrays: Any) -> list[Any]:
        return self.entry(arrays)


def builtin_of(program: Program) -> Callable[..., Any]:
    """Compile a program by LLVM. Returns its entry, a builtin function of the input arrays that returns a list of all
    results.
    """
    verify(program)
    interface = interface_of(program)
    unit = NativeUnit(interface, load_object(compile_module(print_llvm(program))), program)
    python = PythonEntry(unit.unit.address, interface)
    entry = unit.entry(LIST, lambda *arrays: python(arrays))
    assert entry is not None
    return entry


@dataclass
class _CompiledC:
    """A callable that runs a program, compiled as C. The object keeps the shared library loaded."""

    entry: PythonEntry
    library: ctypes.CDLL

    def __call__(self, *arrays: Any) -> list[Any]:
        return self.entry(arrays)


def compiled_c(folder: Path, *programs: Program) -> list[Callable[..., list[Any]]]:
    """Compile programs as C to one shared library, which is cached in a folder. Returns a callable for each program."""
    named = [(f"unit_{i}", p) for i, p in enumerate(programs)]
    library = shared_library(print_c(named), Store(folder))
    result: list[Callable[..., list[Any]]] = []
    for name, program in named:
        address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        assert address is not None
        result.append(_CompiledC(PythonEntry(address, interface_of(program)), library))
    return result


def interpreted(program: Program, *arrays: Any, **functions: Any) -> list[Any]:
    """Run a program with the interpreter of loop programs. Returns its results.

    ``functions`` are Python functions in place of the outside functions that the program calls (see `run_program`).
    """
    return run_program(program, arrays, functions)


def lower_as_doubling(cls: type[Op]) -> None:
    """Tell loop programs that ops of a class double their input."""

    @lowers_to_loops(cls)
    def doubled(context: Any, node: Any, tensors: Any) -> Any:
        (x,) = node.inputs
        twice = (x + x).owner
        lowering = find_lowering(twice)
        assert lowering is not None
        return lowering(context, twice, [tensors[0], tensors[0]])
