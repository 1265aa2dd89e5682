"""Gaussian elimination with partial pivoting as loops, for small real matrices, where a call of LAPACK would cost more.

`lu`, `lu_solving`, `determinant` and `solve` use it. `cholesky`, `triangular` and `spectra` only use the functions that
choose between loops and LAPACK.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce

from occelo_link.loops.ir.program import Buffer, Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.tensors import is_unit

__all__ = [
    "SMALL",
    "SMALL_IN_LANES",
    "Rows",
    "back_substitution",
    "by_size",
    "eliminate",
    "maybe_small",
    "worth_loops",
]

SMALL = 16
"""Matrices with at most this many rows are factored by loops."""
SMALL_IN_LANES, FEWEST_IN_LANES = 32, 5
"""Matrices with up to `SMALL_IN_LANES` rows are factored in lanes if there are at least `FEWEST_IN_LANES` of them.

LAPACK was measured to take longer than lanes for so many matrices of 32 rows, except for triangular equations.
"""


def maybe_small(*lengths: Value, most: int = SMALL) -> bool:
    """Whether all lengths may be at most ``most``."""
    return all(n.op != "const" or n.args[0] <= most for n in lengths)


def worth_loops(batch: Sequence[Value], n: Value) -> bool:
    """Whether loops for small matrices are worth their code.

    They are if ``n`` may be small, and if it is static or there may be many matrices. For one matrix of unknown size,
    loops would save a microsecond for a call of LAPACK, but would take longer to compile.
    """
    return maybe_small(n) and (n.op == "const" or not all(map(is_unit, batch)))


def by_size(
    context: Context,
    lengths: Sequence[Value],
    small: Callable[[], Sequence[Value]],
    large: Callable[[], Sequence[Value]],
    batch: Sequence[Value] | None = None,
) -> None:
    """Write the code for small or for large lengths; if the lengths are not static, write both and a branch.

    If the lengths of a ``batch`` are given, the code for small lengths works in lanes, and `SMALL_IN_LANES` decides
    what is small.
    """
    builder = context.builder
    most = SMALL if batch is None else SMALL_IN_LANES
    if not maybe_small(*lengths, most=most):
        large()
        return
    conditions = [builder.op("le", n, context.i64(most)) for n in lengths if n.op != "const"]
    if batch is not None and not maybe_small(*lengths):
        number = builder.product(batch)
        conditions.append(builder.lt(context.i64(FEWEST_IN_LANES - 1), number))
    conditions = [c for c in conditions if c.op != "const" or not c.args[0]]
    if any(c.op == "const" for c in conditions):
        large()
    elif conditions:
        builder.branch(reduce(partial(builder.op, "and"), conditions), small, large)
    else:
        small()


@dataclass
class Rows:
    """A matrix in C order, from ``start`` on in a buffer."""

    context: Context
    buffer: Buffer
    start: Value
    columns: Value

    def offset(self, i: Value, j: Value) -> Value:
        """The position of an element in the buffer."""
        builder = self.context.builder
        return builder.add(builder.add(self.start, builder.mul(i, self.columns)), j)

    def load(self, i: Value, j: Value) -> Value:
        """An element."""
        return self.context.builder.load(self.buffer, self.offset(i, j), fixed=True)

    def store(self, i: Value, j: Value, value: Value) -> None:
        """Write an element."""
        self.context.builder.store(self.buffer, self.offset(i, j), value)

    def exchange(self, i: Value, p: Value) -> None:
        """Exchange two rows."""
        with self.context.builder.loop(self.columns, fixed=True) as loop:
            first, second = self.load(i, loop.index), self.load(p, loop.index)
            self.store(i, loop.index, second)
            self.store(p, loop.index, first)

    def subtract(self, i: Value, factor: Value, j: Value, first: Value | None = None) -> None:
        """Subtract a multiple of row ``j`` from row ``i``, from column ``first`` on."""
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
    """Factor ``n`` rows of ``n`` columns in place into L and U, and apply the same row operations to right-hand sides.

    Calls ``record(j, p)`` for each row ``j`` that is exchanged with row ``p``. Returns 0, or 1 if a pivot is 0.
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
        # a column of zeros has nothing to eliminate
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
    """The row, from ``j`` on, whose element in column ``j`` has the largest absolute value."""
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
    """Solve with the upper triangle, in place of the right-hand sides."""
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
