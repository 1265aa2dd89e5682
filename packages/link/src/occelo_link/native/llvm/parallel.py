"""Loops as functions of their own: for several threads, and to keep large programs quick to compile.

A loop in the body of the program that only loads, computes and stores becomes ``void part(ptr env, i64 start,
i64 stop, ptr table)``. ``env`` holds what it uses from outside, in slots of 8 bytes. If its turns are independent
and there is enough to do, the service of `occelo_link.machine.threads` runs it in pieces; else, or if the service was
interrupted before it began, it is called once, for all turns. Each turn computes the same in any case.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from occelo_link.loops.ir.program import Block, Buffer, For, If, Store, Value, While
from occelo_link.native.llvm.emission import element_type
from occelo_link.native.llvm.lanes import Lanes
from occelo_link.units.frame import table_slot

__all__ = ["PARALLEL_SERVICE", "Parallel", "is_plain", "used_by"]

PARALLEL_SERVICE = "service:parallel"
"""The entry of the table that runs a loop in pieces."""
_ENOUGH = 1_500_000
"""Less work than this, in operations, is not worth the time to wake other threads."""
_LARGE = 5_000
"""LLVM's time grows faster than a function does; programs of more statements than this are divided."""


def is_plain(block: Block) -> bool:
    """Whether a block only loads, computes, loops and stores."""
    return all(
        isinstance(statement, Value | Store | For | If | While)
        and all(map(is_plain, statement.blocks))
        for statement in block
    )


def used_by(block: Block) -> Iterator[Value | Buffer]:
    """The values and buffers that a block and those within it name; some of them several times."""
    for statement in block:
        if isinstance(statement, Value):
            yield from (a for a in statement.args if isinstance(a, Value | Buffer))
        elif isinstance(statement, Store):
            yield from (statement.buffer, statement.offset, statement.value)
        elif isinstance(statement, For):
            yield from (statement.start, statement.stop)
            for each in statement.carried:
                yield from (each.initial, each.following)
            yield from used_by(statement.body)
        elif isinstance(statement, If):
            yield statement.condition
            for _, then, orelse in statement.results:
                yield from (then, orelse)
            yield from used_by(statement.then)
            yield from used_by(statement.orelse)
        elif isinstance(statement, While):
            yield statement.condition
            for each in statement.carried:
                yield from (each.initial, each.following)
            yield from used_by(statement.test)
            yield from used_by(statement.body)


