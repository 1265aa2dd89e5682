"""Lowerings of linear equations and inverses (`Solve`, `Inv`).

They call LAPACK's gesv, sysv, hesv, posv and getri, or use loops for small matrices. The linkers ``native``, ``c``,
``c|py`` and ``numba`` use these lowerings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from occelo_arrays.lowerings.lanes import Lanes
from occelo_graph import TensorApply
from occelo_graph.tensors.type import is_complex
from occelo_linalg.lowerings.diagonal import lower_diagonal
from occelo_linalg.lowerings.elimination import Rows, back_substitution, eliminate
from occelo_linalg.lowerings.lane_algorithms import eliminate_lanes, solve_lanes
from occelo_linalg.lowerings.lapack import Lapack, fill_with_nan
from occelo_linalg.lowerings.ways import ELIMINATION, Choice, choose
from occelo_linalg.lowerings.work_matrices import (
    WorkMatrix,
    lowers_matrices,
    new_result,
    stored_parts,
    whole_tensor,
)
from occelo_linalg.ops.equations.solve import Solve
from occelo_linalg.ops.inverse import Inv
from occelo_link.loops.batches import batch_lengths, each_element, own_index
from occelo_link.loops.ir.program import Pointer, Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.tensors import Index, Stored, Tensor, is_unit


def work_length(context: Context, n: Value) -> Value:
    """The length of working memory for matrices with n columns. It suffices for LAPACK's largest blocks, of 64 columns."""
    builder = context.builder
    return builder.op("max", builder.mul(n, context.i64(64)), context.i64(1))


