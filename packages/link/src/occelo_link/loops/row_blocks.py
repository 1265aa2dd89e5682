"""Fuses products of a matrix with the loops over its rows between them, so that the matrix is read once.

Values and gradients of linear models have the form ``X @ b``, formulas and sums over the rows, ``X.T @ r``. `RowBlocks` computes all
of that for a block of rows before it goes on to the next block: the block of the matrix stays in the cache, and so do the
vectors, which get no memory of their full length unless something else reads them. Sums over rows are added up block by block, in
order, so results do not depend on the number of threads. `Schedule.finish` calls `in_row_blocks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from occelo_link.loops.ir.program import Buffer, Pointer, Value
from occelo_link.loops.kernel import LoopKernel
from occelo_link.loops.loop_nests import Nest, sum_of_blocks
from occelo_link.loops.steps import AnyStep, Step, reads_of, targets_of
from occelo_link.loops.tensors import Stored, Tensor, is_unit

if TYPE_CHECKING:
    from occelo_link.loops.lowering import Context

ROWS, MEDIUM, FEWER, NARROW, WIDE = 256, 128, 32, 8, 32
"""A block has `ROWS` rows of at most `NARROW` elements. Of longer rows it has `MEDIUM`, or `FEWER` if they are contiguous and longer
than `WIDE`: so it fits into the first cache. Of columns that are contiguous, short parts would be read.
"""


class Factors:
    """A matrix and a vector that are multiplied: the sums are over the ``axis`` of the matrix. ``by_rows`` says whether its rows are
    contiguous.
    """

    def __init__(self, matrix: Stored, by_rows: Value, vector: Stored, axis: int) -> None:
        self.matrix, self.by_rows, self.vector, self.axis = matrix, by_rows, vector, axis


class Addition:
    """What is done with a product: ``start + factor * product``. ``prepare`` is that of the step (`Step`)."""

    def __init__(self, start: Stored, factor: Tensor, prepare: Callable[[], None]) -> None:
        self.start, self.factor, self.prepare = start, factor, prepare


class MatrixVector(Step):
    """A step that multiplies a matrix and a vector.

    ``part(axis, start, count, vector, target)`` writes the product of the rows (or columns, for axis 1) ``start`` to
    ``start + count`` of the matrix, without the ``addition``.
    """

    def __init__(
        self,
        factors: Factors,
        result: Stored,
        emit: Callable[[], None],
        part: Callable[[int, Value, Value, Pointer, Pointer], None],
        node: int,
        addition: Addition | None,
    ) -> None:
        reads: list[Tensor] = [factors.matrix, factors.vector]
        if addition is None:
            super().__init__(reads, [result], emit, node)
        else:
            start = addition.start
            reads = [start, *reads, addition.factor]
            super().__init__(reads, [result], emit, node, start, addition.prepare)
        self.matrix, self.vector, self.result = factors.matrix, factors.vector, result
        self.axis, self.by_rows = factors.axis, factors.by_rows
        self.part = part
        self.addition = addition

    def same_rows(self, other: MatrixVector) -> bool:
        """Whether this product sums over the axis of a matrix along which ``other`` has one result for each element."""
        mine, theirs, across = self.matrix, other.matrix, 1 - other.axis
        return (
            mine.buffer is theirs.buffer
            and mine.offset is theirs.offset
            and mine.strides[self.axis] is theirs.strides[across]
        )


def in_row_blocks(context: Context, steps: Sequence[AnyStep]) -> list[AnyStep]:
    """The steps, where products of a matrix and what lies between them are one step, if they can be computed in blocks."""
    order = list(steps)
    for step in steps:
        if isinstance(step, MatrixVector) and step in order:
            order = _Group(context, order, step).fused()
    return order


class _Rows:
    """A length, and what steps do that can be computed for some of so many rows without the others."""

    def __init__(self, context: Context, length: Value) -> None:
        self._canonical = context.canonical
        self.length = context.canonical(length)

    def has(self, step: AnyStep) -> bool:
        """Whether a step can be computed in blocks of rows."""
        if isinstance(step, MatrixVector):
            lengths = [self._canonical(n) is self.length for n in step.matrix.shape]
            return lengths.count(True) == 1
        if not isinstance(step, LoopKernel):
            return False
        long = [i for i, n in enumerate(step.shape) if not is_unit(self._canonical(n))]
        if len(long) != 1 or self._canonical(step.shape[long[0]]) is not self.length:
            return False
        return step.axes is None or long[0] in step.axes

    def summed(self, step: MatrixVector) -> bool:
        """Whether a product sums over rows. Otherwise it has a result for each row."""
        return self._canonical(step.matrix.shape[step.axis]) is self.length

    def given(self, step: AnyStep, stored: Stored) -> bool:
        """Whether a step that has rows computes an element of ``stored`` for each row."""
        if isinstance(step, MatrixVector):
            return not self.summed(step)
        return isinstance(step, LoopKernel) and stored in step.elements


class _Group:
    """The steps that can be computed in blocks of rows with ``last``, a product that sums over rows."""

    def __init__(self, context: Context, steps: Sequence[AnyStep], last: MatrixVector) -> None:
        self.context = context
        self.steps = steps
        self.last = last
        self.rows = _Rows(context, last.matrix.shape[last.axis])
        self.producers = {stored: step for step in steps for stored in targets_of(step)}

    def fused(self) -> list[AnyStep]:
        """The steps, in which the group is one step, or as they were."""
        steps, length = list(self.steps), self.rows.length
        if (length.op == "const" and length.args[0] <= ROWS) or not self.rows.has(self.last):
            return steps
        group = self._computing(self.last)
        first = any(isinstance(s, MatrixVector) and self.last.same_rows(s) for s in group)
        late = self._late(group) if first else None
        if late is None:
            return steps
        for step in self.steps:
            # what else reads vectors of the group row by row
            if step not in group and any(p in group for p, rows in self._reads(step) if rows):
                more = self._late({*group, step})
                if more is not None:
                    group, late = {*group, step}, more
        early = [s for s in steps if s not in group and s not in late]
        members = [s for s in steps if s in group]
        blocks = RowBlocks(self.context, members, self.rows, self._rows_of_block())
        return [*early, blocks, *late]

    def _rows_of_block(self) -> Value:
        last, builder = self.last, self.context.builder
        columns = last.matrix.shape[1 - last.axis]
        long, wide = (builder.lt(builder.i64(n), columns) for n in (NARROW, WIDE))
        most, medium, few = map(builder.i64, (ROWS, MEDIUM, FEWER))
        fewer = builder.select(wide, few, medium)
        rows = builder.select(last.by_rows, *((medium, fewer) if last.axis else (fewer, medium)))
        return builder.select(long, rows, most)

    def _reads(self, step: AnyStep) -> Iterator[tuple[AnyStep, bool]]:
        """The other steps whose results a step reads, and whether it can read those in blocks of rows."""
        has = self.rows.has(step)
        in_order: Tensor | None = None
        if isinstance(step, MatrixVector):
            # of a sum over rows that is the other vector, of a result for each row what it is added to
            in_order = step.vector if has and self.rows.summed(step) else step.changed
        for tensor in reads_of(step):
            of_rows = has and (tensor is in_order or isinstance(step, LoopKernel))
            for stored, same in tensor.reads.items():
                producer = self.producers.get(stored)
                if producer is not None and producer is not step:
                    given = self.rows.has(producer) and self.rows.given(producer, stored)
                    yield producer, of_rows and same and given

    def _computing(self, last: AnyStep) -> set[AnyStep]:
        """A step, and those that compute what it reads, as far as they can do so in blocks of rows."""
        group, pending = {last}, [last]
        while pending:
            for producer, by_rows in self._reads(pending.pop()):
                if by_rows and producer not in group:
                    group.add(producer)
                    pending.append(producer)
        return group

    def _late(self, group: set[AnyStep]) -> list[AnyStep] | None:
        """The other steps that need results of a group. None if a step of the group needs a whole result of the group, directly or
        through other steps.
        """
        late: dict[AnyStep, None] = {}
        for step in self.steps:
            reads = list(self._reads(step))
            if step not in group:
                if any(p in group or p in late for p, _ in reads):
                    late[step] = None
            elif any(p in late or (p in group and not by_rows) for p, by_rows in reads):
                return None
        return list(late)


class RowBlocks(Step):
    """Steps that are computed together, in their order, for each block of ``size`` rows."""

    def __init__(
        self, context: Context, members: Sequence[AnyStep], rows: _Rows, size: Value
    ) -> None:
        self.context = context
        self.members = members
        self.rows = rows
        self.size = size
        reads = [tensor for step in members for tensor in reads_of(step)]
        targets = [stored for step in members for stored in targets_of(step)]
        self.inner = [stored for stored in targets if stored.readers == self._uses(stored)]
        inner = set(self.inner)
        super().__init__(
            reads, [t for t in targets if t not in inner], self._write, members[0].node
        )

    def _uses(self, stored: Stored) -> int:
        """How often members count as readers of a vector, if it has an element for each row; else -1."""
        uses = 0
        for step in self.members:
            if stored in targets_of(step):
                if not self.rows.given(step, stored):
                    return -1
                uses += isinstance(step, MatrixVector)
            else:
                uses += sum(stored in tensor.reads for tensor in reads_of(step))
        return uses

    def _write(self) -> None:
        builder = self.context.builder
        for stored in self.inner:
            # one block is in memory, which begins with the first row of the block
            stored.buffer = builder.scratch(stored.dtype, builder.i64(ROWS), ndim=stored.ndim)
        length, before = self.rows.length, builder.sub(self.size, builder.i64(1))
        count = builder.op("floordiv", builder.add(length, before), self.size)
        sums = [_Sums(self, step, count) for step in self.members]
        with builder.loop(count, parallel=True) as loop:
            start = builder.mul(loop.index, self.size)
            stop = builder.op("min", builder.add(start, self.size), self.rows.length)
            for stored in self.inner:
                stored.offset = builder.sub(builder.i64(0), start)
            for each in sums:
                builder.node = each.step.node
                each.write_block(loop.index, start, stop)
        for each in sums:
            builder.node = each.step.node
            each.add_up()


class _Sums:
    """A step, for one block after the other, with memory for the sums over each of ``count`` blocks."""

    def __init__(self, blocks: RowBlocks, step: AnyStep, count: Value) -> None:
        self.context = blocks.context
        self.builder = builder = self.context.builder
        self.step = step
        self.count = count
        self.sums: list[Buffer] = []
        """The buffers of the sums over blocks."""
        self.nest: Nest | None = None
        self.columns = builder.i64(1)
        if isinstance(step, LoopKernel):
            self.nest = Nest(self.context, step)
            dtypes = [dtype for _, dtype in self.nest.operations]
        elif isinstance(step, MatrixVector) and blocks.rows.summed(step):
            self.columns = step.result.shape[0]
            dtypes = [step.result.dtype]
        else:
            dtypes = []
        for dtype in dtypes:
            buffer = builder.buffer(dtype, "work", ndim=2)
            builder.alloc(buffer, builder.mul(count, self.columns))
            self.sums.append(buffer)

    def write_block(self, number: Value, start: Value, stop: Value) -> None:
        """Write the statements for a block of rows."""
        builder, step = self.builder, self.step
        if self.nest is not None:
            for buffer, value in zip(self.sums, self.nest.write_part(start, stop), strict=True):
                builder.store(buffer, number, value)
            return
        assert isinstance(step, MatrixVector)
        rows = builder.sub(stop, start)
        vector, result = step.vector, step.result
        if self.sums:
            place = Pointer(self.sums[0], builder.mul(number, self.columns))
            step.part(step.axis, start, rows, _from(self.context, vector, start), place)
        else:
            zero = builder.i64(0)
            target = _from(self.context, result, start)
            step.part(1 - step.axis, start, rows, _from(self.context, vector, zero), target)
            self._add(step, start, stop)

    def add_up(self) -> None:
        """Write the statements that add up the sums over the blocks."""
        builder, step = self.builder, self.step
        if self.nest is not None and self.sums:

            def of_block(number: Value) -> list[Value]:
                return [builder.load(buffer, number) for buffer in self.sums]

            self.nest.store_results(
                sum_of_blocks(builder, self.count, self.nest.operations, of_block)
            )
        elif isinstance(step, MatrixVector) and self.sums:
            self._add_rows(step.result)
            self._add(step, builder.i64(0), self.columns)

    def _add_rows(self, result: Stored) -> None:
        builder, columns = self.builder, self.columns
        with builder.loop(columns, lanes=8) as loop:
            loop.statement.non_interruptible = True
            builder.store(result.buffer, loop.index, builder.const(0.0, result.dtype))
        with builder.loop(self.count) as block:
            block.statement.non_interruptible = True
            first = builder.mul(block.index, columns)
            with builder.loop(columns, lanes=8) as loop:
                loop.statement.non_interruptible = True
                before = builder.load(result.buffer, loop.index, fixed=True)
                more = builder.load(self.sums[0], builder.add(first, loop.index))
                builder.store(result.buffer, loop.index, builder.op("add", before, more))

    def _add(self, step: MatrixVector, start: Value, stop: Value) -> None:
        """Write the addition of a product that is complete for the elements from ``start`` to ``stop``."""
        builder, addition, result = self.builder, step.addition, step.result
        if addition is None:
            return
        factor = addition.factor.at(builder, [])
        with builder.loop(stop, start=start, lanes=8) as loop:
            loop.statement.non_interruptible = True
            where = result.position(builder, [loop.index])
            product = builder.op("mul", factor, builder.load(result.buffer, where, fixed=True))
            before = addition.start.at(builder, [loop.index])
            builder.store(result.buffer, where, builder.op("add", before, product))


def _from(context: Context, vector: Stored, start: Value) -> Pointer:
    """The address of an element of a vector."""
    return Pointer(vector.buffer, vector.position(context.builder, [start]))
