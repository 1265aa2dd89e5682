"""Lowering of determinants (`Det`): the product of the pivots of a factorisation.

LAPACK's getrf factors the matrices. Small matrices are factored by Gaussian elimination in loops. The linkers
``native``, ``c``, ``c|py`` and ``numba`` use this lowering.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_graph import TensorApply
from occelo_linalg.lowerings.elimination import (
    SMALL_IN_LANES,
    Rows,
    by_size,
    eliminate,
    maybe_small,
    worth_loops,
)
from occelo_linalg.lowerings.lane_algorithms import eliminate_lanes
from occelo_linalg.lowerings.lanes import Lanes, for_lanes
from occelo_linalg.lowerings.lapack import Lapack, each_element
from occelo_linalg.lowerings.work_matrices import WorkMatrix, new_result, stored_parts, whole_tensor
from occelo_linalg.ops.determinant import Det
from occelo_link.loops.complexes import PARTS
from occelo_link.loops.ir.program import Buffer, Pointer, Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.registry import lowers_complex_to_loops, lowers_to_loops
from occelo_link.loops.tensors import Index, Stored, Tensor, is_unit

__all__: list[str] = []


@lowers_to_loops(Det)
def lower_det(context: Context, node: TensorApply[Det], inputs: list[Tensor]) -> Sequence[Tensor]:
    x = inputs[0]
    n = context.unify(x.shape[-2], x.shape[-1])
    batch = x.shape[:-2]
    small = worth_loops(batch, n)
    in_lanes = maybe_small(n, most=SMALL_IN_LANES) and for_lanes(context, [x])
    source = context.contiguous_copy(x) if in_lanes else context.store(x)
    result = context.new_stored(x.dtype, batch)
    determinants = _Determinants(context, source, result, n)

    def by_loops() -> Sequence[Value]:
        (determinants.by_lanes if in_lanes else determinants.by_loops)()
        return ()

    def by_lapack() -> Sequence[Value]:
        determinants.by_lapack()
        return ()

    def emit() -> None:
        if small or in_lanes:
            by_size(context, [n], by_loops, by_lapack, batch if in_lanes else None)
        else:
            by_lapack()

    context.step([source], [result], emit)
    return [result]


@lowers_complex_to_loops(Det)
def lower_complex_det(
    context: Context, node: TensorApply[Det], inputs: list[Tensor]
) -> Sequence[Tensor]:
    builder, dtype = context.builder, node.outputs[0].type.dtype
    source = stored_parts(context, inputs[0])
    *batch, rows, columns = source[0].shape
    n = context.unify(rows, columns)
    result = new_result(context, dtype, batch)

    def emit() -> None:
        one, zero = (builder.const(x, PARTS[dtype]) for x in (1.0, 0.0))
        lapack = Lapack(context, dtype)
        work = WorkMatrix(context, dtype, n, n)
        exchanged = lapack.integers(builder.op("max", n, context.i64(1)))
        given: dict[str, Value | Pointer] = {"m": n, "n": n, "a": work.pointer, "lda": work.leading}
        with each_element(context, batch) as index:
            work.fill(source, index)
            lapack.call("getrf", ipiv=Pointer(exchanged, context.i64(0)), **given)
            with builder.loop(n, fixed=True) as loop:
                product = [loop.carry(one), loop.carry(zero)]
                re, im = (each.param for each in product)
                row = builder.cast(builder.load(exchanged, loop.index, fixed=True), "int64")
                # LAPACK counts rows from 1; an exchange of rows changes the sign
                kept = builder.eq(row, builder.add(loop.index, context.i64(1)))
                sign = builder.select(kept, one, builder.op("neg", one))
                a, b = (
                    builder.op("mul", sign, work.load(loop.index, loop.index, part))
                    for part in range(2)
                )
                product[0].following = builder.op(
                    "sub", builder.op("mul", re, a), builder.op("mul", im, b)
                )
                product[1].following = builder.op(
                    "add", builder.op("mul", re, b), builder.op("mul", im, a)
                )
            for part, found in zip(result, product, strict=True):
                builder.store(part.buffer, part.position(builder, index), found.result)

    context.step(source, result, emit)
    return [whole_tensor(result)]


class _Determinants:
    """Computes the determinants of a batch. Each matrix is factored in working memory."""

    def __init__(self, context: Context, source: Stored, result: Stored, n: Value) -> None:
        self.context, self.source, self.result, self.n = context, source, result, n

    def _copy(self, work: Buffer, index: Index) -> None:
        """Copy a matrix, or its transpose, to working memory in C order. ``index`` is the matrix's index in the batch."""
        builder, source = self.context.builder, self.source
        by_rows = is_unit(source.strides[-1])
        with builder.loop(self.n, fixed=True) as down:
            start = builder.mul(down.index, self.n)
            with builder.loop(self.n, lanes=8, fixed=True) as across:
                j = across.index
                place = (down.index, j) if by_rows else (j, down.index)
                at = source.position(builder, [*index, *place])
                builder.store(work, builder.add(start, j), builder.load(source.buffer, at))

    def _work(self) -> Buffer:
        builder = self.context.builder
        work = builder.buffer(self.result.dtype, "work", ndim=2)
        builder.alloc(work, builder.mul(self.n, self.n))
        return work

    def _store_product(self, work: Buffer, sign: Value, index: Index) -> None:
        """Store the product of ``sign`` and the elements on the diagonal of a factored matrix."""
        builder, result = self.context.builder, self.result
        with builder.loop(self.n, fixed=True) as steps:
            total = steps.carry(sign)
            at = builder.add(builder.mul(steps.index, self.n), steps.index)
            pivot = builder.load(work, at, fixed=True)
            total.following = builder.op("mul", total.param, pivot)
        builder.store(result.buffer, result.position(builder, index), total.result)

    def by_lapack(self) -> None:
        """Factor each matrix with LAPACK, which reads the transpose. The determinant of the transpose is the same."""
        context, builder, n = self.context, self.context.builder, self.n
        lapack = Lapack(context, self.result.dtype)
        work, exchanged = self._work(), lapack.integers(n)
        zero, one = context.i64(0), context.i64(1)
        given = {"a": Pointer(work, zero), "lda": builder.op("max", n, one)}
        with each_element(context, self.result.shape) as index:
            self._copy(work, index)
            # a pivot of 0 is no failure
            lapack.call("getrf", m=n, n=n, ipiv=Pointer(exchanged, zero), **given)
            with builder.loop(n, fixed=True) as steps:
                sign = steps.carry(builder.const(1.0, self.result.dtype))
                row = builder.cast(builder.load(exchanged, steps.index, fixed=True), "int64")
                # LAPACK counts rows from 1
                same = builder.eq(row, builder.add(steps.index, one))
                sign.following = builder.select(same, sign.param, builder.op("neg", sign.param))
            self._store_product(work, sign.result, index)

    def by_loops(self) -> None:
        """Factor each matrix by Gaussian elimination in loops."""
        context, builder, n = self.context, self.context.builder, self.n
        zero, dtype = context.i64(0), self.result.dtype
        work = self._work()
        sign = builder.buffer(dtype, "work", ndim=1)
        builder.alloc(sign, context.i64(1))

        def record(j: Value, p: Value) -> None:
            before = builder.load(sign, zero, fixed=True)
            builder.store(
                sign, zero, builder.select(builder.eq(j, p), before, builder.op("neg", before))
            )

        with each_element(context, self.result.shape) as index:
            self._copy(work, index)
            builder.store(sign, zero, builder.const(1.0, dtype))
            eliminate(Rows(context, work, zero, n), n, record=record)
            self._store_product(work, builder.load(sign, zero, fixed=True), index)

    def by_lanes(self) -> None:
        """Factor the matrices of a group together by Gaussian elimination, with one matrix per lane."""
        context, builder, n = self.context, self.context.builder, self.n
        lanes = Lanes(context, self.result.dtype, self.result.shape)
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
            matrix.fill(self.source)
            with lanes.each() as lane:
                builder.store(product, lane, lanes.number(1.0))
            eliminate_lanes(lanes, matrix, record=record)
            with builder.loop(n, fixed=True) as steps, lanes.each() as lane:
                pivot = matrix.load(steps.index, steps.index, lane)
                before = builder.load(product, lane, fixed=True)
                builder.store(product, lane, builder.op("mul", before, pivot))
            with builder.loop(lanes.remaining(), lanes=lanes.count, fixed=True) as loop:
                value = builder.load(product, loop.index, fixed=True)
                builder.store(self.result.buffer, builder.add(lanes.first, loop.index), value)
