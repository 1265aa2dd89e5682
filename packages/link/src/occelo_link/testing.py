"""Building and running loop programs in tests of printers and lowerings."""

from __future__ import annotations

import ctypes
import os
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from occelo_link.c.compiler import CompilerMissing, find_compiler, shared_library
from occelo_link.c.printer import print_c
from occelo_link.cache.store import Store
from occelo_link.entries import LIST
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.interpret import run_program
from occelo_link.loops.ir.program import Buffer, Program, Value
from occelo_link.loops.ir.verify import verify
from occelo_link.native.llvm import print_llvm
from occelo_link.units.engine import compile_module, load_object
from occelo_link.units.interface import UnitInterface
from occelo_link.units.python_entry import PythonEntry
from occelo_link.units.unit import NativeUnit

__all__ = [
    "Compiled",
    "builtin_of",
    "compiled_c",
    "has_compiler",
    "inputs_of",
    "interpreted",
    "interrupted_after",
    "map_program",
    "output_of",
]


@contextmanager
def interrupted_after(seconds: float) -> Generator[None, None, None]:
    """Send this process SIGINT after so many seconds, with the handler that Python sets; the one before is put back."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)


def has_compiler() -> bool:
    """Whether a C compiler is found."""
    try:
        find_compiler()
    except CompilerMissing:
        return False
    return True


def inputs_of(builder: Builder, *kinds: tuple[str, int]) -> list[Buffer]:
    """Inputs of the given dtypes and numbers of dimensions."""
    made: list[Buffer] = []
    for dtype, ndim in kinds:
        buffer = builder.buffer(dtype, "input", position=len(made), ndim=ndim)
        made.append(buffer)
    builder.program.inputs.extend(made)
    return made


def output_of(builder: Builder, dtype: str, lengths: list[Value]) -> Buffer:
    """An output with room for its elements."""
    position = len(builder.program.outputs)
    buffer = builder.buffer(dtype, "output", position=position, ndim=len(lengths))
    builder.program.outputs.append(buffer)
    builder.alloc(buffer, builder.product(lengths), lengths)
    return buffer


def interface_of(program: Program) -> UnitInterface:
    """The interface of a program whose inputs may have any lengths."""
    return UnitInterface(
        [(b.holds, (None,) * b.ndim) for b in program.inputs],
        [(b.holds, b.ndim) for b in program.outputs],
        dict(program.table),
        list(program.constants),
    )


def map_program(function: Callable[..., Value], count: int = 1, lanes: int = 8) -> Program:
    """A program that applies a function of float64 scalars to vectors."""
    b = Builder()
    vectors = inputs_of(b, *[("float64", 1)] * count)
    n = b.input_length(vectors[0], 0)
    out = output_of(b, "float64", [n])
    with b.loop(n, lanes=lanes) as loop:
        b.store(out, loop.index, function(b, *[b.load(v, loop.index) for v in vectors]))
    return b.program


class Compiled:
    """A program through LLVM, for this processor or another of its kind."""

    def __init__(
        self, program: Program, cpu: str | None = None, features: str | None = None
    ) -> None:
        verify(program)
        self.unit = load_object(compile_module(print_llvm(program), cpu, features))
        self.entry = PythonEntry(self.unit.address, interface_of(program))

    def __call__(self, *arrays: Any) -> list[Any]:
        return self.entry(arrays)


def builtin_of(program: Program) -> Callable[..., Any]:
    """The builtin function of arrays that runs a program through LLVM and returns all results."""
    verify(program)
    interface = interface_of(program)
    unit = NativeUnit(interface, load_object(compile_module(print_llvm(program))), program)
    python = PythonEntry(unit.unit.address, interface)
    made = unit.entry(LIST, lambda *arrays: python(arrays))
    assert made is not None
    return made


def compiled_c(folder: Path, *programs: Program) -> list[Callable[..., list[Any]]]:
    """Programs through C, in one library that is kept in a folder."""
    named = [(f"unit_{i}", p) for i, p in enumerate(programs)]
    library = shared_library(print_c(named), Store(folder))
    result: list[Callable[..., list[Any]]] = []
    for name, program in named:
        address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        assert address is not None
        entry = PythonEntry(address, interface_of(program))
        result.append(lambda *arrays, _entry=entry, _keep=library: _entry(arrays))  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    return result


def interpreted(program: Program, *arrays: Any, **functions: Any) -> list[Any]:
    """A program through the interpreter of loop programs."""
    return run_program(program, arrays, functions)
