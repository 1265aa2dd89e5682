"""Solves linear equations and computes inverses from LU factors: the ops `LuSolve` and `LuInverse`, and `lu_solve`.

Users call `lu_solve` from `occelo.tensor.linalg`. If a graph computes several solutions, determinants or inverses with
the same matrix, rules compute them from one factorisation by these ops. The linkers for machine code have lowerings of
the ops. For other linkers, the ops decompose into triangular solves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.op import ZERO, op
from occelo_graph.ops.blas.products import matmul
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.create import eye, tril, triu
from occelo_graph.ops.elemwise.arithmetic import eq
from occelo_graph.ops.elemwise.op import broadcast_static
from occelo_graph.ops.index.search import rows_in_order
from occelo_graph.ops.shape.dimensions import expand_dims, squeeze
from occelo_graph.optional_scipy import scipy_module
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import is_complex, is_discrete
from occelo_linalg.ops.equations.triangular import check_b_ndim, solve_triangular
from occelo_linalg.ops.factorizations.lu import pivot_to_permutation
from occelo_linalg.ops.matrix_op import (
    LinAlgError,
    MatrixOp,
    as_matrices,
    check_on_error,
    hermitian,
    several,
)
from occelo_linalg.ops.scipy_options import ScipyOptions

if TYPE_CHECKING:
    from typing import Unpack

    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["LuInverse", "LuSolve", "lu_solve"]


@op
class LuSolve(MatrixOp):
    """Solves A X = B for square matrices A. The inputs are the two results of `LuFactor` for A, and B.

    If ``trans`` is 1, A is replaced by its transpose; if it is 2, by its conjugate transpose.
    """

    trans: int = 0
    on_error: str = "raise"
    signature: ClassVar[str] = "(n,n),(n),(n,k)->(n,k)"
    formula: ClassVar[str | None] = "{label}(({0}, {1}), {2}{options})"

    @property
    def label(self) -> str:
        return "lu_solve"

    def core(self, *arrays: Array) -> Array:
        factors, pivots, right = arrays
        if right.size == 0:
            return np.zeros_like(right)
        _check(self.label, factors, pivots)
        linalg: Any = scipy_module("linalg", self.label)
        (routine,) = linalg.get_lapack_funcs(("getrs",), (factors, right))
        solution, _ = routine(factors, pivots, right, trans=self.trans)
        return np.ascontiguousarray(solution)

    def decompose(self, factors: Any, pivots: Any, right: Any) -> Sequence[Any]:
        return [_substituted(factors, pivots, right, self.trans, self.on_error)]

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        (factors, pivots, _), (x,), ct = inputs, outputs, cotangents[0]
        if ct is None or ct is ZERO:
            return [ct, ZERO, ct]
        if self.trans == 1 and is_complex(factors.dtype):
            # the conjugate transpose of A^T is the conjugate of A
            of_b = LuSolve(0, self.on_error)(factors, pivots, ct.conj()).conj()
        else:
            of_b = LuSolve(0 if self.trans else 2, self.on_error)(factors, pivots, ct)
        # of_a is the cotangent of A; the cotangents of L and U follow, as L U is A with its rows exchanged
        if not self.trans:
            of_a = -matmul(of_b, hermitian(x))
        else:
            of_a = -matmul(x, hermitian(of_b))
            of_a = of_a.conj() if self.trans == 1 and is_complex(factors.dtype) else of_a
        of_a = rows_in_order(of_a, pivot_to_permutation(pivots, inverse=True))
        lower = tril(factors, -1) + eye(factors.shape[-1], dtype=factors.dtype)
        of_lower = tril(matmul(of_a, hermitian(triu(factors))), -1)
        return [of_lower + triu(matmul(hermitian(lower), of_a)), ZERO, of_b]


@op
class LuInverse(MatrixOp):
    """Computes the inverses of square matrices from the two results of `LuFactor`."""

    on_error: str = "raise"
    signature: ClassVar[str] = "(n,n),(n)->(n,n)"
    formula: ClassVar[str | None] = None

    @property
    def label(self) -> str:
        return "inv"

    def core(self, *arrays: Array) -> Array:
        factors, pivots = arrays
        if factors.size == 0:
            return np.zeros_like(factors)
        _check(self.label, factors, pivots)
        linalg: Any = scipy_module("linalg", self.label)
        (routine,) = linalg.get_lapack_funcs(("getri",), (factors,))
        inverse, _ = routine(factors, pivots)
        return np.ascontiguousarray(inverse)

    def decompose(self, factors: Any, pivots: Any) -> Sequence[Any]:
        one = eye(factors.shape[-1], dtype=factors.dtype)
        return [LuSolve(0, self.on_error)(factors, pivots, one)]


def _check(label: str, factors: Array, pivots: Array) -> None:
    """Raise IndexError if a pivot is not a row number, and LinAlgError if U has a zero on its diagonal."""
    n = len(factors)
    if ((pivots < 0) | (pivots >= n)).any():
        raise IndexError(f"{label}: a pivot is no position among {n} rows")
    if not np.diagonal(factors).all():
        raise LinAlgError("Singular matrix")


def lu_solve(
    lu_and_piv: Any,
    b: Any,
    trans: int | str = 0,
    b_ndim: int | None = None,
    *,
    on_error: str = "raise",
    **options: Unpack[ScipyOptions],
) -> TensorVariable:
    """Solve ``a @ x == b`` for square matrices ``a``, like SciPy's ``lu_solve``.

    ``lu_and_piv`` is the result of ``lu_factor(a)``. If ``trans`` is 1 or "T", ``a`` is replaced by its transpose; if
    it is 2 or "C", by its conjugate transpose. If ``b_ndim`` is 1, ``b`` consists of vectors (..., n); if it is 2, of
    matrices (..., n, k). By default, ``b`` is a vector if it has one dimension, else it consists of matrices. Batch
    dimensions broadcast.

    If a matrix is singular, ``numpy.linalg.LinAlgError`` is raised. With ``on_error="nan"``, the solution is NaN for
    this element of the batch. ValueError if the shapes do not fit. ``options`` are SciPy's.
    """
    packed, pivots = several(
        "lu_solve", "lu_and_piv", lu_and_piv, 2, "the pair that lu_factor returns"
    )
    pivots = as_tensor_variable(pivots)
    factors, right = as_matrices("lu_solve", packed, b, options=options)
    if not is_discrete(pivots.dtype) or pivots.dtype == "bool":
        raise TypeError(f"lu_solve takes pivots that are integers, got {pivots.type}")
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise ValueError(f"trans must be 0, 1, 2 or 'N', 'T', 'C', got {trans!r}")
    turned = "NTC".index(trans) if isinstance(trans, str) else int(trans)
    if not is_complex(factors.dtype):
        turned = min(turned, 1)
    ndim = check_b_ndim("lu_solve", right, b_ndim)
    if ndim == 1:
        right = expand_dims(right, -1)
    solution: TensorVariable = LuSolve(turned, check_on_error(on_error))(factors, pivots, right)
    return squeeze(solution, axis=-1) if ndim == 1 else solution


def _substituted(
    factors: Any, pivots: Any, right: Any, trans: int, on_error: str
) -> TensorVariable:
    """Compute the result of `LuSolve` by two triangular solves and an exchange of rows."""
    right = _fitting(factors, pivots, right)
    options: dict[str, Any] = {"b_ndim": 2, "on_error": on_error}
    if not trans:
        right = rows_in_order(right, pivot_to_permutation(pivots, inverse=True))
        half = solve_triangular(factors, right, lower=True, unit_diagonal=True, **options)
        return solve_triangular(factors, half, lower=False, **options)
    if trans == 2 and is_complex(factors.dtype):
        factors = factors.conj()
    half = solve_triangular(factors, right, trans=1, lower=False, **options)
    whole = solve_triangular(factors, half, trans=1, lower=True, unit_diagonal=True, **options)
    return rows_in_order(whole, pivot_to_permutation(pivots))


def _fitting(factors: Any, pivots: Any, right: Any) -> TensorVariable:
    """The right-hand sides, with checks that the shapes of LU factors, pivots and right-hand sides fit.

    Dynamic lengths are checked when the graph runs.
    """
    if factors.type.ndim < 2 or pivots.type.ndim < 1:
        raise ValueError(
            f"lu_solve takes matrices of factors and vectors of pivots, got {factors.type} and {pivots.type}"
        )
    message = "lu_solve needs square matrices, a pivot for each row, and right-hand sides that fit"
    places = ((factors, -1), (factors, -2), (pivots, -1), (right, -2))
    static = [v.type.shape[axis] for v, axis in places]
    numbers = {n for n in static if n is not None}
    if len(numbers) > 1:
        types = f"{factors.type}, {pivots.type} and {right.type}"
        raise ValueError(f"{message}, got {types}")
    batches = ((factors, 2), (pivots, 1), (right, 2))
    broadcast_static([v.type.shape[: v.type.ndim - k] for v, k in batches], "lu_solve")
    if None in static:
        lengths = [v.shape[axis] for v, axis in places]
        same = [eq(n, lengths[0]) for n in lengths[1:]]
        right = CheckAndRaise(ValueError, message)(right, *same)
    by_axis: dict[int, list[tuple[int | None, Any]]] = {}
    for v, k in batches:
        extra = v.type.ndim - k
        for i in range(extra):
            if v.type.shape[i] != 1:
                by_axis.setdefault(extra - i, []).append((v.type.shape[i], v.shape[i]))
    open_ = [listed for listed in by_axis.values() if None in (n for n, _ in listed)]
    same = [eq(n, listed[0][1]) for listed in open_ for _, n in listed[1:]]
    if not same:
        return right
    checked: TensorVariable = CheckAndRaise(ValueError, "lu_solve: batch dimensions do not match")(
        right, *same
    )
    return checked
