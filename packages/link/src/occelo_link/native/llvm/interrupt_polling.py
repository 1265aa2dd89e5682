"""Prints the polling for interrupts in long loops, as LLVM IR. It is a part of the LLVM printer (`printer`).

The printers of loops (`scalar_loops`, `vector_loops`, `parallel`) use it. An outermost loop that may run for long is
strip-mined: a new loop around it runs the loop strip by strip, and calls the service `occelo_link.units.frame.POLL`
after each strip. A call inside of the inner loop would keep values out of registers.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from occelo_link.loops.ir.cost import BUDGET, Work, is_long, iteration_work, static_poll_interval
from occelo_link.loops.ir.program import For, Value
from occelo_link.native.llvm.module_writer import ModuleWriter
from occelo_link.native.llvm.scalars import Scalars
from occelo_link.units.frame import INTERRUPTED, POLL


class StripLoop:
    """The loop over strips: its names and labels, and the positions of its unfinished phis."""

    def __init__(
        self, limit: str, label: str, head: str, before: str, initial: list[tuple[str, str]]
    ) -> None:
        self.limit = limit
        self.label = label
        self.head = head
        self.before = before
        self.initial = initial
        self.phis: list[tuple[int, str]] = []

    @property
    def carried(self) -> list[str]:
        """The names of the strip's first index and of the values that are carried into the strip."""
        return [name for _, name in self.phis]


class Polling:
    """Prints strip-mined loops and polls.

    ``nesting`` is the number of loops around the current statement. ``is_used`` is true if the unit polls anywhere.
    """

    def __init__(self, out: ModuleWriter, scalars: Scalars) -> None:
        self.out = out
        self.emit = out.emit
        self.line = out.line
        self.use = scalars.use
        self.nesting = 0
        self.is_used = False

    @contextmanager
    def nested(self) -> Generator[None]:
        """A context in which the body of a loop is printed. Loops inside of the body do not poll."""
        self.nesting += 1
        yield
        self.nesting -= 1

    def total_work(self, loop: For, work: Work) -> str:
        """Print code that computes the number of operations of a whole loop, whose iterations take ``work``."""
        return self.emit(f"mul i64 {self.iterations(loop.start, loop.stop)}, {self.work(work)}")

    def iterations(self, start: Value, stop: Value) -> str:
        """Return the number of iterations of a loop, negative where it has none."""
        first = self.use(start)
        return self.use(stop) if first == "0" else self.emit(f"sub i64 {self.use(stop)}, {first}")

    def work(self, work: Work) -> str:
        """Return an approximate number of operations, as the name of a computed value or as a literal."""
        total = str(work.own)
        for start, stop, each in work.inner:
            self.out.declare("declare i64 @llvm.smax.i64(i64, i64)")
            some = self.emit(f"call i64 @llvm.smax.i64(i64 {self.iterations(start, stop)}, i64 0)")
            product = self.emit(f"mul i64 {some}, {self.work(each)}")
            total = self.emit(f"add i64 {total}, {product}")
        return total

    def is_strip_mined(self, loop: For) -> bool:
        """Whether a loop is strip-mined. Only outermost interruptible loops that may run for long are."""
        return not self.nesting and not loop.non_interruptible and is_long(loop)

    def strip_length(self, loop: For) -> str:
        """Print code that computes the number of iterations of a strip."""
        work = iteration_work(loop)
        if not work.inner:
            return str(static_poll_interval(loop))
        iterations = self.emit(f"udiv i64 {BUDGET}, {self.work(work)}")
        if loop.lanes > 1:
            iterations = self.emit(f"and i64 {iterations}, {-loop.lanes}")
        return self.emit(f"add i64 {iterations}, {loop.lanes}")

    def strip_end(self, first: str, strip_length: str, stop: str) -> str:
        """Print code that computes the end of the strip that begins at ``first``."""
        self.out.declare("declare i64 @llvm.smin.i64(i64, i64)")
        ahead = self.emit(f"add i64 {first}, {strip_length}")
        return self.emit(f"call i64 @llvm.smin.i64(i64 {ahead}, i64 {stop})")

    def poll(self, resume: str) -> None:
        """Print a poll. If there is an interrupt, the unit returns. Otherwise it continues at the label ``resume``."""
        status = self.emit(f"call i64 {self.out.service(POLL)}(ptr %frame)")
        self.is_used = True
        not_interrupted = self.emit(f"icmp eq i64 {status}, 0")
        self.out.branch_likely(not_interrupted, resume, "interrupted")

    def poll_every(self, counter: str, iterations: int) -> None:
        """Print a poll that runs only if ``counter`` is a multiple of ``iterations``."""
        rest = self.emit(f"urem i64 {counter}, {iterations}")
        later = self.emit(f"icmp ne i64 {rest}, 0")
        poll_block, resume = self.out.new_labels("poll", "resume")
        self.out.branch_likely(later, resume, poll_block)
        self.out.start_block(poll_block)
        self.poll(resume)
        self.out.start_block(resume)

    def exit_if_interrupted(self) -> None:
        """Print the block where an interrupted unit returns."""
        if self.is_used:
            self.out.start_block("interrupted")
            self.line(f"ret i64 {INTERRUPTED}")

    def open_strips(
        self, loop: For, stop: str, carried: Sequence[tuple[str, str]]
    ) -> StripLoop | None:
        """Print the beginning of the loop over the strips of a loop. Returns None if the loop is not strip-mined.

        ``carried`` are the types and initial values of the index and of the values that the loop carries.
        """
        if not self.is_strip_mined(loop):
            return None
        strip_length = self.strip_length(loop)
        strips = StripLoop(
            "",
            self.out.new_label("strip_end"),
            self.out.new_label("strips"),
            self.out.label,
            list(carried),
        )
        # LLVM would recognize a loop with one entry, and keep constants in registers across the call of the service
        empty = self.emit(f"icmp sge i64 {carried[0][1]}, {stop}")
        self.line(f"br i1 {empty}, label %{strips.label}, label %{strips.head}")
        self.out.start_block(strips.head)
        for kind, value in carried:
            strips.phis.append(self.out.open_phi(kind, value, strips.before))
        strips.limit = self.strip_end(strips.phis[0][1], strip_length, stop)
        return strips

    def close_strips(
        self, strips: StripLoop, stop: str, end: str, done: str, carried: Sequence[str]
    ) -> list[str]:
        """Print the end of the loop over strips.

        ``carried`` names the index and the carried values in the block ``end`` of the inner loop. Returns their names
        after the strip.
        """
        self.out.start_block(strips.label)
        limit = self.emit(f"phi i64 [ {stop}, %{strips.before} ], [ {strips.limit}, %{end} ]")
        values = [
            self.emit(f"phi {kind} [ {first}, %{strips.before} ], [ {value}, %{end} ]")
            for (kind, first), value in zip(strips.initial, carried, strict=True)
        ]
        ended = self.emit(f"icmp sge i64 {limit}, {stop}")
        poll_block = self.out.new_label("poll")
        self.out.branch_likely(ended, done, poll_block)
        self.out.start_block(poll_block)
        self.poll(strips.head)
        for (line, _), value in zip(strips.phis, values, strict=True):
            self.out.close_phi(line, value, poll_block)
        return values
