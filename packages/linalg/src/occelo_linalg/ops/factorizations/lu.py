"""LU factorisations with partial pivoting: the functions `lu`, `lu_factor` and `pivot_to_permutation`, and their ops.

Users call the functions from `occelo.tensor.linalg`. Determinants and adjugates decompose into the op `LuFactor` and
simpler ops. The module `lu_solving` solves equations with the results of `lu_factor`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.op import ZERO, op
from occelo_graph.ops.blas.products import matmul
from occelo_graph.ops.cast import cast
from occelo_graph.ops.control.identities import assume
from occelo_graph.ops.create import arange, eye, tril, triu, zeros
from occelo_graph.ops.elemwise.arithmetic import eq, maximum, minimum, neq
from occelo_graph.ops.index.search import rows_in_order
from occelo_graph.ops.join import concatenate
from occelo_graph.ops.shape.dimensions import expand_dims, matrix_transpose
from occelo_graph.optional_scipy import scipy_module
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import TensorType, is_discrete
from occelo_linalg.ops.equations.triangular import solve_triangular
from occelo_linalg.ops.matrix_op import (
    MatrixOp,
    as_matrices,
    hermitian,
)
from occelo_linalg.ops.scipy_options import ScipyOptions

if TYPE_CHECKING:
    from typing import Unpack

    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "LuFactor",
    "PivotToPermutation",
    "lu",
    "lu_factor",
    "pivot_to_permutation",
]


@op
class LuFactor(MatrixOp):
    """Two outputs: a matrix with L below the diagonal and U on and above it, and the pivots as int32.

    The pivots describe how rows were exchanged: for i = 0, 1, ..., row i was exchanged with row ``pivots[i]``.
    """

    signature: ClassVar[str] = "(m,n)->(m,n),(k)"

    @property
    def label(self) -> str:
        return "lu_factor"

    def lengths(self, known: Mapping[str, Any]) -> Mapping[str, Any]:
        m, n = known["m"], known["n"]
        if m is n or m is None or n is None:
            return {**known, "k": m if m is n else None}
        both = isinstance(m, int) and isinstance(n, int)
        return {**known, "k": min(m, n) if both else minimum(m, n)}

    def dtypes(self, *types: TensorType) -> Sequence[str]:
        return [types[0].dtype, "int32"]

    def core(self, *arrays: Array) -> tuple[Array, ...]:
        (a,) = arrays
        if a.size == 0:
            return a.copy(), np.zeros(0, "int32")
        linalg: Any = scipy_module("linalg", self.label)
        (routine,) = linalg.get_lapack_funcs(("getrf",), (a,))
        factors, pivots, _ = routine(a)
        return np.ascontiguousarray(factors), pivots.astype("int32")

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        ct = cotangents[0]
        if ct is None or ct is ZERO:
            return [ZERO if ct is ZERO or cotangents[1] is not None else None]
        # pulls back dLU = L tril(S, -1) + triu(S) U, where L S U is the differential of A with its rows exchanged
        factors, pivots = outputs
        m, n = factors.shape[-2], factors.shape[-1]
        static = factors.type.shape[-2:]
        square = static[0] is not None and static[0] == static[1]
        left, right = factors, factors
        if not square:
            left, right = _with_columns(left, m), _with_rows(right, n)
        # L and U are made square; rows that U lacks get a 1 on the diagonal
        lower = tril(left, -1) + eye(m, dtype=factors.dtype)
        upper = triu(right)
        if not square:
            lacking = cast(arange(n) >= m, factors.dtype)
            upper = upper + eye(n, dtype=factors.dtype) * lacking
        inner = tril(matmul(hermitian(lower), ct), -1) + triu(matmul(ct, hermitian(upper)))
        half = solve_triangular(hermitian(lower), inner, lower=False, unit_diagonal=True)
        # the gradient of a singular matrix is NaN; the other matrices of the batch keep their gradients
        whole = hermitian(solve_triangular(upper, hermitian(half), lower=False, on_error="nan"))
        return [rows_in_order(whole, pivot_to_permutation(_all_pivots(pivots, m)))]


def _with_columns(x: TensorVariable, n: Any) -> TensorVariable:
    """The first ``n`` columns of matrices, with columns of zeros at the end if ``x`` has fewer columns."""
    missing = maximum(n - x.shape[-1], 0)
    lead = [x.shape[i] for i in range(x.type.ndim - 1)]
    return concatenate([x, zeros([*lead, missing], x.dtype)], axis=-1)[..., :n]


def _with_rows(x: TensorVariable, m: Any) -> TensorVariable:
    return matrix_transpose(_with_columns(matrix_transpose(x), m))


def _all_pivots(pivots: TensorVariable, m: Any) -> TensorVariable:
    """Extend pivots to all ``m`` rows. A row without a pivot is exchanged with itself."""
    k = pivots.shape[-1]
    rest = arange(k, m, dtype="int32")
    lead = [pivots.shape[i] for i in range(pivots.type.ndim - 1)]
    return concatenate([pivots, zeros([*lead, maximum(m - k, 0)], "int32") + rest], axis=-1)


def sign_of_exchanges(pivots: TensorVariable) -> TensorVariable:
    """1 if the number of exchanges of two rows is even, and -1 if it is odd, as int8."""
    moved = neq(pivots, arange(pivots.shape[-1], dtype="int32"))
    sign: TensorVariable = cast(1 - 2 * (moved.sum(axis=-1) % 2), "int8")
    return sign


@op
class PivotToPermutation(MatrixOp):
    """Converts pivots to a permutation: for i = 0, 1, ..., element i is exchanged with element ``pivots[i]``.

    With ``inverse`` it is the inverse permutation.
    """

    inverse: bool = False
    signature: ClassVar[str] = "(n)->(n)"

    @property
    def label(self) -> str:
        return "pivot_to_permutation"

    def dtypes(self, *types: TensorType) -> Sequence[str]:
        return ["int64"]

    def core(self, *arrays: Array) -> Array:
        (pivots,) = arrays
        if ((pivots < 0) | (pivots >= len(pivots))).any():
            raise IndexError(f"{self.label}: a pivot is no position among {len(pivots)} rows")
        order: Array = np.arange(len(pivots))
        for i, p in enumerate(pivots):
            order[[i, p]] = order[[p, i]]
        return order if self.inverse else np.argsort(order)

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        return [ZERO]


def pivot_to_permutation(p: Any, inverse: bool = False) -> TensorVariable:
    """Convert pivots ``p`` of `lu_factor` to a permutation (int64). Both have the shape (..., n).

    If ``q`` is ``pivot_to_permutation(p)``, the factorised matrix is ``(L @ U)[q]``. If ``q`` is
    ``pivot_to_permutation(p, inverse=True)``, row i of ``L @ U`` is row ``q[i]`` of the matrix. TypeError if ``p`` are
    not integers.
    """
    pivots = as_tensor_variable(p)
    if not is_discrete(pivots.dtype) or pivots.dtype == "bool":
        raise TypeError(f"pivot_to_permutation takes integers, got {pivots.type}")
    permutation: TensorVariable = PivotToPermutation(bool(inverse))(pivots)
    return permutation


def lu_factor(a: Any, **options: Unpack[ScipyOptions]) -> tuple[TensorVariable, TensorVariable]:
    """LU factorisation of matrices ``a`` of shape (..., m, n) for `lu_solve`, like SciPy's ``lu_factor``.

    The first result has the shape (..., m, n). It holds L below the diagonal, and U on and above it; the ones on the
    diagonal of L are left out. The second result holds int32 pivots of shape (..., min(m, n)): for i = 0, 1, ..., row i
    was exchanged with row ``pivots[i]``. A singular matrix is not an error; its U has a 0 on the diagonal. The gradient
    treats the pivots as constant. The gradient of a singular matrix is NaN. ``options`` are SciPy's.
    """
    (x,) = as_matrices("lu_factor", a, options=options)
    factors, pivots = LuFactor()(x)
    return factors, pivots


def lu(
    a: Any, permute_l: bool = False, *, p_indices: bool = False, **options: Unpack[ScipyOptions]
) -> tuple[TensorVariable, ...]:
    """LU factorisation ``a == P @ L @ U`` of matrices ``a`` of shape (..., m, n), like SciPy's ``lu``.

    Returns P, L and U. P is a real permutation matrix of shape (..., m, m). L is lower triangular with ones on the
    diagonal, and has the shape (..., m, k), where k is min(m, n). U is upper triangular, of shape (..., k, n). If
    ``p_indices`` is True, the first result is a vector p instead, int32 of shape (..., m), and ``a`` is ``L[p] @ U``.
    If ``permute_l`` is True, the results are ``P @ L`` and U.

    ``options`` are SciPy's. The gradient treats P as constant. It is NaN for a matrix with a 0 on the diagonal of U.
    """
    (x,) = as_matrices("lu", a, options=options)
    factors, pivots = LuFactor()(x)
    m, n = x.shape[-2], x.shape[-1]
    rows, columns = x.type.shape[-2:]
    left, right = factors, factors
    if rows is None or columns is None or rows != columns:
        k = minimum(m, n)
        left, right = factors[..., :k], factors[..., :k, :]
    lower = tril(left, -1) + eye(left.shape[-2], left.shape[-1], dtype=x.dtype)
    upper = triu(right)
    order = pivot_to_permutation(_all_pivots(pivots, m))
    if permute_l:
        return rows_in_order(lower, order), upper
    if p_indices:
        return cast(order, "int32"), lower, upper
    real = {"complex64": "float32", "complex128": "float64"}.get(x.dtype, x.dtype)
    ones = cast(eq(expand_dims(order, -1), arange(m)), real)
    matrix: TensorVariable = assume(ones, permutation=True)
    return matrix, lower, upper
