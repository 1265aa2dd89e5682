"""Lowering of equations with a triangular matrix: LAPACK's trtrs.

The linkers ``native``, ``c``, ``c|py`` and ``numba`` use it for `SolveTriangular` nodes; `lu_solving` reads factors as it does.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_graph import TensorApply
from occelo_graph.ops.linalg.triangular import SolveTriangular
from occelo_graph.tensors.type import is_complex
from occelo_link.loops.ir.program import Pointer, Value
from occelo_link.loops.linalg.elimination import by_size, maybe_small
from occelo_link.loops.linalg.lane_algorithms import solve_lanes
from occelo_link.loops.linalg.lanes import Lanes, for_lanes
from occelo_link.loops.linalg.lapack import Lapack, batch_lengths, each_element, own_index
from occelo_link.loops.linalg.work_matrices import (
    WorkMatrix,
    new_result,
    stored_parts,
    whole_tensor,
)
from occelo_link.loops.lowering import Context
from occelo_link.loops.operands import MatrixOperand
from occelo_link.loops.registry import lowers_complex_to_loops, lowers_to_loops
from occelo_link.loops.tensors import Index, Stored, Tensor

__all__ = ["TriangularOperand"]


@lowers_complex_to_loops(SolveTriangular)
@lowers_to_loops(SolveTriangular)
def lower_solve_triangular(
    context: Context, node: TensorApply[SolveTriangular], inputs: list[Tensor]
) -> Sequence[Tensor]:
    a, b = inputs
    op, dtype = node.op, node.outputs[0].type.dtype
    n = context.unify(context.unify(a.shape[-2], a.shape[-1]), b.shape[-2])
    batch = batch_lengths(context, [a, b], [2, 2])
    result = new_result(context, dtype, [*batch, n, b.shape[-1]])
    in_lanes = not is_complex(dtype) and maybe_small(n, b.shape[-1]) and for_lanes(context, [a, b])
    if in_lanes:
        a, b = context.contiguous_copy(a), context.contiguous_copy(b)
    matrix = TriangularOperand(context, a, dtype)
    right = stored_parts(context, b)

    def by_lapack() -> Sequence[Value]:
        builder = context.builder
        lapack = Lapack(context, dtype)
        columns = WorkMatrix(context, dtype, n, b.shape[-1])
        matrix.prepare(n)
        with each_element(context, batch) as index:
            columns.fill(right, index)
            info = lapack.call(
                "trtrs",
                # a matrix in row-major order is its transpose in column-major order
                uplo="L" if op.lower != matrix.by_rows else "U",
                trans="T" if matrix.by_rows else "N",
                diag="U" if op.unit_diagonal else "N",
                n=n,
                nrhs=b.shape[-1],
                a=matrix.at(index),
                lda=matrix.leading,
                b=columns.pointer,
                ldb=columns.leading,
            )
            good = builder.eq(info, context.i64(0))
            if op.on_error == "raise":
                context.check(good)
                columns.copy_to(result, index)
            else:
                columns.copy_to(result, index, good)
        return ()

    def by_lanes() -> Sequence[Value]:
        assert isinstance(a, Stored)
        assert isinstance(b, Stored)
        _in_lanes(context, op, [a, b], batch, result[0])
        return ()

    def emit() -> None:
        if in_lanes:
            by_size(context, [n, b.shape[-1]], by_lanes, by_lapack)
        else:
            by_lapack()

    context.step([*matrix.parts, *right], result, emit)
    return [whole_tensor(result)]


def _in_lanes(
    context: Context,
    op: SolveTriangular,
    operands: Sequence[Stored],
    batch: Sequence[Value],
    result: Stored,
) -> None:
    """Solve for a batch of small matrices, one matrix per lane."""
    nan = op.on_error == "nan"
    lanes = Lanes(context, result.dtype, batch)
    a, b = operands
    n = result.shape[-2]
    matrix, columns = lanes.matrix(n, n), lanes.matrix(n, b.shape[-1])
    zero, one = context.i64(0), context.i64(1)

    def triangle(i: Value) -> tuple[Value, Value]:
        return (zero, context.builder.add(i, one)) if op.lower else (i, n)

    with lanes.groups(nan):
        matrix.fill(a, triangle)
        columns.fill(b)
        solve_lanes(lanes, matrix, columns, op.lower, op.unit_diagonal)
        columns.copy_to(result, nan)


class TriangularOperand:
    """The triangular matrices: real ones are read in place, complex ones copied."""

    def __init__(self, context: Context, tensor: Tensor, dtype: str) -> None:
        self.context, self.dtype = context, dtype
        self.parts: Sequence[Stored] = stored_parts(context, tensor)
        self.operand = MatrixOperand(context, tensor) if len(self.parts) == 1 else None
        self.copy: WorkMatrix | None = None
        self.by_rows = False
        if self.operand is not None:
            self.parts = [self.operand.stored]
            self.by_rows = self.operand.by_rows

    def prepare(self, n: Value) -> None:
        """Allocate working memory."""
        if self.operand is None:
            self.copy = WorkMatrix(self.context, self.dtype, n, n)

    @property
    def leading(self) -> Value:
        """The leading dimension."""
        if self.copy is not None:
            return self.copy.leading
        assert self.operand is not None
        return self.operand.leading

    def at(self, index: Index) -> Pointer:
        """The address of the matrix at an index of the batch."""
        context = self.context
        if self.copy is not None:
            self.copy.fill(self.parts, index)
            return self.copy.pointer
        zero = context.i64(0)
        own = own_index(context, self.parts[0], 2, index)
        return Pointer(
            self.parts[0].buffer, self.parts[0].position(context.builder, [*own, zero, zero])
        )
