"""Loops with lanes, as explicit vectors.

A loop over whole vectors, and one turn under a mask for what is left, so that no pass of LLVM's
optimizer is needed.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_link.loops.ir.cost import few_turns
from occelo_link.loops.ir.program import For, Value
from occelo_link.native.llvm.interrupt_polling import Polling
from occelo_link.native.llvm.literals import type_of
from occelo_link.native.llvm.module_writer import Emission
from occelo_link.native.llvm.vector_iteration import Turn, TurnParts

__all__ = ["Lanes"]


class Lanes:
    """Loops with lanes."""

    def __init__(self, out: Emission, parts: TurnParts, polling: Polling) -> None:
        self.out = out
        self.parts = parts
        self.polling = polling

    def loop(self, loop: For) -> None:
        turns = few_turns(loop)
        vectors = self.turns(loop) if turns is None else self.turns_in_a_row(loop, turns)
        for each, merged in zip(loop.carried, vectors, strict=True):
            assert each.combine is not None
            self.parts.scalars.names[each.result.number] = self.combine(
                each.combine, each.param, merged, loop.lanes
            )

    def turn(self, loop: For, first: str, mask: str | None, carried: Sequence[str]) -> list[str]:
        """The body once; returns the partial results after it."""
        return Turn(self.parts, loop, first, mask).run(carried)

    def turns_in_a_row(self, loop: For, turns: range) -> list[str]:
        """A loop of a known small number of turns, without the loop; returns the partial results."""
        lanes = loop.lanes
        vectors = [self.parts.vectors.spread(each.initial, lanes) for each in loop.carried]
        for first in range(turns.start, turns.stop, lanes):
            left = turns.stop - first
            steps = ", ".join(f"i1 {'true' if i < left else 'false'}" for i in range(lanes))
            mask = None if left >= lanes else f"<{steps}>"
            vectors = self.turn(loop, str(first), mask, vectors)
        return vectors

    def turns(self, loop: For) -> list[str]:
        """A loop over whole vectors, and what is left; returns the partial results."""
        out, lanes = self.out, loop.lanes
        start, stop = self.parts.scalars.use(loop.start), self.parts.scalars.use(loop.stop)
        head, body, rest, tail, done = out.new_labels("vector", "body", "rest", "tail", "done")
        kinds = ["i64", *(type_of(each.param.dtype, lanes) for each in loop.carried)]
        initial = [start, *(self.parts.vectors.spread(e.initial, lanes) for e in loop.carried)]
        pause = self.polling.open_pause(loop, stop, list(zip(kinds, initial, strict=True)))
        bound, leave = stop, rest
        if pause is not None:
            initial, bound, leave = pause.carried, pause.limit, pause.label
        before = out.label
        out.line(f"br label %{head}")
        out.place(head)
        phis = [out.open_phi(k, first, before) for k, first in zip(kinds, initial, strict=True)]
        index, *carried = [name for _, name in phis]
        ahead = out.emit(f"add i64 {index}, {lanes}")
        more = out.emit(f"icmp sle i64 {ahead}, {bound}")
        out.line(f"br i1 {more}, label %{body}, label %{leave}")
        out.place(body)
        following = self.turn(loop, index, None, carried)
        for (position, _), name in zip(phis, [ahead, *following], strict=True):
            out.close_phi(position, name, out.label)
        out.line(f"br label %{head}")
        if pause is not None:
            index, *carried = self.polling.close_pause(pause, stop, head, rest, [index, *carried])
        out.place(rest)
        left = out.emit(f"icmp slt i64 {index}, {stop}")
        out.line(f"br i1 {left}, label %{tail}, label %{done}")
        out.place(tail)
        mask = self.parts.vectors.tail_mask(index, stop, lanes)
        ended = self.turn(loop, index, mask, carried)
        end = out.label
        out.line(f"br label %{done}")
        out.place(done)
        return [
            out.emit(f"phi {kind} [ {name}, %{rest} ], [ {masked}, %{end} ]")
            for kind, name, masked in zip(kinds[1:], carried, ended, strict=True)
        ]

    def combine(self, op: str, param: Value, vector: str, lanes: int) -> str:
        """One result of the partial ones in a vector: the upper half into the lower until one is left."""
        emit, dtype = self.out.emit, param.dtype
        pair = Value(-1, dtype, op, (param, param), param.block)
        while lanes > 1:
            kind = type_of(dtype, lanes)
            half = lanes // 2
            halves: list[str] = []
            for first in (0, half):
                picks = ", ".join(f"i32 {first + i}" for i in range(half))
                halves.append(
                    emit(f"shufflevector {kind} {vector}, {kind} poison, <{half} x i32> <{picks}>")
                )
            if half == 1:
                one = type_of(dtype, 1)
                halves = [emit(f"extractelement <1 x {one}> {h}, i32 0") for h in halves]
            vector = self.parts.operations.operation(pair, halves, half)
            lanes = half
        return vector
