"""Loops that stop now and then to let the caller see whether it was interrupted.

A loop that no other loop holds is held by one over limits: it runs up to a limit, then the service
`occelo_link.native.frame.POLL` is asked, and it goes on to the next one. The call is not in the loop itself, where it
would keep values out of registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from occelo_link.loops.ir.program import For
from occelo_link.loops.ir.work import BUDGET, UNKNOWN_TURNS, is_known_before, is_long, turn_work
from occelo_link.native.frame import INTERRUPTED, POLL
from occelo_link.native.llvm.scalars import Scalars

__all__ = ["Pause", "Polling"]


@dataclass
class Pause:
    """The loop over limits around a loop: names and labels, and the lines of what it carries."""

    step: str
    limit: str
    label: str
    head: str
    phis: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    @property
    def carried(self) -> list[str]:
        """What the loop within carries, before its next turn."""
        return [name for _, name in self.phis[1:]]


class Polling(Scalars):
    """The limits of loops, and what is done there."""

    nesting = 0
    """How many loops are open around what is printed."""

    def service(self, slot: int) -> str:
        """The address of a service."""
        key = f"service{slot}"
        if key not in self.functions:
            address, loaded = self.fresh(), self.fresh()
            self.header.append(f"  {address} = getelementptr i64, ptr %table, i64 {slot}")
            self.header.append(f"  {loaded} = load ptr, ptr {address}, align 8")
            self.functions[key] = loaded
        return self.functions[key]

    def work(self, loop: For) -> str:
        """About how many operations a loop does, as far as can be told before it runs."""
        turns = self.emit(f"sub i64 {self.use(loop.stop)}, {self.use(loop.start)}")
        return self.emit(f"mul i64 {turns}, {self.work_of_turn(loop)}")

    def work_of_turn(self, loop: For) -> str:
        """About how many operations one turn does."""
        own, inner = turn_work(loop)
        counted: list[str] = []
        for each in inner:
            if is_known_before(each.start, loop) and is_known_before(each.stop, loop):
                counted.append(self.work(each))
            else:
                own += UNKNOWN_TURNS * turn_work(each)[0]
        total = str(own)
        for name in counted:
            total = self.emit(f"add i64 {total}, {name}")
        return total

    def pauses(self, loop: For) -> bool:
        """Whether a loop asks: one that no other holds, and that may run for long."""
        return not self.nesting and is_long(loop)

    def step(self, loop: For) -> str:
        """How many turns to do between two questions."""
        work = self.work_of_turn(loop)
        if work.isdigit():
            return str(max(1, BUDGET // int(work) // loop.lanes) * loop.lanes)
        assert loop.lanes == 1  # a loop that holds others has none
        turns = self.emit(f"udiv i64 {BUDGET}, {work}")
        return self.emit(f"add i64 {turns}, 1")

    def next_limit(self, before: str, step: str, stop: str) -> str:
        ahead = self.emit(f"add i64 {before}, {step}")
        within = self.emit(f"icmp slt i64 {ahead}, {stop}")
        return self.emit(f"select i1 {within}, i64 {ahead}, i64 {stop}")

    def ask(self) -> None:
        """Return from the unit if the caller was interrupted."""
        status = self.emit(f"call i64 {self.service(POLL)}(ptr %frame)")
        stopped = self.emit(f"icmp ne i64 {status}, 0")
        leave, go = self.new_label("interrupted"), self.new_label("go")
        self.line(f"br i1 {stopped}, label %{leave}, label %{go}")
        self.place(leave)
        self.line(f"ret i64 {INTERRUPTED}")
        self.place(go)

    def open_pause(
        self, loop: For, start: str, stop: str, carried: Sequence[tuple[str, str]]
    ) -> Pause | None:
        """Begin the loop over limits around a loop that is long; None if it is not.

        ``carried`` are the types and first values of what the loop carries, its index first.
        """
        if not self.pauses(loop):
            return None
        step = self.step(loop)
        first = self.next_limit(start, step, stop)
        before, head = self.label, self.new_label("limits")
        self.line(f"br label %{head}")
        self.place(head)
        limit = self.fresh()
        pause = Pause(step, limit, self.new_label("pause"), head)
        for name, kind, value in [
            (limit, "i64", first),
            *((self.fresh(), kind, value) for kind, value in carried),
        ]:
            pause.phis.append((len(self.lines), name))
            self.lines.append(f"  {name} = phi {kind} [ {value}, %{before} ], ")
        return pause

    def close_pause(self, pause: Pause, stop: str, done: str, carried: Sequence[str]) -> None:
        """What is done at a limit; ``carried`` are the values there of what the loop carries."""
        self.place(pause.label)
        ended = self.emit(f"icmp sge i64 {pause.limit}, {stop}")
        asking = self.new_label("ask")
        self.line(f"br i1 {ended}, label %{done}, label %{asking}")
        self.place(asking)
        self.ask()
        following = self.next_limit(pause.limit, pause.step, stop)
        for (line, _), value in zip(pause.phis, [following, *carried], strict=True):
            self.lines[line] += f"[ {value}, %{self.label} ]"
        self.line(f"br label %{pause.head}")
