"""Lowerings of LU factors of tridiagonal matrices (`TridiagonalFactor`), and of equations solved with them
(`TridiagonalSolve`).

They call LAPACK's gttrf and gttrs. The linkers ``native``, ``c``, ``c|py`` and ``numba`` use these lowerings.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_graph import TensorApply
from occelo_linalg.lowerings.lapack import Lapack
from occelo_linalg.lowerings.work_matrices import (
    WorkMatrix,
    lowers_matrices,
    new_result,
    stored_parts,
    whole_tensor,
)
from occelo_linalg.ops.equations.tridiagonal import TridiagonalFactor, TridiagonalSolve
from occelo_link.loops.batches import batch_lengths, each_element, own_index
from occelo_link.loops.ir.program import Pointer, Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.tensors import Index, Stored, Tensor

ROWS = 4


def _arguments(work: WorkMatrix, n: Value) -> dict[str, str | Value | Pointer]:
    """The diagonals as arguments of LAPACK. ``work`` has the same rows as the result of `TridiagonalFactor`."""
    context = work.context
    zero, one = context.i64(0), context.i64(1)
    # element j of row 0 belongs to column j and lies above the diagonal, so element 0 is not in the matrix
    places = {"dl": (context.i64(2), zero), "d": (one, zero), "du": (zero, one)}
    places["du2"] = (context.i64(3), zero)
    arguments: dict[str, str | Value | Pointer] = {"n": n}
    for name, (row, column) in places.items():
        arguments[name] = Pointer(work.buffer, work.offset(row, column))
    return arguments


def _fill(
    context: Context, work: WorkMatrix, source: Sequence[Stored], index: Index, rows: int
) -> None:
    """Copy the first ``rows`` diagonals to the rows of ``work``.

    Zeros are stored in the other rows of ``work``, and beyond the end of a diagonal.
    """
    builder = context.builder
    own = own_index(context, source[0], 2, index)
    last = builder.sub(work.columns, context.i64(1))
    with builder.loop(work.columns, fixed=True) as across:
        j = across.index
        inside = {0: builder.lt(context.i64(0), j), 2: builder.lt(j, last)}
        for k, part in enumerate(source):
            zero = builder.const(0.0, part.dtype)
            for i in range(ROWS):
                value = zero
                if i < rows:
                    at = part.position(builder, [*own, context.i64(i), j])
                    value = builder.load(part.buffer, at, fixed=True)
                if i in inside:
                    value = builder.select(inside[i], value, zero)
                work.store(context.i64(i), j, value, k)


@lowers_matrices(TridiagonalFactor)
def lower_tridiagonal_factor(
    context: Context, node: TensorApply[TridiagonalFactor], inputs: list[Tensor]
) -> Sequence[Tensor]:
    builder, dtype = context.builder, node.outputs[0].type.dtype
    bands = stored_parts(context, inputs[0])
    *batch, rows, n = bands[0].shape
    context.unify(rows, context.i64(3))
    result = new_result(context, dtype, [*batch, context.i64(ROWS), n])
    pivots = context.new_stored("int32", [*batch, n])

    def emit() -> None:
        lapack = Lapack(context, dtype)
        work = WorkMatrix(context, dtype, context.i64(ROWS), n, by_rows=True)
        exchanged = lapack.integers(builder.op("max", n, context.i64(1)))
        arguments = _arguments(work, n)
        with each_element(context, batch) as index:
            _fill(context, work, bands, index, 3)
            # a pivot of 0 is no failure: the factors exist
            lapack.call("gttrf", ipiv=Pointer(exchanged, context.i64(0)), **arguments)
            work.copy_to(result, index)
            with builder.loop(n, fixed=True) as loop:
                # LAPACK counts rows from 1
                row = builder.cast(builder.load(exchanged, loop.index, fixed=True), "int64")
                row = builder.cast(builder.sub(row, context.i64(1)), "int32")
                builder.store(pivots.buffer, pivots.position(builder, [*index, loop.index]), row)

    context.step(bands, [*result, pivots], emit)
    return [whole_tensor(result), pivots]


@lowers_matrices(TridiagonalSolve)
def lower_tridiagonal_solve(
    context: Context, node: TensorApply[TridiagonalSolve], inputs: list[Tensor]
) -> Sequence[Tensor]:
    builder, dtype, op = context.builder, node.outputs[0].type.dtype, node.op
    rows, right = stored_parts(context, inputs[0]), stored_parts(context, inputs[2])
    (pivots,) = stored_parts(context, inputs[1])
    context.unify(rows[0].shape[-2], context.i64(ROWS))
    n = context.unify(rows[0].shape[-1], pivots.shape[-1])
    n = context.unify(n, right[0].shape[-2])
    count = right[0].shape[-1]
    batch = batch_lengths(context, inputs, [2, 1, 2])
    result = new_result(context, dtype, [*batch, n, count])

    def emit() -> None:
        zero, one = context.i64(0), context.i64(1)
        lapack = Lapack(context, dtype)
        work = WorkMatrix(context, dtype, context.i64(ROWS), n, by_rows=True)
        columns = WorkMatrix(context, dtype, n, count)
        exchanged = lapack.integers(builder.op("max", n, one))
        arguments = {**_arguments(work, n), "trans": "NT"[op.trans], "nrhs": count}
        arguments |= {"b": columns.pointer, "ldb": columns.leading}
        with each_element(context, batch) as index:
            own = own_index(context, pivots, 1, index)
            with builder.loop(n, fixed=True) as loop:
                row = builder.cast(pivots.at(builder, [*own, loop.index]), "int64")
                moved = builder.sub(row, loop.index)
                near = builder.op(
                    "and", builder.op("le", zero, moved), builder.op("le", moved, one)
                )
                context.check(builder.op("and", near, builder.lt(row, n)))
                following = builder.cast(builder.add(row, one), context.blas_integer)
                builder.store(exchanged, loop.index, following)
            _fill(context, work, rows, index, ROWS)
            columns.fill(right, index)
            lapack.call("gttrs", ipiv=Pointer(exchanged, zero), **arguments)
            good = _is_regular(work, n, count)
            if op.on_error == "raise":
                context.check(good)
                columns.copy_to(result, index)
            else:
                columns.copy_to(result, index, good)

    context.step([*rows, pivots, *right], result, emit)
    return [whole_tensor(result)]


def _is_regular(work: WorkMatrix, n: Value, count: Value) -> Value:
    """Whether no element on the diagonal is 0. Also True if there are no right-hand sides."""
    builder, one = work.context.builder, work.context.i64(1)
    zero = builder.const(0.0, work.buffer.dtype)
    with builder.loop(n, fixed=True) as loop:
        zeros = loop.carry(work.context.i64(0))
        is_zero = builder.eq(work.load(one, loop.index), zero)
        for part in range(1, work.count):
            is_zero = builder.op("and", is_zero, builder.eq(work.load(one, loop.index, part), zero))
        zeros.following = builder.add(zeros.param, builder.cast(is_zero, "int64"))
    nothing = builder.eq(count, work.context.i64(0))
    return builder.op("or", nothing, builder.eq(zeros.result, work.context.i64(0)))
