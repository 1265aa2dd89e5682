"""Lowerings of singular values, and of eigenvalues of symmetric and Hermitian matrices.

The nodes are `Eigh`, `Eigvalsh`, `SVD`, `FullSVD` and `SingularValues`. LAPACK's gesdd computes singular values, and
syevd and heevd compute eigenvalues. For batches of real matrices with at most 32 rows, `jacobi` computes eigenvalues by
rotations. `general_spectra` has the eigenvalues of matrices that need not be symmetric or Hermitian.

The linkers ``native``, ``c``, ``c|py`` and ``numba`` use these lowerings. `general_spectra`, `schur` and `qz` call
`if_finite`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from occelo_graph import TensorApply
from occelo_linalg.lowerings.factorizations.jacobi import eigen_lanes
from occelo_linalg.lowerings.lapack import Lapack
from occelo_linalg.lowerings.ways import ROTATIONS, choose
from occelo_linalg.lowerings.work_matrices import (
    WorkMatrix,
    lowers_matrices,
    new_result,
    stored_parts,
    whole_tensor,
)
from occelo_linalg.ops.factorizations.eigh import Eigh, Eigvalsh
from occelo_linalg.ops.factorizations.svd import SVD, FullSVD, SingularValues
from occelo_link.loops.batches import each_element
from occelo_link.loops.complexes import PARTS
from occelo_link.loops.ir.program import Pointer, Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.tensors import Stored, Tensor


def if_finite(
    context: Context, on_error: str, finite: Value, call: Callable[[], Value]
) -> Value | None:
    """Write a call of a routine that runs only if the matrix is finite. For other matrices some routines never return.

    Returns whether the call succeeded. If ``on_error`` is "raise", it writes a check of this instead, and returns None.
    """
    builder, zero = context.builder, context.i64(0)
    if on_error == "raise":
        context.check(finite)
        context.check(builder.eq(call(), zero))
        return None
    (info,) = builder.branch(finite, lambda: [call()], lambda: [context.i64(1)])
    return builder.eq(info, zero)


@lowers_matrices(Eigh, Eigvalsh)
def lower_eigh(
    context: Context, node: TensorApply[Eigh | Eigvalsh], inputs: list[Tensor]
) -> Sequence[Tensor]:
    x, op, vectors = inputs[0], node.op, len(node.outputs) == 2
    dtype = node.inputs[0].type.dtype
    real, batch = PARTS.get(dtype, dtype), x.shape[:-2]
    n = context.unify(x.shape[-2], x.shape[-1])
    choice = choose(context, ROTATIONS, node, [x], batch, n)
    parts = stored_parts(context, choice.operand(x))
    values = context.new_stored(real, [*batch, n])
    columns = new_result(context, dtype, [*batch, n, n]) if vectors else []

    def by_lanes() -> None:
        nan = op.on_error == "nan"
        eigen_lanes(context, parts[0], values, columns[0] if vectors else None, op.lower, nan)

    def emit() -> None:
        choice.write(lambda: _eigh_by_lapack(context, node, parts, values, columns), lanes=by_lanes)

    context.step(parts, [values, *columns], emit)
    return [values, whole_tensor(columns)] if vectors else [values]


def _eigh_by_lapack(
    context: Context,
    node: TensorApply[Eigh | Eigvalsh],
    parts: Sequence[Stored],
    values: Stored,
    columns: Sequence[Stored],
) -> None:
    """Write calls of LAPACK for the matrices of a batch, one after the other.

    ``parts`` are the real tensors of the batch, and ``columns`` are those of the eigenvectors. If there are none, only
    eigenvalues are computed.
    """
    dtype, n = node.inputs[0].type.dtype, values.shape[-1]
    routine, triangle = "heevd" if dtype in PARTS else "syevd", "L" if node.op.lower else "U"
    lapack = Lapack(context, dtype)
    matrix = WorkMatrix(context, dtype, n, n)
    column = WorkMatrix(context, values.dtype, n, context.i64(1))
    arguments: dict[str, str | Value | Pointer] = {
        "jobz": "V" if columns else "N",
        "uplo": triangle,
        "n": n,
        "a": matrix.pointer,
        "lda": matrix.leading,
        "w": column.pointer,
    }
    room = lapack.workspace(routine, **arguments)
    with each_element(context, values.shape[:-1]) as index:
        matrix.fill(parts, index)
        finite = matrix.all_finite(triangle)
        good = if_finite(
            context, node.op.on_error, finite, lambda: lapack.call(routine, **arguments, **room)
        )
        column.copy_column_to(values, index, good)
        if columns:
            matrix.copy_to(columns, index, good)


class _Svd:
    """The memory for LAPACK's gesdd, and calls of this routine. ``job`` is LAPACK's letter: A, S or N.

    Construct it inside the ``emit`` function of a `Context.step`, since the constructor writes allocations.
    """

    def __init__(self, context: Context, dtype: str, m: Value, n: Value, job: str) -> None:
        builder = context.builder
        self.lapack = Lapack(context, dtype)
        k = builder.op("min", m, n)
        one = context.i64(1)
        self.matrix = WorkMatrix(context, dtype, m, n)
        self.values = WorkMatrix(context, PARTS.get(dtype, dtype), k, one)
        wide, high = {"A": (m, n), "S": (k, k), "N": (one, one)}[job]
        tall = one if job == "N" else m
        self.left = WorkMatrix(context, dtype, tall, wide)
        self.right = WorkMatrix(context, dtype, high, one if job == "N" else n)
        if job == "A":
            # if there are no singular values, the routine does not write these matrices
            self.left.fill_with_identity()
            self.right.fill_with_identity()
        arguments: dict[str, str | Value | Pointer] = {
            "jobz": job,
            "m": m,
            "n": n,
            "a": self.matrix.pointer,
            "lda": self.matrix.leading,
            "s": self.values.pointer,
            "u": self.left.pointer,
            "ldu": self.left.leading,
            "vt": self.right.pointer,
            "ldvt": self.right.leading,
            "iwork": Pointer(self.lapack.integers(builder.mul(context.i64(8), k)), context.i64(0)),
        }
        if dtype in PARTS:
            # the size that the documentation of the routine requires
            long = builder.op("max", m, n)
            five = builder.add(builder.mul(context.i64(5), k), context.i64(7))
            both = builder.add(builder.mul(context.i64(2), builder.add(long, k)), one)
            size = builder.mul(k, builder.op("max", five, both))
            size = builder.op("max", size, one)
            arguments["rwork"] = Pointer(self.lapack.memory("real", size), context.i64(0))
        self.given = {**arguments, **self.lapack.workspace("gesdd", **arguments)}

    def call(self) -> Value:
        """Decompose the matrix. Returns LAPACK's info, which is 0 on success."""
        return self.lapack.call("gesdd", **self.given)


