"""Prints loop programs as LLVM IR. The linker ``native``, `dumping` and `occelo_testing.loop_programs` call `print_llvm`.

The printed function is a unit, ``i64 unit(ptr frame, ptr table)``. `occelo_link.units.frame` describes the layout of
``frame`` and ``table``. The unit returns 0 if it ran to its end, -1 if an allocation failed, and -2 if it was
interrupted. If a check failed, it returns the number of the check plus 1.

A loop with lanes is printed as operations on vectors, with masked operations for the remainder. So LLVM need not
vectorize loops.
"""

from __future__ import annotations

from collections.abc import Callable

from occelo_link.cache.host import host
from occelo_link.loops.ir import program as ir
from occelo_link.loops.ir.ranges import Ranges
from occelo_link.loops.ir.visitor import Visitor
from occelo_link.native.llvm.avx512 import has_instructions
from occelo_link.native.llvm.functions import Functions
from occelo_link.native.llvm.interleaved_complex import Interleaved
from occelo_link.native.llvm.interrupt_polling import Polling
from occelo_link.native.llvm.literals import element_type, literal
from occelo_link.native.llvm.memory import Memory
from occelo_link.native.llvm.module_writer import BRANCH_WEIGHTS, ModuleWriter
from occelo_link.native.llvm.operations import Operations
from occelo_link.native.llvm.parallel import OutlinedLoops
from occelo_link.native.llvm.scalar_loops import ScalarLoops
from occelo_link.native.llvm.scalars import Scalars
from occelo_link.native.llvm.short_rows import short_rows
from occelo_link.native.llvm.vector_iteration import PrinterParts
from occelo_link.native.llvm.vector_loops import VectorLoops
from occelo_link.native.llvm.vectors import Vectors
from occelo_link.units.frame import FIRST_INPUT, INPUT_SLOTS

_HELD_INPUTS = 64
"""If there are more inputs than this, their addresses are loaded where they are used, not at the start."""


class Printer(Visitor[None]):
    """Prints a program as a module that defines the function ``unit``.

    The printer's parts, such as `Scalars` and `VectorLoops`, print one kind of code each.
    """

    def __init__(
        self, program: ir.Program, threads: bool = False, features: str | None = None
    ) -> None:
        self.out = out = ModuleWriter(program)
        operations = Operations(out)
        avx512 = has_instructions(host().features if features is None else features)
        functions = Functions(out, operations, avx512)
        self.scalars = scalars = Scalars(out, functions)
        self.memory = Memory(out, scalars)
        self.polling = polling = Polling(out, scalars)
        vectors, interleaved = Vectors(out, scalars), Interleaved(out, scalars)
        parts = PrinterParts(out, operations, functions, scalars, vectors, interleaved)
        self.lanes = VectorLoops(out, parts, polling)
        self.loops = ScalarLoops(out, scalars, polling, self.block)
        self.parallel = OutlinedLoops(out, scalars, polling, self.plain_loop, threads)
        self.ranges = Ranges(program)

    def unit(self, body: Callable[[ir.Block], None] | None = None) -> str:
        """Return the text of the module. ``body`` prints the body of the program; the default is `block`."""
        out, program = self.out, self.out.program
        self.memory.open_slots()
        if len(program.inputs) <= _HELD_INPUTS:
            for position, buffer in enumerate(program.inputs):
                slot = FIRST_INPUT + INPUT_SLOTS * position
                self.scalars.pointers[buffer] = out.load_at_start("%frame", slot)
        out.load_entries()
        (body or self.block)(program.body)
        out.line("ret i64 0")
        self.polling.exit_if_interrupted()
        self.memory.exit_if_failed()
        unit = ["define i64 @unit(ptr %frame, ptr %table) #0 {", "entry:"]
        unit += [*out.allocas, *out.header, *out.lines, "}"]
        attributes = 'attributes #0 = { nounwind "frame-pointer"="none" }'
        return "\n".join(
            [*sorted(out.declared), *out.outlined.values(), *unit, attributes, BRANCH_WEIGHTS, ""]
        )

    def block(self, block: ir.Block) -> None:
        methods = self.methods
        for statement in block.statements:
            methods[type(statement)](self, statement)

    def value(self, value: ir.Value) -> None:
        if value.dtype == "bool" or value.op == "select":
            truth = self.ranges.truth(value.args[0] if value.op == "select" else value)
            if truth is not None:
                self.scalars.names[value.number] = (
                    self.scalars.use(value.args[1 if truth else 2])
                    if value.op == "select"
                    else literal(truth, "bool")
                )
                return
        self.scalars.define(value)

    def store(self, statement: ir.Store) -> None:
        self.scalars.store(statement)

    def alloc(self, statement: ir.Alloc) -> None:
        self.memory.alloc(statement)

    def swap(self, statement: ir.Swap) -> None:
        self.memory.swap(statement)

    def while_loop(self, loop: ir.While) -> None:
        self.loops.while_loop(loop)

    def loop(self, loop: ir.For) -> None:
        with self.memory.addresses_hoisted(loop):
            if self.parallel.is_outlined(loop):
                self.parallel.print_outlined(loop)
            else:
                self.plain_loop(loop)

    def plain_loop(self, loop: ir.For) -> None:
        """Print a loop in the current function."""
        rows = short_rows(loop)
        if rows is not None:
            self.lanes.in_rows(rows, self.loops.loop)
        else:
            (self.lanes if loop.lanes > 1 else self.loops).loop(loop)

    def branch(self, statement: ir.If) -> None:
        out, use = self.out, self.scalars.use
        then, orelse, done = out.new_labels("then", "else", "endif")
        out.line(f"br i1 {use(statement.condition)}, label %{then}, label %{orelse}")
        ends: list[str] = []
        for label, block in ((then, statement.then), (orelse, statement.orelse)):
            out.start_block(label)
            self.block(block)
            ends.append(out.label)
            out.line(f"br label %{done}")
        out.start_block(done)
        for result, a, b in statement.results:
            self.scalars.names[result.number] = out.emit(
                f"phi {element_type(result.dtype)} "
                f"[ {use(a)}, %{ends[0]} ], [ {use(b)}, %{ends[1]} ]"
            )

    def check(self, statement: ir.Check) -> None:
        if self.ranges.truth(statement.condition):
            return
        out = self.out
        fail, go = out.new_labels("fail", "go")
        out.branch_likely(self.scalars.use(statement.condition), go, fail)
        out.start_block(fail)
        out.line(f"ret i64 {statement.site + 1}")
        out.start_block(go)

    def invoke(self, statement: ir.Invoke) -> None:
        out, use = self.out, self.scalars.use
        listed: list[str] = []
        for argument in statement.args:
            if isinstance(argument, ir.Value):
                listed.append(f"{element_type(argument.dtype)} {use(argument)}")
            elif isinstance(argument, ir.Pointer):
                address = self.scalars.address(argument.buffer, use(argument.offset))
                listed.append(f"ptr {address}")
            else:
                listed.append(f"ptr {out.reference_to(use(argument.value), argument.value.dtype)}")
        result = statement.result
        call = f"{out.entries[statement.entry]}({', '.join(listed)})"
        if result is None:
            out.line(f"call void {call}")
        else:
            self.scalars.names[result.number] = out.emit(
                f"call {element_type(result.dtype)} {call}"
            )


def print_llvm(program: ir.Program, threads: bool = False, features: str | None = None) -> str:
    """Return a program as a module of LLVM IR. If ``threads`` is true, its loops may run in several threads.

    The module is for processors with LLVM's ``features``, by default those of this machine.
    """
    return Printer(program, threads, features).unit()
