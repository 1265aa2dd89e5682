"""Lowering of Cholesky factors (`Cholesky`), with LAPACK's potrf, or with loops for small matrices.

The linkers ``native``, ``c``, ``c|py`` and ``numba`` use this lowering.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from occelo_arrays.lowerings.lanes import Lanes
from occelo_graph import TensorApply
from occelo_linalg.lowerings.lane_algorithms import factor_lanes
from occelo_linalg.lowerings.lapack import Lapack, clear_above_diagonal, settle
from occelo_linalg.lowerings.unrolled import factor_unrolled
from occelo_linalg.lowerings.ways import CHOLESKY, choose
from occelo_linalg.lowerings.work_matrices import WorkMatrix, new_result, whole_tensor
from occelo_linalg.ops.factorizations.cholesky import Cholesky
from occelo_link.loops.batches import each_element
from occelo_link.loops.complexes import parts_of
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Pointer, Value
from occelo_link.loops.lowering import CHEAP, Context
from occelo_link.loops.registry import lowers_complex_to_loops, lowers_to_loops
from occelo_link.loops.tensors import Index, Stored, Tensor


@lowers_to_loops(Cholesky)
def lower_cholesky(
    context: Context, node: TensorApply[Cholesky], inputs: list[Tensor]
) -> Sequence[Tensor]:
    x = inputs[0]
    n = context.unify(x.shape[-2], x.shape[-1])
    batch = x.shape[:-2]
    choice = choose(context, CHOLESKY, node, [x], batch, n)
    if choice.way == "unrolled":
        return [_unrolled(context, node.op, x, n)]
    x = choice.operand(x)

    def done(result: Stored, index: Index, failed: Value) -> None:
        good = context.builder.eq(failed, context.i64(0))
        settle(context, node.op.on_error, good, result, index)

    def by_lapack(result: Stored, prepare: Callable[[Index], None]) -> None:
        builder, zero = context.builder, context.i64(0)
        lapack = Lapack(context, x.dtype)
        leading = builder.op("max", n, context.i64(1))
        with each_element(context, batch) as index:
            # one matrix at a time, so that it is in the cache when it is factored
            prepare(index)
            at = Pointer(result.buffer, result.position(builder, [*index, zero, zero]))
            # the lower triangle in row-major order is the upper triangle in column-major order
            info = lapack.call("potrf", uplo="U", n=n, a=at, lda=leading)
            done(result, index, info)

    def copied(result: Stored) -> None:
        by_lapack(result, lambda index: _copy_triangle(context, x, result, index))

    shape = [*batch, n, n]
    if choice.way == "library" and isinstance(x, Stored) and x.flat and context.aligned(x, shape):
        # the result takes over the memory of the matrix if nothing else reads the matrix

        def replace(result: Stored) -> None:
            by_lapack(result, lambda index: clear_above_diagonal(context, result, index))

        return [context.change(x, [], replace, can_fail=True, copied=copied)]
    result = context.new_stored(x.dtype, shape)

    def by_lanes() -> None:
        assert isinstance(x, Stored)
        _in_lanes(context, x, result, node.op.on_error == "nan")

    def by_loops() -> None:
        builder, zero = context.builder, context.i64(0)
        with each_element(context, batch) as index:
            _copy_triangle(context, x, result, index)
            start = result.position(builder, [*index, zero, zero])
            done(result, index, _small(context, result, start, n))

    def emit() -> None:
        choice.write(lambda: copied(result), lanes=by_lanes, loops=by_loops)

    context.step([x], [result], emit)
    return [result]


def _unrolled(context: Context, op: Cholesky, x: Tensor, n: Value) -> Tensor:
    """Factor one tiny matrix of ``n`` rows with unrolled code."""
    x = context.store(x) if x.cost > CHEAP else x
    result = context.new_stored(x.dtype, [*x.shape[:-2], n, n])

    def emit() -> None:
        good = factor_unrolled(context, x, result)
        settle(context, op.on_error, good, result, [context.i64(0)] * (x.ndim - 2))

    context.step([x], [result], emit)
    return result


def _in_lanes(context: Context, x: Stored, result: Stored, nan: bool) -> None:
    """Factor a batch of small matrices, one matrix per lane."""
    lanes = Lanes(context, x.dtype, x.shape[:-2])
    matrix = lanes.matrix(*result.shape[-2:])
    zero, one = context.i64(0), context.i64(1)
    with lanes.groups(nan):
        matrix.fill(x, lambda i: (zero, context.builder.add(i, one)))
        factor_lanes(lanes, matrix)
        matrix.copy_to(result, nan)


@lowers_complex_to_loops(Cholesky)
def lower_complex_cholesky(
    context: Context, node: TensorApply[Cholesky], inputs: list[Tensor]
) -> Sequence[Tensor]:
    x = inputs[0]
    dtype = node.outputs[0].type.dtype
    n = context.unify(x.shape[-2], x.shape[-1])
    parts = [context.store(_lower_triangle(context, part)) for part in parts_of(x)]
    result = new_result(context, dtype, [*x.shape[:-2], n, n])

    def emit() -> None:
        lapack = Lapack(context, dtype)
        matrix = WorkMatrix(context, dtype, n, n)
        with each_element(context, x.shape[:-2]) as index:
            matrix.fill(parts, index)
            info = lapack.call("potrf", uplo="L", n=n, a=matrix.pointer, lda=matrix.leading)
            good = context.builder.eq(info, context.i64(0))
            if node.op.on_error == "raise":
                context.check(good)
                matrix.copy_to(result, index)
            else:
                matrix.copy_to(result, index, good)

    context.step(parts, result, emit)
    return [whole_tensor(result)]


def _lower_triangle(context: Context, x: Tensor) -> Tensor:
    def element(builder: Builder, index: Index) -> Value:
        zero = builder.const(0.0, x.dtype)
        return builder.select(builder.op("le", index[-1], index[-2]), x.at(builder, index), zero)

    return context.virtual(x.dtype, x.shape, element, [x], identity=True)


def _copy_triangle(context: Context, x: Tensor, result: Stored, index: Index) -> None:
    """Copy the lower triangle of a matrix, and store zeros above it. ``index`` is the matrix's index in the batch."""
    builder, n = context.builder, result.shape[-1]
    with builder.loop(n, parallel=len(index) == 0, fixed=True) as down:
        i = down.index
        after = builder.add(i, context.i64(1))
        row = result.position(builder, [*index, i, context.i64(0)])
        with builder.loop(after, lanes=8) as across:
            value = x.at(builder, [*index, i, across.index])
            builder.store(result.buffer, builder.add(row, across.index), value)
        with builder.loop(n, start=after, lanes=8) as across:
            zero = builder.const(0.0, result.dtype)
            builder.store(result.buffer, builder.add(row, across.index), zero)