@lowers_matrices(SVD, FullSVD, SingularValues)
def lower_svd(
    context: Context, node: TensorApply[SVD | FullSVD | SingularValues], inputs: list[Tensor]
) -> Sequence[Tensor]:
    x, op = inputs[0], node.op
    job = "A" if isinstance(op, FullSVD) else "S" if len(node.outputs) == 3 else "N"
    dtype = node.inputs[0].type.dtype
    *batch, m, n = x.shape
    k = context.builder.op("min", m, n)
    if m.op == "const" and n.op == "const":
        k = context.i64(min(m.args[0], n.args[0]))
    parts = stored_parts(context, x)
    values = context.new_stored(PARTS.get(dtype, dtype), [*batch, k])
    sides = {"A": ((m, m), (n, n)), "S": ((m, k), (k, n)), "N": ()}[job]
    results = [new_result(context, dtype, [*batch, *side]) for side in sides]

    def emit() -> None:
        svd = _Svd(context, dtype, m, n, job)
        with each_element(context, batch) as index:
            svd.matrix.fill(parts, index)
            good = if_finite(context, op.on_error, svd.matrix.all_finite(), svd.call)
            svd.values.copy_column_to(values, index, good)
            for result, vectors in zip(results, (svd.left, svd.right), strict=False):
                vectors.copy_to(result, index, good)

    context.step(parts, [values, *(part for result in results for part in result)], emit)
    if not results:
        return [values]
    return [whole_tensor(results[0]), values, whole_tensor(results[1])]
