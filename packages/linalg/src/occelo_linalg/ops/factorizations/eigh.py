"""Eigenvalues and eigenvectors of Hermitian matrices, and of pairs of Hermitian matrices: `eigh` and `eigvalsh`.

Users call `eigh` and `eigvalsh` from `occelo.tensor.linalg`. The ops are `Eigh` and `Eigvalsh`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

import numpy as np

from occelo_graph.ir.nodes import AnyApply
from occelo_graph.ir.op import op
from occelo_graph.ir.terms import Term
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.blas.products import matmul
from occelo_linalg.ops.equations.triangular import solve_triangular
from occelo_linalg.ops.factorizations.cholesky import cholesky
from occelo_linalg.ops.gradient_formulas import (
    absent,
    as_row,
    from_triangle,
    inverse_differences,
    nothing,
    on_diagonal,
    real_dtype,
    require_finite,
    to_triangle,
)
from occelo_linalg.ops.matrix_op import MatrixOp, as_matrices, check_on_error, hermitian
from occelo_linalg.ops.results import EighResult
from occelo_linalg.ops.scipy_options import ScipyOptions

if TYPE_CHECKING:
    from typing import Unpack

    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.type import TensorType
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["Eigh", "Eigvalsh", "eigh", "eigvalsh"]


@op
class Eigh(MatrixOp):
    """Two outputs: the eigenvalues of Hermitian matrices in ascending order, and eigenvectors of length 1 in columns.

    Only one triangle of the matrices is read, by ``lower`` the lower or the upper one. Where eigenvalues are equal up to rounding, gradients through the
    eigenvectors are NaN. If ``divides`` is true, they are quotients by the computed differences instead: right to some
    digits for costs that do not depend on the choice of the eigenvectors and hardly on this part of the matrix.
    """

    lower: bool = True
    on_error: str = "raise"
    divides: bool = False
    signature: ClassVar[str] = "(n,n)->(n),(n,n)"

    def written(self, node: AnyApply, operands: Sequence[Term]) -> Term | None:
        return None if self.divides else super().written(node, operands)

    def dtypes(self, *types: TensorType) -> Sequence[str]:
        return [real_dtype(types[0].dtype), types[0].dtype]

    def core(self, *arrays: Array) -> tuple[Array, ...]:
        _check_triangle(arrays[0], self.lower)
        return tuple(np.linalg.eigh(arrays[0], "L" if self.lower else "U"))

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        # Giles (2008), An extended collection of matrix derivative results for forward and reverse mode AD, section 3.1
        values, vectors = outputs
        of_values, of_vectors = cotangents
        if absent(of_values) and absent(of_vectors):
            return [nothing(cotangents)]
        if absent(of_vectors):
            left = vectors * as_row(of_values)
        else:
            turns = matmul(hermitian(vectors), of_vectors)
            # the other half cancels in the result, but not its rounding errors after the division
            turns = (turns - hermitian(turns)) * np.asarray(0.5, real_dtype(turns.dtype))
            inner = inverse_differences(values, self.divides) * turns
            if not absent(of_values):
                inner = inner + on_diagonal(of_values)
            left = matmul(vectors, inner)
        return [to_triangle(matmul(left, hermitian(vectors)), self.lower)]


@op
class Eigvalsh(MatrixOp):
    """The first output of `Eigh` with this ``lower``, the eigenvalues, without the eigenvectors."""

    lower: bool = True
    on_error: str = "raise"
    signature: ClassVar[str] = "(n,n)->(n)"

    def dtypes(self, *types: TensorType) -> Sequence[str]:
        return [real_dtype(types[0].dtype)]

    def core(self, *arrays: Array) -> Array:
        _check_triangle(arrays[0], self.lower)
        return np.linalg.eigvalsh(arrays[0], "L" if self.lower else "U")

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        ct = cotangents[0]
        if absent(ct):
            return [ct]
        _, vectors = Eigh(self.lower, self.on_error)(inputs[0], return_list=True)
        product = matmul(vectors * as_row(ct), hermitian(vectors))
        return [to_triangle(product, self.lower)]


def _check_triangle(array: Array, lower: bool) -> None:
    require_finite(np.tril(array) if lower else np.triu(array))


def _reads_lower(uplo: Any, lower: bool | None) -> bool:
    if uplo not in ("L", "U", "l", "u"):
        raise ValueError(f"UPLO must be 'L' or 'U', got {uplo!r}")
    return uplo in ("L", "l") if lower is None else bool(lower)


@overload
def eigh(
    a: Any,
    UPLO: Any = ...,
    *,
    b: Any = ...,
    lower: bool | None = ...,
    type: int = ...,
    eigvals_only: Literal[False] = ...,
    on_error: str = ...,
    **options: Unpack[ScipyOptions],
) -> EighResult: ...


@overload
def eigh(
    a: Any,
    UPLO: Any = ...,
    *,
    b: Any = ...,
    lower: bool | None = ...,
    type: int = ...,
    eigvals_only: bool,
    on_error: str = ...,
    **options: Unpack[ScipyOptions],
) -> Any: ...


@stands_for("linalg.eigh", "a UPLO")
def eigh(
    a: Any,
    UPLO: Any = "L",
    *,
    b: Any = None,
    lower: bool | None = None,
    type: int = 1,
    eigvals_only: bool = False,
    on_error: str = "raise",
    **options: Unpack[ScipyOptions],
) -> Any:
    """Eigenvalues and eigenvectors of Hermitian matrices ``a`` of shape (..., n, n).

    The function is NumPy's ``eigh``, with options of SciPy's ``eigh``. The results are ``eigenvalues``, which are real
    numbers of shape (..., n) in ascending order, and ``eigenvectors`` in columns. If ``eigvals_only`` is True, only the
    eigenvalues are returned. Only the lower triangle of ``a`` is read; with ``UPLO="U"`` or ``lower=False``, only the
    upper triangle is read. Imaginary parts on the diagonal are ignored. Results have the precision of ``a``, or float64
    for integers.

    If ``b`` is given, also as the second argument as in SciPy, it must be positive definite. The same triangle of ``a``
    and ``b`` is read. Then eigenvalues w and eigenvectors v solve ``a @ v == w * b @ v`` for ``type`` 1, ``a @ b @ v ==
    w * v`` for 2, and ``b @ a @ v == w * v`` for 3. For the types 1 and 2, ``v^H @ b @ v`` is the identity matrix. For
    type 3, ``v^H @ inv(b) @ v`` is the identity matrix. ``options`` are SciPy's.

    The gradient is zero in the triangle that is not read. The signs (or complex phases) of eigenvectors are arbitrary,
    so a cost must not depend on them. If eigenvalues are equal within rounding errors, the eigenvectors have no
    derivative, and a gradient through the eigenvectors is NaN. It is NaN even for a cost that has a derivative, such as
    a matrix function ``v @ diag(f(w)) @ v^H`` or a projector. For matrix functions, call `sqrtm`, `expm` and similar
    functions. Gradients through eigenvalues alone are correct.

    ``numpy.linalg.LinAlgError`` is raised if a matrix has infinite or NaN elements, if ``b`` is not positive definite,
    or if the algorithm does not converge. With ``on_error="nan"``, the results are NaN instead. ValueError if matrices
    are not square, TypeError for float16.
    """
    if not isinstance(UPLO, str):  # SciPy's second argument
        if b is not None:
            raise TypeError("eigh got b twice")
        b = UPLO
    if type not in (1, 2, 3):
        raise ValueError(f"type must be 1, 2 or 3, got {type!r}")
    low = _reads_lower(UPLO if isinstance(UPLO, str) else "L", lower)
    mode = check_on_error(on_error)
    if b is None:
        (x,) = as_matrices("eigh", a, options=options)
        if eigvals_only:
            return Eigvalsh(low, mode)(x)
        return EighResult(*Eigh(low, mode)(x, return_list=True))
    x, metric = as_matrices("eigh", a, b, options=options)
    if metric.type.ndim < 2:
        raise ValueError(f"eigh takes matrices b, got {metric.type}")
    factor: Any = cholesky(metric, on_error=mode)
    if not low:
        factor = hermitian(cholesky(metric, lower=False, on_error=mode))
    whole = from_triangle(x, low)
    if type == 1:
        left = solve_triangular(factor, whole, lower=True)
        standard: Any = hermitian(solve_triangular(factor, hermitian(left), lower=True))
    else:
        standard = matmul(hermitian(factor), matmul(whole, factor))
    if eigvals_only:
        return Eigvalsh(True, mode)(standard)
    values, vectors = Eigh(True, mode)(standard, return_list=True)
    if type == 3:
        return EighResult(values, matmul(factor, vectors))
    return EighResult(values, solve_triangular(hermitian(factor), vectors, lower=False))


@stands_for("linalg.eigvalsh", "a UPLO")
def eigvalsh(
    a: Any,
    UPLO: Any = "L",
    *,
    b: Any = None,
    lower: bool | None = None,
    type: int = 1,
    on_error: str = "raise",
    **options: Unpack[ScipyOptions],
) -> TensorVariable:
    """The eigenvalues of Hermitian matrices ``a`` in ascending order. The result has the shape (..., n).

    ``UPLO``, ``b``, ``lower``, ``on_error``, ``options`` and errors are as in `eigh`. The gradient of an eigenvalue with respect to ``a`` is ``v v^H``, where v
    is its eigenvector as `eigh` returns it; for ``type`` 2 it is ``(b v) (b v)^H``. Its elements in the triangle that
    is not read are added to the mirrored elements in the other triangle. If eigenvalues are equal, the gradient of a
    symmetric function of the eigenvalues is correct, but second derivatives are NaN.
    """
    values: TensorVariable = eigh(
        a, UPLO, b=b, lower=lower, type=type, eigvals_only=True, on_error=on_error, **options
    )
    return values
