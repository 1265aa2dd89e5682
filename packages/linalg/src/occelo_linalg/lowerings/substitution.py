"""Triangular equations with one right-hand side, for real matrices in C order, solved by dot products.

`triangular` uses it for matrices of at most `MOST_ROWS` rows. Four rows at a time are multiplied by the solved part of
the column. Each row is read once, in order. LAPACK's trtrs takes up to 3.3 times as long for 500 to 10,000 matrices of
17 to 256 rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.tensors import Index, Stored

MOST_ROWS = 256
HEIGHT = 4
"""The number of rows that are read together. Their dot products are independent, so that no sum waits for another."""


class Substitution:
    """Statements that replace one column of right-hand sides by the solution.

    ``own`` is the batch index of the matrix, and ``index`` is the batch index of the column.
    """

    def __init__(
        self,
        context: Context,
        matrix: Stored,
        own: Index,
        column: Stored,
        index: Index,
        lower: bool,
        unit_diagonal: bool,
    ) -> None:
        self.context, self.matrix, self.column = context, matrix, column
        self.own, self.index = own, index
        self.lower, self.unit_diagonal = lower, unit_diagonal

    def solve(self) -> Value:
        """Write the statements. Returns whether no element on the diagonal is 0."""
        context, builder = self.context, self.context.builder
        n, height = self.column.shape[-2], context.i64(HEIGHT)
        whole = builder.op("floordiv", n, height)
        solved = builder.mul(whole, height)
        with builder.loop(whole, fixed=True) as blocks:
            good = blocks.carry(builder.const(True, "bool"))
            first = builder.mul(blocks.index, height)
            if not self.lower:
                first = builder.sub(builder.sub(n, height), first)
            good.following = builder.op("and", good.param, self._rows(first, HEIGHT))
        with builder.loop(builder.sub(n, solved), fixed=True) as rest:
            last = rest.carry(good.result)
            first = builder.add(solved, rest.index)
            if not self.lower:
                first = builder.sub(builder.sub(n, context.i64(1)), first)
            last.following = builder.op("and", last.param, self._rows(first, 1))
        return last.result

    def _rows(self, first: Value, height: int) -> Value:
        """Solve for ``height`` rows, from ``first`` on. Returns whether no element on their diagonal is 0."""
        context, builder = self.context, self.context.builder
        rows = [builder.add(first, context.i64(i)) for i in range(height)]
        sums = self._products_with_solved(rows)
        good = builder.const(True, "bool")
        zero = builder.const(0.0, self.column.dtype)
        solved: dict[int, Value] = {}
        for i in range(height) if self.lower else reversed(range(height)):
            rest = builder.op("sub", self._load(rows[i]), sums[i])
            for j, value in solved.items():
                term = builder.op("mul", self._element(rows[i], rows[j]), value)
                rest = builder.op("sub", rest, term)
            if not self.unit_diagonal:
                pivot = self._element(rows[i], rows[i])
                good = builder.op("and", good, builder.op("ne", pivot, zero))
                rest = builder.op("div", rest, pivot)
            solved[i] = rest
        for i, value in solved.items():
            builder.store(self.column.buffer, self._place(rows[i]), value)
        return good

    def _products_with_solved(self, rows: Sequence[Value]) -> list[Value]:
        """The dot product of each row with the part of the column that is already solved."""
        context, builder = self.context, self.context.builder
        start = None if self.lower else builder.add(rows[-1], context.i64(1))
        stop = rows[0] if self.lower else self.column.shape[-2]
        zero = builder.const(0.0, self.column.dtype)
        with builder.loop(stop, start=start, lanes=8, fixed=True) as along:
            value = self._load(along.index)
            sums = [along.carry(zero, "add") for _ in rows]
            for total, row in zip(sums, rows, strict=True):
                term = builder.op("mul", self._element(row, along.index), value)
                total.following = builder.op("add", total.param, term)
        return [total.result for total in sums]

    def _element(self, i: Value, j: Value) -> Value:
        at = self.matrix.position(self.context.builder, [*self.own, i, j])
        return self.context.builder.load(self.matrix.buffer, at, fixed=True)

    def _place(self, i: Value) -> Value:
        return self.column.position(self.context.builder, [*self.index, i, self.context.i64(0)])

    def _load(self, i: Value) -> Value:
        return self.context.builder.load(self.column.buffer, self._place(i), fixed=True)
