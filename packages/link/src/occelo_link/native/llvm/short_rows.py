"""Prints reductions of short rows as LLVM IR: eight rows at a time, whose results lie in the lanes of a vector.

One row after the other, most of the time would go into combining the lanes of each row. This module is a part of the
LLVM printer (`printer`); `vector_loops` uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from occelo_link.loops.ir.cost import unrolled_range
from occelo_link.loops.ir.program import Carried, For, Value, itemsize
from occelo_link.loops.ir.uses import is_plain
from occelo_link.native.llvm.literals import type_of
from occelo_link.native.llvm.vector_iteration import VectorIteration

ROWS = 8
LONGEST = 16
"""The most elements of a short row. Up to here, each of the lanes of longer rows has one element."""
_MOST = 24
"""The most statements for an element. The code has `ROWS` copies of them, up to three times."""


class ShortRows(For):
    """A loop over whole vectors of rows of ``length``. ``row`` is the loop over the elements of a row.

    ``masks`` are those of the vectors of a row, which have ``width`` elements. ``end`` names the index of the first row
    that is left.
    """

    __slots__ = ("end", "length", "masks", "row", "width")

    def __init__(self, loop: For, row: For, length: Value) -> None:
        super().__init__(loop.index, loop.start, loop.stop, loop.body, ROWS)
        self.non_interruptible = loop.non_interruptible
        self.row, self.length, self.end = row, length, ""
        values = [v for v in row.body if isinstance(v, Value)]
        dtypes = {v.dtype for v in values if v.dtype != "int64" or v.op == "load"}
        self.width = 64 // max(map(itemsize, dtypes), default=8)
        self.masks: list[str] = []

    def remainder(self) -> For:
        """A loop over the rows that are left, one in each iteration. The name of its start is not known yet."""
        start = Value(-3 - self.index.number, "int64", "param", (), self.start.block)
        rest = For(self.index, start, self.stop, self.body)
        rest.non_interruptible = self.non_interruptible
        return rest


def short_rows(loop: For) -> ShortRows | None:
    """The loop over short rows for a loop that reduces a row in each iteration; None if rows are long, or for other loops.

    Rows of a length that is not static are reduced in blocks, of which a short row has one.
    """
    outer = _only_loop(loop)
    row = outer if outer is None or outer.lanes > 1 else _only_loop(outer)
    if outer is None or row is None or row.lanes == 1 or len(row.body.statements) > _MOST:
        return None
    if not loop.parallel or unrolled_range(loop) is not None or not is_plain(loop.body):
        return None
    within = [s for s in (*outer.body, *row.body) if s is not row]
    if not all(isinstance(s, Value) and s.op not in ("apply", "call", "unlikely") for s in within):
        return None
    first, length = row.start, row.stop
    if row is not outer:
        if (first.op, length.op, outer.stop.op) != ("mul", "min", "floordiv"):
            return None
        first, length = outer.start, length.args[-1]
    if length.block.depth >= loop.body.depth or first.op != "const" or first.args[0] != 0:
        return None
    # LLVM takes 6 ms more, which one loop over rows of unknown length would seldom earn
    worth = length.args[0] <= LONGEST if length.op == "const" else loop.body.depth > 1
    simple = all(each.following.args[0] is each.param for each in row.carried)
    return ShortRows(loop, row, length) if simple and worth else None


def _only_loop(loop: For) -> For | None:
    """The statement with a body that is inside of a loop, if it is a loop and the only one; else None."""
    inner = [s for s in loop.body if s.blocks]
    return inner[0] if len(inner) == 1 and isinstance(inner[0], For) else None


class RowsIteration(VectorIteration):
    """Prints an iteration of a loop over short rows."""

    def loop(self, loop: For, /) -> None:
        """Print a loop over the elements of the rows, or the only iteration of a loop over blocks of them."""
        assert isinstance(self.whole, ShortRows)
        row = self.whole.row
        self.reduce_rows(self.whole)
        if loop is row:
            return
        sums = [each.result for each in row.carried]
        for each in loop.carried:
            # the total is the sum of the block, and the other numbers that are carried are rounding errors
            last = each.following.args[-1]
            self.vectors[each.result.number] = self.vector(last if last in sums else each.initial)

    def reduce_rows(self, rows: ShortRows) -> None:
        """Print the elements of the rows, with one vector or two for each row, and combine their lanes."""
        used = [v for v in rows.row.body if isinstance(v, Value)]
        names = [self.names_of_row(used, number) for number in range(ROWS)]
        carried = rows.row.carried
        each_sum = [each for _ in names for each in carried]

        def part() -> list[str]:
            return self.elements(rows, names, 0, rows.masks[0])

        def whole() -> list[str]:
            first = self.elements(rows, names, 0, None)

            def both() -> list[str]:
                second = self.elements(rows, names, rows.width, rows.masks[1])
                triples = zip(each_sum, first, second, strict=True)
                return [self.combined(each, a, b, rows.width) for each, a, b in triples]

            return self.if_shorter(rows, rows.width + 1, each_sum, lambda: first, both)

        several = len(rows.masks) > 1
        sums = self.if_shorter(rows, rows.width, each_sum, part, whole) if several else part()
        for k, each in enumerate(carried):
            of_rows = self.over_lanes(each, sums[k :: len(carried)], rows.width)
            # an accumulator begins with 0.0, so that a sum is not -0.0
            start = self.vector(each.initial)
            self.vectors[each.result.number] = self.combined(each, start, of_rows, ROWS)

    def if_shorter(
        self,
        rows: ShortRows,
        bound: int,
        each_sum: Sequence[Carried],
        then: Callable[[], list[str]],
        orelse: Callable[[], list[str]],
    ) -> list[str]:
        """Print sums for rows shorter than ``bound``, and others for longer rows."""
        out, length = self.parts.out, rows.length
        if length.op == "const":
            return then() if length.args[0] < bound else orelse()
        less = out.emit(f"icmp slt i64 {self.parts.scalars.use(length)}, {bound}")
        labels = out.new_labels("shorter", "longer", "sums")
        out.line(f"br i1 {less}, label %{labels[0]}, label %{labels[1]}")
        ends: list[tuple[list[str], str]] = []
        for label, printed in zip(labels, (then, orelse), strict=False):
            out.start_block(label)
            ends.append((printed(), out.label))
            out.line(f"br label %{labels[2]}")
        out.start_block(labels[2])
        return [
            out.emit(
                f"phi {type_of(each.param.dtype, rows.width)} "
                + ", ".join(f"[ {sums[k]}, %{end} ]" for sums, end in ends)
            )
            for k, each in enumerate(each_sum)
        ]

    def elements(
        self, rows: ShortRows, names: Sequence[dict[int, str]], first: int, mask: str | None
    ) -> list[str]:
        """Print the elements of all rows from ``first`` on. Lanes beyond the ends have the identity element."""
        parts, width = self.parts, rows.width
        shared: dict[int, str] = {}
        printed: list[str] = []
        for own in names:
            parts.scalars.names.update(own)
            iteration = VectorIteration(parts, rows.row, str(first), mask, width)
            iteration.vectors.update(shared)
            for each in rows.row.carried:
                value = iteration.vector(each.following.args[1])
                if mask is not None:
                    kind, truth = type_of(each.param.dtype, width), type_of("bool", width)
                    rest = parts.vectors.spread(each.initial, width)
                    value = parts.out.emit(f"select {truth} {mask}, {kind} {value}, {kind} {rest}")
                printed.append(value)
            shared = shared or self.same_in_rows(rows.row, iteration.vectors)
        return printed

    def names_of_row(self, used: Sequence[Value], number: int) -> dict[int, str]:
        """Print what the elements of a row use as scalars."""
        out, scalars = self.parts.out, self.parts.scalars
        names = {self.index.number: out.emit(f"add i64 {self.first}, {number}")}

        def name_of(value: Value) -> str:
            if self.is_outside(value):
                return scalars.use(value)
            if value.number not in names and value.dtype == "int64" and value.op != "load":
                args = [name_of(a) for a in value.args if isinstance(a, Value)]
                names[value.number] = self.parts.functions.pure(value, args, 1)
            elif value.number not in names:
                kind, vector = type_of(value.dtype, ROWS), self.vector(value)
                names[value.number] = out.emit(f"extractelement {kind} {vector}, i32 {number}")
            return names[value.number]

        for each in used:
            for arg in each.args:
                if isinstance(arg, Value) and arg.block.depth < each.block.depth:
                    names[arg.number] = name_of(arg)
        return names

    def same_in_rows(self, row: For, names: dict[int, str]) -> dict[int, str]:
        """Those of the vectors of a row that are the same in all rows."""
        same = {row.index.number}
        for value in row.body:
            assert isinstance(value, Value)
            args = [a for a in value.args if isinstance(a, Value)]
            if all(a.number in same or self.is_outside(a) for a in args):
                same.add(value.number)
        return {number: name for number, name in names.items() if number in same}

    def combined(self, each: Carried, first: str, second: str, lanes: int) -> str:
        """Print the combination of two accumulators."""
        return self.parts.operations.operation(each.following, [first, second], lanes)

    def over_lanes(self, each: Carried, sums: list[str], lanes: int) -> str:
        """Print code that combines the lanes of each row, halves of them at a time. A lane of the result is a row."""
        emit, groups = self.parts.out.emit, 1
        while lanes > 1:
            whole, half = groups * lanes, lanes // 2
            kind = type_of(each.param.dtype, whole)
            pairs = list(zip(sums[::2], sums[1::2], strict=False)) or [(sums[0], "poison")]
            starts = range(0, whole * min(2, len(sums)), lanes)
            groups, lanes = len(starts), half
            count = groups * half
            picks = [
                ", ".join(f"i32 {start + i}" for start in starts for i in part)
                for part in (range(half), range(half, 2 * half))
            ]
            halves = [
                [
                    emit(f"shufflevector {kind} {x}, {kind} {y}, <{count} x i32> <{p}>")
                    for p in picks
                ]
                for x, y in pairs
            ]
            sums = [self.combined(each, lower, upper, count) for lower, upper in halves]
        return sums[0]
