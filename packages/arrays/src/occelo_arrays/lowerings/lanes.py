"""Batches of small real matrices, with one matrix per lane of vector operations.

Lowerings of families use this module for batches of small matrices, and say how many rows such a matrix may have.

A group of matrices is copied into working memory, where elements with the same row and column lie side by side. An
algorithm is written once, for elements of one matrix. Each of its operations is one vector operation for the whole
group.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager

from occelo_link.loops.batches import batch_lengths
from occelo_link.loops.ir.program import Buffer, Value, itemsize
from occelo_link.loops.lowering import Context
from occelo_link.loops.tensors import Stored, Tensor, is_unit

BLOCK = 4
"""The number of elements of a row that one vector iteration changes."""


def for_lanes(context: Context, tensors: Sequence[Tensor]) -> bool:
    """Whether lanes can read these operands: each must be a whole batch, or a single matrix for all lanes.

    The result is False if there is no batch, that is, if all batch lengths are the constant 1. It is also False for
    matrices of dynamic lengths. In lanes they would take several times as long as one after the other, because each
    operation would be a loop around a single vector operation.
    """
    if any(n.op != "const" for t in tensors for n in t.shape[-2:]):
        return False
    batch = batch_lengths(context, tensors, [2] * len(tensors))
    if all(is_unit(n) for n in batch):
        return False
    leads = [t.shape[:-2] for t in tensors]
    return all(
        all(map(is_unit, lead)) or [*map(is_unit, lead)] == [*map(is_unit, batch)] for lead in leads
    )


class Lanes:
    """A batch of matrices, divided into groups with one matrix per lane.

    Construct it inside the ``emit`` function of a `Context.step`, since the constructor writes allocations.

    ``failed`` counts the failures in the current group for each lane: 0 means that the lane's matrix has a result. If `groups`
    is called without ``nan``, a check after each group stops the program if a count is not 0.

    If the last group has too few matrices, its last matrix is repeated.
    """

    def __init__(self, context: Context, dtype: str, batch: Sequence[Value]) -> None:
        self.context, self.builder, self.dtype = context, context.builder, dtype
        # the number of elements that fit into the widest vectors
        self.count = 64 // itemsize(dtype)
        self.length = self.builder.product(batch)
        self.failed = self.column()
        self.first = context.i64(0)

    def number(self, value: float) -> Value:
        """A constant of the batch's dtype."""
        return self.builder.const(value, self.dtype)

    def matrix(self, rows: Value, columns: Value) -> LaneMatrix:
        """Working memory with one matrix for each lane."""
        return LaneMatrix(self, rows, columns)

    def column(self) -> Buffer:
        """Working memory with one number for each lane. The numbers are 0 at first."""
        buffer = self.builder.scratch(self.dtype, self.context.i64(self.count))
        self.clear(buffer)
        return buffer

    def clear(self, buffer: Buffer) -> None:
        """Set the numbers of all lanes to 0."""
        with self.each() as lane:
            self.builder.store(buffer, lane, self.number(0.0))

    @contextmanager
    def each(self) -> Generator[Value]:
        """A context manager that writes a loop over the lanes. Its value is the index of the lane.

        The loop becomes a single vector iteration.
        """
        length = self.context.i64(self.count)
        with self.builder.loop(length, lanes=self.count, fixed=True) as loop:
            yield loop.index

    def in_blocks(
        self, stop: Value, start: Value | None = None
    ) -> Iterator[tuple[Value, list[Value]]]:
        """Write a loop over the indices from ``start`` to ``stop`` (excluded), in blocks of `BLOCK` indices.

        The iterator returns the lane and the indices of a block. The caller writes the statements for this block, which
        become one vector iteration. Elements that do not depend on the index are loaded once for the block.

        If the number of indices is not a static multiple of `BLOCK`, the iterator continues with single indices, so the
        caller writes the statements a second time.
        """
        builder, i64 = self.builder, self.context.i64
        start = i64(0) if start is None else start
        whole = builder.sub(stop, start)
        number = builder.op("floordiv", whole, i64(BLOCK))
        rest = builder.add(start, builder.mul(number, i64(BLOCK)))
        if whole.op == "const":
            number = i64(whole.args[0] // BLOCK)
            rest = i64(stop.args[0] - whole.args[0] % BLOCK)
        if number.op != "const" or number.args[0] > 0:
            with builder.loop(number, fixed=True) as loop:
                first = builder.add(start, builder.mul(loop.index, i64(BLOCK)))
                with self.each() as lane:
                    yield lane, [builder.add(first, i64(k)) for k in range(BLOCK)]
        if rest.op != "const" or rest.args[0] < stop.args[0]:
            with builder.loop(stop, start=rest, fixed=True) as loop, self.each() as lane:
                yield lane, [loop.index]

    @contextmanager
    def groups(self, nan: bool) -> Generator[None]:
        """A context manager that writes the loop over all groups, which may be computed in several threads.

        If ``nan`` is False, a check that no matrix of the group failed is written.
        """
        builder, count = self.builder, self.context.i64(self.count)
        whole = builder.add(self.length, self.context.i64(self.count - 1))
        groups = builder.op("floordiv", whole, count)
        with builder.loop(groups, parallel=True, fixed=True) as loop:
            self.first = builder.mul(loop.index, count)
            self.clear(self.failed)
            yield
            if not nan:
                with builder.loop(count, fixed=True) as lane:
                    total = lane.carry(self.number(0.0))
                    flag = builder.load(self.failed, lane.index, fixed=True)
                    total.following = builder.op("max", total.param, flag)
                self.context.check(builder.eq(total.result, self.number(0.0)))

    def mark(self, lane: Value, bad: Value) -> None:
        """Count a failure of the matrix in a lane if ``bad`` is True."""
        builder = self.builder
        before = builder.load(self.failed, lane, fixed=True)
        more = builder.select(bad, self.number(1.0), self.number(0.0))
        builder.store(self.failed, lane, builder.op("add", before, more))

    def remaining(self) -> Value:
        """The number of matrices in the current group."""
        left = self.builder.sub(self.length, self.first)
        return self.builder.op("min", left, self.context.i64(self.count))


class LaneMatrix:
    """The matrices of a group in working memory. All elements are 0 at first.

    A row, a column and a lane select an element.
    """

    def __init__(self, lanes: Lanes, rows: Value, columns: Value) -> None:
        self.lanes, self.builder = lanes, lanes.builder
        self.rows, self.columns = rows, columns
        self._stage: Buffer | None = None
        builder = self.builder
        # rows whose distance is a multiple of many cache lines would displace each other in the cache
        apart = columns.op == "const" and columns.args[0] > 8 and columns.args[0] % 8 == 0
        self.width = builder.add(columns, lanes.context.i64(1)) if apart else columns
        size = builder.mul(builder.mul(rows, self.width), lanes.context.i64(lanes.count))
        self.buffer = builder.scratch(lanes.dtype, size, ndim=3)
        with builder.loop(size, lanes=lanes.count) as loop:
            builder.store(self.buffer, loop.index, lanes.number(0.0))

    def _offset(self, i: Value, j: Value, lane: Value) -> Value:
        builder = self.builder
        at = builder.add(builder.mul(i, self.width), j)
        return builder.add(builder.mul(at, self.lanes.context.i64(self.lanes.count)), lane)

    def load(self, i: Value, j: Value, lane: Value) -> Value:
        """The element in row ``i`` and column ``j`` of a lane's matrix."""
        return self.builder.load(self.buffer, self._offset(i, j, lane), fixed=True)

    def store(self, i: Value, j: Value, lane: Value, value: Value) -> None:
        """Write the element in row ``i`` and column ``j`` of a lane's matrix."""
        self.builder.store(self.buffer, self._offset(i, j, lane), value)

    def subtract(self, i: Value, k: Value, lane: Value, product: Value) -> None:
        """Subtract ``product`` from the element in row ``i`` and column ``k``."""
        self.store(i, k, lane, self.builder.op("sub", self.load(i, k, lane), product))

    def fill(
        self, source: Stored, span: Callable[[Value], tuple[Value, Value]] | None = None
    ) -> None:
        """Copy a group of matrices from ``source``, which is in C order.

        If ``span`` is passed, only the columns ``range(*span(i))`` of each row ``i`` are copied. If the source is a
        single matrix, all lanes get a copy.
        """
        lanes, builder = self.lanes, self.builder
        one = all(map(is_unit, source.shape[:-2]))
        size = builder.mul(self.rows, self.columns)
        buffer = source.buffer if one else self._staged(source, size)
        with builder.loop(self.rows, fixed=True) as down:
            start, stop = (None, self.columns) if span is None else span(down.index)
            with builder.loop(stop, start=start, fixed=True) as across, lanes.each() as lane:
                at = builder.add(builder.mul(down.index, self.columns), across.index)
                if one:
                    at = builder.add(source.offset, at)
                else:
                    at = builder.add(builder.mul(lane, size), at)
                value = builder.load(buffer, at, fixed=True)
                self.store(down.index, across.index, lane, value)

    def _staged(self, source: Stored, size: Value) -> Buffer:
        """A contiguous copy of the group's matrices. It is made in the order of memory, so that the processor can
        prefetch.
        """
        lanes, builder = self.lanes, self.builder
        count = lanes.context.i64(lanes.count)
        if self._stage is None:
            self._stage = builder.scratch(lanes.dtype, builder.mul(size, count))
        stage, remaining = self._stage, lanes.remaining()
        start = builder.add(source.offset, builder.mul(lanes.first, size))
        with builder.loop(builder.mul(remaining, size), lanes=lanes.count) as loop:
            value = builder.load(source.buffer, builder.add(start, loop.index), fixed=True)
            builder.store(stage, loop.index, value)
        last = builder.mul(builder.sub(remaining, lanes.context.i64(1)), size)
        with builder.loop(count, start=remaining, fixed=True) as missing:
            start = builder.mul(missing.index, size)
            with builder.loop(size, lanes=lanes.count) as loop:
                value = builder.load(stage, builder.add(last, loop.index), fixed=True)
                builder.store(stage, builder.add(start, loop.index), value)
        return stage

    def fill_identity(self) -> None:
        """Make all matrices the identity."""
        lanes, builder = self.lanes, self.builder
        with builder.loop(self.rows, fixed=True) as down:
            with builder.loop(self.columns, fixed=True) as across, lanes.each() as lane:
                i, j = down.index, across.index
                same = builder.eq(i, j)
                value = builder.select(same, lanes.number(1.0), lanes.number(0.0))
                self.store(i, j, lane, value)

    def copy_to(self, result: Stored, nan: bool) -> None:
        """Copy the matrices of the group to a result in C order. If ``nan`` is True, matrices that failed become NaN."""
        lanes, builder = self.lanes, self.builder
        size = builder.mul(self.rows, self.columns)
        with builder.loop(lanes.remaining(), fixed=True) as loop:
            start = builder.mul(builder.add(lanes.first, loop.index), size)
            good = None
            if nan:
                flag = builder.load(lanes.failed, loop.index, fixed=True)
                good = builder.eq(flag, lanes.number(0.0))
            if self.width is self.columns:
                self._copy_row(result, start, lanes.context.i64(0), size, loop.index, good)
            else:
                with builder.loop(self.rows, fixed=True) as down:
                    i = down.index
                    first = builder.add(start, builder.mul(i, self.columns))
                    self._copy_row(result, first, i, self.columns, loop.index, good)

    def _copy_row(
        self,
        result: Stored,
        start: Value,
        i: Value,
        length: Value,
        matrix: Value,
        good: Value | None,
    ) -> None:
        """Copy ``length`` elements of one matrix to a result.

        They are read from the start of row ``i``, and stored from position ``start`` on. If ``good`` is passed and
        False, NaN is stored instead.
        """
        lanes, builder = self.lanes, self.builder
        with builder.loop(length, lanes=lanes.count) as elements:
            value = builder.load(self.buffer, self._offset(i, elements.index, matrix))
            if good is not None:
                value = builder.select(good, value, lanes.number(float("nan")))
            builder.store(result.buffer, builder.add(start, elements.index), value)
