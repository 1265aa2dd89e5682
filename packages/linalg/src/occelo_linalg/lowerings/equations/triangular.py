"""Lowering of equations with triangular matrices (`SolveTriangular`): loops, BLAS's trsm, or LAPACK's trtrs.

The linkers ``native``, ``c``, ``c|py`` and ``numba`` use this lowering.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from occelo_arrays.lowerings.lanes import Lanes
from occelo_graph import TensorApply
from occelo_graph.tensors.type import is_complex
from occelo_linalg.lowerings.lane_algorithms import solve_lanes
from occelo_linalg.lowerings.lapack import LETTERS, Lapack, settle
from occelo_linalg.lowerings.substitution import MOST_ROWS, Substitution
from occelo_linalg.lowerings.unrolled import solve_unrolled
from occelo_linalg.lowerings.ways import TRIANGULAR, choose, maybe_small
from occelo_linalg.lowerings.work_matrices import (
    WorkMatrix,
    lowers_matrices,
    new_result,
    stored_parts,
    whole_tensor,
)
from occelo_linalg.ops.equations.triangular import SolveTriangular
from occelo_link.loops.batches import batch_lengths, each_element, own_index
from occelo_link.loops.ir.program import Pointer, Reference, Value
from occelo_link.loops.loop_nests import copy_elements
from occelo_link.loops.lowering import CHEAP, Context
from occelo_link.loops.operands import MatrixOperand
from occelo_link.loops.tensors import Index, Stored, Tensor, is_unit


@lowers_matrices(SolveTriangular)
def lower_solve_triangular(
    context: Context, node: TensorApply[SolveTriangular], inputs: list[Tensor]
) -> Sequence[Tensor]:
    a, b = inputs
    op, dtype = node.op, node.outputs[0].type.dtype
    n = context.unify(context.unify(a.shape[-2], a.shape[-1]), b.shape[-2])
    batch = batch_lengths(context, [a, b], [2, 2])
    if is_complex(dtype):
        return _by_copies(context, node, [a, b], batch, n)
    choice = choose(context, TRIANGULAR, node, [a, b], batch, n, b.shape[-1])
    if choice.way == "unrolled":
        return [_unrolled(context, op, [a, b], [*batch, n, b.shape[-1]])]
    a, b = choice.operand(a), choice.operand(b)
    equations = _InPlace(context, op, a, batch, n, b.shape[-1])
    matrix, shape = equations.operand.stored, [*batch, n, b.shape[-1]]
    if choice.way == "library" and isinstance(b, Stored) and b.flat and context.aligned(b, shape):
        # the solutions take over the memory of the right-hand sides if nothing else reads them
        return [context.change(b, [matrix], equations.solve, can_fail=True)]

    def element(_: object, index: Index) -> Value:
        own = own_index(context, b, 2, index[:-2])
        return b.at(context.builder, [*own, *index[-2:]])

    right = context.virtual(dtype, shape, element, [b], identity=True)
    result = context.new_stored(dtype, shape)

    def by_blas() -> None:
        copy_elements(context, right, result)
        equations.solve(result)

    def by_lanes() -> None:
        assert isinstance(a, Stored)
        assert isinstance(b, Stored)
        _in_lanes(context, op, [a, b], batch, result)

    def emit() -> None:
        choice.write(by_blas, lanes=by_lanes)

    context.step([matrix, right], [result], emit)
    return [result]


def _unrolled(
    context: Context, op: SolveTriangular, inputs: Sequence[Tensor], shape: Sequence[Value]
) -> Tensor:
    """Solve equations with one tiny matrix by unrolled code."""
    a, b = (context.store(t) if t.cost > CHEAP else t for t in inputs)
    result = context.new_stored(b.dtype, shape)

    def emit() -> None:
        good = solve_unrolled(context, a, b, result, op.lower, op.unit_diagonal)
        settle(context, op.on_error, good, result, [context.i64(0)] * (len(shape) - 2))

    context.step([a, b], [result], emit)
    return result


class _InPlace:
    """Replaces right-hand sides in C order by the solutions, for real matrices."""

    def __init__(
        self,
        context: Context,
        op: SolveTriangular,
        matrix: Tensor,
        batch: Sequence[Value],
        n: Value,
        columns: Value,
    ) -> None:
        self.context, self.op, self.batch = context, op, batch
        self.n, self.columns = n, columns
        self.operand = MatrixOperand(context, matrix)

    def solve(self, result: Stored) -> None:
        """Replace the right-hand sides in ``result`` by the solutions, for all elements of the batch."""
        context, zero = self.context, self.context.i64(0)
        stored = self.operand.stored
        lapack = Lapack(context, result.dtype) if is_unit(self.columns) else None
        with each_element(context, self.batch) as index:
            own = own_index(context, stored, 2, index)
            a = Pointer(stored.buffer, stored.position(context.builder, [*own, zero, zero]))
            b = Pointer(result.buffer, result.position(context.builder, [*index, zero, zero]))
            if lapack is not None:

                def by_lapack(lapack: Lapack = lapack, a: Pointer = a, b: Pointer = b) -> Value:
                    return self._by_lapack(lapack, a, b)

                good = self._one_column(result, own, index, by_lapack)
                settle(context, self.op.on_error, good, result, index)
            elif self.op.unit_diagonal:
                self._by_blas(a, b)
            else:
                good = self._is_regular(own)
                if self.op.on_error == "raise":
                    context.check(good)
                self._by_blas(a, b)
                if self.op.on_error == "nan":
                    settle(context, "nan", good, result, index)

    def _one_column(
        self, result: Stored, own: Index, index: Index, by_lapack: Callable[[], Value]
    ) -> Value:
        """Solve equations with one right-hand side. Returns whether the solution exists."""
        context, builder, op = self.context, self.context.builder, self.op
        stored = self.operand.stored
        if not self.operand.by_rows or not maybe_small(self.n, most=MOST_ROWS):
            return by_lapack()
        by_rows = Substitution(context, stored, own, result, index, op.lower, op.unit_diagonal)
        if self.n.op == "const":
            return by_rows.solve()
        small = builder.op("le", self.n, context.i64(MOST_ROWS))
        return builder.branch(small, lambda: [by_rows.solve()], lambda: [by_lapack()])[0]

    def _is_regular(self, own: Sequence[Value]) -> Value:
        """Whether no element on the diagonal is 0."""
        builder, stored = self.context.builder, self.operand.stored
        one, nothing = self.context.i64(1), builder.const(0.0, stored.dtype)
        with builder.loop(self.n, fixed=True) as steps:
            good = steps.carry(one)
            at = stored.position(builder, [*own, steps.index, steps.index])
            pivot = builder.load(stored.buffer, at, fixed=True)
            is_zero = builder.eq(pivot, nothing)
            good.following = builder.select(is_zero, self.context.i64(0), good.param)
        return builder.eq(good.result, one)

    def _letters(self, transposed: bool) -> tuple[str, str, str]:
        """LAPACK's letters for the matrix in column-major order.

        They say which triangle is read, whether the matrix is transposed, and whether its diagonal is 1.
        """
        by_rows = self.operand.by_rows
        uplo = "L" if self.op.lower != by_rows else "U"
        return uplo, "T" if by_rows != transposed else "N", "U" if self.op.unit_diagonal else "N"

    def _by_lapack(self, lapack: Lapack, a: Pointer, b: Pointer) -> Value:
        """Solve equations with one right-hand side by LAPACK's trtrs. Returns whether the solution exists.

        A single column has the same layout in row-major and column-major order, and trtrs has special code for it.
        """
        context = self.context
        uplo, trans, diag = self._letters(transposed=False)
        least = context.builder.op("max", self.n, context.i64(1))
        info = lapack.call(
            "trtrs", uplo=uplo, trans=trans, diag=diag, n=self.n, nrhs=self.columns,
            a=a, lda=self.operand.leading, b=b, ldb=least,
        )  # fmt: skip
        return context.builder.eq(info, context.i64(0))

    def _by_blas(self, a: Pointer, b: Pointer) -> None:
        """Solve by BLAS's trsm.

        It reads the rows of the right-hand sides as columns. So the call solves ``X^T op(A)^T = B^T``, which are the
        transposed equations.
        """
        context, builder = self.context, self.context.builder
        dtype = b.buffer.dtype

        def integer(value: Value) -> Reference:
            return Reference(builder.cast(value, context.blas_integer))

        builder.invoke(
            f"blas:{LETTERS[dtype]}trsm",
            [
                *(
                    Reference(builder.const(ord(c), "int8"))
                    for c in ("R", *self._letters(transposed=True))
                ),
                integer(self.columns),
                integer(self.n),
                Reference(builder.const(1.0, dtype)),
                a,
                integer(self.operand.leading),
                b,
                integer(builder.op("max", self.columns, context.i64(1))),
            ],
            writes=[b.buffer],
        )


def _by_copies(
    context: Context,
    node: TensorApply[SolveTriangular],
    inputs: Sequence[Tensor],
    batch: Sequence[Value],
    n: Value,
) -> Sequence[Tensor]:
    """Solve equations with complex matrices, in working memory where real and imaginary parts alternate."""
    op, dtype = node.op, node.outputs[0].type.dtype
    matrices, right = (stored_parts(context, t) for t in inputs)
    width = right[0].shape[-1]
    result = new_result(context, dtype, [*batch, n, width])

    def emit() -> None:
        lapack = Lapack(context, dtype)
        columns = WorkMatrix(context, dtype, n, width)
        matrix = WorkMatrix(context, dtype, n, n)
        with each_element(context, batch) as index:
            columns.fill(right, index)
            matrix.fill(matrices, index)
            info = lapack.call(
                "trtrs",
                uplo="L" if op.lower else "U",
                trans="N",
                diag="U" if op.unit_diagonal else "N",
                n=n,
                nrhs=width,
                a=matrix.pointer,
                lda=matrix.leading,
                b=columns.pointer,
                ldb=columns.leading,
            )
            good = context.builder.eq(info, context.i64(0))
            if op.on_error == "raise":
                context.check(good)
                columns.copy_to(result, index)
            else:
                columns.copy_to(result, index, good)

    context.step([*matrices, *right], result, emit)
    return [whole_tensor(result)]


def _in_lanes(
    context: Context,
    op: SolveTriangular,
    operands: Sequence[Stored],
    batch: Sequence[Value],
    result: Stored,
) -> None:
    """Solve for a batch of small matrices, with one matrix per lane."""
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
