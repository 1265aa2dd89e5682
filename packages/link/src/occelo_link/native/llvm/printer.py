"""Printing loop programs as LLVM IR.

A unit is ``i64 unit(ptr frame, ptr table)``: it returns 0, or one more than the number of the error
site that stopped it, or -1 if an allocation failed. `occelo_link.units.frame` has the layout of
both. Loops with lanes are printed with explicit vectors, so no pass of LLVM's optimizer is needed:
a loop over whole vectors, and one turn under a mask for what is left.
"""

from __future__ import annotations

from collections.abc import Callable

from occelo_link.loops.ir.program import (
    Alloc,
    Block,
    Check,
    For,
    If,
    Invoke,
    Pointer,
    Program,
    Store,
    Swap,
    Value,
    While,
)
from occelo_link.loops.ir.visitor import Visitor
from occelo_link.native.llvm.functions import Functions
from occelo_link.native.llvm.interleaved_complex import Interleaved
from occelo_link.native.llvm.interrupt_polling import Polling
from occelo_link.native.llvm.literals import element_type
from occelo_link.native.llvm.memory import Memory
from occelo_link.native.llvm.module_writer import USUAL, Emission
from occelo_link.native.llvm.operations import Operations
from occelo_link.native.llvm.parallel import Parallel
from occelo_link.native.llvm.scalar_loops import Loops
from occelo_link.native.llvm.scalars import Scalars
from occelo_link.native.llvm.vector_iteration import TurnParts
from occelo_link.native.llvm.vector_loops import Lanes
from occelo_link.native.llvm.vectors import Vectors
from occelo_link.units.frame import FIRST_INPUT, INPUT_SLOTS

__all__ = ["Printer", "print_llvm"]

_HELD_INPUTS = 64
"""With more inputs than this, addresses of inputs are loaded where they are used."""


class Printer(Visitor[None]):
    """A program as a module that defines ``unit``: the parts, put together."""

    def __init__(self, program: Program, threads: bool = False) -> None:
        self.out = out = Emission(program)
        operations = Operations(out)
        functions = Functions(out, operations)
        self.scalars = scalars = Scalars(out, functions)
        self.memory = Memory(out, scalars)
        self.polling = polling = Polling(out, scalars)
        vectors, interleaved = Vectors(out, scalars), Interleaved(out, scalars)
        turns = TurnParts(out, operations, functions, scalars, vectors, interleaved)
        self.lanes = Lanes(out, turns, polling)
        self.loops = Loops(out, scalars, polling, self.block)
        self.parallel = Parallel(out, scalars, polling, self.turns, threads)

    def unit(self, body: Callable[[Block], None] | None = None) -> str:
        """The module; ``body`` prints the body of the program, if not `block` does."""
        out, program = self.out, self.out.program
        self.memory.open_slots()
        if len(program.inputs) <= _HELD_INPUTS:
            for position, buffer in enumerate(program.inputs):
                slot = FIRST_INPUT + INPUT_SLOTS * position
                self.scalars.pointers[buffer] = out.load_first("%frame", slot)
        out.load_entries()
        self.memory.open_arena()
        (body or self.block)(program.body)
        out.line("ret i64 0")
        self.polling.interruption()
        unit = ["define i64 @unit(ptr %frame, ptr %table) #0 {", "entry:"]
        unit += [*out.allocas, *out.header, *out.lines, "}"]
        attributes = 'attributes #0 = { nounwind "frame-pointer"="none" }'
        return "\n".join(
            [*sorted(out.declared), *out.outlined.values(), *unit, attributes, USUAL, ""]
        )

    def block(self, block: Block) -> None:
        methods = self.methods
        for statement in block.statements:
            methods[type(statement)](self, statement)

    def value(self, value: Value) -> None:
        self.scalars.define(value)

    def store(self, statement: Store) -> None:
        self.scalars.store(statement)

    def alloc(self, statement: Alloc) -> None:
        self.memory.alloc(statement)

    def swap(self, statement: Swap) -> None:
        self.memory.swap(statement)

    def while_loop(self, loop: While) -> None:
        self.loops.while_loop(loop)

    def loop(self, loop: For) -> None:
        with self.memory.addresses_held(loop):
            if self.parallel.has_own_function(loop):
                self.parallel.own_function(loop)
            else:
                self.turns(loop)

    def turns(self, loop: For) -> None:
        """A loop where it is."""
        (self.lanes if loop.lanes > 1 else self.loops).loop(loop)

    def branch(self, statement: If) -> None:
        out, use = self.out, self.scalars.use
        then, orelse, done = out.new_labels("then", "else", "endif")
        out.line(f"br i1 {use(statement.condition)}, label %{then}, label %{orelse}")
        ends: list[str] = []
        for label, block in ((then, statement.then), (orelse, statement.orelse)):
            out.place(label)
            self.block(block)
            ends.append(out.label)
            out.line(f"br label %{done}")
        out.place(done)
        for result, a, b in statement.results:
            self.scalars.names[result.number] = out.emit(
                f"phi {element_type(result.dtype)} "
                f"[ {use(a)}, %{ends[0]} ], [ {use(b)}, %{ends[1]} ]"
            )

    def check(self, statement: Check) -> None:
        out = self.out
        fail, go = out.new_labels("fail", "go")
        out.unless(self.scalars.use(statement.condition), go, fail)
        out.place(fail)
        out.line(f"ret i64 {statement.site + 1}")
        out.place(go)

    def invoke(self, statement: Invoke) -> None:
        out, use = self.out, self.scalars.use
        listed: list[str] = []
        for argument in statement.args:
            if isinstance(argument, Value):
                listed.append(f"{element_type(argument.dtype)} {use(argument)}")
            elif isinstance(argument, Pointer):
                address = self.scalars.address(argument.buffer, use(argument.offset))
                listed.append(f"ptr {address}")
            else:
                listed.append(f"ptr {out.held(use(argument.value), argument.value.dtype)}")
        result = statement.result
        call = f"{out.entries[statement.entry]}({', '.join(listed)})"
        if result is None:
            out.line(f"call void {call}")
        else:
            self.scalars.names[result.number] = out.emit(
                f"call {element_type(result.dtype)} {call}"
            )


def print_llvm(program: Program, threads: bool = False) -> str:
    """The program as a module of LLVM IR that defines ``unit``; with ``threads`` loops may run in pieces."""
    return Printer(program, threads).unit()