class _Equations:
    """Linear equations with a matrix. Without right-hand sides, the result is the inverse of the matrix."""

    def __init__(
        self,
        context: Context,
        node: TensorApply[Solve] | TensorApply[Inv],
        inputs: list[Tensor],
        routine: str,
    ) -> None:
        self.context, self.routine = context, routine
        self.dtype = node.outputs[0].type.dtype
        self.on_error = node.op.on_error
        a, b = inputs[0], inputs[1] if len(inputs) > 1 else None
        self.n = context.unify(a.shape[-2], a.shape[-1])
        if b is not None:
            self.n = context.unify(self.n, b.shape[-2])
        self.columns = self.n if b is None else b.shape[-1]
        self.batch = batch_lengths(context, inputs, [2] * len(inputs))
        self.choice = Choice(context)
        if routine == "gesv":
            # if there are many right-hand sides, a call of LAPACK takes less time than lanes
            self.choice = choose(
                context, ELIMINATION, node, inputs, self.batch, self.n, self.columns
            )
        self.matrix = stored_parts(context, self.choice.operand(a))
        self.right = None if b is None else stored_parts(context, self.choice.operand(b))
        self.result = new_result(context, self.dtype, [*self.batch, self.n, self.columns])

    def lowered(self) -> Sequence[Tensor]:
        """The result tensors, computed by a LAPACK routine, or by loops if the matrices are small."""

        def emit() -> None:
            self.choice.write(self.by_lapack, lanes=self.by_lanes, loops=self.by_loops)

        self.context.step([*self.matrix, *(self.right or ())], self.result, emit)
        return [whole_tensor(self.result)]

    def by_lanes(self) -> None:
        """Solve for a group of matrices at once by elimination, with one matrix per lane."""
        nan = self.on_error == "nan"
        lanes = Lanes(self.context, self.dtype, self.batch)
        matrix, columns = lanes.matrix(self.n, self.n), lanes.matrix(self.n, self.columns)
        with lanes.groups(nan):
            matrix.fill(self.matrix[0])
            if self.right is None:
                columns.fill_identity()
            else:
                columns.fill(self.right[0])
            eliminate_lanes(lanes, matrix, columns)
            solve_lanes(lanes, matrix, columns, lower=False)
            columns.copy_to(self.result[0], nan)

    def settled(self, failed: Value) -> Value | None:
        """If ``on_error`` is "nan", return whether ``failed`` is 0. Otherwise write a check that it is 0, and return
        None.
        """
        good = self.context.builder.eq(failed, self.context.i64(0))
        if self.on_error == "nan":
            return good
        self.context.check(good)
        return None

    def by_lapack(self) -> None:
        """Call a LAPACK routine for each element of the batch."""
        context, n, routine = self.context, self.n, self.routine
        lapack = Lapack(context, self.dtype)
        # LAPACK may read rows as columns: it inverts the transpose, or solves with the factors of the transpose
        by_rows = (
            routine == "gesv" and len(self.matrix) == 1 and is_unit(self.matrix[0].strides[-1])
        )
        matrix = WorkMatrix(context, self.dtype, n, n, by_rows)
        pivots = Pointer(lapack.integers(n), context.i64(0))
        length = work_length(context, n)
        work = WorkMatrix(context, self.dtype, length, context.i64(1))
        columns = matrix if self.right is None else WorkMatrix(context, self.dtype, n, self.columns)
        square: dict[str, Value | Pointer] = {"n": n, "a": matrix.pointer, "lda": matrix.leading}
        arguments: dict[str, str | Value | Pointer] = {
            **square, "nrhs": self.columns, "b": columns.pointer, "ldb": columns.leading,
        }  # fmt: skip
        if routine != "gesv":
            arguments["uplo"] = "L"
        if routine != "posv":
            arguments["ipiv"] = pivots
        if routine in ("sysv", "hesv"):
            arguments |= {"work": work.pointer, "lwork": length}
        with each_element(context, self.batch) as index:
            matrix.fill(self.matrix, index)
            finite: Value | None = None
            if self.right is None:
                failed = lapack.call("getrf", m=n, ipiv=pivots, **square)
                lapack.call("getri", ipiv=pivots, work=work.pointer, lwork=length, **square)
            else:
                columns.fill(self.right, index)
                if routine in ("sysv", "hesv"):
                    finite = matrix.all_finite("L")
                if by_rows:
                    failed = lapack.call("getrf", m=n, ipiv=pivots, **square)
                    lapack.call("getrs", trans="T", **arguments)
                else:
                    failed = self._failure(lambda: lapack.call(routine, **arguments), finite)
            good = self.settled(failed)
            if finite is not None:
                good = finite if good is None else context.builder.op("and", good, finite)
            columns.copy_to(self.result, index, good)

    def _failure(self, call: Callable[[], Value], finite: Value | None) -> Value:
        """Write a call of a LAPACK routine, and return its ``info``.

        If ``finite`` is passed, the routine is called only if it is True. It is passed for routines for symmetric
        matrices, which may or may not report a matrix with NaN as singular.
        """
        if finite is None:
            return call()
        zero = self.context.i64(0)
        return self.context.builder.branch(finite, lambda: [call()], lambda: [zero])[0]

    def by_loops(self) -> None:
        """Solve by Gaussian elimination in a copy of each matrix. The right-hand sides are copied to the result and
        solved there.
        """
        context, builder, n = self.context, self.context.builder, self.n
        zero = context.i64(0)
        work = builder.scratch(self.matrix[0].dtype, builder.mul(n, n), ndim=2)
        matrix = Rows(context, work, zero, n)
        result = self.result[0]
        with each_element(context, self.batch) as index:
            _copy_rows(context, matrix, self.matrix[0], index, n)
            start = result.position(builder, [*index, zero, zero])
            right = Rows(context, result.buffer, start, self.columns)
            _copy_rows(context, right, None if self.right is None else self.right[0], index, n)
            good = self.settled(eliminate(matrix, n, right))
            back_substitution(matrix, n, right)
            if good is not None:
                builder.branch(
                    good,
                    lambda: (),
                    lambda index=index: fill_with_nan(context, result, index) or (),
                )


def _copy_rows(context: Context, rows: Rows, source: Stored | None, index: Index, n: Value) -> None:
    """Copy the matrix at ``index`` of the batch to ``rows``. If there is no ``source``, store the identity matrix."""
    builder = context.builder
    own = None if source is None else own_index(context, source, 2, index)
    with builder.loop(n, fixed=True) as down, builder.loop(rows.columns, fixed=True) as across:
        i, j = down.index, across.index
        if source is None or own is None:
            dtype = rows.buffer.dtype
            value = builder.select(
                builder.eq(i, j), builder.const(1.0, dtype), builder.const(0.0, dtype)
            )
        else:
            value = builder.load(source.buffer, source.position(builder, [*own, i, j]), fixed=True)
        rows.store(i, j, value)


@lowers_matrices(Solve)
def lower_solve(
    context: Context, node: TensorApply[Solve], inputs: list[Tensor]
) -> Sequence[Tensor]:
    assumed = node.op.assume_a
    if assumed == "diagonal":
        return lower_diagonal(context, node, inputs)
    complex_ = is_complex(node.outputs[0].type.dtype)
    routine = {"gen": "gesv", "pos": "posv", "her": "hesv" if complex_ else "sysv"}
    return _Equations(context, node, inputs, routine.get(assumed, "sysv")).lowered()


@lowers_matrices(Inv)
def lower_inv(context: Context, node: TensorApply[Inv], inputs: list[Tensor]) -> Sequence[Tensor]:
    return _Equations(context, node, inputs, "gesv").lowered()
