"""Cholesky factors, triangular equations and Gaussian elimination for the lanes of `lanes`.

The lowerings of these ops use them for batches of small matrices.
"""

from __future__ import annotations

from collections.abc import Callable

from occelo_link.loops.ir.program import Buffer, Value
from occelo_link.loops.linalg.lanes import LaneMatrix, Lanes

__all__ = ["eliminate_lanes", "exchange_lanes", "factor_lanes", "solve_lanes"]


def factor_lanes(lanes: Lanes, a: LaneMatrix) -> None:
    """Replace the lower triangles of positive definite matrices by their Cholesky factors."""
    builder, n, one = lanes.builder, a.rows, lanes.context.i64(1)
    inverse = lanes.column()
    with builder.loop(n, fixed=True) as steps:
        k = steps.index
        after = builder.add(k, one)
        with lanes.each() as lane:
            pivot = a.load(k, k, lane)
            # NaN is no failure, as in NumPy
            lanes.mark(lane, builder.op("le", pivot, lanes.number(0.0)))
            root = builder.op("sqrt", pivot)
            a.store(k, k, lane, root)
            builder.store(inverse, lane, builder.op("div", lanes.number(1.0), root))
        with builder.loop(n, start=after, fixed=True) as rows:
            i = rows.index
            with lanes.each() as lane:
                scaled = builder.op("mul", a.load(i, k, lane), builder.load(inverse, lane))
                a.store(i, k, lane, scaled)
            # the columns up to row i are complete in column k
            stop = builder.add(i, one)
            with builder.loop(stop, start=after, fixed=True) as columns:
                j = columns.index
                with lanes.each() as lane:
                    product = builder.op("mul", a.load(i, k, lane), a.load(j, k, lane))
                    a.store(i, j, lane, builder.op("sub", a.load(i, j, lane), product))


def solve_lanes(
    lanes: Lanes,
    a: LaneMatrix,
    b: LaneMatrix,
    lower: bool,
    unit_diagonal: bool = False,
    transposed: bool = False,
) -> None:
    """Replace right-hand sides by the solutions with triangular matrices, which are the transposes of ``a`` if ``transposed``."""
    builder, n = lanes.builder, a.rows
    zero, one = lanes.context.i64(0), lanes.context.i64(1)
    last = builder.sub(n, one)
    with builder.loop(n, fixed=True) as steps:
        i = steps.index if lower else builder.sub(last, steps.index)
        start, stop = (zero, i) if lower else (builder.add(i, one), n)
        with builder.loop(b.columns, fixed=True) as columns:
            c = columns.index
            with builder.loop(stop, start=start, fixed=True) as known, lanes.each() as lane:
                j = known.index
                factor = a.load(j, i, lane) if transposed else a.load(i, j, lane)
                b.subtract(i, factor, j, c, lane)
            if not unit_diagonal:
                with lanes.each() as lane:
                    quotient = builder.op("div", b.load(i, c, lane), a.load(i, i, lane))
                    b.store(i, c, lane, quotient)
        if not unit_diagonal:
            with lanes.each() as lane:
                lanes.mark(lane, builder.eq(a.load(i, i, lane), lanes.number(0.0)))


def eliminate_lanes(
    lanes: Lanes,
    a: LaneMatrix,
    b: LaneMatrix | None = None,
    record: Callable[[Value, Buffer], None] | None = None,
    keep: bool = False,
) -> None:
    """Factor matrices in place into U, by partial pivoting, and apply the same to right-hand sides; ``keep`` L as well.

    Calls ``record(k, places)`` for each row ``k`` with the rows that it is exchanged with, as numbers of the lanes' dtype.
    """
    builder, n, one = lanes.builder, a.rows, lanes.context.i64(1)
    inverse, places, most = lanes.column(), lanes.column(), lanes.column()
    parts = [a] if b is None else [a, b]
    with builder.loop(n, fixed=True) as steps:
        k = steps.index
        after = builder.add(k, one)
        _find_pivots(lanes, a, k, places, most)
        if record is not None:
            record(k, places)
        with builder.loop(n, start=after, fixed=True) as rows:
            for part in parts:
                # the factors left of the diagonal are not used again
                start = k if part is a and not keep else None
                exchange_lanes(lanes, part, k, rows.index, places, start)
        with lanes.each() as lane:
            pivot = a.load(k, k, lane)
            bad = builder.eq(pivot, lanes.number(0.0))
            lanes.mark(lane, bad)
            # a column of zeros has nothing to eliminate
            divisor = builder.select(bad, lanes.number(1.0), pivot)
            builder.store(inverse, lane, builder.op("div", lanes.number(1.0), divisor))
        with builder.loop(n, start=after, fixed=True) as rows:
            i = rows.index
            with lanes.each() as lane:
                factor = builder.op("mul", a.load(i, k, lane), builder.load(inverse, lane))
                a.store(i, k, lane, factor)
            for part in parts:
                start = after if part is a else None
                with builder.loop(part.columns, start=start, fixed=True) as columns:
                    with lanes.each() as lane:
                        part.subtract(i, a.load(i, k, lane), k, columns.index, lane)


def _find_pivots(lanes: Lanes, a: LaneMatrix, k: Value, places: Buffer, most: Buffer) -> None:
    """Find the rows, from ``k`` on, whose elements in column ``k`` have the largest absolute values."""
    builder = lanes.builder
    with lanes.each() as lane:
        builder.store(most, lane, builder.op("abs", a.load(k, k, lane)))
        builder.store(places, lane, builder.cast(k, lanes.dtype))
    start = builder.add(k, lanes.context.i64(1))
    with builder.loop(a.rows, start=start, fixed=True) as rows, lanes.each() as lane:
        size = builder.op("abs", a.load(rows.index, k, lane))
        before = builder.load(most, lane, fixed=True)
        place = builder.load(places, lane, fixed=True)
        larger = builder.lt(before, size)
        builder.store(most, lane, builder.select(larger, size, before))
        row = builder.cast(rows.index, lanes.dtype)
        builder.store(places, lane, builder.select(larger, row, place))


def exchange_lanes(
    lanes: Lanes, part: LaneMatrix, k: Value, i: Value, places: Buffer, start: Value | None
) -> None:
    """Exchange rows ``k`` and ``i`` of the lanes whose place is row ``i``."""
    builder = lanes.builder
    row = builder.cast(i, lanes.dtype)
    with builder.loop(part.columns, start=start, fixed=True) as columns, lanes.each() as lane:
        j = columns.index
        hit = builder.eq(builder.load(places, lane), row)
        first, second = part.load(k, j, lane), part.load(i, j, lane)
        part.store(k, j, lane, builder.select(hit, second, first))
        part.store(i, j, lane, builder.select(hit, first, second))
