"""Lowering of determinants (`Det`): the product of the pivots of a factorisation.

LAPACK's getrf factors the matrices. Small matrices are factored by Gaussian elimination in loops. The linkers
``native``, ``c``, ``c|py`` and ``numba`` use this lowering.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_arrays.lowerings.lanes import Lanes
from occelo_graph import TensorApply
from occelo_linalg.lowerings.elimination import Rows, eliminate
from occelo_linalg.lowerings.lane_algorithms import eliminate_lanes
from occelo_linalg.lowerings.lapack import Lapack
from occelo_linalg.lowerings.ways import ELIMINATION, choose
from occelo_linalg.lowerings.work_matrices import (
    WorkMatrix,
    lowers_matrices,
    new_result,
    stored_parts,
    whole_tensor,
)
from occelo_linalg.ops.determinant import Det
from occelo_link.loops.batches import each_element
from occelo_link.loops.ir.program import Buffer, Pointer, Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.lowerings.elemwise.real_or_complex import Numbers
from occelo_link.loops.tensors import Index, Stored, Tensor, is_unit


@lowers_matrices(Det)
def lower_det(context: Context, node: TensorApply[Det], inputs: list[Tensor]) -> Sequence[Tensor]:
    x, dtype = inputs[0], node.outputs[0].type.dtype
    n = context.unify(x.shape[-2], x.shape[-1])
    batch = x.shape[:-2]
    choice = choose(context, ELIMINATION, node, [x], batch, n)
    source = stored_parts(context, choice.operand(x))
    result = new_result(context, dtype, batch)
    determinants = _Determinants(context, dtype, source, result, n)

    def emit() -> None:
        choice.write(
            determinants.by_lapack, lanes=determinants.by_lanes, loops=determinants.by_loops
        )

    context.step(source, result, emit)
    return [whole_tensor(result)]


class _Determinants:
    """Computes the determinants of a batch. Each matrix is factored in working memory."""

    def __init__(
        self,
        context: Context,
        dtype: str,
        source: Sequence[Stored],
        result: Sequence[Stored],
        n: Value,
    ) -> None:
        self.context, self.dtype, self.n = context, dtype, n
        self.source, self.result = source, result
        self.batch = result[0].shape

    def _work(self) -> WorkMatrix:
        """A matrix in the order of the first operand. The determinant of a transpose is the same."""
        by_rows = is_unit(self.source[0].strides[-1])
        return WorkMatrix(self.context, self.dtype, self.n, self.n, by_rows=by_rows)

    def _exchanged(self) -> Buffer:
        """Memory for the row that each row was exchanged with, counted from 1 as LAPACK does."""
        builder = self.context.builder
        return Lapack(self.context, self.dtype).integers(
            builder.op("max", self.n, self.context.i64(1))
        )

    def _store_product(self, work: WorkMatrix, exchanged: Buffer, index: Index) -> None:
        """Store the product of the elements on the diagonal of a factored matrix. Each exchange changes the sign."""
        builder, numbers = self.context.builder, Numbers(self.context.builder, work.count)
        one, zero = (builder.const(x, work.buffer.dtype) for x in (1.0, 0.0))
        with builder.loop(self.n, fixed=True) as steps:
            total = [steps.carry(x) for x in (one, zero)[: work.count]]
            i = steps.index
            row = builder.cast(builder.load(exchanged, i, fixed=True), "int64")
            same = builder.eq(row, builder.add(i, self.context.i64(1)))
            sign = builder.select(same, one, builder.op("neg", one))
            pivot = numbers.scaled([work.load(i, i, part) for part in range(work.count)], sign)
            product = numbers.times([each.param for each in total], pivot)
            for each, following in zip(total, product, strict=True):
                each.following = following
        for part, each in zip(self.result, total, strict=True):
            builder.store(part.buffer, part.position(builder, index), each.result)

    def by_lapack(self) -> None:
        """Factor each matrix with LAPACK."""
        context, n = self.context, self.n
        lapack, work, exchanged = Lapack(context, self.dtype), self._work(), self._exchanged()
        pivots = Pointer(exchanged, context.i64(0))
        with each_element(context, self.batch) as index:
            work.fill(self.source, index)
            # a pivot of 0 is no failure
            lapack.call("getrf", m=n, n=n, a=work.pointer, lda=work.leading, ipiv=pivots)
            self._store_product(work, exchanged, index)

    def by_loops(self) -> None:
        """Factor each matrix by Gaussian elimination in loops."""
        context, builder, n = self.context, self.context.builder, self.n
        work, exchanged = self._work(), self._exchanged()

        def record(j: Value, p: Value) -> None:
            row = builder.cast(builder.add(p, context.i64(1)), exchanged.dtype)
            builder.store(exchanged, j, row)

        with each_element(context, self.batch) as index:
            work.fill(self.source, index)
            eliminate(Rows(context, work.buffer, context.i64(0), n), n, record=record)
            self._store_product(work, exchanged, index)

    def by_lanes(self) -> None:
        """Factor the matrices of a group together by Gaussian elimination, with one matrix per lane."""
        context, builder, n = self.context, self.context.builder, self.n
        lanes = Lanes(context, self.dtype, self.batch)
        matrix, product = lanes.matrix(n, n), lanes.column()

        def record(k: Value, places: Buffer) -> None:
            row = builder.cast(k, lanes.dtype)
            with lanes.each() as lane:
                before = builder.load(product, lane, fixed=True)
                same = builder.eq(builder.load(places, lane, fixed=True), row)
                sign = builder.select(same, lanes.number(1.0), lanes.number(-1.0))
                builder.store(product, lane, builder.op("mul", before, sign))

        # a pivot of 0 is no failure
        with lanes.groups(nan=True):
            matrix.fill(self.source[0])
            with lanes.each() as lane:
                builder.store(product, lane, lanes.number(1.0))
            eliminate_lanes(lanes, matrix, record=record)
            with builder.loop(n, fixed=True) as steps, lanes.each() as lane:
                pivot = matrix.load(steps.index, steps.index, lane)
                before = builder.load(product, lane, fixed=True)
                builder.store(product, lane, builder.op("mul", before, pivot))
            with builder.loop(lanes.remaining(), lanes=lanes.count, fixed=True) as loop:
                value = builder.load(product, loop.index, fixed=True)
                builder.store(self.result[0].buffer, builder.add(lanes.first, loop.index), value)
