"""Lowering of the scales that balance the matrices of Riccati equations (`BalancingScale`), with LAPACK's gebal.

The linkers ``native``, ``c``, ``c|py`` and ``numba`` use this lowering. The ops for Riccati equations have no
lowerings. They are decomposed into `BalancingScale` and other ops, which are lowered.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_graph import TensorApply
from occelo_linalg.lowerings.lapack import Lapack
from occelo_linalg.lowerings.work_matrices import WorkMatrix
from occelo_linalg.ops.equations.riccati_pencils import BalancingScale
from occelo_link.loops.batches import each_element
from occelo_link.loops.ir.program import Pointer, Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.registry import lowers_to_loops
from occelo_link.loops.tensors import Tensor


@lowers_to_loops(BalancingScale)
def lower_balancing_scale(
    context: Context, node: TensorApply[BalancingScale], inputs: list[Tensor]
) -> Sequence[Tensor]:
    builder, dtype = context.builder, node.outputs[0].type.dtype
    x = context.store(inputs[0])
    batch = x.shape[:-2]
    n = context.unify(x.shape[-2], x.shape[-1])
    result = context.new_stored(dtype, [*batch, n])

    def emit() -> None:
        zero, one = context.i64(0), context.i64(1)
        lapack = Lapack(context, dtype)
        matrix, scale = WorkMatrix(context, dtype, n, n), WorkMatrix(context, dtype, n, one)
        arguments: dict[str, str | Value | Pointer] = {
            "job": "S",
            "n": n,
            "a": matrix.pointer,
            "lda": matrix.leading,
            "ilo": Pointer(lapack.integers(one), zero),
            "ihi": Pointer(lapack.integers(one), zero),
            "scale": scale.pointer,
        }
        unit = builder.const(1.0, dtype)
        with each_element(context, batch) as index:
            matrix.fill([x], index)

            def balanced() -> Sequence[Value]:
                lapack.call("gebal", **arguments)
                return ()

            def unchanged() -> Sequence[Value]:
                with builder.loop(n, fixed=True) as loop:
                    scale.store(loop.index, zero, unit)
                return ()

            builder.branch(matrix.all_finite(), balanced, unchanged)
            scale.copy_column_to(result, index)

    context.step([x], [result], emit)
    return [result]
