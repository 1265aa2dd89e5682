"""Prints loops without lanes as LLVM IR. Such loops compute one element in each iteration.

`ScalarLoops` is a part of the LLVM printer (`native.llvm.printer`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_link.loops.ir.cost import iterations_between_polls, unrolled_range
from occelo_link.loops.ir.program import Block, Carried, For, While
from occelo_link.native.llvm.interrupt_polling import Polling
from occelo_link.native.llvm.literals import element_type
from occelo_link.native.llvm.module_writer import ModuleWriter
from occelo_link.native.llvm.scalars import Scalars


@frozen_dataclass(eq=False, repr=False)
class _OpenLoop:
    """A loop that is being printed.

    ``label`` is the label at its beginning. ``counter`` is its counter, and ``counted`` is the counter of the next
    iteration. ``phi`` is the position in the text of the counter's phi instruction, which is not yet complete.
    ``carried`` has such a position for each carried value.
    """

    label: str
    counter: str
    counted: str
    phi: int
    carried: list[tuple[int, Carried]]


class ScalarLoops:
    """Prints loops without lanes. ``block`` prints the statements of their bodies."""

    def __init__(
        self, out: ModuleWriter, scalars: Scalars, polling: Polling, block: Callable[[Block], None]
    ) -> None:
        self.out = out
        self.scalars = scalars
        self.polling = polling
        self.block = block

    def loop(self, loop: For) -> None:
        indices = unrolled_range(loop)
        carried = self.rolled(loop) if indices is None else self.unrolled(loop, indices)
        for each, name in zip(loop.carried, carried, strict=True):
            self.scalars.names[each.result.number] = name

    def unrolled(self, loop: For, indices: range) -> list[str]:
        """Print an unrolled loop. Returns the names of the final carried values."""
        use, names = self.scalars.use, self.scalars.names
        carried = [use(each.initial) for each in loop.carried]
        for index in indices:
            names[loop.index.number] = str(index)
            for each, name in zip(loop.carried, carried, strict=True):
                names[each.param.number] = name
            self._body(loop.body)
            carried = [use(each.following) for each in loop.carried]
        return carried

    def rolled(self, loop: For) -> list[str]:
        """Print a loop that is not unrolled, strip-mined if it is long. Returns the names of the final carried values."""
        out, use, names = self.out, self.scalars.use, self.scalars.names
        start, stop = use(loop.start), use(loop.stop)
        initial = [start, *(use(each.initial) for each in loop.carried)]
        kinds = ["i64", *(element_type(each.param.dtype) for each in loop.carried)]
        strips = self.polling.open_strips(loop, stop, list(zip(kinds, initial, strict=True)))
        bound = stop
        if strips is not None:
            initial, bound = strips.carried, strips.limit
        head, body, done = out.new_labels("loop", "body", "done")
        opened = self._open(head, loop.carried, initial)
        more = out.emit(f"icmp slt i64 {opened.counter}, {bound}")
        leave = done if strips is None else strips.label
        out.line(f"br i1 {more}, label %{body}, label %{leave}")
        out.start_block(body)
        names[loop.index.number] = opened.counter
        self._body(loop.body)
        self._close(opened)
        carried = [names[each.param.number] for each in loop.carried]
        if strips is not None:
            at_end = [opened.counter, *carried]
            _, *carried = self.polling.close_strips(strips, stop, head, done, at_end)
        out.start_block(done)
        return carried

    def while_loop(self, loop: While) -> None:
        out, use, names = self.out, self.scalars.use, self.scalars.names
        head, body, done = out.new_labels("while", "body", "done")
        initial = ["1", *(use(each.initial) for each in loop.carried)]
        opened = self._open(head, loop.carried, initial)
        self.block(loop.test)
        out.line(f"br i1 {use(loop.condition)}, label %{body}, label %{done}")
        out.start_block(body)
        if not self.polling.nesting:
            self.polling.poll_every(opened.counter, iterations_between_polls(loop))
        self._body(loop.body)
        self._close(opened)
        out.start_block(done)
        for each in loop.carried:
            names[each.result.number] = names[each.param.number]

    def _body(self, block: Block) -> None:
        with self.polling.nested():
            self.block(block)

    def _open(self, head: str, carried: Sequence[Carried], initial: Sequence[str]) -> _OpenLoop:
        """Print the beginning of a loop. ``initial`` are the first values of its counter and of the carried values."""
        out, names = self.out, self.scalars.names
        before = out.label
        out.line(f"br label %{head}")
        out.start_block(head)
        phi, counter = out.open_phi("i64", initial[0], before)
        opened = _OpenLoop(head, counter, out.fresh(), phi, [])
        for each, first in zip(carried, initial[1:], strict=True):
            kind = element_type(each.param.dtype)
            position, names[each.param.number] = out.open_phi(kind, first, before)
            opened.carried.append((position, each))
        return opened

    def _close(self, opened: _OpenLoop) -> None:
        """Print the end of an iteration, which increments the counter and branches back."""
        out, use = self.out, self.scalars.use
        out.line(f"{opened.counted} = add i64 {opened.counter}, 1")
        out.close_phi(opened.phi, opened.counted, out.label)
        for position, each in opened.carried:
            out.close_phi(position, use(each.following), out.label)
        out.line(f"br label %{opened.label}")
