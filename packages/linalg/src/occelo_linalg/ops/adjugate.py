"""The op `Adjugate`, which computes adjugates of square matrices. The gradient of a determinant is an adjugate.

The pullback of `Det` applies the op. In expressions where det(A) cancels, a rule replaces an adjugate by det(A) inv(A).
There is no function for users.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.op import ZERO, op
from occelo_graph.ops.blas.products import matmul
from occelo_graph.ops.create import arange, eye, triu
from occelo_graph.ops.elemwise.arithmetic import abs as abs_
from occelo_graph.ops.elemwise.arithmetic import eq, le, neq, switch
from occelo_graph.ops.index.search import diagonal, rows_in_order
from occelo_graph.ops.reduce import prod
from occelo_graph.ops.reduce import sum as sum_
from occelo_graph.ops.shape.dimensions import expand_dims
from occelo_linalg.ops.equations.triangular import solve_triangular
from occelo_linalg.ops.factorizations.lu import (
    LuFactor,
    pivot_to_permutation,
    sign_of_exchanges,
)
from occelo_linalg.ops.factorizations.svd import svd
from occelo_linalg.ops.gradient_formulas import as_row, on_diagonal, real_dtype
from occelo_linalg.ops.inverse import inv
from occelo_linalg.ops.matrix_op import MatrixOp, hermitian

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array


@op
class Adjugate(MatrixOp):
    """The adjugate of each square matrix, which is the transposed matrix of cofactors.

    For an invertible matrix A, the adjugate is det(A) inv(A). For a singular matrix, it is the limit of this
    expression.
    """

    signature: ClassVar[str] = "(n,n)->(n,n)"
    formula: ClassVar[str | None] = None

    def core(self, *arrays: Array) -> Array:
        (a,) = arrays
        if not np.isfinite(a).all():
            return np.full_like(a, np.nan)
        u, s, vh = np.linalg.svd(a)
        n = len(s)
        others = np.prod(np.where(np.eye(n, dtype=bool), 1, s[None, :]), axis=1)
        scale = np.linalg.det(u) * np.linalg.det(vh)
        adjugate: Array = (scale * (vh.conj().T * others) @ u.conj().T).astype(a.dtype)
        return adjugate

    def decompose(self, *inputs: Any, **_: Any) -> Sequence[Any]:
        # pivots of 0 are replaced by numbers of the size of rounding errors, so the result changes as little as by
        # rounding
        (a,) = inputs
        real = real_dtype(a.dtype)
        factors, exchanged = LuFactor()(a)
        pivots = diagonal(factors, 0, a.type.ndim - 2, a.type.ndim - 1)
        size = sum_(abs_(factors), axis=(-2, -1))
        eps = np.asarray(np.finfo(real).eps, real)
        least = expand_dims(switch(eq(size, 0), 1, size).astype(real) * eps, -1)
        pivots = pivots + switch(eq(pivots, 0), least, 0).astype(a.dtype)
        unit = eye(a.shape[-1], dtype=a.dtype)
        upper = triu(factors, 1) + unit * as_row(pivots)
        right = rows_in_order(unit, pivot_to_permutation(exchanged, inverse=True))
        options: dict[str, Any] = {"b_ndim": 2, "on_error": "nan"}
        half = solve_triangular(factors, right, lower=True, unit_diagonal=True, **options)
        inverse = solve_triangular(upper, half, lower=False, **options)
        determinant = prod(pivots, axis=-1) * sign_of_exchanges(exchanged).astype(a.dtype)
        return [expand_dims(determinant, (-2, -1)) * inverse]

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        ct = cotangents[0]
        if ct is None or ct is ZERO:
            return [ct]
        # the pullback at A is the directional derivative at A^H
        a = hermitian(inputs[0])
        values = svd(a, compute_uv=False, on_error="nan")
        eps = np.asarray(np.finfo(values.dtype).eps, values.dtype)
        least = expand_dims(sum_(values, axis=-1) * eps, -1)
        regular = expand_dims(eq(sum_(le(values, least), axis=-1), 0), (-2, -1))
        unit = eye(a.shape[-1], dtype=a.dtype)
        # each formula gets another matrix in place of those for which it has no derivatives; these results are not used
        fine = switch(regular, a, unit)
        spread = switch(regular, unit * (arange(a.shape[-1]) + 1).astype(a.dtype), a)
        return [switch(regular, _by_inverse(fine, ct), _by_singular_values(spread, ct))]


def _by_inverse(a: Any, direction: Any) -> Any:
    """The derivative of the adjugates of ``a`` in the direction ``direction``. The matrices must be invertible."""
    inverse = inv(a, on_error="nan")
    moved = matmul(inverse, direction)
    trace = sum_(diagonal(moved, 0, moved.type.ndim - 2, moved.type.ndim - 1), axis=-1)
    factor = expand_dims(_determinants(a), (-2, -1))
    return factor * (expand_dims(trace, (-2, -1)) * inverse - matmul(moved, inverse))


def _determinants(a: Any) -> Any:
    """The determinants of ``a``, computed by the op `Det`."""
    from occelo_linalg.ops.determinant import Det  # `determinant` imports this module

    return Det()(a)


def _by_singular_values(a: Any, direction: Any) -> Any:
    """The derivative of the adjugates of ``a`` in the direction ``direction``. The matrices may be singular."""
    u, s, vh = svd(a, on_error="nan")
    turned = matmul(hermitian(u), matmul(direction, hermitian(vh)))
    n = s.shape[-1]
    own = neq(eye(n, dtype="int8"), 0)
    # element (i, j) is the product of all singular values except numbers i and j
    left_out = expand_dims(own, 0) | expand_dims(own, 1)
    products = prod(switch(left_out, 1, expand_dims(s, (-3, -2))), axis=-1)
    products = switch(own, 0, products).astype(a.dtype)
    on_it = diagonal(turned, 0, turned.type.ndim - 2, turned.type.ndim - 1)
    moved = on_diagonal(sum_(products * as_row(on_it), axis=-1)) - products * turned
    scale = expand_dims(_determinants(u) * _determinants(vh), (-2, -1))
    return scale * matmul(hermitian(vh), matmul(moved, hermitian(u)))
