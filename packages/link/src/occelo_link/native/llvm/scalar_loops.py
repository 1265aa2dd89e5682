"""Loops of one turn at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from occelo_link.loops.ir.cost import asking_turns, few_turns
from occelo_link.loops.ir.program import Block, Carried, For, While
from occelo_link.native.llvm.interrupt_polling import Polling
from occelo_link.native.llvm.literals import element_type
from occelo_link.native.llvm.module_writer import Emission
from occelo_link.native.llvm.scalars import Scalars

__all__ = ["Loops"]


@dataclass(eq=False, repr=False)
class _Cycle:
    """A loop whose body is printed: its label, its counter now and in the next turn, the phis of what it carries."""

    label: str
    counter: str
    counted: str
    phi: int
    carried: list[tuple[int, Carried]]


class Loops:
    """Loops whose bodies are printed by ``block``."""

    def __init__(
        self, out: Emission, scalars: Scalars, polling: Polling, block: Callable[[Block], None]
    ) -> None:
        self.out = out
        self.scalars = scalars
        self.polling = polling
        self.block = block

    def loop(self, loop: For) -> None:
        turns = few_turns(loop)
        carried = self.turns(loop) if turns is None else self.turns_in_a_row(loop, turns)
        for each, name in zip(loop.carried, carried, strict=True):
            self.scalars.names[each.result.number] = name

    def turns_in_a_row(self, loop: For, turns: range) -> list[str]:
        """A loop of a known small number of turns, without the loop; returns what it carried."""
        use, names = self.scalars.use, self.scalars.names
        carried = [use(each.initial) for each in loop.carried]
        for turn in turns:
            names[loop.index.number] = str(turn)
            for each, name in zip(loop.carried, carried, strict=True):
                names[each.param.number] = name
            self._body(loop.body)
            carried = [use(each.following) for each in loop.carried]
        return carried

    def turns(self, loop: For) -> list[str]:
        """A loop that pauses if it is long; returns what it carried."""
        out, use, names = self.out, self.scalars.use, self.scalars.names
        start, stop = use(loop.start), use(loop.stop)
        initial = [start, *(use(each.initial) for each in loop.carried)]
        kinds = ["i64", *(element_type(each.param.dtype) for each in loop.carried)]
        pause = self.polling.open_pause(loop, stop, list(zip(kinds, initial, strict=True)))
        bound = stop
        if pause is not None:
            initial, bound = pause.carried, pause.limit
        head, body, done = out.new_labels("loop", "body", "done")
        cycle = self._open(head, loop.carried, initial)
        more = out.emit(f"icmp slt i64 {cycle.counter}, {bound}")
        leave = done if pause is None else pause.label
        out.line(f"br i1 {more}, label %{body}, label %{leave}")
        out.place(body)
        names[loop.index.number] = cycle.counter
        self._body(loop.body)
        self._close(cycle)
        carried = [names[each.param.number] for each in loop.carried]
        if pause is not None:
            at_end = [cycle.counter, *carried]
            _, *carried = self.polling.close_pause(pause, stop, head, done, at_end)
        out.place(done)
        return carried

    def while_loop(self, loop: While) -> None:
        out, use, names = self.out, self.scalars.use, self.scalars.names
        head, body, done = out.new_labels("while", "body", "done")
        initial = ["1", *(use(each.initial) for each in loop.carried)]
        cycle = self._open(head, loop.carried, initial)
        self.block(loop.test)
        out.line(f"br i1 {use(loop.condition)}, label %{body}, label %{done}")
        out.place(body)
        if not self.polling.nesting:
            self.polling.ask_sometimes(cycle.counter, asking_turns(loop))
        self._body(loop.body)
        self._close(cycle)
        out.place(done)
        for each in loop.carried:
            names[each.result.number] = names[each.param.number]

    def _body(self, block: Block) -> None:
        with self.polling.nested():
            self.block(block)

    def _open(self, head: str, carried: Sequence[Carried], initial: Sequence[str]) -> _Cycle:
        """Begin a loop: its counter, whose initial value is the first one, and what it carries."""
        out, names = self.out, self.scalars.names
        before = out.label
        out.line(f"br label %{head}")
        out.place(head)
        phi, counter = out.open_phi("i64", initial[0], before)
        cycle = _Cycle(head, counter, out.fresh(), phi, [])
        for each, first in zip(carried, initial[1:], strict=True):
            kind = element_type(each.param.dtype)
            position, names[each.param.number] = out.open_phi(kind, first, before)
            cycle.carried.append((position, each))
        return cycle

    def _close(self, cycle: _Cycle) -> None:
        """Count, and go back to where the loop begins."""
        out, use = self.out, self.scalars.use
        out.line(f"{cycle.counted} = add i64 {cycle.counter}, 1")
        out.close_phi(cycle.phi, cycle.counted, out.label)
        for position, each in cycle.carried:
            out.close_phi(position, use(each.following), out.label)
        out.line(f"br label %{cycle.label}")
