"""The Cholesky factor of positive definite matrices.

Users find `cholesky` in `occelo.tensor.linalg`. `cho_factor` and generalized eigenvalues are computed with it. Rules,
inference of facts and lowerings treat the op.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.op import ZERO, op
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.blas.products import matmul
from occelo_graph.ops.create import tril
from occelo_graph.ops.linalg.matrix_op import MatrixOp, as_matrices, check_on_error, hermitian
from occelo_graph.ops.linalg.triangular import solve_triangular
from occelo_graph.tensors.type import is_complex

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["Cholesky", "cholesky"]


@op
class Cholesky(MatrixOp):
    """The lower triangular L with L L^H = A, from the lower triangle of A; the rest of A is not read."""

    on_error: str = "raise"
    signature: ClassVar[str] = "(n,n)->(n,n)"

    def core(self, *arrays: Array) -> Array:
        return np.linalg.cholesky(arrays[0])

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        # Murray (2016), Differentiation of the Cholesky decomposition, arXiv:1602.07527, equations 9 and 10
        factor, ct = outputs[0], cotangents[0]
        if ct is None or ct is ZERO:
            return [ct]
        inner = half_diagonal(tril(matmul(hermitian(factor), tril(ct))))
        left = solve_triangular(hermitian(factor), inner, lower=False)
        whole = hermitian(solve_triangular(hermitian(factor), hermitian(left), lower=False))
        # each element of the lower triangle stands for two of the matrix
        folded = tril(whole + hermitian(whole))
        return [half_diagonal(folded)]


def half_diagonal(x: Any) -> TensorVariable:
    """Matrices with the real part of the diagonal halved, and its imaginary part dropped."""
    from occelo_graph.ops.create import eye

    n = x.shape[-1]
    real = x.real if is_complex(x.dtype) else x
    return x - eye(n, dtype=real.dtype) * (x - real * np.asarray(0.5, real.dtype))


@stands_for("linalg.cholesky", "a upper")
def cholesky(
    a: Any, lower: bool = True, *, upper: bool | None = None, on_error: str = "raise"
) -> TensorVariable:
    """Cholesky factor of positive definite matrices in the last two dimensions of ``a``, of shape (..., n, n).

    The lower triangular L with ``L @ L^H == a``, which only depends on the lower triangle of ``a``; with ``lower=False`` (or
    NumPy's ``upper=True``) the upper triangular U with ``U^H @ U == a``, which only depends on the upper triangle. The
    result has the dtype of ``a``, float64 for integers. The gradient is that of the function which reads one triangle: it is
    zero in the other one.

    A matrix that is not positive definite is a ``numpy.linalg.LinAlgError`` that says its place in the batch, or with
    ``on_error="nan"`` a matrix of NaN. ValueError if ``a`` is not square, TypeError for float16.
    """
    (x,) = as_matrices("cholesky", a)
    made = Cholesky(check_on_error(on_error))
    if lower if upper is None else not upper:
        factor: TensorVariable = made(x)
        return factor
    return hermitian(made(hermitian(x)))
