"""Algorithms for batches of small matrices, with one matrix per lane (see `occelo_arrays.lowerings.lanes`).

They are Cholesky factorisation, triangular equations and Gaussian elimination. `cholesky`, `triangular`, `determinant`,
`lu`, `lu_solving` and `solve` call them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from occelo_arrays.lowerings.lanes import LaneMatrix, Lanes
from occelo_link.loops.ir.program import Buffer, Value
from occelo_link.loops.tensors import is_unit


def factor_lanes(lanes: Lanes, a: LaneMatrix) -> None:
    """Replace the lower triangles of positive definite matrices by their Cholesky factors."""
    builder, n, one = lanes.builder, a.rows, lanes.context.i64(1)
    inverse = lanes.column()
    # a contiguous copy of the column, since distant rows of the matrices may displace each other in the cache
    column, zero = lanes.matrix(one, n), lanes.context.i64(0)
    with builder.loop(n, fixed=True) as steps:
        k = steps.index
        after = builder.add(k, one)
        with lanes.each() as lane:
            pivot = a.load(k, k, lane)
            # as in NumPy, a matrix with NaN does not fail
            lanes.mark(lane, builder.op("le", pivot, lanes.number(0.0)))
            root = builder.op("sqrt", pivot)
            a.store(k, k, lane, root)
            builder.store(inverse, lane, builder.op("div", lanes.number(1.0), root))
        with builder.loop(n, start=after, fixed=True) as rows:
            i = rows.index
            with lanes.each() as lane:
                scaled = builder.op("mul", a.load(i, k, lane), builder.load(inverse, lane))
                a.store(i, k, lane, scaled)
                column.store(zero, i, lane, scaled)
            # at this point column k is complete up to row i
            for lane, indices in lanes.in_blocks(builder.add(i, one), after):
                factor = column.load(zero, i, lane)
                for j in indices:
                    product = builder.op("mul", factor, column.load(zero, j, lane))
                    a.subtract(i, j, lane, product)


def solve_lanes(
    lanes: Lanes,
    a: LaneMatrix,
    b: LaneMatrix,
    lower: bool,
    unit_diagonal: bool = False,
    transposed: bool = False,
) -> None:
    """Solve triangular equations. The solutions overwrite the right-hand sides ``b``.

    The matrices are ``a``, or the transposes of ``a`` if ``transposed`` is True. ``lower`` says whether these matrices
    are lower or upper triangular.
    """
    builder, n = lanes.builder, a.rows
    zero, one = lanes.context.i64(0), lanes.context.i64(1)
    last = builder.sub(n, one)
    with builder.loop(n, fixed=True) as steps:
        i = steps.index if lower else builder.sub(last, steps.index)
        if not unit_diagonal:
            with lanes.each() as lane:
                pivot = a.load(i, i, lane)
                lanes.mark(lane, builder.eq(pivot, lanes.number(0.0)))
            for lane, indices in lanes.in_blocks(b.columns):
                pivot = a.load(i, i, lane)
                for c in indices:
                    b.store(i, c, lane, builder.op("div", b.load(i, c, lane), pivot))
        # then remove the known row from the other equations; each subtraction changes a different equation
        _subtract_known_row(
            lanes, a, b, i, (builder.add(i, one), n) if lower else (zero, i), transposed
        )


def _subtract_known_row(
    lanes: Lanes,
    a: LaneMatrix,
    b: LaneMatrix,
    i: Value,
    remaining: tuple[Value, Value],
    transposed: bool,
) -> None:
    """Subtract multiples of the known row ``i`` of ``b`` from the ``remaining`` rows. The factors are elements of
    ``a``.
    """
    builder, zero, (start, stop) = lanes.builder, lanes.context.i64(0), remaining

    def factor(j: Value, lane: Value) -> Value:
        return a.load(i, j, lane) if transposed else a.load(j, i, lane)

    if is_unit(b.columns):
        for lane, rows in lanes.in_blocks(stop, start):
            solved = b.load(i, zero, lane)
            for j in rows:
                b.subtract(j, zero, lane, builder.op("mul", factor(j, lane), solved))
        return
    with builder.loop(stop, start=start, fixed=True) as loop:
        j = loop.index
        for lane, columns in lanes.in_blocks(b.columns):
            multiple = factor(j, lane)
            for c in columns:
                b.subtract(j, c, lane, builder.op("mul", multiple, b.load(i, c, lane)))


def eliminate_lanes(
    lanes: Lanes,
    a: LaneMatrix,
    b: LaneMatrix | None = None,
    record: Callable[[Value, Buffer], None] | None = None,
    keep: bool = False,
) -> None:
    """Eliminate with partial pivoting: the matrices become U, and the right-hand sides ``b`` get the same row
    operations.

    If ``keep`` is True, L is stored below the diagonal.

    ``record(k, places)`` may write statements into the loop over the rows ``k``. ``places`` holds a row number for each
    lane: the row that row ``k`` is exchanged with. It is stored as a float of the matrices' dtype.
    """
    builder, n = lanes.builder, a.rows
    zero, one = lanes.context.i64(0), lanes.context.i64(1)
    inverse, places = lanes.column(), lanes.column()
    pivots = _Pivots(lanes, n, places)
    parts = [a] if b is None else [a, b]
    # copies of the rows that are replaced by the rows of the pivots
    rows_before = [lanes.matrix(one, part.columns) for part in parts]
    with builder.loop(n, fixed=True) as steps:
        k = steps.index
        after = builder.add(k, one)
        pivots.find(a, k)
        if record is not None:
            record(k, places)

        def move_pivots(k: Value = k) -> Sequence[Value]:
            for part, old in zip(parts, rows_before, strict=True):
                # unless L is kept, nothing reads the factors to the left of the diagonal
                start = k if part is a and not keep else None
                _move_pivots(lanes, part, k, places, old, start)
            return ()

        none = builder.eq(pivots.last(), builder.cast(k, lanes.dtype))
        builder.branch(none, lambda: (), move_pivots)
        with lanes.each() as lane:
            pivot = a.load(k, k, lane)
            bad = builder.eq(pivot, lanes.number(0.0))
            lanes.mark(lane, bad)
            # if the pivot is 0, the column below it is 0, too, so any divisor is right
            divisor = builder.select(bad, lanes.number(1.0), pivot)
            builder.store(inverse, lane, builder.op("div", lanes.number(1.0), divisor))
        with builder.loop(n, start=after, fixed=True) as rows:
            i = rows.index
            row = builder.cast(i, lanes.dtype)

            def is_exchanged(lane: Value, row: Value = row) -> Value:
                return builder.eq(builder.load(places, lane, fixed=True), row)

            def element(
                part: LaneMatrix, old: LaneMatrix, j: Value, lane: Value, hit: Value, i: Value = i
            ) -> Value:
                """The element of row ``i`` after the exchange; ``hit`` says in which lanes the row is exchanged."""
                return builder.select(hit, old.load(zero, j, lane), part.load(i, j, lane))

            if keep:
                for lane, indices in lanes.in_blocks(k):
                    hit = is_exchanged(lane)
                    for j in indices:
                        a.store(i, j, lane, element(a, rows_before[0], j, lane, hit))
            with lanes.each() as lane:
                value = element(a, rows_before[0], k, lane, is_exchanged(lane))
                factor = builder.op("mul", value, builder.load(inverse, lane))
                a.store(i, k, lane, factor)
            for part, old in zip(parts, rows_before, strict=True):
                for lane, indices in lanes.in_blocks(part.columns, after if part is a else None):
                    hit, factor = is_exchanged(lane), a.load(i, k, lane)
                    for j in indices:
                        product = builder.op("mul", factor, part.load(k, j, lane))
                        value = element(part, old, j, lane, hit)
                        part.store(i, j, lane, builder.op("sub", value, product))


class _Pivots:
    """Finds the rows of the pivots. Writes the row number for each lane to ``places``."""

    def __init__(self, lanes: Lanes, n: Value, places: Buffer) -> None:
        self.lanes, self.places = lanes, places
        # there is one place for each row: replacing a number on a condition would be a masked store, which delays the
        # next load
        one = lanes.context.i64(1)
        self.largest, self.rows = lanes.matrix(n, one), lanes.matrix(n, one)

    def find(self, a: LaneMatrix, k: Value) -> None:
        """For each lane, find the row with the largest absolute value in column ``k``, from row ``k`` on."""
        lanes, builder, zero = self.lanes, self.lanes.builder, self.lanes.context.i64(0)
        one = lanes.context.i64(1)
        with lanes.each() as lane:
            self.largest.store(k, zero, lane, builder.op("abs", a.load(k, k, lane)))
            self.rows.store(k, zero, lane, builder.cast(k, lanes.dtype))
        with builder.loop(a.rows, start=builder.add(k, one), fixed=True) as rows:
            i, row = rows.index, builder.cast(rows.index, lanes.dtype)
            previous = builder.sub(i, one)
            with lanes.each() as lane:
                size = builder.op("abs", a.load(i, k, lane))
                before = self.largest.load(previous, zero, lane)
                larger = builder.lt(before, size)
                self.largest.store(i, zero, lane, builder.select(larger, size, before))
                place = self.rows.load(previous, zero, lane)
                self.rows.store(i, zero, lane, builder.select(larger, row, place))
        last = builder.sub(a.rows, one)
        with lanes.each() as lane:
            builder.store(self.places, lane, self.rows.load(last, zero, lane))

    def last(self) -> Value:
        """The largest row number that was found in any lane. It is ``k`` if no lane exchanges rows."""
        lanes, builder = self.lanes, self.lanes.builder
        count = lanes.context.i64(lanes.count)
        with builder.loop(count, lanes=lanes.count, fixed=True) as loop:
            most = loop.carry(lanes.number(0.0), "max")
            place = builder.load(self.places, loop.index, fixed=True)
            most.following = builder.op("max", most.param, place)
        return most.result


def _move_pivots(
    lanes: Lanes, part: LaneMatrix, k: Value, places: Buffer, old: LaneMatrix, start: Value | None
) -> None:
    """Copy row ``k`` to ``old``, then overwrite row ``k`` with the row whose number is in ``places``.

    This number differs from lane to lane. Only the columns from ``start`` on are copied.
    """
    builder, zero = lanes.builder, lanes.context.i64(0)
    for lane, indices in lanes.in_blocks(part.columns, start):
        place = builder.cast(builder.load(places, lane, fixed=True), "int64")
        for j in indices:
            pivot = part.load(place, j, lane)
            old.store(zero, j, lane, part.load(k, j, lane))
            part.store(k, j, lane, pivot)


def exchange_lanes(
    lanes: Lanes, part: LaneMatrix, k: Value, i: Value, places: Buffer, start: Value | None
) -> None:
    """Exchange the rows ``k`` and ``i`` in those lanes where ``places`` has the number ``i``."""
    builder = lanes.builder
    row = builder.cast(i, lanes.dtype)
    with builder.loop(part.columns, start=start, fixed=True) as columns, lanes.each() as lane:
        j = columns.index
        hit = builder.eq(builder.load(places, lane), row)
        first, second = part.load(k, j, lane), part.load(i, j, lane)
        part.store(k, j, lane, builder.select(hit, second, first))
        part.store(i, j, lane, builder.select(hit, first, second))
