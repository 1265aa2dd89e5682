"""Solves linear equations with triangular matrices: `solve_triangular`, its op, and helpers for other solvers.

Users call `solve_triangular` from `occelo.tensor.linalg`. Solvers with LU and Cholesky factors, gradients of
factorisations, and rules call it, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.op import ZERO, op
from occelo_graph.ops.blas.products import matmul
from occelo_graph.ops.create import tril, triu
from occelo_graph.ops.shape.dimensions import expand_dims, matrix_transpose, squeeze
from occelo_graph.optional_scipy import scipy_module
from occelo_graph.tensors.type import is_complex
from occelo_linalg.ops.matrix_op import MatrixOp, as_matrices, check_on_error, hermitian
from occelo_linalg.ops.scipy_options import ScipyOptions

if TYPE_CHECKING:
    from typing import Unpack

    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["SolveTriangular", "solve_triangular"]


@op
class SolveTriangular(MatrixOp):
    """Solves A X = B for a triangular A.

    ``lower`` says whether A is lower or upper triangular. The other triangle is not read. If ``unit_diagonal`` is True,
    the diagonal is not read, and its elements count as 1.
    """

    lower: bool = True
    unit_diagonal: bool = False
    on_error: str = "raise"
    signature: ClassVar[str] = "(n,n),(n,k)->(n,k)"
    reads_once: ClassVar[bool] = True

    @property
    def label(self) -> str:
        return "solve_triangular"

    def options(self) -> dict[str, Any]:
        return {**super().options(), "lower": self.lower or None}

    def core(self, *arrays: Array) -> Array:
        a, b = arrays
        if b.size == 0:
            return np.zeros_like(b)
        solve = scipy_module("linalg", self.label).solve_triangular
        solution: Array = solve(
            a, b, lower=self.lower, unit_diagonal=self.unit_diagonal, check_finite=False
        )
        return solution

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        a, ct = inputs[0], cotangents[0]
        if ct is None or ct is ZERO:
            return [ct, ct]
        turned = SolveTriangular(not self.lower, self.unit_diagonal, self.on_error)
        of_b = turned(hermitian(a), ct)
        k = -1 if self.unit_diagonal else 0
        product = -matmul(of_b, hermitian(outputs[0]))
        return [tril(product, k) if self.lower else triu(product, -k), of_b]


def solve_triangular(
    a: Any,
    b: Any,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    *,
    b_ndim: int | None = None,
    on_error: str = "raise",
    **options: Unpack[ScipyOptions],
) -> TensorVariable:
    """Solve ``a @ x == b`` for triangular ``a`` of shape (..., n, n), like SciPy's ``solve_triangular``.

    Only the upper triangle of ``a`` is read, or the lower triangle if ``lower`` is True. If ``unit_diagonal`` is True,
    the diagonal is not read, and its elements count as 1. If ``trans`` is 1 or "T", ``a`` is replaced by its transpose;
    if it is 2 or "C", by its conjugate transpose. If ``b_ndim`` is 1, ``b`` consists of vectors, of shape (..., n). If
    ``b_ndim`` is 2, ``b`` consists of matrices, of shape (..., n, k). By default, ``b`` is a vector if it has one
    dimension, else it consists of matrices. Batch dimensions broadcast.

    If the diagonal of a matrix has a zero, ``numpy.linalg.LinAlgError`` is raised. With ``on_error="nan"``, the
    solution is NaN for this element of the batch. ValueError for another ``trans``. ``options`` are SciPy's.
    """
    matrix, right = as_matrices("solve_triangular", a, b, options=options)
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise ValueError(f"trans must be 0, 1, 2 or 'N', 'T', 'C', got {trans!r}")
    if trans in (1, "T", 2, "C"):
        matrix, lower = matrix_transpose(matrix), not lower
        if trans in (2, "C") and is_complex(matrix.dtype):
            matrix = matrix.conj()
    solver = SolveTriangular(bool(lower), bool(unit_diagonal), check_on_error(on_error))
    return with_columns(solver, [matrix], right, b_ndim)


def with_columns(
    solver: MatrixOp, matrices: Sequence[Any], right: Any, b_ndim: int | None
) -> TensorVariable:
    """Apply the op ``solver``, whose last input must be matrices, to right-hand sides that may be vectors.

    ``matrices`` are the other inputs of the op. Vectors become matrices with one column.
    """
    if check_b_ndim(solver.label, right, b_ndim) == 2:
        solved: TensorVariable = solver(*matrices, right)
        return solved
    return squeeze(solver(*matrices, expand_dims(right, -1)), axis=-1)


def check_b_ndim(label: str, right: Any, b_ndim: int | None) -> int:
    """Returns 1 if the right-hand sides are vectors, and 2 if they are matrices.

    If ``b_ndim`` is None, the result is 1 if ``right`` has one dimension, else 2. ValueError for another ``b_ndim``, or
    if ``right`` is a scalar. ``label`` is the name of the function in error messages.
    """
    if b_ndim not in (None, 1, 2):
        raise ValueError(f"b_ndim must be 1 or 2, got {b_ndim!r}")
    if right.type.ndim < 1:
        raise ValueError(f"{label} takes vectors or matrices of right-hand sides, got a scalar")
    return b_ndim or min(right.type.ndim, 2)
