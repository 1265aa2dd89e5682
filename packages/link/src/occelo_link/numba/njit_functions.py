"""`njit_function` makes functions that Numba code can call from compiled functions, for `as_numba`.

Users call them in their own ``njit`` functions.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from occelo_graph import TensorType, Variable
from occelo_link.blocks.partition import Part
from occelo_link.blocks.vm import prepared
from occelo_link.loops.ir.program import Program
from occelo_link.numba.compiling import dispatcher_of
from occelo_link.numba.intrinsics import (
    address_intrinsic,
    argument_intrinsic,
    memory_intrinsic,
    result_intrinsic,
)
from occelo_link.numba.library import helpers, numba
from occelo_link.numba.linker import NumbaLinker
from occelo_link.numba.printer import Memory, print_numba
from occelo_link.units.engine import Unit, compile_module, load_object
from occelo_link.units.frame import ARENA, ARENA_END, FIRST_INPUT, INPUT_SLOTS, OVERFLOW, THREAD
from occelo_link.units.interface import UnitInterface
from occelo_link.units.python_entry import make_frame, make_table

_RECORD = 3 + 64
"""The number of slots in the record of an output: element size, number of dimensions, memory, and up to 64 lengths."""


@functools.cache
def _services() -> Unit:
    """Return the services that units call for memory and interrupts under `as_numba`, as loaded machine code.

    They allocate results in Numba's reference-counted memory. Their source is ``services.c``, and ``services.ll`` is made
    from it (``packages/link/llvm_from_c.py``).
    """
    text = Path(__file__).with_name("services.ll").read_text(encoding="utf-8")
    loaded = load_object(compile_module(text), "output")
    names = ("MemInfo_alloc_safe", "MemInfo_data", "MemInfo_release", "Allocate", "Free")
    address = ctypes.CFUNCTYPE(ctypes.c_void_p)(loaded.find("numba_functions"))()
    functions = (ctypes.c_void_p * len(names)).from_address(address or 0)
    functions[:] = [helpers[name] for name in names]
    return loaded


class _Call:
    """Writes the Python text of a function that stores its arguments in a frame, runs the unit and returns arrays.

    ``explicit`` are the inputs that are arguments of the function.
    """

    def __init__(self, part: Part, program: Program, explicit: Sequence[Variable]) -> None:
        self.part = part
        self.records = FIRST_INPUT + INPUT_SLOTS * len(part.inputs)
        self.slots = self.records + _RECORD * len(part.outputs)
        self.outputs = program.outputs
        self.arguments = {v: f"a{k}" for k, v in enumerate(explicit)}
        self.lines: list[str] = []
        self.namespace: dict[str, Any] = {}
        self.kept: list[Any] = []

    def line(self, text: str) -> None:
        self.lines.append("    " + text)

    def start(self, table: Any) -> None:
        self.namespace["frame_of"] = memory_intrinsic(Memory("stack", "int64", self.slots))
        self.namespace["table_at"] = address_intrinsic(table.ctypes.data)
        self.kept.append(table)
        self.line("frame = frame_of()")
        self.line("table = table_at()")
        self.line(f"frame[0] = {self.records}")
        for slot in (ARENA, ARENA_END, OVERFLOW, THREAD):
            self.line(f"frame[{slot}] = 0")

    def argument(self, position: int, variable: Variable) -> None:
        kind = variable.type
        assert isinstance(kind, TensorType)
        name, slot = self.arguments[variable], FIRST_INPUT + INPUT_SLOTS * position
        if kind.ndim:
            self.line(f"{name} = np.ascontiguousarray({name})")
        for axis, length in enumerate(kind.shape):
            if length is not None:
                self.line(f"if {name}.shape[{axis}] != {length}:")
                message = f"Argument {variable} needs the shape {kind.shape}"
                self.line(f"    raise ValueError({message!r})")
        self.namespace[f"enter{position}"] = argument_intrinsic(kind.dtype, kind.ndim, slot)
        self.line(f"enter{position}(frame, {name})")

    def value(self, position: int, array: Any) -> None:
        """Write the text for an input that is not an argument. Its present value becomes a constant of the function."""
        array = prepared(array)
        frame, alive = make_frame([array])
        self.kept += [array, *alive]
        for k in range(INPUT_SLOTS):
            name = f"fixed{position}_{k}"
            self.namespace[name] = address_intrinsic(int(frame[FIRST_INPUT + k]))
            self.line(f"frame[{FIRST_INPUT + INPUT_SLOTS * position + k}] = number({name}())")
        self.namespace["number"] = memory_intrinsic(Memory("number"))

    def run(self, positions: Sequence[int]) -> None:
        finish = _services().find("finish")
        count = len(self.outputs)
        for k, buffer in enumerate(self.outputs):
            at = self.records + _RECORD * k
            self.line(f"frame[{at}] = {np.dtype(buffer.holds).itemsize}")
            self.line(f"frame[{at + 1}] = {buffer.ndim}")
            self.line(f"frame[{at + 2}] = 0")
            make = result_intrinsic(buffer.holds, buffer.ndim, at)
            self.namespace[f"result{k}"] = make
        self.namespace["finish"] = memory_intrinsic(Memory("call", "", finish))
        self.line("status = unit(frame, table)")
        # keeps the arrays alive until here, since the frame contains only their addresses
        self.namespace["hold"] = memory_intrinsic(Memory("hold"))
        self.lines += [f"    hold({name})" for name in self.arguments.values()]
        self.line("if status != 0:")
        self.line(f"    finish(frame, {count})")
        self.line("    if status < 0:")
        self.line("        raise MemoryError('There is not enough memory for the results')")
        self.line("    raise ValueError('A check of a compiled function failed')")
        for k in range(count):
            self.line(f"made{k} = result{k}(frame)")
        self.line("finish(frame, 0)")
        self.line(f"return ({''.join(f'made{p}, ' for p in positions)})")

    def made(self, unit: Any) -> Any:
        params = ", ".join(self.arguments.values())
        text = "\n".join([f"def call({params}):", *self.lines, ""])
        self.namespace.update(np=np, unit=unit)
        exec(text, self.namespace)
        function = numba.njit(self.namespace["call"])
        function.kept = self.kept
        return function


def njit_function(function: Any) -> Callable[..., Any]:
    """Return the function that `as_numba` returns."""
    vm, maker = function.vm, function.maker
    linker = maker.mode.linker
    parts = vm.parts
    if not isinstance(linker, NumbaLinker) or len(parts) != 1 or not parts[0].compiled:
        raise TypeError("The function is not one block compiled by Numba")
    graph = maker.call_graph
    part: Part = parts[0]
    whole = part if part.remake is None else part.remake()
    # there is no service `TAKE`: a function of Numba overwrites no input
    program = linker.program(replace(whole, states={}))
    if program.callbacks:
        raise TypeError(f"The function calls {program.callbacks[0][-1].op} in Python")
    for variable in (*whole.inputs, *whole.outputs):
        if not variable.type.is_array:
            raise TypeError(
                f"as_numba takes and gives arrays, and {variable} is of type {variable.type}"
            )
    explicit = [
        graph.inputs[i] for i, (each, _) in enumerate(function.indices) if not each.implicit
    ]
    services = _services()
    addresses = [*[services.find(n) for n in ("output", "grow", "poll")], 0]
    table = make_table(UnitInterface.of(program, whole.inputs), addresses)
    call = _Call(part, program, explicit)
    call.start(table)
    for position, variable in enumerate(part.inputs):
        if variable in call.arguments:
            call.argument(position, variable)
        else:
            cell = function.input_storage[graph.inputs.index(variable)].storage
            call.value(position, cell[0])
    positions = [part.outputs.index(v) for v in graph.outputs[: len(function.outputs)]]
    call.run(positions)
    call.kept += [services, list(program.constants)]
    compiled: Callable[..., Any] = call.made(dispatcher_of(print_numba(program)))
    return compiled
