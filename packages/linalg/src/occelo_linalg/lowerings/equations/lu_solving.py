"""Lowerings of linear equations and inverses from LU factors (`LuSolve`, `LuInverse`).

They call LAPACK's trtrs and getri, or use loops for small matrices. The linkers ``native``, ``c``, ``c|py`` and
``numba`` use these lowerings.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_arrays.lowerings.lanes import LaneMatrix, Lanes
from occelo_graph import TensorApply
from occelo_linalg.lowerings.elimination import Rows
from occelo_linalg.lowerings.lane_algorithms import exchange_lanes, solve_lanes
from occelo_linalg.lowerings.lapack import Lapack, fill_with_nan
from occelo_linalg.lowerings.ways import LU_SOLVING, choose
from occelo_linalg.lowerings.work_matrices import (
    WorkMatrix,
    lowers_matrices,
    new_result,
    stored_parts,
    whole_tensor,
)
from occelo_linalg.ops.equations.lu_solving import LuInverse, LuSolve
from occelo_link.loops.batches import batch_lengths, each_element, own_index
from occelo_link.loops.ir.program import Pointer, Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.operands import MatrixOperand
from occelo_link.loops.tensors import Index, Stored, Tensor, is_unit


class _Factors:
    """The LU factors as LAPACK reads them.

    Real factors are read in place if LAPACK can read them; otherwise `MatrixOperand` makes a copy of all factors.
    Complex factors are copied for one matrix at a time.
    """

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
        """Allocate working memory for the copy of a complex matrix."""
        if self.operand is None:
            self.copy = WorkMatrix(self.context, self.dtype, n, n)

    @property
    def leading(self) -> Value:
        """The leading dimension of the factors that LAPACK reads."""
        if self.copy is not None:
            return self.copy.leading
        assert self.operand is not None
        return self.operand.leading

    def at(self, index: Index) -> Pointer:
        """The address of the factors at an index of the batch."""
        context = self.context
        if self.copy is not None:
            self.copy.fill(self.parts, index)
            return self.copy.pointer
        zero = context.i64(0)
        own = own_index(context, self.parts[0], 2, index)
        return Pointer(
            self.parts[0].buffer, self.parts[0].position(context.builder, [*own, zero, zero])
        )


class _ByFactors:
    """Equations with LU factors and pivots. Without right-hand sides, the result is the inverse of the matrix."""

    def __init__(
        self,
        context: Context,
        node: TensorApply[LuSolve] | TensorApply[LuInverse],
        inputs: list[Tensor],
    ) -> None:
        self.context = context
        self.dtype = node.outputs[0].type.dtype
        self.on_error = node.op.on_error
        a, pivots = inputs[:2]
        b = inputs[2] if len(inputs) > 2 else None
        n = context.unify(context.unify(a.shape[-2], a.shape[-1]), pivots.shape[-1])
        self.n = n if b is None else context.unify(n, b.shape[-2])
        self.columns = self.n if b is None else b.shape[-1]
        self.batch = batch_lengths(context, inputs, [2, 1, 2][: len(inputs)])
        self.trans = node.op.trans if isinstance(node.op, LuSolve) else 0
        operands = [a] if b is None else [a, b]
        self.choice = choose(context, LU_SOLVING, node, operands, self.batch, self.n, self.columns)
        # loops read the factors in C order
        if self.choice.way != "library":
            a = context.contiguous_copy(a)
        self.factors = _Factors(context, a, self.dtype)
        self.pivots = context.contiguous_copy(pivots)
        self.right = None if b is None else stored_parts(context, self.choice.operand(b))
        self.result = new_result(context, self.dtype, [*self.batch, self.n, self.columns])

    def lowered(self) -> Sequence[Tensor]:
        """The result tensors. Small matrices are computed by loops, others by LAPACK."""

        def emit() -> None:
            library = self._inverse_by_lapack if self.right is None else self._by_lapack
            self.choice.write(library, lanes=self._by_lanes, loops=self._by_loops)

        reads = [*self.factors.parts, self.pivots, *(self.right or ())]
        self.context.step(reads, self.result, emit)
        return [whole_tensor(self.result)]

    def _settled(self, failed: Value) -> Value | None:
        """If ``on_error`` is "nan", return whether ``failed`` is 0. Otherwise write a check that it is 0, and return
        None.
        """
        good = self.context.builder.eq(failed, self.context.i64(0))
        if self.on_error == "nan":
            return good
        self.context.check(good)
        return None

    def _pivot(self, index: Index, i: Value) -> Value:
        """The number of the row with which row ``i`` was exchanged."""
        context, builder = self.context, self.context.builder
        own = own_index(context, self.pivots, 1, index)
        at = self.pivots.position(builder, [*own, i])
        return self._checked(builder.load(self.pivots.buffer, at, fixed=True))

    def _checked(self, pivot: Value) -> Value:
        """A pivot as int64. Writes a check that the matrix has a row with this number."""
        context, builder = self.context, self.context.builder
        row = builder.cast(pivot, "int64")
        inside = builder.op("and", builder.op("le", context.i64(0), row), builder.lt(row, self.n))
        context.check(inside)
        return row

    # LAPACK

    def _by_lapack(self) -> None:
        context, trans = self.context, self.trans
        assert self.right is not None
        lapack = Lapack(context, self.dtype)
        columns = WorkMatrix(context, self.dtype, self.n, self.columns)
        self.factors.prepare(self.n)
        with each_element(context, self.batch) as index:
            columns.fill(self.right, index)
            factors = self.factors.at(index)
            if not trans:
                self._exchange(columns, index, backwards=False)
                self._substitute(lapack, factors, columns, True, trans)
            failed = self._substitute(lapack, factors, columns, False, trans)
            if trans:
                self._substitute(lapack, factors, columns, True, trans)
                self._exchange(columns, index, backwards=True)
            columns.copy_to(self.result, index, self._settled(failed))

    def _substitute(
        self, lapack: Lapack, factors: Pointer, columns: WorkMatrix, lower: bool, trans: int
    ) -> Value:
        """Solve triangular equations with L or U in place. Returns LAPACK's ``info``. The diagonal of L is 1."""
        # factors in row-major order, which are always real, are read as their transposes in column-major order
        turned = "NTC"[trans] if not self.factors.by_rows else "N" if trans else "T"
        return lapack.call(
            "trtrs",
            uplo="L" if lower != self.factors.by_rows else "U",
            trans=turned,
            diag="U" if lower else "N",
            n=self.n,
            nrhs=self.columns,
            a=factors,
            lda=self.factors.leading,
            b=columns.pointer,
            ldb=columns.leading,
        )

    def _exchange(self, columns: WorkMatrix, index: Index, backwards: bool) -> None:
        """Exchange rows of the right-hand sides in the order of the pivots. If ``backwards`` is True, undo these
        exchanges.
        """
        context, builder = self.context, self.context.builder
        last = builder.sub(self.n, context.i64(1))
        with builder.loop(self.n, fixed=True) as rows:
            i = builder.sub(last, rows.index) if backwards else rows.index
            p = self._pivot(index, i)
            with builder.loop(self.columns, fixed=True) as across:
                for part in range(columns.count):
                    first = columns.load(i, across.index, part)
                    second = columns.load(p, across.index, part)
                    columns.store(i, across.index, second, part)
                    columns.store(p, across.index, first, part)

    def _inverse_by_lapack(self) -> None:
        context, builder, n = self.context, self.context.builder, self.n
        lapack = Lapack(context, self.dtype)
        matrix = WorkMatrix(context, self.dtype, n, n)
        exchanged = lapack.integers(builder.op("max", n, context.i64(1)))
        arguments: dict[str, str | Value | Pointer] = {
            "n": n, "a": matrix.pointer, "lda": matrix.leading,
            "ipiv": Pointer(exchanged, context.i64(0)),
        }  # fmt: skip
        work = lapack.workspace("getri", **arguments)
        with each_element(context, self.batch) as index:
            matrix.fill(self.factors.parts, index)
            with builder.loop(n, fixed=True) as rows:
                # LAPACK counts rows from 1
                row = builder.add(self._pivot(index, rows.index), context.i64(1))
                builder.store(exchanged, rows.index, builder.cast(row, context.blas_integer))
            failed = lapack.call("getri", **arguments, **work)
            matrix.copy_to(self.result, index, self._settled(failed))

    # loops

    def _by_loops(self) -> None:
        """Solve by loops: copy the right-hand sides to the result, exchange rows of the result, and substitute there."""
        context, builder, n = self.context, self.context.builder, self.n
        zero, last = context.i64(0), builder.sub(n, context.i64(1))
        stored, result = self.factors.parts[0], self.result[0]
        with each_element(context, self.batch) as index:
            own = own_index(context, stored, 2, index)
            start = stored.position(builder, [*own, zero, zero])
            factors = Rows(context, stored.buffer, start, n)
            start = result.position(builder, [*index, zero, zero])
            right = Rows(context, result.buffer, start, self.columns)
            self._fill(right, index)
            if not self.trans:
                with builder.loop(n, fixed=True) as rows:
                    right.exchange(rows.index, self._pivot(index, rows.index))
            good = self._settled(self._zeros(factors))
            for with_upper in (True, False) if self.trans else (False, True):
                self._substitute_rows(factors, right, with_upper)
            if self.trans:
                with builder.loop(n, fixed=True) as rows:
                    i = builder.sub(last, rows.index)
                    right.exchange(i, self._pivot(index, i))
            if good is not None:
                builder.branch(
                    good,
                    lambda: (),
                    lambda index=index: fill_with_nan(context, result, index) or (),
                )

    def _zeros(self, factors: Rows) -> Value:
        """1 if an element on the diagonal is 0, else 0."""
        context, builder = self.context, self.context.builder
        with builder.loop(self.n, fixed=True) as rows:
            singular = rows.carry(context.i64(0))
            pivot = factors.load(rows.index, rows.index)
            bad = builder.eq(pivot, builder.const(0.0, pivot.dtype))
            singular.following = builder.select(bad, context.i64(1), singular.param)
        return singular.result

    def _substitute_rows(self, factors: Rows, right: Rows, with_upper: bool) -> None:
        """Solve triangular equations in loops, with U or with L (or their transposes). The diagonal of L is 1."""
        context, builder, n = self.context, self.context.builder, self.n
        last = builder.sub(n, context.i64(1))
        forward = with_upper == bool(self.trans)
        with builder.loop(n, fixed=True) as rows:
            i = rows.index if forward else builder.sub(last, rows.index)
            first, stop = (None, i) if forward else (builder.add(i, context.i64(1)), n)
            with builder.loop(stop, start=first, fixed=True) as solved:
                j = solved.index
                factor = factors.load(j, i) if self.trans else factors.load(i, j)
                right.subtract(i, factor, j)
            if with_upper:
                pivot = factors.load(i, i)
                with builder.loop(self.columns, fixed=True) as across:
                    quotient = builder.op("div", right.load(i, across.index), pivot)
                    right.store(i, across.index, quotient)

    def _by_lanes(self) -> None:
        """Solve for a group of matrices at once, with one matrix per lane."""
        nan = self.on_error == "nan"
        source = self.factors.parts[0]
        lanes = Lanes(self.context, self.dtype, self.batch)
        factors, columns = lanes.matrix(self.n, self.n), lanes.matrix(self.n, self.columns)
        with lanes.groups(nan):
            factors.fill(source)
            if self.right is None:
                columns.fill_identity()
            else:
                columns.fill(self.right[0])
            if not self.trans:
                self._exchange_in_lanes(lanes, columns)
            for with_upper in (True, False) if self.trans else (False, True):
                forward = with_upper == bool(self.trans)
                solve_lanes(lanes, factors, columns, forward, not with_upper, bool(self.trans))
            if self.trans:
                self._exchange_in_lanes(lanes, columns)
            columns.copy_to(self.result[0], nan)

    def _exchange_in_lanes(self, lanes: Lanes, columns: LaneMatrix) -> None:
        """Exchange rows as `_exchange` does, for a group of matrices.

        For equations with the transposed matrix, undo the exchanges.
        """
        builder, n = lanes.builder, self.n
        places, last = lanes.column(), builder.sub(n, self.context.i64(1))
        one = all(map(is_unit, self.pivots.shape[:-1]))
        with builder.loop(n, fixed=True) as steps:
            k = builder.sub(last, steps.index) if self.trans else steps.index
            with builder.loop(lanes.remaining(), fixed=True) as group:
                element = builder.add(lanes.first, group.index)
                start = self.context.i64(0) if one else builder.mul(element, n)
                at = builder.add(self.pivots.offset, builder.add(start, k))
                row = self._checked(builder.load(self.pivots.buffer, at, fixed=True))
                builder.store(places, group.index, builder.cast(row, lanes.dtype))
            start = builder.add(k, self.context.i64(1))
            with builder.loop(n, start=start, fixed=True) as rows:
                exchange_lanes(lanes, columns, k, rows.index, places, None)

    def _fill(self, rows: Rows, index: Index) -> None:
        """Copy the right-hand sides, or the identity matrix if there are none."""
        context, builder = self.context, self.context.builder
        source = None if self.right is None else self.right[0]
        own = [] if source is None else own_index(context, source, 2, index)
        with builder.loop(self.n, fixed=True) as down:
            with builder.loop(self.columns, fixed=True) as across:
                i, j = down.index, across.index
                if source is None:
                    one, zero = (builder.const(x, rows.buffer.dtype) for x in (1.0, 0.0))
                    value = builder.select(builder.eq(i, j), one, zero)
                else:
                    at = source.position(builder, [*own, i, j])
                    value = builder.load(source.buffer, at, fixed=True)
                rows.store(i, j, value)


@lowers_matrices(LuSolve)
def lower_lu_solve(
    context: Context, node: TensorApply[LuSolve], inputs: list[Tensor]
) -> Sequence[Tensor]:
    return _ByFactors(context, node, inputs).lowered()


@lowers_matrices(LuInverse)
def lower_lu_inverse(
    context: Context, node: TensorApply[LuInverse], inputs: list[Tensor]
) -> Sequence[Tensor]:
    return _ByFactors(context, node, inputs).lowered()
