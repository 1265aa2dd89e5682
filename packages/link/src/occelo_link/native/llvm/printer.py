"""Printing loop programs as LLVM IR.

A unit is ``i64 unit(ptr frame, ptr table)``: it returns 0, or one more than the number of the error
site that stopped it, or -1 if an allocation failed. `occelo_link.units.frame` has the layout of
both. Loops with lanes are printed with explicit vectors, so no pass of LLVM's optimizer is needed:
a loop over whole vectors, and one turn under a mask for what is left.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from occelo_link.loops.ir.program import (
    Alloc,
    Block,
    Buffer,
    Carried,
    Check,
    For,
    If,
    Invoke,
    Pointer,
    Program,
    Reference,
    Statement,
    Store,
    Swap,
    Value,
    While,
    itemsize,
)
from occelo_link.loops.ir.work import BUDGET, few_turns, turn_work
from occelo_link.native.llvm.emission import element_type, memory_type
from occelo_link.native.llvm.parallel import Parallel, is_plain, used_by
from occelo_link.units.frame import (
    ALLOC_OUTPUT,
    ARENA,
    ARENA_END,
    FIRST_INPUT,
    GROW,
    INPUT_SLOTS,
    TAKE,
    table_slot,
)

__all__ = ["Printer", "print_llvm"]

_HELD_INPUTS = 64
"""With more inputs than this, addresses of inputs are loaded where they are used."""
_STACK_BYTES = 2048
"""Small working memory lies on the stack, up to this many bytes of it."""


class Printer(Parallel):
    """A program as a module that defines ``unit``."""

    def run(self) -> str:
        program = self.program
        for buffer in self._nested_allocations():
            slot = f"%slot{len(self.slots)}"
            self.allocas.append(f"  {slot} = alloca ptr, align 8")
            self.allocas.append(f"  {slot}.room = alloca i64, align 8")
            self.header.append(f"  store ptr null, ptr {slot}, align 8")
            self.header.append(f"  store i64 0, ptr {slot}.room, align 8")
            self.slots[buffer] = slot
        if len(program.inputs) <= _HELD_INPUTS:
            for position, buffer in enumerate(program.inputs):
                self.pointers[buffer] = self._frame_pointer(FIRST_INPUT + INPUT_SLOTS * position)
        for name in program.table:
            slot = self.fresh()
            self.header.append(
                f"  {slot} = getelementptr i64, ptr %table, i64 {table_slot(program, name)}"
            )
            loaded = self.fresh()
            self.header.append(f"  {loaded} = load ptr, ptr {slot}, align 8")
            self.functions[name] = loaded
        self.bump = self._frame_pointer(ARENA)
        self.arena_end = self._frame_pointer(ARENA_END)
        self.body()
        self.line("ret i64 0")
        self.interruption()
        body = ["define i64 @unit(ptr %frame, ptr %table) #0 {", "entry:"]
        body += [*self.allocas, *self.header, *self.lines, "}"]
        attributes = 'attributes #0 = { nounwind "frame-pointer"="none" }'
        own = self.outlined.values()
        return "\n".join([*sorted(self.declared), *own, *body, attributes, ""])

    def body(self) -> None:
        """The statements of the program."""
        self.block(self.program.body)

    def _nested_allocations(self) -> list[Buffer]:
        found: list[Buffer] = []
        for block in self.program.blocks():
            if block is not self.program.body:
                for statement in block:
                    if isinstance(statement, Alloc):
                        found.append(statement.buffer)
                    elif isinstance(statement, Swap):
                        found += [statement.first, statement.second]
        return list(dict.fromkeys(found))

    def _frame_pointer(self, slot: int) -> str:
        address, loaded = self.fresh(), self.fresh()
        self.header.append(f"  {address} = getelementptr i64, ptr %frame, i64 {slot}")
        self.header.append(f"  {loaded} = load ptr, ptr {address}, align 8")
        return loaded

    def block(self, block: Block) -> None:
        for statement in block.statements:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        if isinstance(statement, Value):
            self.names[statement.number] = self.scalar_operation(statement)
        elif isinstance(statement, Store):
            self.scalar_store(statement)
        elif isinstance(statement, Swap):
            self.swap(statement)
        elif isinstance(statement, For):
            with self.addresses_held(statement):
                self.loop(statement)
        elif isinstance(statement, If):
            self.branch(statement)
        elif isinstance(statement, While):
            self.while_loop(statement)
        elif isinstance(statement, Check):
            self.check(statement)
        elif isinstance(statement, Alloc):
            self.alloc(statement)
        else:
            self.invoke(statement)

    def loop(self, loop: For) -> None:
        if self.has_own_function(loop):
            self.own_function(loop)
        elif loop.lanes > 1:
            self.lanes_loop(loop)
        else:
            self.scalar_loop(loop)

    @contextmanager
    def addresses_held(self, loop: For) -> Generator[None]:
        """Load the addresses of memory that a loop uses and never takes before it, instead of at each access."""
        held: list[Buffer] = []
        if self.slots and is_plain(loop.body):
            held = [
                v
                for v in dict.fromkeys(used_by(loop.body))
                if isinstance(v, Buffer) and v in self.slots
            ]
        pointers = {buffer: self.buffer(buffer) for buffer in held}
        slots = {buffer: self.slots.pop(buffer) for buffer in held}
        self.pointers.update(pointers)
        yield
        self.slots.update(slots)
        for buffer in held:
            del self.pointers[buffer]

    def check(self, statement: Check) -> None:
        fail, go = self.new_label("fail"), self.new_label("go")
        self.line(f"br i1 {self.use(statement.condition)}, label %{go}, label %{fail}")
        self.place(fail)
        self.line(f"ret i64 {statement.site + 1}")
        self.place(go)

    def alloc(self, statement: Alloc) -> None:
        buffer = statement.buffer
        if statement.reuse is not None and statement.reuse.space == "input":
            pointer = self.take_input(statement, statement.reuse)
        elif statement.reuse is not None:
            pointer = self.buffer(statement.reuse)
        elif buffer.space == "output":
            pointer = self.alloc_output(statement)
        elif buffer in self.slots:
            self.alloc_again(statement)
            return
        else:
            pointer = self.alloc_work(statement)
        if buffer in self.slots:
            self.line(f"store ptr {pointer}, ptr {self.slots[buffer]}, align 8")
        else:
            self.pointers[buffer] = pointer

    def stop_if_null(self, pointer: str) -> None:
        null = self.emit(f"icmp eq ptr {pointer}, null")
        fail, go = self.new_label("fail"), self.new_label("go")
        self.line(f"br i1 {null}, label %{fail}, label %{go}")
        self.place(fail)
        self.line("ret i64 -1")
        self.place(go)

    def alloc_output(self, statement: Alloc) -> str:
        lengths = statement.lengths
        dims = f"%dims{len(self.allocas)}"
        self.allocas.append(f"  {dims} = alloca i64, i32 {max(1, len(lengths))}, align 8")
        for i, length in enumerate(lengths):
            at = self.emit(f"getelementptr i64, ptr {dims}, i64 {i}")
            self.line(f"store i64 {self.use(length)}, ptr {at}, align 8")
        function = self.service(ALLOC_OUTPUT)
        pointer = self.emit(
            f"call ptr {function}(ptr %frame, i64 {statement.buffer.position}, ptr {dims})"
        )
        self.stop_if_null(pointer)
        return pointer

    def take_input(self, statement: Alloc, taken: Buffer) -> str:
        """The memory of an input that an output updates, or a copy of it."""
        size = self.emit(f"mul i64 {self.use(statement.size)}, {itemsize(taken.dtype)}")
        positions = f"i64 {statement.buffer.position}, i64 {taken.position}"
        pointer = self.emit(f"call ptr {self.service(TAKE)}(ptr %frame, {positions}, i64 {size})")
        self.stop_if_null(pointer)
        return pointer

    def work_bytes(self, statement: Alloc) -> str:
        """The bytes of working memory, and some more, so that what comes next is aligned to 64 bytes."""
        each, size = itemsize(statement.buffer.dtype), statement.size
        if size.op == "const":
            return str((max(1, size.args[0]) * each + 63) & -64)
        scaled = self.emit(f"mul i64 {self.use(size)}, {each}")
        more = self.emit(f"add i64 {scaled}, 127")
        return self.emit(f"and i64 {more}, -64")

    def alloc_again(self, statement: Alloc) -> None:
        """Take more memory than a buffer has, if it needs more; twice as much, so that this is seldom."""
        slot, total = self.slots[statement.buffer], self.work_bytes(statement)
        self.declare("declare i64 @llvm.smax.i64(i64, i64)")
        room = self.emit(f"load i64, ptr {slot}.room, align 8")
        short = self.emit(f"icmp sgt i64 {total}, {room}")
        grow, done = self.new_label("grow"), self.new_label("done")
        self.line(f"br i1 {short}, label %{grow}, label %{done}")
        self.place(grow)
        twice = self.emit(f"shl i64 {room}, 1")
        more = self.emit(f"call i64 @llvm.smax.i64(i64 {total}, i64 {twice})")
        pointer = self.emit(f"call ptr {self.service(GROW)}(ptr %frame, i64 {more})")
        self.stop_if_null(pointer)
        self.line(f"store ptr {pointer}, ptr {slot}, align 8")
        self.line(f"store i64 {more}, ptr {slot}.room, align 8")
        self.line(f"br label %{done}")
        self.place(done)

    def swap(self, statement: Swap) -> None:
        first, second = self.slots[statement.first], self.slots[statement.second]
        for kind, part in (("ptr", ""), ("i64", ".room")):
            one = self.emit(f"load {kind}, ptr {first}{part}, align 8")
            two = self.emit(f"load {kind}, ptr {second}{part}, align 8")
            self.line(f"store {kind} {two}, ptr {first}{part}, align 8")
            self.line(f"store {kind} {one}, ptr {second}{part}, align 8")

    def alloc_work(self, statement: Alloc) -> str:
        buffer, size = statement.buffer, statement.size
        if size.op == "const":
            rounded = (max(1, size.args[0]) * itemsize(buffer.dtype) + 63) & -64
            if self.stack_used + rounded <= _STACK_BYTES:
                self.stack_used += rounded
                name = f"%stack{len(self.allocas)}"
                self.allocas.append(f"  {name} = alloca [{rounded} x i8], align 64")
                return name
        total = self.work_bytes(statement)
        before = self.label
        end = self.emit(f"getelementptr i8, ptr {self.bump}, i64 {total}")
        fits = self.emit(f"icmp ule ptr {end}, {self.arena_end}")
        grow, done = self.new_label("grow"), self.new_label("done")
        self.line(f"br i1 {fits}, label %{done}, label %{grow}")
        self.place(grow)
        grown = self.emit(f"call ptr {self.service(GROW)}(ptr %frame, i64 {total})")
        self.stop_if_null(grown)
        after = self.label
        self.line(f"br label %{done}")
        self.place(done)
        pointer = self.emit(f"phi ptr [ {self.bump}, %{before} ], [ {grown}, %{after} ]")
        self.bump = self.emit(f"phi ptr [ {end}, %{before} ], [ {self.bump}, %{after} ]")
        return pointer

    def invoke(self, statement: Invoke) -> None:
        listed: list[str] = []
        for argument in statement.args:
            if isinstance(argument, Value):
                listed.append(f"{element_type(argument.dtype)} {self.use(argument)}")
            elif isinstance(argument, Pointer):
                listed.append(f"ptr {self.address(argument.buffer, self.use(argument.offset))}")
            else:
                listed.append(f"ptr {self.temporary(argument)}")
        result = statement.result
        call = f"{self.functions[statement.entry]}({', '.join(listed)})"
        if result is None:
            self.line(f"call void {call}")
        else:
            self.names[result.number] = self.emit(f"call {element_type(result.dtype)} {call}")

    def temporary(self, argument: Reference) -> str:
        return self.held(self.use(argument.value), argument.value.dtype)

    def held(self, value: str, dtype: str) -> str:
        """The address of memory of a call's own that holds a value."""
        name = f"%ref{len(self.allocas)}"
        self.allocas.append(f"  {name} = alloca {memory_type(dtype)}, align 8")
        self.line(f"store {memory_type(dtype)} {value}, ptr {name}, align 8")
        return name

    def branch(self, statement: If) -> None:
        then, orelse, done = (self.new_label(h) for h in ("then", "else", "endif"))
        self.line(f"br i1 {self.use(statement.condition)}, label %{then}, label %{orelse}")
        ends: list[str] = []
        for label, block in ((then, statement.then), (orelse, statement.orelse)):
            self.place(label)
            self.block(block)
            ends.append(self.label)
            self.line(f"br label %{done}")
        self.place(done)
        for result, a, b in statement.results:
            self.names[result.number] = self.emit(
                f"phi {element_type(result.dtype)} "
                f"[ {self.use(a)}, %{ends[0]} ], [ {self.use(b)}, %{ends[1]} ]"
            )

    def _phis(
        self, carried: Sequence[Carried], before: str, initial: Sequence[str]
    ) -> list[tuple[int, Carried]]:
        """Lines for the carried scalars, whose second half is filled in after the body."""
        made: list[tuple[int, Carried]] = []
        for each, first in zip(carried, initial, strict=True):
            name = self.fresh()
            self.names[each.param.number] = name
            kind = element_type(each.param.dtype)
            made.append((len(self.lines), each))
            self.lines.append(f"  {name} = phi {kind} [ {first}, %{before} ], ")
        return made

    def _close_phis(self, made: Sequence[tuple[int, Carried]], end: str) -> None:
        for position, each in made:
            self.lines[position] += f"[ {self.use(each.following)}, %{end} ]"

    def scalar_loop(self, loop: For) -> None:
        turns = few_turns(loop)
        if turns is not None:
            self.turns_in_a_row(loop, turns)
            return
        start, stop = self.use(loop.start), self.use(loop.stop)
        initial = [start, *(self.use(each.initial) for each in loop.carried)]
        kinds = ["i64", *(element_type(each.param.dtype) for each in loop.carried)]
        pause = self.open_pause(loop, stop, list(zip(kinds, initial, strict=True)))
        bound = stop
        if pause is not None:
            initial, bound = pause.carried, pause.limit
        head, body, done = (self.new_label(h) for h in ("loop", "body", "done"))
        leave = done if pause is None else pause.label
        before = self.label
        self.line(f"br label %{head}")
        self.place(head)
        index, after = self.fresh(), self.fresh()
        at = len(self.lines)
        self.lines.append(f"  {index} = phi i64 [ {initial[0]}, %{before} ], ")
        made = self._phis(loop.carried, before, initial[1:])
        more = self.emit(f"icmp slt i64 {index}, {bound}")
        self.line(f"br i1 {more}, label %{body}, label %{leave}")
        self.place(body)
        self.names[loop.index.number] = index
        self.nested(loop.body)
        self.lines.append(f"  {after} = add i64 {index}, 1")
        self.lines[at] += f"[ {after}, %{self.label} ]"
        self._close_phis(made, self.label)
        self.line(f"br label %{head}")
        carried = [self.names[each.param.number] for each in loop.carried]
        if pause is not None:
            _, *carried = self.close_pause(pause, stop, head, done, [index, *carried])
        self.place(done)
        for each, name in zip(loop.carried, carried, strict=True):
            self.names[each.result.number] = name

    def turns_in_a_row(self, loop: For, turns: range) -> None:
        """A loop of a known small number of turns, without the loop."""
        carried = [self.use(each.initial) for each in loop.carried]
        for turn in turns:
            self.names[loop.index.number] = str(turn)
            for each, name in zip(loop.carried, carried, strict=True):
                self.names[each.param.number] = name
            self.nested(loop.body)
            carried = [self.use(each.following) for each in loop.carried]
        for each, name in zip(loop.carried, carried, strict=True):
            self.names[each.result.number] = name

    def nested(self, block: Block) -> None:
        """The body of a loop."""
        self.nesting += 1  # pyright: ignore[reportUnknownMemberType]
        self.block(block)
        self.nesting -= 1

    def while_loop(self, loop: While) -> None:
        head, body, done = (self.new_label(h) for h in ("while", "body", "done"))
        before = self.label
        self.line(f"br label %{head}")
        self.place(head)
        counter, counted = self.fresh(), self.fresh()
        at = len(self.lines)
        self.lines.append(f"  {counter} = phi i64 [ 1, %{before} ], ")
        made = self._phis(loop.carried, before, [self.use(c.initial) for c in loop.carried])
        self.block(loop.test)
        self.line(f"br i1 {self.use(loop.condition)}, label %{body}, label %{done}")
        self.place(body)
        if not self.nesting:  # pyright: ignore[reportUnknownMemberType]
            self.ask_sometimes(counter, max(1, BUDGET // turn_work(loop)[0]))
        self.nested(loop.body)
        self.lines.append(f"  {counted} = add i64 {counter}, 1")
        self.lines[at] += f"[ {counted}, %{self.label} ]"
        self._close_phis(made, self.label)
        self.line(f"br label %{head}")
        self.place(done)
        for each in loop.carried:
            self.names[each.result.number] = self.names[each.param.number]

    def ask_sometimes(self, counter: str, turns: int) -> None:
        """Ask in every so many turns whether the caller was interrupted."""
        rest = self.emit(f"urem i64 {counter}, {turns}")
        now = self.emit(f"icmp eq i64 {rest}, 0")
        asking, on = self.new_label("ask"), self.new_label("on")
        self.line(f"br i1 {now}, label %{asking}, label %{on}")
        self.place(asking)
        self.ask(on)
        self.place(on)


def print_llvm(program: Program, threads: bool = False) -> str:
    """The program as a module of LLVM IR that defines ``unit``; with ``threads`` loops may run in pieces."""
    printer = Printer(program)
    printer.threads = threads
    return printer.run()
