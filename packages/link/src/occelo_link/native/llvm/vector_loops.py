"""Prints loops with lanes as LLVM IR: a loop over whole vectors, and masked iterations for the remainder.

`VectorLoops` is a part of the LLVM printer (`native.llvm.printer`). LLVM need not vectorize these loops, since their
vectors are explicit.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from occelo_link.loops.ir.cost import unrolled_range
from occelo_link.loops.ir.program import For, Store, Value, itemsize
from occelo_link.loops.ir.uses import operands_first
from occelo_link.native.llvm.interrupt_polling import Polling
from occelo_link.native.llvm.literals import type_of
from occelo_link.native.llvm.module_writer import ModuleWriter
from occelo_link.native.llvm.short_rows import LONGEST, RowsIteration, ShortRows
from occelo_link.native.llvm.vector_iteration import PrinterParts, VectorIteration

_BYTES = 128
"""The most bytes that one store of a masked iteration for the remainder of a loop may write, so that its code is short.

If all lanes together would write more, iterations with fewer lanes compute the remainder. In these iterations, a store
of the widest elements writes half of `_BYTES`. A loop with accumulators always has a single iteration, with all lanes,
for its remainder.
"""

_FEW_ACCESSES = 6
"""The number of loads and stores of a body up to which its loop is hidden from LLVM's loop strength reduction.

