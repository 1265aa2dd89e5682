"""Lowerings of QR decompositions (`QR`, `FullQR`, `QRTriangle`, `QRFactors`, `QRPivots`).

They call LAPACK's geqrf, geqp3, orgqr and ungqr. The linkers ``native``, ``c``, ``c|py`` and ``numba`` use these
lowerings.
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
from occelo_linalg.ops.factorizations.qr import QR, FullQR, QRFactors, QRPivots, QRTriangle
from occelo_link.loops.batches import each_element
from occelo_link.loops.complexes import PARTS
from occelo_link.loops.ir.program import Pointer, Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.tensors import Index, Stored, Tensor


def _shorter(context: Context, m: Value, n: Value) -> Value:
    if m.op == "const" and n.op == "const":
        return context.i64(min(m.args[0], n.args[0]))
    return context.builder.op("min", m, n)


def _longer(context: Context, m: Value, n: Value) -> Value:
    if m.op == "const" and n.op == "const":
        return context.i64(max(m.args[0], n.args[0]))
    return context.builder.op("max", m, n)


class _Factored:
    """The memory for LAPACK's geqrf and orgqr (ungqr for complex matrices), and calls of these routines.

    Construct it inside the ``emit`` function of a `Context.step`, since the constructor writes allocations.
    """

    def __init__(
        self, context: Context, dtype: str, m: Value, n: Value, columns: Value, width: Value | None
    ) -> None:
        self.context, self.n = context, n
        self.lapack = Lapack(context, dtype)
        self.matrix = WorkMatrix(context, dtype, m, columns)
        k = _shorter(context, m, n)
        self.factors = WorkMatrix(context, dtype, k, context.i64(1))
        common: dict[str, str | Value | Pointer] = {
            "m": m,
            "a": self.matrix.pointer,
            "lda": self.matrix.leading,
            "tau": self.factors.pointer,
        }
        first = {**common, "n": n}
        self.first = {**first, **self.lapack.workspace("geqrf", **first)}
        self.routine = "ungqr" if dtype in PARTS else "orgqr"
        if width is not None:
            second = {**common, "n": width, "k": k}
            self.second = {**second, **self.lapack.workspace(self.routine, **second)}

    def factor(self, parts: Sequence[Stored], index: Index) -> None:
        """Factor the matrix at ``index`` of the batch. ``parts`` are the real tensors of the operand."""
        self.matrix.fill(parts, index, self.n)
        info = self.lapack.call("geqrf", **self.first)
        self.context.check(self.context.builder.eq(info, self.context.i64(0)))

    def unfold(self) -> None:
        """Replace the Householder vectors by the columns of Q."""
        info = self.lapack.call(self.routine, **self.second)
        self.context.check(self.context.builder.eq(info, self.context.i64(0)))

    def copy_triangle_to(self, result: Sequence[Stored], index: Index) -> None:
        """Copy the upper triangle to ``index`` of a result, and store zeros below it."""
        builder = self.context.builder
        rows, columns = result[0].shape[-2:]
        with builder.loop(rows, fixed=True) as down, builder.loop(columns, fixed=True) as across:
            i, j = down.index, across.index
            for k, part in enumerate(result):
                zero = builder.const(0.0, part.dtype)
                value = builder.select(builder.op("le", i, j), self.matrix.load(i, j, k), zero)
                builder.store(part.buffer, part.position(builder, [*index, i, j]), value)


@lowers_matrices(QR, FullQR, QRTriangle)
def lower_qr(
    context: Context, node: TensorApply[QR | FullQR | QRTriangle], inputs: list[Tensor]
) -> Sequence[Tensor]:
    x, full, orthogonal = inputs[0], isinstance(node.op, FullQR), len(node.outputs) == 2
    dtype = node.inputs[0].type.dtype
    *batch, m, n = x.shape
    width = m if full else _shorter(context, m, n)
    parts = stored_parts(context, x)
    q = new_result(context, dtype, [*batch, m, width]) if orthogonal else []
    r = new_result(context, dtype, [*batch, width, n])

    def emit() -> None:
        columns = _longer(context, m, n) if full else n
        factored = _Factored(context, dtype, m, n, columns, width if orthogonal else None)
        with each_element(context, batch) as index:
            factored.factor(parts, index)
            factored.copy_triangle_to(r, index)
            if orthogonal:
                factored.unfold()
                factored.matrix.copy_to(q, index)

    context.step(parts, [*q, *r], emit)
    return [whole_tensor(q), whole_tensor(r)] if orthogonal else [whole_tensor(r)]


@lowers_matrices(QRFactors)
def lower_factors(
    context: Context, node: TensorApply[QRFactors], inputs: list[Tensor]
) -> Sequence[Tensor]:
    x = inputs[0]
    dtype = node.inputs[0].type.dtype
    *batch, m, n = x.shape
    parts = stored_parts(context, x)
    packed = new_result(context, dtype, [*batch, m, n])
    k = _shorter(context, m, n)
    factors = new_result(context, dtype, [*batch, k])

    def emit() -> None:
        builder = context.builder
        factored = _Factored(context, dtype, m, n, n, None)
        with each_element(context, batch) as index:
            factored.factor(parts, index)
            factored.matrix.copy_to(packed, index)
            with builder.loop(k, fixed=True) as loop:
                for which, part in enumerate(factors):
                    value = factored.factors.load(loop.index, context.i64(0), which)
                    at = part.position(builder, [*index, loop.index])
                    builder.store(part.buffer, at, value)

    context.step(parts, [*packed, *factors], emit)
    return [whole_tensor(packed), whole_tensor(factors)]


@lowers_matrices(QRPivots)
def lower_pivots(
    context: Context, node: TensorApply[QRPivots], inputs: list[Tensor]
) -> Sequence[Tensor]:
    x = inputs[0]
    dtype = node.inputs[0].type.dtype
    *batch, m, n = x.shape
    parts = stored_parts(context, x)
    order = context.new_stored("int32", [*batch, n])

    def emit() -> None:
        builder, zero = context.builder, context.i64(0)
        lapack = Lapack(context, dtype)
        matrix = WorkMatrix(context, dtype, m, n)
        factors = WorkMatrix(context, dtype, _shorter(context, m, n), context.i64(1))
        chosen = lapack.integers(n)
        arguments: dict[str, str | Value | Pointer] = {
            "m": m,
            "n": n,
            "a": matrix.pointer,
            "lda": matrix.leading,
            "jpvt": Pointer(chosen, zero),
            "tau": factors.pointer,
        }
        if dtype in PARTS:
            room = lapack.memory("real", builder.mul(context.i64(2), n))
            arguments["rwork"] = Pointer(room, zero)
        arguments = {**arguments, **lapack.workspace("geqp3", **arguments)}
        with each_element(context, batch) as index:
            matrix.fill(parts, index)
            with builder.loop(n, fixed=True) as loop:
                builder.store(chosen, loop.index, builder.const(0, context.blas_integer))
            context.check(builder.eq(lapack.call("geqp3", **arguments), zero))
            with builder.loop(n, fixed=True) as loop:
                column = builder.cast(builder.load(chosen, loop.index, fixed=True), "int64")
                # LAPACK counts columns from 1, and returns no order if there are no rows
                none = builder.eq(_shorter(context, m, n), zero)
                value = builder.select(none, loop.index, builder.sub(column, context.i64(1)))
                at = order.position(builder, [*index, loop.index])
                builder.store(order.buffer, at, builder.cast(value, "int32"))

    context.step(parts, [order], emit)
    return [order]
