"""Lowering of linear equations with diagonal matrices to loops.

`solve` calls `lower_diagonal` for `Solve` nodes with ``assume_a="diagonal"``.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_graph import TensorApply
from occelo_linalg.lowerings.work_matrices import new_result, stored_parts, whole_tensor
from occelo_linalg.ops.equations.solve import Solve
from occelo_link.loops.batches import batch_lengths, each_element, own_index
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.lowerings.elemwise.real_or_complex import Numbers
from occelo_link.loops.tensors import Stored, Tensor


def lower_diagonal(
    context: Context, node: TensorApply[Solve], inputs: list[Tensor]
) -> Sequence[Tensor]:
    """Divide each row of the right-hand sides by the element on the diagonal of the matrix."""
    a, b = inputs
    dtype = node.outputs[0].type.dtype
    n = context.unify(context.unify(a.shape[-2], a.shape[-1]), b.shape[-2])
    batch = batch_lengths(context, [a, b], [2, 2])
    matrix, right = stored_parts(context, a), stored_parts(context, b)
    result = new_result(context, dtype, [*batch, n, b.shape[-1]])

    def emit() -> None:
        builder, numbers = context.builder, Numbers(context.builder, len(result))
        with each_element(context, batch) as index:
            own = [own_index(context, t, 2, index) for t in (a, b)]
            with builder.loop(n, fixed=True) as singular:
                any_zero = singular.carry(builder.const(False, "bool"))
                i = singular.index
                is_zero = numbers.is_zero(_load(builder, matrix, [*own[0], i, i]))
                any_zero.following = builder.op("or", any_zero.param, is_zero)
            if node.op.on_error == "raise":
                context.check(builder.eq(builder.cast(any_zero.result, "int64"), context.i64(0)))
            with builder.loop(n, fixed=True) as rows:
                i = rows.index
                pivot = _load(builder, matrix, [*own[0], i, i])
                with builder.loop(b.shape[-1], fixed=True) as columns:
                    j = columns.index
                    value = numbers.divided(_load(builder, right, [*own[1], i, j]), pivot)
                    for part, each in zip(result, value, strict=True):
                        nan = builder.const(float("nan"), part.dtype)
                        each = builder.select(any_zero.result, nan, each)
                        builder.store(part.buffer, part.position(builder, [*index, i, j]), each)

    context.step([*matrix, *right], result, emit)
    return [whole_tensor(result)]


def _load(builder: Builder, parts: Sequence[Stored], index: Sequence[Value]) -> list[Value]:
    return [builder.load(t.buffer, t.position(builder, index), fixed=True) for t in parts]
