"""Lowerings of linear equations with banded matrices (`SolveBanded`, `SolvePositiveBanded`), with LAPACK's gbsv and
pbsv.

The linkers ``native``, ``c``, ``c|py`` and ``numba`` use these lowerings.
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
from occelo_linalg.ops.equations.banded import SolveBanded, SolvePositiveBanded
from occelo_link.loops.batches import batch_lengths, each_element, own_index
from occelo_link.loops.ir.program import Pointer, Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.tensors import Index, Stored, Tensor


@lowers_matrices(SolveBanded)
def lower_solve_banded(
    context: Context, node: TensorApply[SolveBanded], inputs: list[Tensor]
) -> Sequence[Tensor]:
    op, i64 = node.op, context.i64
    # exchanges of rows create more diagonals; the routine stores them above the others
    numbers: dict[str, str | Value] = {"kl": i64(op.lower), "ku": i64(op.upper)}
    return _lowered(context, node, inputs, "gbsv", numbers, op.lower, op.lower + op.upper + 1)


@lowers_matrices(SolvePositiveBanded)
def lower_solve_positive_banded(
    context: Context, node: TensorApply[SolvePositiveBanded], inputs: list[Tensor]
) -> Sequence[Tensor]:
    below = node.op.below
    numbers: dict[str, str | Value] = {"uplo": "L", "kd": context.i64(below)}
    return _lowered(context, node, inputs, "pbsv", numbers, 0, below + 1)


def _lowered(
    context: Context,
    node: TensorApply[SolveBanded] | TensorApply[SolvePositiveBanded],
    inputs: list[Tensor],
    routine: str,
    numbers: dict[str, str | Value],
    room: int,
    rows: int,
) -> Sequence[Tensor]:
    """Solve the equations with a LAPACK routine.

    The routine reads a matrix whose last ``rows`` rows are the diagonals. The ``room`` rows above them are its working
    memory.
    """
    bands, b = inputs
    dtype = node.outputs[0].type.dtype
    context.unify(bands.shape[-2], context.i64(rows))
    n = context.unify(bands.shape[-1], b.shape[-2])
    batch = batch_lengths(context, inputs, [2, 2])
    diagonals, right = stored_parts(context, bands), stored_parts(context, b)
    result = new_result(context, dtype, [*batch, n, b.shape[-1]])

    def emit() -> None:
        builder, zero = context.builder, context.i64(0)
        lapack = Lapack(context, dtype)
        work = WorkMatrix(context, dtype, context.i64(room + rows), n)
        columns = WorkMatrix(context, dtype, n, b.shape[-1])
        arguments: dict[str, str | Value | Pointer] = {**numbers, "n": n, "nrhs": b.shape[-1]}
        arguments |= {"ab": work.pointer, "ldab": work.leading}
        arguments |= {"b": columns.pointer, "ldb": columns.leading}
        if routine == "gbsv":
            arguments["ipiv"] = Pointer(lapack.integers(n), zero)
        with each_element(context, batch) as index:
            _fill(context, work, diagonals, index, room, rows)
            columns.fill(right, index)
            good = builder.eq(lapack.call(routine, **arguments), zero)
            if node.op.on_error == "raise":
                context.check(good)
                columns.copy_to(result, index)
            else:
                columns.copy_to(result, index, good)

    context.step([*diagonals, *right], result, emit)
    return [whole_tensor(result)]


def _fill(
    context: Context, work: WorkMatrix, bands: Sequence[Stored], index: Index, room: int, rows: int
) -> None:
    """Copy the diagonals to working memory, below ``room`` rows of zeros."""
    builder, first = context.builder, context.i64(room)
    own = own_index(context, bands[0], 2, index)
    with builder.loop(work.columns, fixed=True) as across:
        j = across.index
        for k, part in enumerate(bands):
            with builder.loop(first, fixed=True) as above:
                work.store(above.index, j, builder.const(0.0, part.dtype), k)
            with builder.loop(context.i64(rows), fixed=True) as down:
                at = part.position(builder, [*own, down.index, j])
                value = builder.load(part.buffer, at, fixed=True)
                work.store(builder.add(first, down.index), j, value, k)
