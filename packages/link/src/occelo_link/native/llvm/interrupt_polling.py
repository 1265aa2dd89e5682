"""Loops that stop now and then to let the caller see whether it was interrupted.

A loop that no other loop holds is held by one over limits: it runs up to a limit, then the service
`occelo_link.units.frame.POLL` is asked, and it goes on to the next one. The call is not in the loop itself, where it
would keep values out of registers.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from occelo_link.loops.ir.cost import BUDGET, Work, is_long, known_step, turn_work
from occelo_link.loops.ir.program import For
from occelo_link.native.llvm.module_writer import Emission
from occelo_link.native.llvm.scalars import Scalars
from occelo_link.units.frame import INTERRUPTED, POLL

__all__ = ["Pause", "Polling"]


@dataclass
class Pause:
    """The loop over limits around a loop: names and labels, and the lines of what it carries."""

    limit: str
    label: str
    head: str
    before: str
    initial: list[tuple[str, str]]
    phis: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    @property
    def carried(self) -> list[str]:
        """The next turn, and what the loop within carries before it."""
        return [name for _, name in self.phis]


class Polling:
    """The limits of loops, and what is done there.

    ``nesting`` says how many loops are open around what is printed, ``asks`` whether the unit asks anywhere.
    """

    def __init__(self, out: Emission, scalars: Scalars) -> None:
        self.out = out
        self.emit = out.emit
        self.line = out.line
        self.use = scalars.use
        self.nesting = 0
        self.asks = False

    @contextmanager
    def nested(self) -> Generator[None]:
        """Around the body of a loop, which is not to ask."""
        self.nesting += 1
        yield
        self.nesting -= 1

    def all_turns(self, loop: For) -> str:
        """About how many operations all turns of a loop are."""
        turns = self.emit(f"sub i64 {self.use(loop.stop)}, {self.use(loop.start)}")
        return self.emit(f"mul i64 {turns}, {self.work(turn_work(loop))}")

    def work(self, work: Work) -> str:
        """About how many operations that is, in a register or as a number."""
        total = str(work.own)
        for start, stop, each in work.inner:
            self.out.declare("declare i64 @llvm.smax.i64(i64, i64)")
            turns = self.emit(f"sub i64 {self.use(stop)}, {self.use(start)}")
            some = self.emit(f"call i64 @llvm.smax.i64(i64 {turns}, i64 0)")
            product = self.emit(f"mul i64 {some}, {self.work(each)}")
            total = self.emit(f"add i64 {total}, {product}")
        return total

    def pauses(self, loop: For) -> bool:
        """Whether a loop asks: one that no other holds, and that may run for long."""
        return not self.nesting and not loop.steady and is_long(loop)

    def step(self, loop: For) -> str:
        """How many turns to do between two questions."""
        work = turn_work(loop)
        if not work.inner:
            return str(known_step(loop))
        assert loop.lanes == 1  # a loop that holds others has none
        turns = self.emit(f"udiv i64 {BUDGET}, {self.work(work)}")
        return self.emit(f"add i64 {turns}, 1")

    def limit_after(self, first: str, step: str, stop: str) -> str:
        """How far to go from a turn on."""
        self.out.declare("declare i64 @llvm.smin.i64(i64, i64)")
        ahead = self.emit(f"add i64 {first}, {step}")
        return self.emit(f"call i64 @llvm.smin.i64(i64 {ahead}, i64 {stop})")

    def ask(self, on: str) -> None:
        """Go on at a label, or return from the unit if the caller was interrupted."""
        self.asks = True
        status = self.emit(f"call i64 {self.out.service(POLL)}(ptr %frame)")
        unasked = self.emit(f"icmp eq i64 {status}, 0")
        self.out.unless(unasked, on, "interrupted")

    def ask_sometimes(self, counter: str, turns: int) -> None:
        """Ask in every so many turns whether the caller was interrupted."""
        rest = self.emit(f"urem i64 {counter}, {turns}")
        later = self.emit(f"icmp ne i64 {rest}, 0")
        asking, on = self.out.new_labels("ask", "on")
        self.out.unless(later, on, asking)
        self.out.place(asking)
        self.ask(on)
        self.out.place(on)

    def interruption(self) -> None:
        """Where a unit that was interrupted ends."""
        if self.asks:
            self.out.place("interrupted")
            self.line(f"ret i64 {INTERRUPTED}")

    def open_pause(self, loop: For, stop: str, carried: Sequence[tuple[str, str]]) -> Pause | None:
        """Begin the loop over limits around a loop that is long; None if it is not.

        ``carried`` are the types and first values of what the loop carries, its index first.
        """
        if not self.pauses(loop):
            return None
        step = self.step(loop)
        pause = Pause(
            "",
            self.out.new_label("pause"),
            self.out.new_label("limits"),
            self.out.label,
            list(carried),
        )
        # two ways into the cycle: it is no loop to LLVM, which would keep constants in registers across the call
        empty = self.emit(f"icmp sge i64 {carried[0][1]}, {stop}")
        self.line(f"br i1 {empty}, label %{pause.label}, label %{pause.head}")
        self.out.place(pause.head)
        for kind, value in carried:
            pause.phis.append(self.out.open_phi(kind, value, pause.before))
        pause.limit = self.limit_after(pause.phis[0][1], step, stop)
        return pause

    def close_pause(
        self, pause: Pause, stop: str, end: str, done: str, carried: Sequence[str]
    ) -> list[str]:
        """What is done at a limit; ``carried`` are the values of what the loop carries at its ``end``.

        Returns their values here.
        """
        self.out.place(pause.label)
        limit = self.emit(f"phi i64 [ {stop}, %{pause.before} ], [ {pause.limit}, %{end} ]")
        values = [
            self.emit(f"phi {kind} [ {first}, %{pause.before} ], [ {value}, %{end} ]")
            for (kind, first), value in zip(pause.initial, carried, strict=True)
        ]
        ended = self.emit(f"icmp sge i64 {limit}, {stop}")
        asking = self.out.new_label("ask")
        self.out.unless(ended, done, asking)
        self.out.place(asking)
        self.ask(pause.head)
        for (line, _), value in zip(pause.phis, values, strict=True):
            self.out.close_phi(line, value, asking)
        return values
