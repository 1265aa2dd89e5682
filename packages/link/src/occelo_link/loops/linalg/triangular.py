"""Lowering of equations with a triangular matrix: LAPACK's trtrs."""

from __future__ import annotations

from collections.abc import Sequence

from occelo_graph import TensorApply
from occelo_graph.ops.linalg.triangular import SolveTriangular
from occelo_link.loops.ir.program import Buffer, Pointer, Value
from occelo_link.loops.linalg.lapack import (
    Lapack,
    batch_lengths,
    each_element,
    own_index,
)
from occelo_link.loops.lowering import Context
from occelo_link.loops.operands import MatrixOperand
from occelo_link.loops.registry import lowers_to_loops
from occelo_link.loops.tensors import Index, Stored, Tensor

__all__: list[str] = []


@lowers_to_loops(SolveTriangular)
def lower_solve_triangular(
    context: Context, node: TensorApply[SolveTriangular], inputs: list[Tensor]
) -> Sequence[Tensor]:
    a, b = inputs
    op = node.op
    n = context.unify(context.unify(a.shape[-2], a.shape[-1]), b.shape[-2])
    batch = batch_lengths(context, [a, b], [2, 2])
    matrix = MatrixOperand(context, a)
    right = context.store(b)
    columns = b.shape[-1]
    result = context.new_stored(a.dtype, [*batch, n, columns])

    def emit() -> None:
        builder, zero = context.builder, context.i64(0)
        lapack = Lapack(context, a.dtype)
        leading = builder.op("max", n, context.i64(1))
        # right-hand sides in column-major order
        work = builder.buffer(a.dtype, "work", ndim=2)
        builder.alloc(work, builder.mul(n, columns))
        letters = {
            # a matrix in row-major order is its transpose in column-major order
            "uplo": "L" if op.lower != matrix.by_rows else "U",
            "trans": "T" if matrix.by_rows else "N",
            "diag": "U" if op.unit_diagonal else "N",
        }
        with each_element(context, batch) as index:
            own = own_index(context, b, 2, index)
            _copy_columns(context, right, own, work, n, columns, None)
            at = matrix.stored.position(builder, [*own_index(context, a, 2, index), zero, zero])
            info = lapack.call(
                "trtrs",
                **letters,
                n=n,
                nrhs=columns,
                a=Pointer(matrix.stored.buffer, at),
                lda=matrix.leading,
                b=Pointer(work, zero),
                ldb=leading,
            )
            good = builder.eq(info, zero)
            if op.on_error == "raise":
                context.check(good)
                good = None
            _copy_columns(context, result, index, work, n, columns, good, back=True)

    context.step([matrix.stored, right], [result], emit)
    return [result]


def _copy_columns(
    context: Context,
    tensor: Stored,
    index: Index,
    work: Buffer,
    n: Value,
    columns: Value,
    good: Value | None,
    back: bool = False,
) -> None:
    """Copy a matrix to column-major order in ``work``, or ``back`` from there: NaN unless it is ``good``."""
    builder = context.builder
    with builder.loop(n, fixed=True) as rows, builder.loop(columns, fixed=True) as across:
        i, j = rows.index, across.index
        there = builder.add(builder.mul(j, n), i)
        here = tensor.position(builder, [*index, i, j])
        if not back:
            builder.store(work, there, builder.load(tensor.buffer, here))
        else:
            value = builder.load(work, there, fixed=True)
            if good is not None:
                value = builder.select(good, value, builder.const(float("nan"), tensor.dtype))
            builder.store(tensor.buffer, here, value)
