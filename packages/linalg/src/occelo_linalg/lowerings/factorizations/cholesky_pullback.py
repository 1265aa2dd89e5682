"""Lowering of the gradient of Cholesky factors (`CholeskyPullback`).

The linkers ``native``, ``c``, ``c|py`` and ``numba`` use this lowering for real matrices. Complex matrices use the
decomposition of the op instead.

BLAS and loops work on blocks of columns; for tiny matrices the code is unrolled. The algorithm takes twice as many
operations as the factorisation; see Murray (2016), Differentiation of the Cholesky decomposition, arXiv:1602.07527,
section 4.3.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_graph import TensorApply
from occelo_linalg.lowerings.lapack import LETTERS, Lapack, clear_above_diagonal
from occelo_linalg.lowerings.unrolled import pull_back_unrolled
from occelo_linalg.lowerings.ways import CHOLESKY_PULLBACK, choose
from occelo_linalg.ops.factorizations.cholesky import CholeskyPullback
from occelo_link.loops.batches import batch_lengths, each_element, own_index
from occelo_link.loops.ir.program import Buffer, Pointer, Reference, Value
from occelo_link.loops.loop_nests import copy_elements
from occelo_link.loops.lowering import CHEAP, Context
from occelo_link.loops.registry import lowers_to_loops
from occelo_link.loops.tensors import Index, Stored, Tensor

BLOCK = 64
"""The number of columns of a block. Loops compute the triangle where the block meets the diagonal."""


@lowers_to_loops(CholeskyPullback)
def lower_cholesky_pullback(
    context: Context, node: TensorApply[CholeskyPullback], inputs: list[Tensor]
) -> Sequence[Tensor]:
    x, ct = inputs
    n = context.unify(context.unify(x.shape[-2], x.shape[-1]), ct.shape[-2])
    n = context.unify(n, ct.shape[-1])
    batch = batch_lengths(context, inputs, [2, 2])
    if choose(context, CHOLESKY_PULLBACK, node, inputs, batch, n).way == "unrolled":
        return [_unrolled(context, x, ct, [*batch, n, n])]
    factor = context.contiguous_copy(x)

    def replace(result: Stored) -> None:
        reverse = _Reverse(context, factor, result, n)
        with each_element(context, batch) as index:
            reverse.run(index)

    if isinstance(ct, Stored) and ct.flat and context.aligned(ct, [*batch, n, n]):
        # the result takes over the memory of the cotangent if nothing else reads the cotangent
        return [context.change(ct, [factor], replace)]

    def element(_: object, index: Index) -> Value:
        builder = context.builder
        value = ct.at(builder, [*own_index(context, ct, 2, index[:-2]), *index[-2:]])
        below = builder.op("le", index[-1], index[-2])
        return builder.select(below, value, builder.const(0.0, ct.dtype))

    triangle = context.virtual(ct.dtype, [*batch, n, n], element, [ct], identity=True)
    result = context.new_stored(ct.dtype, [*batch, n, n])

    def emit() -> None:
        copy_elements(context, triangle, result)
        replace(result)

    context.step([factor, triangle], [result], emit)
    return [result]


def _unrolled(context: Context, x: Tensor, ct: Tensor, shape: Sequence[Value]) -> Tensor:
    """Compute the cotangent of one tiny matrix with unrolled code."""
    x, ct = (context.store(t) if t.cost > CHEAP else t for t in (x, ct))
    result = context.new_stored(ct.dtype, shape)
    context.step([x, ct], [result], lambda: pull_back_unrolled(context, x, ct, result))
    return result


class _Reverse:
    """Replaces the cotangent of a Cholesky factor by the cotangent of the matrix, in the memory of the result.

    Both matrices are in row-major order, so BLAS reads their transposes. ``start`` is the position of the factor in its
    buffer, and ``into`` is the position of the cotangent in the result.
    """

    def __init__(self, context: Context, factor: Stored, result: Stored, n: Value) -> None:
        self.context, self.builder, self.n = context, context.builder, n
        self.factor, self.result = factor, result
        self.leading = self.builder.op("max", n, context.i64(1))
        self.start = self.into = context.i64(0)

    def run(self, index: Index) -> None:
        """Replace the cotangent of one matrix, which is at ``index`` of the batch."""
        builder, context, n = self.builder, self.context, self.n
        zero, size = context.i64(0), context.i64(BLOCK)
        own = own_index(context, self.factor, 2, index)
        self.start = self.factor.position(builder, [*own, zero, zero])
        self.into = self.result.position(builder, [*index, zero, zero])
        whole = builder.add(n, context.i64(BLOCK - 1))
        if n.op == "const" and n.args[0] <= BLOCK:
            self._triangle(zero, n)
        else:
            with builder.loop(builder.op("floordiv", whole, size), fixed=True) as blocks:
                stop = builder.sub(n, builder.mul(blocks.index, size))
                first = builder.op("max", builder.sub(stop, size), zero)
                self._block(first, stop)
        clear_above_diagonal(context, self.result, index)

    def _at(self, row: Value, column: Value) -> Value:
        return self.builder.add(self.builder.mul(row, self.n), column)

    def _of_factor(self, row: Value, column: Value) -> Pointer:
        return Pointer(self.factor.buffer, self.builder.add(self.start, self._at(row, column)))

    def _of_result(self, row: Value, column: Value) -> Pointer:
        return Pointer(self.result.buffer, self.builder.add(self.into, self._at(row, column)))

    def _block(self, first: Value, stop: Value) -> None:
        """Replace the columns ``range(first, stop)`` of the cotangent."""
        builder, zero = self.builder, self.context.i64(0)
        width, below = builder.sub(stop, first), builder.sub(self.n, stop)
        Lapack(self.context, self.result.dtype).call(
            "trtrs",
            uplo="U",
            trans="N",
            diag="N",
            n=width,
            nrhs=below,
            a=self._of_factor(first, first),
            lda=self.leading,
            b=self._of_result(stop, first),
            ldb=self.leading,
        )
        left, under = self._of_factor(first, zero), self._of_factor(stop, first)
        ct_under, ct_left = self._of_result(stop, first), self._of_result(first, zero)
        n = self.leading
        self._subtract("N", first, below, width, left, ct_under, self._of_result(stop, zero), n)
        self._subtract("T", width, width, below, under, ct_under, self._of_result(first, first), n)
        self._triangle(first, stop)
        both = builder.scratch(self.result.dtype, self.context.i64(BLOCK * BLOCK), ndim=2)
        self._symmetric(first, width, both)
        self._subtract("T", first, width, below, self._of_factor(stop, zero), ct_under, ct_left, n)
        symmetric = Pointer(both, zero)
        size = builder.op("max", width, self.context.i64(1))
        self._subtract("N", first, width, width, left, symmetric, ct_left, size)

    def _subtract(
        self,
        letter: str,
        rows: Value,
        columns: Value,
        inner: Value,
        x: Pointer,
        y: Pointer,
        z: Pointer,
        leading_of_y: Value,
    ) -> None:
        """Subtract the product x y from z, all in column-major order. If ``letter`` is T, y is transposed."""
        builder, context, dtype = self.builder, self.context, self.result.dtype

        def integer(value: Value) -> Reference:
            return Reference(builder.cast(value, context.blas_integer))

        def number(value: float) -> Reference:
            return Reference(builder.const(value, dtype))

        letters = [Reference(builder.const(ord(c), "int8")) for c in ("N", letter)]
        sizes = [integer(v) for v in (rows, columns, inner)]
        n = integer(self.leading)
        builder.invoke(
            f"blas:{LETTERS[dtype]}gemm",
            [*letters, *sizes, number(-1.0), x, n, y, integer(leading_of_y), number(1.0), z, n],
            writes=[self.result.buffer],
        )

    def _load_factor(self, row: Value, column: Value) -> Value:
        at = self._of_factor(row, column)
        return self.builder.load(at.buffer, at.offset, fixed=True)

    def _load(self, row: Value, column: Value) -> Value:
        at = self._of_result(row, column)
        return self.builder.load(at.buffer, at.offset, fixed=True)

    def _store(self, row: Value, column: Value, value: Value) -> None:
        at = self._of_result(row, column)
        self.builder.store(at.buffer, at.offset, value)

    def _triangle(self, first: Value, stop: Value) -> None:
        """Compute the triangle of a diagonal block, from its last column to its first."""
        builder = self.builder
        one, width = self.context.i64(1), builder.sub(stop, first)
        with builder.loop(width, fixed=True) as steps:
            j = builder.sub(builder.sub(stop, one), steps.index)
            diagonal, before = self._load_factor(j, j), self._load(j, j)
            with builder.loop(stop, start=builder.add(j, one), fixed=True) as rows:
                rest = rows.carry(before)
                i = rows.index
                ct = builder.op("div", self._load(i, j), diagonal)
                self._store(i, j, ct)
                product = builder.op("mul", self._load_factor(i, j), ct)
                rest.following = builder.op("sub", rest.param, product)
                with builder.loop(j, start=first, lanes=8) as across:
                    k = across.index
                    less = builder.op("mul", ct, self._load_factor(i, k))
                    self._store(j, k, builder.op("sub", self._load(j, k), less))
                    less = builder.op("mul", ct, self._load_factor(j, k))
                    self._store(i, k, builder.op("sub", self._load(i, k), less))
            ct = builder.op("div", rest.result, diagonal)
            with builder.loop(j, start=first, lanes=8) as across:
                k = across.index
                less = builder.op("mul", ct, self._load_factor(j, k))
                self._store(j, k, builder.op("sub", self._load(j, k), less))
            half = builder.const(0.5, self.result.dtype)
            self._store(j, j, builder.op("mul", ct, half))

    def _symmetric(self, first: Value, width: Value, target: Buffer) -> None:
        """Add the triangle to its transpose, and store the sum in the buffer ``target``, which BLAS reads."""
        builder = self.builder
        with builder.loop(width, fixed=True) as down:
            i = builder.add(first, down.index)
            with builder.loop(builder.add(down.index, self.context.i64(1)), fixed=True) as across:
                j = builder.add(first, across.index)
                value = self._load(i, j)
                same = builder.eq(i, j)
                both = builder.select(same, builder.op("add", value, value), value)
                for a, b in ((down.index, across.index), (across.index, down.index)):
                    at = builder.add(builder.mul(a, width), b)
                    builder.store(target, at, both)
