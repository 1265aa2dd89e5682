"""Singular value decompositions: the functions `svd` and `svdvals`, and their ops.

Users call `svd` and `svdvals` from `occelo.tensor.linalg`. Norms (`norms`), pseudoinverses, least squares,
adjugates, Riccati equations and draws of normal vectors (`occelo_random.ops.matrices`) call them, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

import numpy as np

from occelo_graph.ir.op import op
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.blas.products import matmul
from occelo_linalg.ops.gradient_formulas import (
    absent,
    as_row,
    from_triangle,
    inverse_differences,
    inverse_sums,
    least,
    nothing,
    on_diagonal,
    real_dtype,
    reciprocals,
    require_finite,
)
from occelo_linalg.ops.matrix_op import MatrixOp, as_matrices, check_on_error, hermitian
from occelo_linalg.ops.results import SVDResult
from occelo_linalg.ops.scipy_options import ScipyOptions

if TYPE_CHECKING:
    from typing import Unpack

    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.type import TensorType
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["SVD", "FullSVD", "SingularValues", "svd", "svdvals"]


@op
class _ThreeFactors(MatrixOp):
    """Base class of `SVD` and `FullSVD`. They have three outputs; the second is real and has min(m, n) elements."""

    on_error: str = "raise"

    @property
    def label(self) -> str:
        return "svd"

    def lengths(self, known: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**known, "k": least(known, "m", "n")}

    def dtypes(self, *types: TensorType) -> Sequence[str]:
        dtype = types[0].dtype
        return [dtype, real_dtype(dtype), dtype]


@op
class SVD(_ThreeFactors):
    """Three outputs, U, s and V^H, with A = U diag(s) V^H. U and V have min(m, n) columns; s is in descending order."""

    signature: ClassVar[str] = "(m,n)->(m,k),(k),(k,n)"
    formula: ClassVar[str | None] = "{label}({inputs}, full_matrices=False{options})"

    def core(self, *arrays: Array) -> tuple[Array, ...]:
        require_finite(arrays[0])
        return tuple(np.linalg.svd(arrays[0], full_matrices=False))

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        if all(map(absent, cotangents)):
            return [nothing(cotangents)]
        return [_pulled(*outputs, *cotangents)]


@op
class FullSVD(_ThreeFactors):
    """The same as `SVD`, but U and V are square."""

    signature: ClassVar[str] = "(m,n)->(m,m),(k),(n,n)"

    def core(self, *arrays: Array) -> tuple[Array, ...]:
        require_finite(arrays[0])
        return tuple(np.linalg.svd(arrays[0]))

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        if all(map(absent, cotangents)):
            return [nothing(cotangents)]
        u, s, vh = outputs
        of_u, of_s, of_vh = cotangents
        k = s.shape[-1]
        thin_u, thin_v = u[..., :k], hermitian(vh[..., :k, :])
        of_v = None if absent(of_vh) else of_complement(hermitian(vh), k, hermitian(of_vh))
        of_u = None if absent(of_u) else of_complement(u, k, of_u)
        return [
            _pulled(
                thin_u, s, hermitian(thin_v), of_u, of_s, None if of_v is None else hermitian(of_v)
            )
        ]


def of_complement(q: Any, k: Any, ct: Any) -> Any:
    """Convert ``ct``, the cotangent of the unitary matrices ``q``, to a cotangent of their first ``k`` columns.

    The other columns are an arbitrary basis of the orthogonal complement of the first columns. When the first columns
    change, the other columns stay orthogonal to them. The other columns are assumed not to rotate within the
    complement. So the derivative of the other columns is a function of the derivative of the first columns. `FullSVD`
    and `FullQR` call this function.
    """
    first, rest = q[..., :k], q[..., k:]
    turned = matmul(rest, matmul(hermitian(ct[..., k:]), first))
    return ct[..., :k] - turned


def _pulled(u: Any, s: Any, vh: Any, of_u: Any, of_s: Any, of_vh: Any) -> Any:
    # Wan and Zhang (2019), Automatic differentiation for complex valued SVD, arXiv:1909.02659. Here s_i / (s_j^2 -
    # s_i^2) is split into terms with 1 / (s_j - s_i) and 1 / (s_j + s_i). Only the first term is undefined if values
    # are equal. On the diagonal, the second term is the derivative by the common phase of both vectors.
    uh, v = hermitian(u), hermitian(vh)
    inner = None if absent(of_s) else on_diagonal(of_s)
    from_u = None if absent(of_u) else matmul(uh, of_u)
    from_v = None if absent(of_vh) else matmul(vh, hermitian(of_vh))
    turns = _sum(_skew(from_u), _skew(from_v))
    if turns is not None:
        both = _sum(_skew(from_u), None if from_v is None else -_skew(from_v))
        half = np.asarray(0.5, s.dtype)
        inner = _sum(inner, (inverse_differences(s) * turns + inverse_sums(s) * both) * half)
    scale = as_row(reciprocals(s))
    outside: Any = None
    if from_u is not None:
        outside = matmul((of_u - matmul(u, from_u)) * scale, vh)
    result = outside if inner is None else _sum(matmul(u, matmul(inner, vh)), outside)
    if from_v is not None:
        of_v = hermitian(of_vh)
        columns = (of_v - matmul(v, from_v)) * scale
        result = _sum(result, matmul(u, hermitian(columns)))
    return result


def _skew(x: Any) -> Any:
    return None if x is None else x - hermitian(x)


def _sum(x: Any, y: Any) -> Any:
    return y if x is None else x if y is None else x + y


@op
class SingularValues(MatrixOp):
    """Computes only the second output of `SVD`, the singular values."""

    on_error: str = "raise"
    signature: ClassVar[str] = "(m,n)->(k)"

    @property
    def label(self) -> str:
        return "svdvals"

    def lengths(self, known: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**known, "k": least(known, "m", "n")}

    def dtypes(self, *types: TensorType) -> Sequence[str]:
        return [real_dtype(types[0].dtype)]

    def core(self, *arrays: Array) -> Array:
        require_finite(arrays[0])
        return np.linalg.svd(arrays[0], compute_uv=False)

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        ct = cotangents[0]
        if absent(ct):
            return [ct]
        u, _, vh = SVD(self.on_error)(inputs[0], return_list=True)
        return [matmul(u * as_row(ct), vh)]


@overload
def svd(
    a: Any,
    full_matrices: bool = ...,
    compute_uv: Literal[True] = ...,
    hermitian: bool = ...,
    *,
    on_error: str = ...,
    **options: Unpack[ScipyOptions],
) -> SVDResult: ...


@overload
def svd(
    a: Any,
    full_matrices: bool = ...,
    compute_uv: bool = ...,
    hermitian: bool = ...,
    *,
    on_error: str = ...,
    **options: Unpack[ScipyOptions],
) -> Any: ...


@stands_for("linalg.svd", "a full_matrices compute_uv hermitian")
def svd(
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
    *,
    on_error: str = "raise",
    **options: Unpack[ScipyOptions],
) -> Any:
    """Singular value decomposition of matrices ``a`` of shape (..., m, n), like NumPy's ``svd``.

    The results are ``U``, ``S`` and ``Vh`` with ``a == U @ diag(S) @ Vh``. ``S`` holds the singular values in
    descending order; they are real, of shape (..., k), where k is min(m, n). ``U`` and ``Vh`` are unitary, of shapes
    (..., m, m) and (..., n, n). With ``full_matrices=False``, their shapes are (..., m, k) and (..., k, n). With
    ``compute_uv=False``, only ``S`` is returned. If ``hermitian`` is True, the upper triangle of ``a`` is not read.
    Results have the precision of ``a``, or float64 for integers.

    The signs (or complex phases) of pairs of singular vectors are arbitrary, and so are the columns of ``U`` and the
    rows of ``Vh`` after the first k. A cost must not depend on these choices. If singular values are equal within
    rounding errors, or 0, the singular vectors have no derivative, and a gradient through the vectors is NaN. The
    gradient is NaN even for products that may have a derivative, such as the polar factor ``U @ Vh``. Gradients of
    symmetric functions of the singular values are correct even if values are equal. If a value is 0, these gradients
    are subgradients.

    If a matrix has infinite or NaN elements, or if the algorithm does not converge, ``numpy.linalg.LinAlgError`` is
    raised. With ``on_error="nan"``, the results of this matrix are NaN. ValueError if ``a`` has fewer than two
    dimensions, TypeError for float16. ``options`` are SciPy's.
    """
    (x,) = as_matrices("svd", a, options=options)
    if hermitian:
        x = _as_hermitian(x)
    mode = check_on_error(on_error)
    if not compute_uv:
        return SingularValues(mode)(x)
    factor = FullSVD(mode) if full_matrices else SVD(mode)
    return SVDResult(*factor(x, return_list=True))


def _as_hermitian(x: Any) -> Any:
    if x.type.ndim < 2:
        return x
    return from_triangle(x, True)


@stands_for("linalg.svdvals", "x")
def svdvals(x: Any, *, on_error: str = "raise", **options: Unpack[ScipyOptions]) -> TensorVariable:
    """The singular values of matrices ``x`` of shape (..., m, n), in descending order.

    The result has the shape (..., min(m, n)). The gradient of a singular value is the outer product of its singular
    vectors, if the value occurs only once. The gradient of a symmetric function of the values is correct even if values
    are equal. If a value is 0, this gradient is a subgradient. Precision, ``on_error``, ``options`` and errors are
    as in `svd`.
    """
    (matrix,) = as_matrices("svdvals", x, options=options)
    return SingularValues(check_on_error(on_error))(matrix)
