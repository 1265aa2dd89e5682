"""Gaussian elimination in loops, for small real matrices, where a call of LAPACK would take longer.

The pivoting is partial. `lu`, `lu_solving`, `determinant` and `solve` use this module.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from occelo_link.loops.ir.program import Buffer, Value
from occelo_link.loops.lowering import Context


@dataclass
class Rows:
    """A matrix in C order, which begins at ``start`` in a buffer."""

    context: Context
    buffer: Buffer
    start: Value
    columns: Value

    def offset(self, i: Value, j: Value) -> Value:
        """The position of an element in the buffer."""
        builder = self.context.builder
        return builder.add(builder.add(self.start, builder.mul(i, self.columns)), j)

    def load(self, i: Value, j: Value) -> Value:
        """The element in row ``i`` and column ``j``."""
        return self.context.builder.load(self.buffer, self.offset(i, j), fixed=True)

    def store(self, i: Value, j: Value, value: Value) -> None:
        """Write the element in row ``i`` and column ``j``."""
        self.context.builder.store(self.buffer, self.offset(i, j), value)

    def exchange(self, i: Value, p: Value) -> None:
        """Exchange the rows ``i`` and ``p``."""
        with self.context.builder.loop(self.columns, fixed=True) as loop:
            first, second = self.load(i, loop.index), self.load(p, loop.index)
            self.store(i, loop.index, second)
            self.store(p, loop.index, first)

    def subtract(self, i: Value, factor: Value, j: Value, first: Value | None = None) -> None:
        """Subtract ``factor`` times row ``j`` from row ``i``, from column ``first`` on."""
        builder = self.context.builder
        with builder.loop(self.columns, start=first, fixed=True) as loop:
            less = builder.op("mul", factor, self.load(j, loop.index))
            self.store(i, loop.index, builder.op("sub", self.load(i, loop.index), less))


def eliminate(
    matrix: Rows,
    n: Value,
    right: Rows | None = None,
    record: Callable[[Value, Value], None] | None = None,
) -> Value:
    """Factor a matrix of ``n`` rows and columns into L and U, in place. Apply the same row operations to right-hand
    sides.

    For each row ``j`` it calls ``record(j, p)``, where ``p`` is the row that row ``j`` is exchanged with (``j`` itself
    if there is no exchange). Returns 0, or 1 if a pivot is 0.
    """
    context, builder = matrix.context, matrix.context.builder
    one, zero = context.i64(1), context.i64(0)
    nothing = builder.const(0.0, matrix.buffer.dtype)
    with builder.loop(n, fixed=True) as steps:
        singular = steps.carry(zero)
        j = steps.index
        after = builder.add(j, one)
        p = _largest(matrix, j, after, n)
        if record is not None:
            record(j, p)

        def exchange(j: Value = j, p: Value = p) -> Sequence[Value]:
            matrix.exchange(j, p)
            if right is not None:
                right.exchange(j, p)
            return ()

        builder.branch(builder.eq(j, p), lambda: (), exchange)
        pivot = matrix.load(j, j)
        bad = builder.eq(pivot, nothing)
        # if the pivot is 0, the column below it is 0, too, so any divisor is right
        inverse = builder.op(
            "div",
            builder.const(1.0, pivot.dtype),
            builder.select(bad, builder.const(1.0, pivot.dtype), pivot),
        )
        with builder.loop(n, start=after, fixed=True) as rows:
            i = rows.index
            factor = builder.op("mul", matrix.load(i, j), inverse)
            matrix.store(i, j, factor)
            matrix.subtract(i, factor, j, after)
            if right is not None:
                right.subtract(i, factor, j)
        singular.following = builder.select(bad, one, singular.param)
    return singular.result


def _largest(matrix: Rows, j: Value, after: Value, n: Value) -> Value:
    """The row, from row ``j`` on, with the largest absolute value in column ``j``."""
    builder = matrix.context.builder
    start = builder.op("abs", matrix.load(j, j))
    with builder.loop(n, start=after, fixed=True) as rows:
        best, place = rows.carry(start), rows.carry(j)
        size = builder.op("abs", matrix.load(rows.index, j))
        larger = builder.lt(best.param, size)
        best.following = builder.select(larger, size, best.param)
        place.following = builder.select(larger, rows.index, place.param)
    return place.result


def back_substitution(matrix: Rows, n: Value, right: Rows) -> None:
    """Solve equations with the upper triangle of a matrix. The solutions overwrite the right-hand sides."""
    builder = matrix.context.builder
    last = builder.sub(n, matrix.context.i64(1))
    with builder.loop(n, fixed=True) as steps:
        i = builder.sub(last, steps.index)
        with builder.loop(n, start=builder.add(i, matrix.context.i64(1)), fixed=True) as later:
            right.subtract(i, matrix.load(i, later.index), later.index)
        pivot = matrix.load(i, i)
        with builder.loop(right.columns, fixed=True) as loop:
            quotient = builder.op("div", right.load(i, loop.index), pivot)
            right.store(i, loop.index, quotient)
