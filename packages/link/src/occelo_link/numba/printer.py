"""Prints loop programs as Python code that Numba compiles. The linker ``numba`` and `as_numba` call `print_numba`.

A unit is the function ``unit(frame, table)``; `occelo_link.units.frame` describes its arguments. Memory is accessed by
pointers. Operations with the same result in Python as in LLVM, such as ``+`` for float64, are printed as Python. All
other operations, such as elementary functions, are printed as calls of LLVM functions. The bodies of these functions
are the text that ``native`` prints (`native.llvm.exports`). This module does not import Numba.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from occelo_link.loops.ir import program as ir
from occelo_link.loops.ir.cost import is_long, iterations_between_polls, poll_interval_text
from occelo_link.loops.ir.operations import is_float
from occelo_link.loops.ir.uses import nested_memory
from occelo_link.loops.ir.visitor import Visitor
from occelo_link.native.llvm.exports import Exported, export_call, export_combine, export_operation
from occelo_link.units.frame import FIRST_INPUT, INPUT_SLOTS, INTERRUPTED, table_slot

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<="}
_NATIVE_DTYPES = ("float64", "float32", "int64")
"""The dtypes whose arithmetic Numba compiles to single instructions."""
_STACK_BYTES = 2048
"""The most bytes of working memory that a unit has on the stack. Small buffers are allocated there."""


class Memory(NamedTuple):
    """A memory operation, which the printed text calls as a function.

    ``action`` is the operation and ``dtype`` the dtype of the elements. ``number`` is the number of elements for
    ``stack``, the number of dimensions for ``output``, and the address of the called function for ``call``.
    """

    action: str
    dtype: str = ""
    number: int = 0


class Printed(NamedTuple):
    """The text of a module, and a dict from the names of functions that the text calls to what these functions do."""

    text: str
    calls: dict[str, Memory | Exported]


def literal(number: Any, dtype: str) -> str:
    """Return a constant as a Python expression."""
    if dtype == "bool":
        return "True" if number else "False"
    if is_float(dtype):
        special = "nan" if math.isnan(number) else "inf" if number > 0 else "-inf"
        text = repr(float(number)) if math.isfinite(number) else f'float("{special}")'
    else:
        text = repr(int(number))
    return text if dtype in ("float64", "int64") else f"np.{dtype}({text})"


def _plain(text: str) -> bool:
    return "(" not in text


class _Printer(Visitor[None]):
    def __init__(self, program: ir.Program) -> None:
        self.program = program
        self.calls: dict[str, Memory | Exported] = {}
        self.exported: dict[Any, str] = {}
        self.constants: dict[str, str] = {}
        self.prologue: dict[str, str] = {}
        self.lines: list[str] = []
        self.depth = 1
        self.nesting = 0
        self.names: dict[int, str] = {}
        self.nested = set(nested_memory(program))
        self.stack_used = 0
        self.count = 0

    def run(self) -> Printed:
        self.block(self.program.body)
        self.line("return 0")
        constants = [f"{name} = {text}" for text, name in self.constants.items()]
        prologue = [f"    {name} = {text}" for name, text in self.prologue.items()]
        return Printed(
            "\n".join([*constants, "", "def unit(frame, table):", *prologue, *self.lines, ""]),
            self.calls,
        )

    # text

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def fresh(self, hint: str) -> str:
        self.count += 1
        return f"{hint}{self.count}"

    def use(self, value: ir.Value) -> str:
        if value.op == "const":
            text = literal(value.args[0], value.dtype)
            if _plain(text):
                return text
            return self.constants.setdefault(text, f"constant_{len(self.constants)}")
        return self.names.get(value.number, f"v{value.number}")

    def memory(self, action: str, dtype: str = "", count: int = 0) -> str:
        """Return the name of the function for a memory operation."""
        parts = [action, *([dtype] if dtype else []), *([str(count)] if count else [])]
        name = "_".join(parts)
        self.calls[name] = Memory(action, dtype, count)
        return name

    def pointer(self, dtype: str, base: str, slot: int) -> str:
        return f"{self.memory('pointer', dtype)}({base}, {slot})"

    def export(self, hint: str, exported: Exported) -> str:
        """Return the name by which the text calls an LLVM function of `native.llvm.exports`."""
        name = self.exported.get(exported.symbol)
        if name is None:
            name = hint if hint not in self.calls else self.fresh(f"{hint}_")
            self.exported[exported.symbol] = name
            self.calls[name] = exported
        return name

    # statements

    def block(self, block: ir.Block) -> None:
        for statement in block:
            self.statement(statement)

    def value(self, value: ir.Value) -> None:
        self.line(f"v{value.number} = {self.expression(value)}")

    def store(self, statement: ir.Store) -> None:
        value = self.stored(statement.buffer.dtype, statement.value)
        self.line(f"{self.buffer(statement.buffer)}[{self.use(statement.offset)}] = {value}")

    def check(self, statement: ir.Check) -> None:
        self.line(f"if not {self.use(statement.condition)}:")
        self.line(f"    return {statement.site + 1}")

    def buffer(self, buffer: ir.Buffer) -> str:
        """Return the name of a buffer's pointer."""
        if buffer.space == "constant":
            slot = table_slot(self.program, buffer.entry)
            return self.hoisted(buffer.entry, self.pointer(buffer.dtype, "table", slot))
        if buffer.space == "input":
            return self.hoisted(buffer.name, self.input_pointer(buffer, 0, buffer.dtype))
        return buffer.name

    def hoisted(self, name: str, text: str) -> str:
        """Return ``name``, which is assigned the expression ``text`` once, at the start of the unit."""
        self.prologue.setdefault(name, text)
        return name

    def input_pointer(self, buffer: ir.Buffer, which: int, dtype: str) -> str:
        """Return an expression for a pointer in the frame: to the elements, lengths or strides of an input."""
        slot = FIRST_INPUT + INPUT_SLOTS * buffer.position + which
        return self.pointer(dtype, "frame", slot)

    def expression(self, value: ir.Value) -> str:
        op, args = value.op, value.args
        if op == "load":
            text = f"{self.buffer(args[0])}[{self.use(args[1])}]"
            return f"{text} != 0" if value.dtype == "bool" else text
        if op == "length":
            lengths = self.input_pointer(args[0], 1, "int64")
            return f"{self.hoisted(f'{args[0].name}_lengths', lengths)}[{args[1]}]"
        if op == "stride":
            shift = ir.itemsize(args[0].dtype).bit_length() - 1
            strides = self.input_pointer(args[0], 2, "int64")
            return f"{self.hoisted(f'{args[0].name}_strides', strides)}[{args[1]}] >> {shift}"
        operands = [a for a in args if isinstance(a, ir.Value)]
        names = [self.use(a) for a in operands]
        dtype = operands[-1].dtype
        # Numba assumes that sums of signed integers do not overflow; NumPy's wrap around
        if op in _INFIX and dtype in _NATIVE_DTYPES and is_float(dtype):
            return f"{names[0]} {_INFIX[op]} {names[1]}"
        if op in _COMPARE and dtype in _NATIVE_DTYPES:
            return f"{names[0]} {_COMPARE[op]} {names[1]}"
        if op == "neg" and is_float(dtype):
            return f"-{names[0]}"
        if op == "not" and dtype == "bool":
            return f"not {names[0]}"
        return f"{self.operation(value, operands)}({', '.join([*names, 'table'])})"

    def operation(self, value: ir.Value, operands: Sequence[ir.Value]) -> str:
        """Return the name of the LLVM function that computes ``value`` from the arguments ``operands``."""
        named = [a for a in value.args if not isinstance(a, ir.Value)]
        key = (value.op, value.dtype, *named, *(a.dtype for a in operands))
        if key not in self.exported:
            hint = str(named[0]) if named else f"{value.op}_{operands[-1].dtype}"
            if value.op == "unlikely":
                hint = f"unless_{named[0]}"
            if value.op in ("cast", "bits"):
                hint += f"_as_{value.dtype}"
            name = self.export(_identifier(hint), export_operation(self.program, value))
            self.exported[key] = name
        return self.exported[key]

    # memory and calls

    def stop_if_null(self, name: str) -> None:
        self.line(f"if {self.memory('null')}({name}):")
        self.line("    return -1")

    def alloc(self, statement: ir.Alloc) -> None:
        buffer, dtype = statement.buffer, statement.buffer.dtype
        taken = statement.reuse
        if taken is not None and not statement.updates_input:
            self.line(f"{buffer.name} = {self.memory('same', dtype)}({self.buffer(taken)})")
            return
        if taken is not None:
            args = f"{buffer.position}, {taken.position}, {self.use(statement.size)}"
            self.line(f"{buffer.name} = {self.memory('take', dtype)}(frame, table, {args})")
            self.stop_if_null(buffer.name)
            return
        if buffer.space == "output":
            lengths = "".join(f", {self.use(n)}" for n in statement.lengths)
            make = self.memory("output", dtype, len(statement.lengths))
            self.line(f"{buffer.name} = {make}(frame, table, {buffer.position}{lengths})")
        elif (count := self.stack_count(statement)) is not None:
            self.line(f"{buffer.name} = {self.memory('stack', dtype, count)}()")
            return
        elif buffer in self.nested:
            self.grow_buffer(buffer, self.use(statement.size))
            return
        else:
            args = f"frame, table, {self.use(statement.size)}"
            self.line(f"{buffer.name} = {self.memory('work', dtype)}({args})")
        self.stop_if_null(buffer.name)

    def grow_buffer(self, buffer: ir.Buffer, size: str) -> None:
        """Print code that makes sure that a buffer has enough memory for ``size`` elements.

        If it has too little, the code allocates new memory, at least twice as much as before.
        """
        name, capacity = buffer.name, self.capacity(buffer)
        self.line(f"if {size} > {capacity}:")
        self.depth += 1
        self.line(f"{capacity} = max({size}, 2 * {capacity})")
        self.line(f"{name} = {self.memory('grow', buffer.dtype)}(frame, table, {capacity})")
        self.stop_if_null(name)
        self.depth -= 1

    def capacity(self, buffer: ir.Buffer) -> str:
        """Return the name of a buffer's capacity in elements. The capacity is -1 before the first allocation."""
        self.hoisted(buffer.name, f"{self.memory('nothing', buffer.dtype)}()")
        return self.hoisted(f"{buffer.name}_room", "-1")

    def swap(self, statement: ir.Swap) -> None:
        for first, second in (
            (statement.first.name, statement.second.name),
            (self.capacity(statement.first), self.capacity(statement.second)),
        ):
            self.line(f"{first}, {second} = {second}, {first}")

    def stack_count(self, statement: ir.Alloc) -> int | None:
        """Return the number of elements of a buffer that is allocated on the stack, or None if it is allocated
        elsewhere.
        """
        if statement.size.op != "const" or statement.buffer in self.nested:
            return None
        count = max(1, int(statement.size.args[0]))
        taken = (count * ir.itemsize(statement.buffer.dtype) + 63) & -64
        if self.stack_used + taken > _STACK_BYTES:
            return None
        self.stack_used += taken
        return count

    def invoke(self, statement: ir.Invoke) -> None:
        listed: list[str] = []
        for argument in statement.args:
            if isinstance(argument, ir.Value):
                listed.append(self.use(argument))
            elif isinstance(argument, ir.Reference):
                listed.append(self.use(argument.value))
            else:
                listed.append(self.address(argument))
        name = self.export(_identifier(statement.entry), export_call(self.program, statement))
        call = f"{name}({', '.join([*listed, 'table'])})"
        result = statement.result
        self.line(call if result is None else f"v{result.number} = {call}")

    def address(self, pointer: ir.Pointer) -> str:
        name, offset = self.buffer(pointer.buffer), self.use(pointer.offset)
        return name if offset == "0" else f"{self.memory('address')}({name}, {offset})"

    # control

    def branch(self, statement: ir.If) -> None:
        self.line(f"if {self.use(statement.condition)}:")
        for block, which in ((statement.then, 1), (statement.orelse, 2)):
            self.depth += 1
            before = len(self.lines)
            self.block(block)
            for results in statement.results:
                self.line(f"v{results[0].number} = {self.use(results[which])}")
            if len(self.lines) == before:
                self.line("pass")
            self.depth -= 1
            if which == 1:
                self.line("else:")

    def declare_carried(self, carried: Sequence[ir.Carried]) -> None:
        for each in carried:
            self.line(f"v{each.param.number} = {self.use(each.initial)}")
            self.names[each.result.number] = f"v{each.param.number}"

    def advance(self, carried: Sequence[ir.Carried]) -> None:
        """Print the end of an iteration, which assigns the next values to all carried scalars at once."""
        names = [self.fresh("next") for _ in carried]
        for each, name in zip(carried, names, strict=True):
            self.line(f"{name} = {self.use(each.following)}")
        for each, name in zip(carried, names, strict=True):
            self.line(f"v{each.param.number} = {name}")

    def body(self, block: ir.Block) -> None:
        """Print the body of a loop. Loops in the body do not poll for interrupts."""
        self.nesting += 1
        self.block(block)
        self.nesting -= 1

    def while_loop(self, loop: ir.While) -> None:
        self.declare_carried(loop.carried)
        left = "" if self.nesting else self.fresh("left")
        if left:
            self.line(f"{left} = {iterations_between_polls(loop)}")
        self.line("while True:")
        self.depth += 1
        self.block(loop.test)
        self.line(f"if not {self.use(loop.condition)}:")
        self.line("    break")
        if left:
            self.line(f"{left} -= 1")
            self.line(f"if {left} == 0:")
            self.depth += 1
            self.line(f"{left} = {iterations_between_polls(loop)}")
            self.poll()
            self.depth -= 1
        self.body(loop.body)
        self.advance(loop.carried)
        self.depth -= 1

    def loop(self, loop: ir.For) -> None:
        if loop.lanes > 1 and loop.carried:
            self.lanes_loop(loop)
            return
        self.declare_carried(loop.carried)
        index = f"v{loop.index.number}"
        with self.strips(loop, self.use(loop.start), self.use(loop.stop)) as (start, stop):
            self.line(f"for {index} in range({start}, {stop}):")
            self.depth += 1
            before = len(self.lines)
            self.body(loop.body)
            self.advance(loop.carried)
            if len(self.lines) == before:
                self.line("pass")
            self.depth -= 1

    @contextmanager
    def strips(self, loop: ir.For, start: str, stop: str) -> Generator[tuple[str, str]]:
        """Print the loop over strips, if the loop is strip-mined. The ``with`` block prints the loop over one strip.

        Only outermost loops that may run for long are strip-mined. They poll for interrupts after each strip, since a
        poll in the inner loop would keep values out of registers. Yields the start and the stop of the loop that the
        block prints: of one strip, or of the whole loop if it is not strip-mined.
        """
        if self.nesting or loop.non_interruptible or not is_long(loop):
            yield start, stop
            return
        # no variable is assigned twice here, since Numba searches the whole function for each variable that is assigned
        # twice
        first, limit, step = self.fresh("first"), self.fresh("limit"), self.fresh("step")
        self.line(f"{step} = {poll_interval_text(loop, self.use, '//')}")
        self.line(f"for {first} in range({start}, {stop}, {step}):")
        self.depth += 1
        self.line(f"{limit} = min({first} + {step}, {stop})")
        yield first, limit
        self.line(f"if {limit} < {stop}:")
        self.depth += 1
        self.poll()
        self.depth -= 2

    def poll(self) -> None:
        """Print a poll, after which the unit returns if there is an interrupt."""
        self.line(f"if {self.memory('poll')}(frame, table):")
        self.line(f"    return {INTERRUPTED}")

    def lanes_loop(self, loop: ir.For) -> None:
        """Print a loop with several accumulators, which are in memory, one for each lane.

        A first loop runs as many iterations at a time as there are lanes, one in each lane. A second loop runs the
        remaining iterations. Then the accumulators of all lanes are combined.
        """
        lanes = loop.lanes
        accumulators: list[str] = []
        for each in loop.carried:
            name = self.fresh("lanes")
            accumulators.append(name)
            self.line(f"{name} = {self.memory('stack', each.param.dtype, lanes)}()")
        group, lane, whole = self.fresh("group"), self.fresh("lane"), self.fresh("whole")
        start, stop = self.use(loop.start), self.use(loop.stop)
        self.line(f"for {lane} in range({lanes}):")
        for each, name in zip(loop.carried, accumulators, strict=True):
            self.line(f"    {name}[{lane}] = {self.stored(each.param.dtype, each.initial)}")
        self.line(
            f"{whole} = {stop} - ({stop} - {start}) % {lanes} if {stop} > {start} else {stop}"
        )
        with self.strips(loop, start, whole) as (first, limit):
            self.line(f"for {group} in range({first}, {limit}, {lanes}):")
            self.depth += 1
            self.lane_loop(loop, accumulators, group, lane, str(lanes))
            self.depth -= 1
        self.lane_loop(loop, accumulators, whole, lane, f"{stop} - {whole}")
        for each, name in zip(loop.carried, accumulators, strict=True):
            combine = export_combine(self.program, each.combine or "", each.param.dtype, lanes)
            function = self.export(f"{each.combine}_{each.param.dtype}_{lanes}", combine)
            self.line(f"v{each.result.number} = {function}({name}, table)")

    def lane_loop(
        self, loop: ir.For, accumulators: Sequence[str], first: str, lane: str, count: str
    ) -> None:
        """Print a loop over ``count`` lanes. Lane k runs iteration ``first`` + k and has its own accumulators."""
        self.line(f"for {lane} in range({count}):")
        self.depth += 1
        self.line(f"v{loop.index.number} = {first} + {lane}")
        for each, name in zip(loop.carried, accumulators, strict=True):
            loaded = f"{name}[{lane}]"
            truth = " != 0" if each.param.dtype == "bool" else ""
            self.line(f"v{each.param.number} = {loaded}{truth}")
        self.body(loop.body)
        for each, name in zip(loop.carried, accumulators, strict=True):
            self.line(f"{name}[{lane}] = {self.stored(each.param.dtype, each.following)}")
        self.depth -= 1

    def stored(self, dtype: str, value: ir.Value) -> str:
        text = self.use(value)
        return f"np.uint8({text})" if dtype == "bool" else text


def _identifier(text: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in text)


def print_numba(program: ir.Program) -> Printed:
    """Print a program. Returns the text of a module that defines ``unit``, and the functions that the text calls."""
    return _Printer(program).run()
