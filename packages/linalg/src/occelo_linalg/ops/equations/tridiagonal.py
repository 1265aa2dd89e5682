"""LU factorisations of tridiagonal matrices, and solutions of linear equations with them, by LAPACK's gttrf and gttrs.

Users call `tridiagonal_lu_factor` and `tridiagonal_lu_solve` from `occelo.tensor.linalg`. The linkers for machine code
have lowerings of the ops. For other linkers, and for gradients, the ops decompose into factorisations of whole
matrices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.op import op
from occelo_graph.ops.cast import cast
from occelo_graph.ops.create import arange, eye, tril, zeros
from occelo_graph.ops.elemwise.arithmetic import and_, eq, gt, neq, switch
from occelo_graph.ops.index.search import diagonal
from occelo_graph.ops.join import concatenate, stack
from occelo_graph.ops.reduce import cumsum
from occelo_graph.ops.reduce import sum as sum_
from occelo_graph.optional_scipy import scipy_module
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import TensorType, is_discrete
from occelo_linalg.ops.equations.banded import three_diagonals
from occelo_linalg.ops.equations.lu_solving import LuSolve
from occelo_linalg.ops.equations.triangular import with_columns
from occelo_linalg.ops.factorizations.lu import LuFactor
from occelo_linalg.ops.gradient_formulas import as_column, as_row
from occelo_linalg.ops.matrix_op import (
    LinAlgError,
    MatrixOp,
    as_matrices,
    check_on_error,
    if_square,
    several,
)

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "TridiagonalFactor",
    "TridiagonalSolve",
    "tridiagonal_lu_factor",
    "tridiagonal_lu_solve",
]

LEAST = 3
"""SciPy's functions accept matrices with at least this many rows. Smaller matrices are extended by rows of the identity
matrix.
"""


class _OfDiagonals(MatrixOp):
    """Base class of ops whose first input holds diagonals of a matrix in its rows. The input must have `rows` rows."""

    rows: ClassVar[int]
    formula: ClassVar[str | None] = None

    def infer(self, *types: TensorType) -> tuple[TensorType, ...]:
        results = super().infer(*types)
        self._check_rows(types[0].shape[-2])
        return results

    def check_shapes(self, types: Sequence[TensorType], shapes: Sequence[tuple[int, ...]]) -> None:
        super().check_shapes(types, shapes)
        self._check_rows(shapes[0][-2])

    def _check_rows(self, rows: int | None) -> None:
        if rows is not None and rows != self.rows:
            raise ValueError(f"{self.label} takes {self.rows} rows of diagonals, got {rows}")


@op
class TridiagonalFactor(_OfDiagonals):
    """Two outputs: the factors of an LU factorisation with partial pivoting, in four rows, and its pivots.

    The input holds the three diagonals of the matrix in the form of `SolveBanded`.

    The four rows are:

    - the first diagonal of U above its main diagonal, with U[j - 1, j] in column j
    - the main diagonal of U
    - the factors of the elimination steps
    - the second diagonal of U above its main diagonal, with U[j, j + 2] in column j

    Other elements are 0. In step i, row i was exchanged with row ``pivots[i]``, which is i or i + 1.
    """

    signature: ClassVar[str] = "(r,n)->(s,n),(n)"
    rows: ClassVar[int] = 3

    @property
    def label(self) -> str:
        return "tridiagonal_lu_factor"

    def lengths(self, known: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**known, "s": TridiagonalSolve.rows}

    def dtypes(self, *types: TensorType) -> Sequence[str]:
        return [types[0].dtype, "int32"]

    def core(self, *arrays: Array) -> tuple[Array, ...]:
        (bands,) = arrays
        n = bands.shape[1]
        packed = np.zeros((4, n), bands.dtype)
        wide = _widened(bands)
        linalg: Any = scipy_module("linalg", self.label)
        (routine,) = linalg.get_lapack_funcs(("gttrf",), (bands,))
        below, main, above, second, pivots, _ = routine(wide[2, :-1], wide[1], wide[0, 1:])
        if n:
            packed[0, 1:], packed[1] = above[: n - 1], main[:n]
            packed[2, : n - 1], packed[3, : max(n - 2, 0)] = below[: n - 1], second[: max(n - 2, 0)]
        return packed, (pivots[:n] - 1).astype("int32")

    def decompose(self, *inputs: Any, **_: Any) -> Sequence[Any]:
        (bands,) = inputs
        n = bands.shape[-1]
        dense = sum(_placed(bands[..., i, :], n, 1 - i) for i in range(3))
        factors, pivots = LuFactor()(dense)
        ndim = factors.type.ndim
        main, above, second = (diagonal(factors, k, ndim - 2, ndim - 1) for k in range(3))
        # each column of L has one element below the diagonal
        steps = sum_(tril(factors, -1), axis=-2)
        rows = [_filled(above, n, True), main, steps, _filled(second, n, False)]
        return [stack(rows, axis=-2), pivots]


@op
class TridiagonalSolve(_OfDiagonals):
    """Solves A X = B. The inputs are the two results of `TridiagonalFactor`, and B.

    If ``trans`` is 1, A is replaced by its transpose.
    """

    trans: int = 0
    on_error: str = "raise"
    signature: ClassVar[str] = "(s,n),(n),(n,k)->(n,k)"
    rows: ClassVar[int] = 4

    @property
    def label(self) -> str:
        return "tridiagonal_lu_solve"

    def core(self, *arrays: Array) -> Array:
        factors, pivots, right = arrays
        n = len(pivots)
        exchanged = pivots - np.arange(n)
        if ((exchanged != 0) & (exchanged != 1)).any() or (pivots >= n).any():
            raise IndexError(f"{self.label}: a pivot is not its own row or the next one")
        if right.size == 0:
            return np.zeros_like(right)
        if not factors[1].all():
            raise LinAlgError("Singular matrix")
        wide, more = _widened(factors), max(LEAST - n, 0)
        linalg: Any = scipy_module("linalg", self.label)
        (routine,) = linalg.get_lapack_funcs(("gttrs",), (factors, right))
        order = np.concatenate([pivots, np.arange(n, n + more)]) + 1
        columns = np.concatenate([right, np.zeros((more, right.shape[1]), right.dtype)])
        rows = wide[2, :-1], wide[1], wide[0, 1:], wide[3, :-2]
        solution, _ = routine(*rows, order, columns, trans="NT"[self.trans])
        return np.ascontiguousarray(solution[:n])

    def decompose(self, *inputs: Any, **_: Any) -> Sequence[Any]:
        rows, pivots, right = inputs
        n = rows.shape[-1]
        above, main, steps, second = (rows[..., i, :] for i in range(4))
        upper = _placed(main, n, 0) + _placed(above, n, 1)
        upper = upper + _placed(_moved(second, n), n, 2)
        # each exchange in the steps after step i moves its factor down by one row, until a step exchanges no rows
        group = cumsum(cast(eq(pivots, arange(n)), "int64"), axis=-1)
        later = gt(as_row(arange(n)), as_column(arange(n)))
        moves = sum_(and_(later, eq(as_row(group), as_column(group))), axis=-1, dtype="int64")
        places = as_row(moves + arange(n) + 1)
        lower = switch(eq(places, as_column(arange(n))), as_row(steps), 0).astype(rows.dtype)
        return [LuSolve(self.trans, self.on_error)(upper + lower, pivots, right)]


def _widened(rows: Array) -> Array:
    """Extend a matrix, given by its diagonals, to at least `LEAST` rows and columns by those of the identity matrix."""
    more = max(LEAST - rows.shape[1], 0)
    wide = np.pad(rows, ((0, 0), (0, more)))
    # LAPACK does not read the elements that are set to 0
    wide[0, :1] = 0
    wide[2, rows.shape[1] - 1 :] = 0
    wide[1, rows.shape[1] :] = 1
    return wide


def _placed(values: Any, n: Any, k: int) -> TensorVariable:
    """Matrices of zeros with vectors on diagonal ``k``. Element j of a vector is in column j."""
    inside = neq(eye(n, k=k, dtype="int8"), 0)
    placed: TensorVariable = switch(inside, as_row(values), 0).astype(values.dtype)
    return placed


def _filled(values: Any, n: Any, front: bool) -> TensorVariable:
    """Pad vectors with zeros to ``n`` elements, in front if ``front`` is True, else at the end."""
    lead = [values.shape[i] for i in range(values.type.ndim - 1)]
    missing = zeros([*lead, n - values.shape[-1]], values.dtype)
    return concatenate([missing, values] if front else [values, missing], axis=-1)


def _moved(values: Any, n: Any) -> TensorVariable:
    """Shift vectors by two positions: element j becomes element j + 2, and the first two elements are 0."""
    return _filled(values[..., :-2], n, True)


def tridiagonal_lu_factor(
    a: Any,
) -> tuple[TensorVariable, TensorVariable, TensorVariable, TensorVariable, TensorVariable]:
    """LU factorisation with partial pivoting of tridiagonal matrices ``a`` of shape (..., n, n).

    Only the three middle diagonals of ``a`` are read. The five results are those of LAPACK's ``gttrf``. The tuple of
    all five is the first argument of `tridiagonal_lu_solve`:

    - ``dl``: the n - 1 factors of the elimination steps
    - ``d``, ``du`` and ``du2``, of n, n - 1 and n - 2 elements: the main diagonal of U, and the two diagonals above it
    - pivots, int32 of shape (..., n): in step i row i was exchanged with row ``pivots[i]``, which is i or i + 1 (LAPACK
      counts rows from 1 instead)

    The results have the dtype of ``a``, or float64 for integers. A singular matrix is not an error; its ``d`` contains
    a 0. The gradient treats the pivots as constant, and computes with whole matrices. The gradient of ``solve(a, b,
    assume_a="tridiagonal")`` takes less time, since it computes only with diagonals. ValueError if ``a`` is not square,
    TypeError for float16.
    """
    (x,) = as_matrices("tridiagonal_lu_factor", a)
    static = x.type.shape[-2:]
    if x.type.ndim < 2 or len({*static} - {None}) > 1:
        raise ValueError(f"tridiagonal_lu_factor takes square matrices, got {x.type}")
    bands = three_diagonals(if_square("tridiagonal_lu_factor", x, x))
    rows, pivots = TridiagonalFactor()(bands)
    above, main, steps, second = (rows[..., i, :] for i in range(4))
    return steps[..., :-1], main, above[..., 1:], second[..., :-2], pivots


def tridiagonal_lu_solve(
    a_diagonals: Sequence[Any],
    b: Any,
    *,
    b_ndim: int | None = None,
    transposed: bool = False,
    on_error: str = "raise",
) -> TensorVariable:
    """Solve ``a @ x == b``, where ``a_diagonals`` are the five results of ``tridiagonal_lu_factor(a)``.

    If ``transposed`` is True, the equation is ``a.T @ x == b``. If ``b_ndim`` is 1, ``b`` consists of vectors, of shape
    (..., n). If ``b_ndim`` is 2, ``b`` consists of matrices, of shape (..., n, k). By default, ``b`` is a vector if it
    has one dimension, else it consists of matrices. Batch dimensions broadcast. The result has the common dtype.

    If a matrix is singular, ``numpy.linalg.LinAlgError`` is raised. With ``on_error="nan"``, the solution is NaN for
    this element of the batch. ValueError if the shapes do not fit, TypeError if the pivots are not integers, IndexError
    if pivot i is not i or i + 1.
    """
    origin = "the five results of tridiagonal_lu_factor"
    *diagonals, order = several("tridiagonal_lu_solve", "a_diagonals", a_diagonals, 5, origin)
    pivots = as_tensor_variable(order)
    steps, main, above, second, right = as_matrices("tridiagonal_lu_solve", *diagonals, b)
    if not is_discrete(pivots.dtype) or pivots.dtype == "bool":
        raise TypeError(f"tridiagonal_lu_solve takes pivots that are integers, got {pivots.type}")
    n = main.shape[-1]
    rows = [_filled(above, n, True), main, _filled(steps, n, False), _filled(second, n, False)]
    solver = TridiagonalSolve(int(bool(transposed)), check_on_error(on_error))
    return with_columns(solver, [stack(rows, axis=-2), pivots], right, b_ndim)
