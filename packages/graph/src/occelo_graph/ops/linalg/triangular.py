"""Linear equations with a triangular matrix.

Users find `solve_triangular` in `occelo.tensor.linalg`. Equations with LU and Cholesky factors, gradients of
factorisations, and rules use it, too. Linkers lower the op.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.op import ZERO, op
from occelo_graph.ops.blas.products import matmul
from occelo_graph.ops.create import tril, triu
from occelo_graph.ops.linalg.matrix_op import MatrixOp, as_matrices, check_on_error, hermitian
from occelo_graph.ops.shape.dimensions import expand_dims, matrix_transpose, squeeze
from occelo_graph.optional_scipy import scipy_module
from occelo_graph.tensors.type import is_complex

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["SolveTriangular", "solve_triangular"]


@op
class SolveTriangular(MatrixOp):
    """The X with A X = B for a triangular A.

    The other triangle is not read; with ``unit_diagonal`` neither is the diagonal.
    """

    lower: bool = True
    unit_diagonal: bool = False
    on_error: str = "raise"
    signature: ClassVar[str] = "(n,n),(n,k)->(n,k)"
    reads_once: ClassVar[bool] = True

    @property
    def label(self) -> str:
        return "solve_triangular"

    def core(self, *arrays: Array) -> Array:
        a, b = arrays
        if b.size == 0:
            return np.zeros_like(b)
        solve = scipy_module("linalg", self.label).solve_triangular
        made: Array = solve(
            a, b, lower=self.lower, unit_diagonal=self.unit_diagonal, check_finite=False
        )
        return made

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
) -> TensorVariable:
    """The ``x`` with ``a @ x == b`` for triangular matrices ``a``, of shape (..., n, n); SciPy's ``solve_triangular``.

    Only the upper triangle of ``a`` is read, or the lower one if ``lower``. With ``unit_diagonal`` the diagonal is not
    read, and its elements count as 1. ``trans`` 1 or "T" solves with the transpose, 2 or "C" with the conjugate
    transpose. ``b`` consists of vectors, (..., n), if ``b_ndim`` is 1, and of matrices, (..., n, k), if it is 2. By
    default ``b`` has vectors if it has one dimension. Batch dimensions broadcast.

    A zero on the diagonal raises ``numpy.linalg.LinAlgError``; with ``on_error="nan"`` this element of the batch is
    NaN. ValueError for another ``trans``.
    """
    matrix, right = as_matrices("solve_triangular", a, b)
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise ValueError(f"trans must be 0, 1, 2 or 'N', 'T', 'C', got {trans!r}")
    if trans in (1, "T", 2, "C"):
        matrix, lower = matrix_transpose(matrix), not lower
        if trans in (2, "C") and is_complex(matrix.dtype):
            matrix = matrix.conj()
    made = SolveTriangular(bool(lower), bool(unit_diagonal), check_on_error(on_error))
    return with_columns(made, [matrix], right, b_ndim)


def with_columns(
    made: MatrixOp, matrices: Sequence[Any], right: Any, b_ndim: int | None
) -> TensorVariable:
    """The result for right-hand sides that are vectors or matrices, of an op that takes only matrices."""
    if check_b_ndim(made.label, right, b_ndim) == 2:
        solved: TensorVariable = made(*matrices, right)
        return solved
    return squeeze(made(*matrices, expand_dims(right, -1)), axis=-1)


def check_b_ndim(label: str, right: Any, b_ndim: int | None) -> int:
    """1 if right-hand sides are vectors, 2 if they are matrices.

    This is ``b_ndim``; by default 1 for a right-hand side of one dimension, else 2. ValueError for another ``b_ndim``,
    and for a scalar right-hand side.
    """
    if b_ndim not in (None, 1, 2):
        raise ValueError(f"b_ndim must be 1 or 2, got {b_ndim!r}")
    if right.type.ndim < 1:
        raise ValueError(f"{label} takes vectors or matrices of right-hand sides, got a scalar")
    return b_ndim or min(right.type.ndim, 2)
