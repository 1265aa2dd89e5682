"""Solves linear equations with square matrices: the function `solve` and its op `Solve`.

Users call `solve` from `occelo.tensor.linalg`. Other functions of linear algebra, gradients and rules call it, too. If
the caller assumes that the matrix is triangular or tridiagonal, `solve` applies the op for such matrices instead of
`Solve`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.op import ZERO, op
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.blas.products import matmul
from occelo_graph.ops.create import eye, tril
from occelo_graph.ops.shape.dimensions import matrix_transpose
from occelo_graph.optional_scipy import scipy_module
from occelo_graph.tensors.type import is_complex
from occelo_linalg.ops.equations.banded import solve_with_three_diagonals
from occelo_linalg.ops.equations.triangular import SolveTriangular, with_columns
from occelo_linalg.ops.matrix_op import (
    LinAlgError,
    MatrixOp,
    as_matrices,
    check_on_error,
    hermitian,
)
from occelo_linalg.ops.scipy_options import ScipyOptions

if TYPE_CHECKING:
    from typing import Unpack

    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["Solve", "solve"]

ASSUMPTIONS = {
    "general": "gen",
    "banded": "gen",
    "symmetric": "sym",
    "hermitian": "her",
    "positive definite": "pos",
    "diagonal": "diagonal",
    "tridiagonal": "tridiagonal",
    "lower triangular": "lower triangular",
    "upper triangular": "upper triangular",
}
"""Maps SciPy's name for an assumption about a matrix to the name in this module. The assumption "banded" changes
nothing, since no code searches for the width of the band.
"""
GENERAL = (None, *(name for pair in ASSUMPTIONS.items() if pair[1] == "gen" for name in pair))
"""The names that assume nothing."""


@op
class Solve(MatrixOp):
    """Solves A X = B for square matrices A.

    ``assume_a`` is "gen" (any matrix), "sym" (equal to its transpose), "her" (equal to its conjugate transpose), "pos"
    (Hermitian and positive definite) or "diagonal". If A is symmetric, Hermitian or positive definite, only its lower
    triangle is read.

    ``cotangent`` says what the cotangent of such an A has: "triangle", all of it in the triangle that is read; "matrix",
    the elements that a general A has; "transposed", those elements transposed. A long recurrence in A, such as a
    filter's, makes A less and less symmetric by rounding, and is more exact without the first.
    """

    assume_a: str = "gen"
    on_error: str = "raise"
    cotangent: str = "triangle"
    signature: ClassVar[str] = "(n,n),(n,k)->(n,k)"

    def options(self) -> dict[str, Any]:
        lower = self.assume_a in ("sym", "her", "pos")
        return {**super().options(), "lower": lower or None}

    def core(self, *arrays: Array) -> Array:
        a, b = arrays
        if b.size == 0:
            return np.zeros_like(b)
        if self.assume_a == "gen":
            return np.linalg.solve(a, b)
        if self.assume_a == "diagonal":
            pivots: Array = np.diagonal(a)
            if not pivots.all():
                raise LinAlgError("Singular matrix")
            quotient: Array = b / pivots[:, None]
            return quotient
        linalg: Any = scipy_module("linalg", self.label)
        name = {"her": "hesv", "pos": "posv"}.get(self.assume_a, "sysv")
        if name == "hesv" and not is_complex(a.dtype.name):
            name = "sysv"
        if self.assume_a != "pos" and not np.isfinite(np.tril(a)).all():
            # for a matrix with NaN, the routine may or may not report a singular matrix
            return np.full_like(b, np.nan)
        (routine,) = linalg.get_lapack_funcs((name,), (a, b))
        *_, solution, info = routine(a, b, lower=True)
        if info > 0:
            positive = self.assume_a == "pos"
            raise LinAlgError("Matrix is not positive definite" if positive else "Singular matrix")
        return np.ascontiguousarray(solution)

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        # Giles (2008), Collected matrix derivative results for forward and reverse mode algorithmic differentiation
        a, ct = inputs[0], cotangents[0]
        if ct is None or ct is ZERO:
            return [ct, ct]
        adjoint = a
        if self.assume_a == "gen":
            adjoint = hermitian(a)
        elif self.assume_a in ("sym", "diagonal") and is_complex(a.dtype):
            adjoint = a.conj()
        of_b = self(adjoint, ct)
        return [self._of_matrix(-matmul(of_b, hermitian(outputs[0]))), of_b]

    def _of_matrix(self, whole: TensorVariable) -> TensorVariable:
        """Convert ``whole``, the cotangent of the matrix A, to the cotangent of the elements that are read."""
        if self.assume_a == "gen" or self.cotangent == "matrix":
            return whole
        own = whole
        if self.assume_a in ("her", "pos") and is_complex(whole.dtype):
            # the imaginary part of the diagonal is not read
            own = whole.real
        pivots: TensorVariable = eye(whole.shape[-1], dtype=own.dtype) * own
        if self.assume_a == "diagonal":
            return pivots
        mirrored = matrix_transpose(whole) if self.assume_a == "sym" else hermitian(whole)
        if self.cotangent == "transposed":
            return mirrored
        # each element below the diagonal occurs twice in the matrix
        return tril(whole + mirrored, -1) + pivots


@stands_for("linalg.solve", "a b")
def solve(
    a: Any,
    b: Any,
    lower: bool = False,
    *,
    assume_a: str | None = "gen",
    transposed: bool = False,
    b_ndim: int | None = None,
    on_error: str = "raise",
    **options: Unpack[ScipyOptions],
) -> TensorVariable:
    """Solve ``a @ x == b`` for square matrices ``a`` of shape (..., n, n).

    If ``b_ndim`` is 1, ``b`` consists of vectors, of shape (..., n). If ``b_ndim`` is 2, ``b`` consists of matrices, of
    shape (..., n, k). By default, ``b`` is a vector if it has one dimension, else it consists of matrices, as in NumPy.
    Batch dimensions broadcast. The result has the common dtype, or float64 for integers. If ``transposed`` is True, the
    equation is ``a.T @ x == b``.

    ``assume_a`` is an assumption about ``a``, with SciPy's names: "general" ("gen", "banded", None), "symmetric"
    ("sym"), "hermitian" ("her"), "positive definite" ("pos"), "diagonal", "tridiagonal", "lower triangular" or "upper
    triangular". Elements that follow from the assumption are not read, so nothing checks them. If ``a`` is symmetric,
    Hermitian or positive definite, only the upper triangle is read, or the lower triangle if ``lower`` is True. The
    gradient is 0 for elements that are not read. If ``a`` is assumed to be positive definite, a compiled graph may
    compute determinants and inverses of ``a`` under this assumption, too, from the Cholesky factor of ``a``.

    If a matrix is singular, or if it is assumed to be positive definite and is not, ``numpy.linalg.LinAlgError`` is
    raised. The message says the position of the matrix in the batch. With ``on_error="nan"``, the solution is NaN for
    this element of the batch. A matrix with NaN is not an error; its solution is NaN. If a symmetric or Hermitian
    matrix has an infinite element, the whole solution is NaN. ValueError if the shapes do not fit, TypeError for
    float16. ``options`` are SciPy's.
    """
    matrix, right = as_matrices("solve", a, b, options=options)
    if assume_a is not None and assume_a not in (*ASSUMPTIONS, *ASSUMPTIONS.values()):
        listed = ", ".join(map(repr, ASSUMPTIONS))
        raise ValueError(f"assume_a must be one of {listed}, or None, got {assume_a!r}")
    kind = "gen" if assume_a is None else ASSUMPTIONS.get(assume_a, assume_a)
    check_on_error(on_error)
    if kind == "her" and not is_complex(matrix.dtype):
        kind = "sym"
    if transposed:
        matrix, lower = matrix_transpose(matrix), not lower
        kind = {"lower triangular": "upper triangular", "upper triangular": "lower triangular"}.get(
            kind, kind
        )
    if kind == "tridiagonal":
        return solve_with_three_diagonals(matrix, right, b_ndim, on_error)
    if kind.endswith("triangular"):
        triangular = SolveTriangular(kind.startswith("lower"), False, on_error)
        return with_columns(triangular, [matrix], right, b_ndim)
    if kind in ("sym", "her", "pos") and not lower:
        matrix = matrix_transpose(matrix) if kind == "sym" else hermitian(matrix)
    return with_columns(Solve(kind, on_error), [matrix], right, b_ndim)
