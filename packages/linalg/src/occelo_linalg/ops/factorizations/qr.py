"""QR decompositions: the function `qr` and its ops.

Users call `qr` from `occelo.tensor.linalg`. There is an op for each set of results: `QR`, `FullQR`, `QRTriangle`,
`QRFactors` and `QRPivots`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.op import ZERO, op
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.blas.products import matmul
from occelo_graph.ops.create import arange, triu
from occelo_graph.ops.elemwise.arithmetic import eq
from occelo_graph.ops.join import concatenate
from occelo_graph.ops.shape.dimensions import expand_dims
from occelo_graph.optional_scipy import scipy_module
from occelo_linalg.ops.equations.triangular import solve_triangular
from occelo_linalg.ops.factorizations.cholesky import half_diagonal
from occelo_linalg.ops.factorizations.svd import of_complement
from occelo_linalg.ops.gradient_formulas import absent, as_row, least, nothing
from occelo_linalg.ops.matrix_op import MatrixOp, as_matrices, hermitian
from occelo_linalg.ops.results import QRResult
from occelo_linalg.ops.scipy_options import ScipyOptions

if TYPE_CHECKING:
    from typing import Unpack

    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.type import TensorType
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["QR", "FullQR", "QRFactors", "QRPivots", "QRTriangle", "qr"]


class _WithShorter(MatrixOp):
    """Base class of ops on matrices of shape (m, n). In their signatures, k is min(m, n)."""

    def lengths(self, known: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**known, "k": least(known, "m", "n")}

    @property
    def label(self) -> str:
        return "qr"


@op
class QR(_WithShorter):
    """Two outputs, Q and R, with A = Q R. Q has min(m, n) orthonormal columns, and R is upper triangular.

    The signs on the diagonal of R are those that LAPACK computes.
    """

    signature: ClassVar[str] = "(m,n)->(m,k),(k,n)"

    def core(self, *arrays: Array) -> tuple[Array, ...]:
        return tuple(np.linalg.qr(arrays[0]))

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        if all(map(absent, cotangents)):
            return [nothing(cotangents)]
        return [_pulled(inputs[0], *outputs, *cotangents)]


@op
class FullQR(_WithShorter):
    """The same as `QR`, but Q is square, and R has as many rows as A."""

    signature: ClassVar[str] = "(m,n)->(m,m),(m,n)"
    formula: ClassVar[str | None] = "{label}({inputs}, 'complete')"

    def core(self, *arrays: Array) -> tuple[Array, ...]:
        return tuple(np.linalg.qr(arrays[0], "complete"))

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        if all(map(absent, cotangents)):
            return [nothing(cotangents)]
        (q, r), (of_q, of_r) = outputs, cotangents
        k = least({"m": q.shape[-1], "n": r.shape[-1]}, "m", "n")
        of_q = None if absent(of_q) else of_complement(q, k, of_q)
        of_r = None if absent(of_r) else of_r[..., :k, :]
        return [_pulled(inputs[0], q[..., :k], r[..., :k, :], of_q, of_r)]


@op
class QRTriangle(_WithShorter):
    """Computes only the second output of `QR`, the factor R."""

    signature: ClassVar[str] = "(m,n)->(k,n)"
    formula: ClassVar[str | None] = "{label}({inputs}, 'r')"

    def core(self, *arrays: Array) -> Array:
        triangle: Any = np.linalg.qr(arrays[0], "r")
        return np.asarray(triangle)

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        if absent(cotangents[0]):
            return [cotangents[0]]
        q, r = QR()(inputs[0], return_list=True)
        return [_pulled(inputs[0], q, r, None, cotangents[0])]


def _pulled(a: Any, q: Any, r: Any, of_q: Any, of_r: Any) -> Any:
    """The cotangent of ``a``, for cotangents of Q and R.

    The formulas are from Roberts and Roberts (2020), QR and LQ decomposition matrix backpropagation algorithms,
    arXiv:2009.10071.

    Lengths may be dynamic, so the same formula is used for wide and tall matrices. The first k columns of the matrix
    have a QR decomposition with the same Q. Each other column is Q times the corresponding column of R.
    """
    k = r.shape[-2]
    square, of_rest = r[..., :, :k], None
    if not absent(of_r):
        of_rest = of_r[..., :, k:]
        rest = matmul(a[..., :, k:], hermitian(of_rest))
        of_q = rest if absent(of_q) else of_q + rest
    inner: Any = None
    if not absent(of_r):
        inner = matmul(square, hermitian(of_r[..., :, :k]))
    if not absent(of_q):
        product = matmul(hermitian(of_q), q)
        inner = -product if inner is None else inner - product
    # the lower triangle of inner, whose mirror image is added below
    low = hermitian(triu(hermitian(inner)))
    left = matmul(q, half_diagonal(low + hermitian(low)))
    if not absent(of_q):
        left = of_q + left
    of_first = hermitian(solve_triangular(square, hermitian(left), lower=False))
    if of_rest is None:
        return concatenate([of_first, a[..., :, k:] * np.asarray(0, a.dtype)], axis=-1)
    return concatenate([of_first, matmul(q, of_rest)], axis=-1)


@op
class QRFactors(_WithShorter):
    """The two results of LAPACK's geqrf.

    The first result has R and, below its diagonal, the Householder vectors. The second result has the factors tau of
    these vectors.
    """

    signature: ClassVar[str] = "(m,n)->(m,n),(k)"
    formula: ClassVar[str | None] = None

    def core(self, *arrays: Array) -> tuple[Array, ...]:
        turned, factors = np.linalg.qr(arrays[0], "raw")
        return turned.T, factors


@op
class QRPivots(_WithShorter):
    """The order of columns that QR decomposition with column pivoting chooses."""

    signature: ClassVar[str] = "(m,n)->(n)"
    formula: ClassVar[str | None] = "{label}({inputs}, 'r', True)[1]"

    def dtypes(self, *types: TensorType) -> Sequence[str]:
        return ["int32"]

    def core(self, *arrays: Array) -> Array:
        if arrays[0].size == 0:
            return np.arange(arrays[0].shape[1], dtype="int32")
        _, order = scipy_module("linalg", "qr").qr(arrays[0], mode="r", pivoting=True)
        return np.asarray(order, "int32")

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        return [ZERO]


_MODES = {"reduced": "reduced", "economic": "reduced", "complete": "complete", "full": "complete"}


@stands_for("linalg.qr", "a mode")
def qr(
    a: Any, mode: str = "reduced", pivoting: bool = False, **options: Unpack[ScipyOptions]
) -> Any:
    """QR decomposition of matrices ``a`` of shape (..., m, n), like NumPy's ``qr``, with column pivoting as in SciPy.

    The results depend on ``mode``; k is min(m, n):

    - "reduced" or "economic": ``Q`` of shape (..., m, k) and ``R`` of shape (..., k, n) with ``a == Q @ R``
    - "complete" or "full": ``Q`` of shape (..., m, m) and ``R`` of shape (..., m, n)
    - "r": only ``R``, of shape (..., k, n)
    - "raw": the results of LAPACK's geqrf. The first, of shape (..., n, m), is the transpose of a matrix with ``R``
      and, below the diagonal, the Householder vectors. The second, of shape (..., k), has the factors of these vectors

    If ``pivoting`` is True, there is one more result: the order ``p`` of columns, int32 of shape (..., n). Then ``a[:,
    p] == Q @ R``, and the absolute values on the diagonal of ``R`` do not increase. Results have the dtype of ``a``, or
    float64 for integers.

    The signs on the diagonal of ``R`` are those that LAPACK computes. The gradient is correct if the first k columns of
    ``a`` (with pivoting: of ``a[:, p]``) are linearly independent. Otherwise the gradient contains inf or NaN, or
    raises LinAlgError. In the mode "complete", the columns of ``Q`` after the first k are an arbitrary basis of the
    orthogonal complement, so a cost must not depend on the choice of this basis. "raw" has no gradient. The gradient
    treats the order of columns as constant.

    ValueError for another mode, or if ``a`` has fewer than two dimensions. TypeError for float16. ``options`` are SciPy's.
    """
    if mode not in (*_MODES, "r", "raw"):
        raise ValueError(
            f'mode must be "reduced", "complete", "r", "raw", "economic" or "full", got {mode!r}'
        )
    (x,) = as_matrices("qr", a, options=options)
    order: list[TensorVariable] = []
    if pivoting:
        order = [QRPivots()(x)]
        x = _in_order(x, order[0])
    if mode == "r":
        triangle: TensorVariable = QRTriangle()(x)
        return (triangle, *order) if pivoting else triangle
    if mode == "raw":
        packed, factors = QRFactors()(x, return_list=True)
        return (packed.mT, factors, *order)
    factor = QR() if _MODES[mode] == "reduced" else FullQR()
    q, r = factor(x, return_list=True)
    return (q, r, *order) if pivoting else QRResult(q, r)


def _in_order(x: Any, order: Any) -> Any:
    """Reorder the columns of matrices. Each matrix of the batch has its own order."""
    if x.type.ndim == 2:
        return x[:, order]
    n = x.shape[-1]
    chosen = eq(expand_dims(arange(n), -1), as_row(order)).astype(x.dtype)
    return matmul(x, chosen)
