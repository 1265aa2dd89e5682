"""Lowering of products of Householder reflectors (`HouseholderProduct`), with LAPACK's orgqr and ungqr.

The linkers ``native``, ``c``, ``c|py`` and ``numba`` use this lowering.
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
from occelo_linalg.ops.factorizations.householder import HouseholderProduct
from occelo_link.loops.batches import batch_lengths, each_element, own_index
from occelo_link.loops.complexes import PARTS
from occelo_link.loops.ir.program import Pointer, Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.tensors import Tensor


@lowers_matrices(HouseholderProduct)
def lower_householder_product(
    context: Context, node: TensorApply[HouseholderProduct], inputs: list[Tensor]
) -> Sequence[Tensor]:
    builder, dtype = context.builder, node.outputs[0].type.dtype
    vectors, factors = inputs
    *_, m, n = vectors.shape
    k = factors.shape[-1]
    batch = batch_lengths(context, inputs, [2, 1])
    operand, scales = stored_parts(context, vectors), stored_parts(context, factors)
    result = new_result(context, dtype, [*batch, m, n])

    def emit() -> None:
        for low, high in ((k, n), (n, m)):
            context.check(builder.op("le", low, high))
        lapack = Lapack(context, dtype)
        matrix = WorkMatrix(context, dtype, m, n)
        tau = WorkMatrix(context, dtype, k, context.i64(1))
        routine = "ungqr" if dtype in PARTS else "orgqr"
        arguments: dict[str, str | Value | Pointer] = {
            "m": m,
            "n": n,
            "k": k,
            "a": matrix.pointer,
            "lda": matrix.leading,
            "tau": tau.pointer,
        }
        arguments |= lapack.workspace(routine, **arguments)
        with each_element(context, batch) as index:
            matrix.fill(operand, index)
            for part, stored in enumerate(scales):
                own = own_index(context, stored, 1, index)
                with builder.loop(k, fixed=True) as loop:
                    at = stored.position(builder, [*own, loop.index])
                    value = builder.load(stored.buffer, at, fixed=True)
                    tau.store(loop.index, context.i64(0), value, part)
            context.check(builder.eq(lapack.call(routine, **arguments), context.i64(0)))
            matrix.copy_to(result, index)

    context.step([*operand, *scales], result, emit)
    return [whole_tensor(result)]