The pass took a quarter of the time to compile a network. It can save little there: x86 adds an index to an address within an
instruction, and each address has a register. With more accesses (convolutions), loops were 3 % slower without the pass.
"""


def _narrow_lanes(loop: For) -> int:
    """Return the number of lanes in an iteration for the remainder of a loop."""
    sizes = [itemsize(s.buffer.dtype) for s in loop.body if isinstance(s, Store)]
    widest = max(sizes, default=0)
    if loop.carried or loop.lanes * widest <= _BYTES:
        return loop.lanes
    return _BYTES // 2 // widest


_Residue = frozenset[int] | None
_ZERO = frozenset((0,))
_COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "min": min,
    "max": max,
}


class _Residues:
    """The possible remainders of integers divided by a number of lanes; None for integers about which nothing is known.

    Each integer is examined once, since the length of a slice of a slice is computed from the length of the inner one.
    """

    def __init__(self, lanes: int) -> None:
        self._lanes = lanes
        self._known: dict[Value, _Residue] = {}

    def of(self, value: Value) -> _Residue:
        """Return the possible remainders of a value."""
        residues = self._known
        for each in operands_first(value, residues, lambda v: v.op in _COMBINE):
            residues[each] = self._of_known_operands(each)
        return residues[value]

    def _of_known_operands(self, value: Value) -> _Residue:
        if value.op == "const":
            return frozenset((value.args[0] % self._lanes,))
        if value.op not in _COMBINE:
            return None
        x, y = (self._known[v] for v in value.args)
        if value.op == "mul" and _ZERO in (x, y):
            return _ZERO
        if x is None or y is None:
            return None
        if value.op in ("min", "max"):
            return x | y
        combine = _COMBINE[value.op]
        return frozenset(combine(a, b) % self._lanes for a in x for b in y)


def _first_lanes(active: int, lanes: int) -> str | None:
    """Return a mask of the first ``active`` lanes as a constant, or None if that is all lanes."""
    steps = ", ".join(f"i1 {'true' if i < active else 'false'}" for i in range(lanes))
    return None if active >= lanes else f"<{steps}>"


class VectorLoops:
    """Prints loops with lanes."""

    def __init__(self, out: ModuleWriter, parts: PrinterParts, polling: Polling) -> None:
        self.out = out
        self.parts = parts
        self.polling = polling
        self._residues: dict[int, _Residues] = {}

    def loop(self, loop: For) -> None:
        indices = unrolled_range(loop)
        vectors = self.rolled(loop) if indices is None else self.unrolled(loop, indices)
        for each, merged in zip(loop.carried, vectors, strict=True):
            assert each.combine is not None
            self.parts.scalars.names[each.result.number] = self.combine(
                each.combine, each.param, merged, loop.lanes
            )

    def iteration(
        self, loop: For, first: str, mask: str | None, carried: Sequence[str]
    ) -> list[str]:
        """Print one iteration of the body. Returns the names of the accumulators after it."""
        kind = RowsIteration if isinstance(loop, ShortRows) else VectorIteration
        return kind(self.parts, loop, first, mask).run(carried)

    def in_rows(self, rows: ShortRows, one_by_one: Callable[[For], None]) -> None:
        """Print a loop over short rows, and the loop with one row in each iteration, for the remainder and long rows."""
        out, use = self.out, self.parts.scalars.use
        length, start = use(rows.length), use(rows.start)
        short, long = out.new_labels("short", "long")
        few = out.emit(f"icmp sle i64 {length}, {LONGEST}")
        before = out.label
        out.line(f"br i1 {few}, label %{short}, label %{long}")
        out.start_block(short)
        for first in range(0, LONGEST, rows.width):
            mask = self.parts.vectors.remainder_mask(str(first), length, rows.width)
            rows.masks.append(mask)
        self.rolled(rows)
        after = out.label
        out.line(f"br label %{long}")
        out.start_block(long)
        rest = rows.remainder()
        self.parts.scalars.names[rest.start.number] = out.emit(
            f"phi i64 [ {start}, %{before} ], [ {rows.end}, %{after} ]"
        )
        one_by_one(rest)

    def unrolled(self, loop: For, indices: range) -> list[str]:
        """Print an unrolled loop. Returns the names of the accumulators."""
        lanes = loop.lanes
        vectors = [self.parts.vectors.spread(each.initial, lanes) for each in loop.carried]
        for first in range(indices.start, indices.stop, lanes):
            mask = _first_lanes(indices.stop - first, lanes)
            vectors = self.iteration(loop, str(first), mask, vectors)
        return vectors

    def rolled(self, loop: For) -> list[str]:
        """Print a loop over whole vectors, and the remainder. Returns the names of the accumulators."""
        out, lanes = self.out, loop.lanes
        start, stop = self.parts.scalars.use(loop.start), self.parts.scalars.use(loop.stop)
        head, body, rest, tail, done = out.new_labels("vector", "body", "rest", "tail", "done")
        kinds = ["i64", *(type_of(each.param.dtype, lanes) for each in loop.carried)]
        initial = [start, *(self.parts.vectors.spread(e.initial, lanes) for e in loop.carried)]
        strips = self.polling.open_strips(loop, stop, list(zip(kinds, initial, strict=True)))
        bound, leave = stop, rest
        if strips is not None:
            initial, bound, leave = strips.carried, strips.limit, strips.label
        before = out.label
        out.line(f"br label %{head}")
        out.start_block(head)
        phis = [out.open_phi(k, first, before) for k, first in zip(kinds, initial, strict=True)]
        index, *carried = [name for _, name in phis]
        ahead = self.next_index(loop, index, lanes)
        more = out.emit(f"icmp sle i64 {ahead}, {bound}")
        out.line(f"br i1 {more}, label %{body}, label %{leave}")
        out.start_block(body)
        following = self.iteration(loop, index, None, carried)
        for (position, _), name in zip(phis, [ahead, *following], strict=True):
            out.close_phi(position, name, out.label)
        out.line(f"br label %{head}")
        if strips is not None:
            index, *carried = self.polling.close_strips(strips, stop, head, rest, [index, *carried])
        out.start_block(rest)
        if isinstance(loop, ShortRows):
            loop.end = index
            return []
        remainders = self.remainders(loop)
        if remainders is not None and not remainders:
            return carried
        remainder = next(iter(remainders)) if remainders and len(remainders) == 1 else None
        left = out.emit(f"icmp slt i64 {index}, {stop}")
        out.line(f"br i1 {left}, label %{tail}, label %{done}")
        out.start_block(tail)
        narrow = _narrow_lanes(loop)
        if narrow < lanes:
            self.narrow_rest(loop, narrow, index, stop, done, remainder)
            out.start_block(done)
            return []
        mask = (
            self.parts.vectors.remainder_mask(index, stop, lanes)
            if remainder is None
            else _first_lanes(remainder, lanes)
        )
        ended = self.iteration(loop, index, mask, carried)
        end = out.label
        out.line(f"br label %{done}")
        out.start_block(done)
        return [
            out.emit(f"phi {kind} [ {name}, %{rest} ], [ {masked}, %{end} ]")
            for kind, name, masked in zip(kinds[1:], carried, ended, strict=True)
        ]

    def next_index(self, loop: For, index: str, lanes: int) -> str:
        """Print the index of the next iteration. If the body has few accesses, LLVM does not see that the index counts.

        `_FEW_ACCESSES` says why. LLVM takes the result of a call for any number; no instruction is left of this call.
        """
        out = self.out
        ahead = out.emit(f"add i64 {index}, {lanes}")
        accesses = [
            s
            for s in loop.body
            if isinstance(s, Store) or (isinstance(s, Value) and s.op == "load")
        ]
        if len(accesses) > _FEW_ACCESSES:
            return ahead
        out.declare("declare i64 @llvm.expect.i64(i64, i64)")
        return out.emit(f"call i64 @llvm.expect.i64(i64 {ahead}, i64 0)")

    def remainders(self, loop: For) -> set[int] | None:
        """Return the possible numbers of iterations after the whole vectors, without 0, or None if they are not known."""
        residues = self._residues.setdefault(loop.lanes, _Residues(loop.lanes))
        starts, stops = residues.of(loop.start), residues.of(loop.stop)
        if starts is None or stops is None:
            return None
        return {(stop - start) % loop.lanes for start in starts for stop in stops} - {0}

    def narrow_rest(
        self, loop: For, lanes: int, start: str, stop: str, done: str, count: int | None
    ) -> None:
        """Print the remainder as a loop of masked iterations with ``lanes`` lanes each. Its end branches to the block
        ``done``.

        ``count`` is the number of elements that are left, if it is static. If they fit in one iteration, there is no
        loop.
        """
        out = self.out
        if count is not None and count <= lanes:
            VectorIteration(self.parts, loop, start, _first_lanes(count, lanes), lanes).run(())
            out.line(f"br label %{done}")
            return
        before, head = out.label, out.new_label("narrow")
        out.line(f"br label %{head}")
        out.start_block(head)
        position, index = out.open_phi("i64", start, before)
        mask = self.parts.vectors.remainder_mask(index, stop, lanes)
        VectorIteration(self.parts, loop, index, mask, lanes).run(())
        ahead = self.next_index(loop, index, lanes)
        more = out.emit(f"icmp slt i64 {ahead}, {stop}")
        out.close_phi(position, ahead, out.label)
        out.line(f"br i1 {more}, label %{head}, label %{done}")

    def combine(self, op: str, param: Value, vector: str, lanes: int) -> str:
        """Print code that combines the accumulators of all lanes: the upper half with the lower half, until one is
        left.
        """
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