def _small(context: Context, result: Stored, start: Value, n: Value) -> Value:
    """Factor a small matrix row by row, in place. Returns 0, or 1 if a pivot is not positive."""
    builder, buffer = context.builder, result.buffer
    one, zero = context.i64(1), context.i64(0)

    def load(row: Value, column: Value) -> Value:
        offset = builder.add(builder.add(start, builder.mul(row, n)), column)
        return builder.load(buffer, offset, fixed=True)

    def less_products(i: Value, j: Value) -> Value:
        """``a[i, j]`` minus the dot product of the rows ``i`` and ``j``, of which only the columns before ``j`` count."""
        first = load(i, j)
        with builder.loop(j, fixed=True) as inner:
            rest = inner.carry(first)
            product = builder.op("mul", load(i, inner.index), load(j, inner.index))
            rest.following = builder.op("sub", rest.param, product)
        return rest.result

    def store(i: Value, j: Value, value: Value) -> None:
        builder.store(buffer, builder.add(builder.add(start, builder.mul(i, n)), j), value)

    with builder.loop(n, fixed=True) as rows:
        failed = rows.carry(zero)
        i = rows.index
        with builder.loop(i, fixed=True) as columns:
            j = columns.index
            store(i, j, builder.op("div", less_products(i, j), load(j, j)))
        pivot = less_products(i, i)
        store(i, i, builder.op("sqrt", pivot))
        # as in NumPy, a matrix with NaN does not fail
        bad = builder.op("le", pivot, builder.const(0.0, result.dtype))
        failed.following = builder.select(bad, one, failed.param)
    return failed.result
