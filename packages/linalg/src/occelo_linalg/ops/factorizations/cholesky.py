"""Cholesky factors of positive definite matrices: the function `cholesky`, its op `Cholesky`, and the op's pullback.

Users call `cholesky` from `occelo.tensor.linalg`. `cho_factor`, the generalized `eigh`, draws of vectors
(`occelo_random.ops.matrices`) and laws of vectors (`occelo_stats.vectors`) call it, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.errors import describe
from occelo_graph.ir.op import ZERO, op
from occelo_graph.ir.traits import SECOND
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.blas.products import Dot, MatMul, matmul
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.control.identities import Assume
from occelo_graph.ops.create import tril
from occelo_graph.ops.elemwise.arithmetic import neq, sgn, switch
from occelo_graph.ops.elemwise.complex import conj
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.index.search import diagonal
from occelo_graph.ops.shape.dimensions import DimShuffle, expand_dims
from occelo_graph.tensors.constant import constant
from occelo_graph.tensors.nodes import computed_by
from occelo_graph.tensors.type import is_complex
from occelo_linalg.ops.equations.triangular import solve_triangular
from occelo_linalg.ops.matrix_op import MatrixOp, as_matrices, check_on_error, hermitian
from occelo_linalg.ops.scipy_options import ScipyOptions

if TYPE_CHECKING:
    from typing import Unpack

    from occelo_graph.ir.nodes import Apply
    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["Cholesky", "CholeskyPullback", "cholesky"]


@op
class Cholesky(MatrixOp):
    """Computes the lower triangular L with L L^H = A. Only the lower triangle of A is read."""

    on_error: str = "raise"
    signature: ClassVar[str] = "(n,n)->(n,n)"
    reads_once: ClassVar[bool] = True

    def core(self, *arrays: Array) -> Array:
        return np.linalg.cholesky(arrays[0])

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        ct = cotangents[0]
        return [ct if ct is None or ct is ZERO else CholeskyPullback()(outputs[0], ct)]

    def differentiable_form(self, node: Apply) -> TensorVariable | None:
        """cholesky(L L^H) = L for an L that is stated to be lower triangular, with columns of other signs.

        The derivative of L L^H squares the condition number of L.
        """
        factor = _stated_factor(node.inputs[0])
        return None if factor is None else factor_of_product(factor, self.on_error)


@op
class CholeskyPullback(MatrixOp):
    """The pullback of `Cholesky`. The inputs are the factor L and its cotangent; only their lower triangles are read.

    The result is the cotangent of A, a lower triangular matrix. Since A is Hermitian, each element below the diagonal
    occurs twice in A. The cotangents of both are added.
    """

    signature: ClassVar[str] = "(n,n),(n,n)->(n,n)"
    formula: ClassVar[str | None] = None

    @property
    def label(self) -> str:
        return "gradient of cholesky"

    def linear_in(self, node: Apply) -> Sequence[slice]:
        return (SECOND,)

    def core(self, *arrays: Array) -> Array:
        factor, ct = (np.tril(a) for a in arrays)
        adjoint = factor.conj().T
        inner = np.tril(adjoint @ ct)
        np.fill_diagonal(inner, 0.5 * np.real(np.diagonal(inner)))
        left = np.linalg.solve(adjoint, inner)
        whole = np.linalg.solve(adjoint, left.conj().T).conj().T
        folded = np.tril(whole + whole.conj().T)
        np.fill_diagonal(folded, 0.5 * np.real(np.diagonal(folded)))
        return folded

    def decompose(self, *inputs: Any, **_: Any) -> Sequence[Any]:
        # Murray (2016), Differentiation of the Cholesky decomposition, arXiv:1602.07527, equations 9 and 10
        factor, ct = tril(inputs[0]), tril(inputs[1])
        whole = _between(factor, half_diagonal(tril(matmul(hermitian(factor), ct))))
        # each element below the diagonal occurs twice in the matrix
        return [half_diagonal(tril(whole + hermitian(whole)))]

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        # pulls back the steps of the decomposition in reverse order
        if cotangents[0] is None or cotangents[0] is ZERO:
            return [cotangents[0]] * 2
        factor, ct = tril(inputs[0]), tril(inputs[1])
        whole = _between(factor, half_diagonal(tril(matmul(hermitian(factor), ct))))
        part = half_diagonal(tril(cotangents[0]))
        of_whole = part + hermitian(part)
        left = solve_triangular(factor, of_whole, lower=True)
        of_inner = hermitian(solve_triangular(factor, hermitian(left), lower=True))
        of_product = half_diagonal(tril(of_inner))
        # of_whole is Hermitian, so left^H = of_whole L^-H
        of_factor = matmul(ct, hermitian(of_product)) - matmul(
            whole + hermitian(whole), hermitian(left)
        )
        return [tril(of_factor), tril(matmul(factor, of_product))]


def _stated_factor(x: Any) -> TensorVariable | None:
    """The L of a matrix L L^H, if L is square and was stated to be lower triangular. None for other matrices."""
    turned = _adjoint_of(x)  # the product is Hermitian
    product = computed_by(x if turned is None else turned, Dot, MatMul)
    if product is None:
        return None
    factor, other = product.inputs
    stated = computed_by(factor, Assume)
    if stated is None or ("lower_triangular", True) not in stated.op.facts:
        return None
    rows, columns = factor.type.shape[-2:]
    fits = factor.type.ndim == x.type.ndim and rows == columns is not None
    return factor if fits and _adjoint_of(other) is factor else None


def _adjoint_of(turned: TensorVariable) -> TensorVariable | None:
    """The x of a variable that is written as the conjugate transpose of x. None for other variables."""
    if is_complex(turned.type.dtype):
        outer = computed_by(turned, Elemwise)
        if outer is None or outer.op != conj:
            return None
        turned = outer.inputs[0]
    moved = computed_by(turned, DimShuffle)
    if moved is None or turned.type.ndim < 2:
        return None
    *batch, rows, columns = range(turned.type.ndim)
    return moved.inputs[0] if moved.op.new_order == (*batch, columns, rows) else None


def factor_of_product(factor: TensorVariable, on_error: str) -> TensorVariable:
    """cholesky(L L^H) for a square lower triangular L: its columns times numbers of absolute value 1, so that the diagonal is positive.

    If there is a zero on the diagonal of L, the product is singular: a check raises an error, or the result is NaN.
    """
    ndim = factor.type.ndim
    pivots = diagonal(factor, 0, ndim - 2, ndim - 1)
    signs = sgn(pivots)
    if on_error == "raise":
        check = CheckAndRaise(np.linalg.LinAlgError, "cholesky: Matrix is not positive definite")
        signs = check(signs, neq(pivots, 0).all())
    else:
        regular = neq(pivots, 0).all(axis=-1, keepdims=True)
        signs = switch(regular, signs, constant(np.array(np.nan, signs.type.dtype)))
    signs = signs.conj() if is_complex(signs.type.dtype) else signs
    scaled: TensorVariable = factor * expand_dims(signs, -2)
    return scaled


def _between(factor: Any, inner: Any) -> TensorVariable:
    """The product ``L^-H inner L^-1``, where L is ``factor``."""
    left = solve_triangular(hermitian(factor), inner, lower=False)
    return hermitian(solve_triangular(hermitian(factor), hermitian(left), lower=False))


def half_diagonal(x: Any) -> TensorVariable:
    """Halve the real part of the diagonal of matrices, and set its imaginary part to 0."""
    from occelo_graph.ops.create import eye

    n = x.shape[-1]
    real = x.real if is_complex(x.dtype) else x
    return x - eye(n, dtype=real.dtype) * (x - real * np.asarray(0.5, real.dtype))


@stands_for("linalg.cholesky", "a upper")
def cholesky(
    a: Any,
    lower: bool = True,
    *,
    upper: bool | None = None,
    on_error: str = "raise",
    **options: Unpack[ScipyOptions],
) -> TensorVariable:
    """The Cholesky factors of positive definite matrices ``a`` of shape (..., n, n).

    The result is the lower triangular L with ``L @ L^H == a``, and only the lower triangle of ``a`` is read. With
    ``lower=False`` (or NumPy's ``upper=True``), the result is the upper triangular U with ``U^H @ U == a``, and only
    the upper triangle is read. The gradient is zero in the triangle that is not read. The result has the dtype of
    ``a``, or float64 for integers.

    If a matrix is not positive definite, ``numpy.linalg.LinAlgError`` is raised. The message has the matrix's position
    in the batch. With ``on_error="nan"``, its factor is NaN. ValueError if ``a`` is not square, TypeError for float16.
    ``options`` are SciPy's.
    """
    (x,) = as_matrices("cholesky", a, options=options)
    if x.type.ndim < 2:
        raise ValueError(f"cholesky takes matrices, got {describe(x)}")
    factorize = Cholesky(check_on_error(on_error))
    if lower if upper is None else not upper:
        factor: TensorVariable = factorize(x)
        return factor
    return hermitian(factorize(hermitian(x)))
