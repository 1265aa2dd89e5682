"""Loops as functions of their own: for several threads, and to keep large programs quick to compile.

A loop in the body of the program that only loads, computes and stores becomes ``void part(ptr env, i64 start,
i64 stop, ptr table)``. ``env`` holds what it uses from outside, in slots of 8 bytes. If its turns are independent
and there is enough to do, the service of `occelo_link.machine.threads` runs it in pieces; else, or if the service was
interrupted before it began, it is called once, for all turns. Each turn computes the same in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from occelo_link.loops.ir.program import Buffer, For, Value
from occelo_link.loops.ir.uses import is_plain, used_by
from occelo_link.native.llvm.interrupt_polling import Polling
from occelo_link.native.llvm.literals import element_type
from occelo_link.native.llvm.module_writer import Emission
from occelo_link.native.llvm.scalars import Scalars
from occelo_link.units.frame import table_slot

__all__ = ["PARALLEL_SERVICE", "Parallel"]

PARALLEL_SERVICE = "service:parallel"
"""The entry of the table that runs a loop in pieces."""
_ENOUGH = 1_500_000
"""Less work than this, in operations, is not worth the time to wake other threads."""
_LARGE = 5_000
"""LLVM's time grows faster than a function does; programs of more statements than this are divided."""


class Parallel:
    """Loops in pieces; ``threads`` says whether loops may run in them.

    ``turns`` prints a loop where it is.
    """

    def __init__(
        self,
        out: Emission,
        scalars: Scalars,
        polling: Polling,
        turns: Callable[[For], None],
        threads: bool,
    ) -> None:
        self.out = out
        self.emit = out.emit
        self.line = out.line
        self.use = scalars.use
        self.scalars = scalars
        self.polling = polling
        self.turns = turns
        self.threads = threads

    @cached_property
    def is_large(self) -> bool:
        """Whether the program is too large for one function."""
        return sum(len(block.statements) for block in self.out.program.blocks()) > _LARGE

    def has_own_function(self, loop: For) -> bool:
        """Whether a loop is printed as a function of its own."""
        wanted = self.is_large or (self.threads and loop.parallel)
        if not wanted or loop.carried or loop.body.parent is not self.out.program.body:
            return False
        return is_plain(loop.body)

    def own_function(self, loop: For) -> None:
        """Call the loop's function for all turns, or let the service do so in pieces."""
        held = self.held(loop)
        allocas = self.out.allocas
        env = f"%env{len(allocas)}"
        allocas.append(f"  {env} = alloca i64, i32 {len(held) + 1}, align 8")
        self.line(f"store ptr %frame, ptr {env}, align 8")
        for slot, (_, kind, name) in enumerate(held, 1):
            at = self.emit(f"getelementptr i64, ptr {env}, i64 {slot}")
            self.line(f"store {kind} {name}, ptr {at}, align 8")
        start, stop = self.use(loop.start), self.use(loop.stop)
        part = f"@part{self.out.new_label('')}"
        self.out.outlined[part, 0] = self.part(part, loop, held)
        given = f"ptr {env}, i64 {start}, i64 {stop}, ptr %table"
        if self.threads and loop.parallel:
            self.in_pieces(loop, part, given)
        elif self.polling.pauses(loop):
            self.in_turns(loop, part, env)
        else:
            self.line(f"call void {part}({given})")

    def held(self, loop: For) -> list[tuple[Value | Buffer, str, str]]:
        """What a loop uses from outside, with types and names."""
        names, held = self.scalars.names, list[tuple[Value | Buffer, str, str]]()
        for each in dict.fromkeys(used_by(loop.body)):
            if isinstance(each, Buffer):
                held.append((each, "ptr", self.scalars.buffer(each)))
            elif each.op != "const" and each.number in names:
                held.append((each, element_type(each.dtype), names[each.number]))
        return held

    def in_turns(self, loop: For, part: str, env: str) -> None:
        """Call the loop's function from limit to limit."""
        start, stop, step = self.use(loop.start), self.use(loop.stop), self.polling.step(loop)
        head, asking, done = self.out.new_labels("turns", "ask", "done")
        before = self.out.label
        self.line(f"br label %{head}")
        self.out.place(head)
        at, first = self.out.open_phi("i64", start, before)
        limit = self.polling.limit_after(first, step, stop)
        self.line(f"call void {part}(ptr {env}, i64 {first}, i64 {limit}, ptr %table)")
        more = self.emit(f"icmp slt i64 {limit}, {stop}")
        self.line(f"br i1 {more}, label %{asking}, label %{done}")
        self.out.place(asking)
        self.polling.ask(head)
        self.out.close_phi(at, limit, asking)
        self.out.place(done)

    def in_pieces(self, loop: For, part: str, given: str) -> None:
        """Ask the service, if there is enough to do."""
        flag = f"%flag{len(self.out.allocas)}"
        self.out.allocas.append(f"  {flag} = alloca i64, align 8")
        pieces, whole, done = self.out.new_labels("pieces", "whole", "done")
        enough = self.emit(f"icmp sgt i64 {self.polling.all_turns(loop)}, {_ENOUGH}")
        self.line(f"br i1 {enough}, label %{pieces}, label %{whole}")
        self.out.place(pieces)
        self.out.program.entry(PARALLEL_SERVICE)
        slot = table_slot(self.out.program, PARALLEL_SERVICE)
        address = self.emit(f"getelementptr i64, ptr %table, i64 {slot}")
        service = self.emit(f"load ptr, ptr {address}, align 8")
        self.line(f"store i64 0, ptr {flag}, align 8")
        self.line(f"call void {service}(ptr {part}, {given}, ptr {flag})")
        ended = self.emit(f"load i64, ptr {flag}, align 8")
        all_done = self.emit(f"icmp ne i64 {ended}, 0")
        self.line(f"br i1 {all_done}, label %{done}, label %{whole}")
        self.out.place(whole)
        self.line(f"call void {part}({given})")
        self.line(f"br label %{done}")
        self.out.place(done)

    def part(self, name: str, loop: For, held: Sequence[tuple[Value | Buffer, str, str]]) -> str:
        """The text of a loop's function."""
        out, scalars, block = self.out, self.scalars, self.out.program.body
        first, last = (Value(-k, "int64", "param", (), block) for k in (1, 2))
        whole = For(loop.index, first, last, loop.body, loop.lanes)
        head = (
            f"define internal void {name}(ptr %env, i64 %start, i64 %stop, ptr %table) nounwind {{"
        )
        # who calls the function asks
        with self.polling.nested(), scalars.function():
            out.header.append("  %frame = load ptr, ptr %env, align 8")
            for slot, (each, kind, _) in enumerate(held, 1):
                loaded = out.load_first("%env", slot, kind)
                if isinstance(each, Buffer):
                    scalars.pointers[each] = loaded
                else:
                    scalars.names[each.number] = loaded
            scalars.names.update({-1: "%start", -2: "%stop"})
            self.turns(whole)
            return "\n".join(
                [head, "entry:", *out.allocas, *out.header, *out.lines, "  ret void", "}"]
            )