class Parallel(Lanes):
    """Loops in pieces."""

    threads = False
    """Whether loops may run in pieces."""

    @cached_property
    def is_large(self) -> bool:
        """Whether the program is too large for one function."""
        return sum(len(block.statements) for block in self.program.blocks()) > _LARGE

    def has_own_function(self, loop: For) -> bool:
        """Whether a loop is printed as a function of its own."""
        wanted = self.is_large or (self.threads and loop.parallel)
        if not wanted or loop.carried or loop.body.parent is not self.program.body:
            return False
        return is_plain(loop.body)

    def own_function(self, loop: For) -> None:
        """Call the loop's function for all turns, or let the service do so in pieces."""
        outside = dict.fromkeys(
            v
            for v in used_by(loop.body)
            if isinstance(v, Buffer) or (v.op != "const" and v.number in self.names)
        )
        held: list[tuple[Value | Buffer, str, str]] = []
        for each in outside:
            if isinstance(each, Buffer):
                held.append((each, "ptr", self.buffer(each)))
            else:
                held.append((each, element_type(each.dtype), self.names[each.number]))
        env = f"%env{len(self.allocas)}"
        self.allocas.append(f"  {env} = alloca i64, i32 {len(held) + 1}, align 8")
        self.line(f"store ptr %frame, ptr {env}, align 8")
        for slot, (_, kind, name) in enumerate(held, 1):
            at = self.emit(f"getelementptr i64, ptr {env}, i64 {slot}")
            self.line(f"store {kind} {name}, ptr {at}, align 8")
        start, stop = self.use(loop.start), self.use(loop.stop)
        part = f"@part{self.new_label('')}"
        self.outlined[part, 0] = self.part(part, loop, held)
        given = f"ptr {env}, i64 {start}, i64 {stop}, ptr %table"
        if self.threads and loop.parallel:
            self.in_pieces(loop, part, given)
        elif self.pauses(loop):
            self.in_turns(loop, part, env)
        else:
            self.line(f"call void {part}({given})")

    def in_turns(self, loop: For, part: str, env: str) -> None:
        """Call the loop's function from limit to limit."""
        start, stop, step = self.use(loop.start), self.use(loop.stop), self.step(loop)
        head, asking, done = (self.new_label(h) for h in ("turns", "ask", "done"))
        before = self.label
        self.line(f"br label %{head}")
        self.place(head)
        first, at = self.fresh(), len(self.lines)
        self.lines.append(f"  {first} = phi i64 [ {start}, %{before} ], ")
        limit = self.limit_after(first, step, stop)
        self.line(f"call void {part}(ptr {env}, i64 {first}, i64 {limit}, ptr %table)")
        more = self.emit(f"icmp slt i64 {limit}, {stop}")
        self.line(f"br i1 {more}, label %{asking}, label %{done}")
        self.place(asking)
        self.ask(head)
        self.lines[at] += f"[ {limit}, %{asking} ]"
        self.place(done)

    def in_pieces(self, loop: For, part: str, given: str) -> None:
        """Ask the service, if there is enough to do."""
        flag = f"%flag{len(self.allocas)}"
        self.allocas.append(f"  {flag} = alloca i64, align 8")
        pieces, whole, done = (self.new_label(h) for h in ("pieces", "whole", "done"))
        enough = self.emit(f"icmp sgt i64 {self.work(loop)}, {_ENOUGH}")
        self.line(f"br i1 {enough}, label %{pieces}, label %{whole}")
        self.place(pieces)
        self.program.entry(PARALLEL_SERVICE)
        slot = table_slot(self.program, PARALLEL_SERVICE)
        address = self.emit(f"getelementptr i64, ptr %table, i64 {slot}")
        service = self.emit(f"load ptr, ptr {address}, align 8")
        self.line(f"store i64 0, ptr {flag}, align 8")
        self.line(f"call void {service}(ptr {part}, {given}, ptr {flag})")
        ended = self.emit(f"load i64, ptr {flag}, align 8")
        all_done = self.emit(f"icmp ne i64 {ended}, 0")
        self.line(f"br i1 {all_done}, label %{done}, label %{whole}")
        self.place(whole)
        self.line(f"call void {part}({given})")
        self.line(f"br label %{done}")
        self.place(done)

    def part(self, name: str, loop: For, held: list[tuple[Value | Buffer, str, str]]) -> str:
        """The text of a loop's function."""
        outer = {key: getattr(self, key) for key in _STATE}
        self.nesting += 1  # who calls the function asks
        self.open_function()
        self.names, self.pointers, self.slots, self.allocas = {}, {}, {}, []
        self.header.append("  %frame = load ptr, ptr %env, align 8")
        for slot, (each, kind, _) in enumerate(held, 1):
            address, loaded = self.fresh(), self.fresh()
            self.header.append(f"  {address} = getelementptr i64, ptr %env, i64 {slot}")
            self.header.append(f"  {loaded} = load {kind}, ptr {address}, align 8")
            if isinstance(each, Buffer):
                self.pointers[each] = loaded
            else:
                self.names[each.number] = loaded
        block = self.program.body
        first, last = (Value(-k, "int64", "param", (), block) for k in (1, 2))
        self.names.update({-1: "%start", -2: "%stop"})
        whole = For(loop.index, first, last, loop.body, loop.lanes)
        (self.lanes_loop if loop.lanes > 1 else self.scalar_loop)(whole)
        head = (
            f"define internal void {name}(ptr %env, i64 %start, i64 %stop, ptr %table) nounwind {{"
        )
        text = [head, "entry:", *self.allocas, *self.header, *self.lines, "  ret void", "}"]
        for key, value in outer.items():
            setattr(self, key, value)
        self.nesting -= 1
        return "\n".join(text)

    def scalar_loop(self, loop: For) -> None:
        """A loop of one turn at a time."""
        raise NotImplementedError


_STATE = ("lines", "header", "label", "functions", "names", "pointers", "slots", "allocas")
