"""Eigenvalues and eigenvectors of square matrices: the functions `eig` and `eigvals`, and their ops.

Users call `eig` and `eigvals` from `occelo.tensor.linalg`. For Hermitian matrices there is the module `eigh`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.op import op
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.blas.products import matmul
from occelo_graph.ops.reduce import sum as sum_
from occelo_linalg.ops.equations.solve import solve
from occelo_linalg.ops.gradient_formulas import (
    absent,
    as_row,
    complex_dtype,
    inverse_differences,
    nothing,
    on_diagonal,
    require_finite,
)
from occelo_linalg.ops.matrix_op import MatrixOp, as_matrices, check_on_error, hermitian
from occelo_linalg.ops.results import EigResult
from occelo_linalg.ops.scipy_options import ScipyOptions

if TYPE_CHECKING:
    from typing import Unpack

    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.type import TensorType
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["Eig", "Eigvals", "eig", "eigvals"]


@op
class Eig(MatrixOp):
    """Two outputs: the eigenvalues of square matrices in LAPACK's order, and eigenvectors of length 1 in columns.

    Both outputs are complex.
    """

    on_error: str = "raise"
    signature: ClassVar[str] = "(n,n)->(n),(n,n)"

    def dtypes(self, *types: TensorType) -> Sequence[str]:
        return [complex_dtype(types[0].dtype)] * 2

    def core(self, *arrays: Array) -> tuple[Array, ...]:
        require_finite(arrays[0])
        dtype = complex_dtype(arrays[0].dtype.name)
        return tuple(np.asarray(r, dtype) for r in np.linalg.eig(arrays[0]))

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        # Boeddeker et al. (2017), On the computation of complex-valued gradients, arXiv:1701.00392, section 4.13
        values, vectors = outputs
        of_values, of_vectors = cotangents
        if absent(of_values) and absent(of_vectors):
            return [nothing(cotangents)]
        turned = hermitian(vectors)
        inner: Any = None
        if not absent(of_vectors):
            product = matmul(turned, of_vectors)
            # the derivative of an eigenvector must keep its length 1
            along = sum_((vectors.conj() * of_vectors).real, axis=-2)
            product = product - matmul(turned, vectors) * as_row(along)
            inner = inverse_differences(values).conj() * product
        if not absent(of_values):
            diagonal = on_diagonal(of_values)
            inner = diagonal if inner is None else inner + diagonal
        return [solve(turned, matmul(inner, turned))]


@op
class Eigvals(MatrixOp):
    """The first output of `Eig`, the eigenvalues, without the eigenvectors."""

    on_error: str = "raise"
    signature: ClassVar[str] = "(n,n)->(n)"

    def dtypes(self, *types: TensorType) -> Sequence[str]:
        return [complex_dtype(types[0].dtype)]

    def core(self, *arrays: Array) -> Array:
        require_finite(arrays[0])
        values: Any = np.linalg.eigvals(arrays[0])
        return np.asarray(values, complex_dtype(arrays[0].dtype.name))

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        ct = cotangents[0]
        if absent(ct):
            return [ct]
        _, vectors = Eig(self.on_error)(inputs[0], return_list=True)
        turned = hermitian(vectors)
        return [solve(turned, on_diagonal(ct) @ turned)]


@stands_for("linalg.eig", "a")
def eig(a: Any, *, on_error: str = "raise", **options: Unpack[ScipyOptions]) -> EigResult:
    """Eigenvalues and eigenvectors of square matrices ``a`` of shape (..., n, n), like NumPy's ``eig``.

    The results are ``eigenvalues`` of shape (..., n), in no particular order, and ``eigenvectors``, which are columns
    of length 1. Both are always complex: complex64 for float32 and complex64, else complex128. (In NumPy, they are real
    if all eigenvalues are real.)

    The phases of eigenvectors are arbitrary, so a cost must not depend on them. The gradient is correct if the
    eigenvalues are distinct. If eigenvalues are equal within rounding errors, a gradient through the eigenvectors is
    NaN. A matrix without a full set of eigenvectors has no gradient.

    If a matrix has infinite or NaN elements, or if the algorithm does not converge, ``numpy.linalg.LinAlgError`` is
    raised. With ``on_error="nan"``, the results are NaN for this matrix. ValueError if ``a`` is not square, TypeError
    for float16. ``options`` are SciPy's.
    """
    (x,) = as_matrices("eig", a, options=options)
    return EigResult(*Eig(check_on_error(on_error))(x, return_list=True))


@stands_for("linalg.eigvals", "a")
def eigvals(a: Any, *, on_error: str = "raise", **options: Unpack[ScipyOptions]) -> TensorVariable:
    """The eigenvalues of ``a`` that `eig` returns: complex numbers of shape (..., n), in no particular order.

    ``on_error`` and ``options`` are as there. The gradient is correct if the eigenvalues are distinct.
    """
    (x,) = as_matrices("eigvals", a, options=options)
    values: TensorVariable = Eigvals(check_on_error(on_error))(x)
    return values
