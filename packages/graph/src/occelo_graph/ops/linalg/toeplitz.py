"""Toeplitz matrices: `toeplitz`, and `solve_toeplitz` for linear equations with them.

Users find both in `occelo.tensor.linalg`. The linkers for machine code lower the op `SolveToeplitz`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.op import ZERO, op
from occelo_graph.ops.blas.products import matmul
from occelo_graph.ops.create import arange, zeros_like
from occelo_graph.ops.elemwise.arithmetic import maximum, switch
from occelo_graph.ops.index.search import take
from occelo_graph.ops.join import concat_with_broadcast, concatenate
from occelo_graph.ops.linalg.matrix_op import MatrixOp, as_matrices, check_on_error, hermitian
from occelo_graph.ops.linalg.triangular import with_columns
from occelo_graph.ops.reduce import sum as sum_
from occelo_graph.ops.shape.dimensions import expand_dims
from occelo_graph.optional_scipy import scipy_module
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import is_complex

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["SolveToeplitz", "solve_toeplitz", "toeplitz"]


def toeplitz(c: Any, r: Any = None) -> TensorVariable:
    """Matrices (..., m, n) with constant diagonals, first column ``c`` (..., m) and first row ``r`` (..., n).

    SciPy's ``toeplitz``: ``r[0]`` is not read, and ``r`` is the conjugate of ``c`` by default. The result has the common dtype.
    ValueError for scalars.
    """
    column = as_tensor_variable(c)
    row = as_tensor_variable(
        column.conj() if r is None and is_complex(column.dtype) else column if r is None else r
    )
    ndim = max(column.type.ndim, row.type.ndim)
    if min(column.type.ndim, row.type.ndim) < 1:
        raise ValueError("toeplitz takes vectors, got a scalar")
    column, row = (
        v if v.type.ndim == ndim else expand_dims(v, tuple(range(ndim - v.type.ndim)))
        for v in (column, row)
    )
    m, n = column.shape[-1], row.shape[-1]
    diagonals = concat_with_broadcast([column[..., ::-1], row[..., 1:]], axis=-1)
    places = expand_dims(m - 1 - arange(m), -1) + arange(n)
    return take(diagonals, places, axis=-1)


@op
class SolveToeplitz(MatrixOp):
    """The X with T X = B, from the first column and row of the Toeplitz matrix T, and from B. ``row[0]`` is not read.

    It is computed by Levinson's recursion over leading minors, in double precision, with n^2 operations and memory for
    n numbers.
    """

    on_error: str = "raise"
    signature: ClassVar[str] = "(n),(n),(n,k)->(n,k)"

    @property
    def label(self) -> str:
        return "solve_toeplitz"

    def core(self, *arrays: Array) -> Array:
        column, row, b = arrays
        if b.size == 0:
            return np.zeros_like(b)
        wide = np.result_type(b, np.float64)
        solve = scipy_module("linalg", self.label).solve_toeplitz
        pair = column.astype(wide), row.astype(wide)
        with np.errstate(all="ignore"):
            solved: Array = solve(pair, b.astype(wide), check_finite=False)
        return solved.astype(b.dtype)

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        (column, row, _), ct = inputs, cotangents[0]
        if ct is None or ct is ZERO:
            return [ct] * 3
        turned = [v.conj() if is_complex(v.dtype) else v for v in (row, column)]
        # the first element of the column is that of the diagonal
        first = arange(row.shape[-1]) < 1
        of_b = self(switch(first, turned[1], turned[0]), turned[1], ct)
        sums = _sums_of_diagonals(-matmul(of_b, hermitian(outputs[0])))
        n = column.shape[-1]
        of_row = sums[..., maximum(n - 1, 0) :]
        of_row = switch(arange(of_row.shape[-1]) < 1, 0, of_row).astype(of_row.dtype)
        return [sums[..., :n][..., ::-1], of_row, of_b]


def _sums_of_diagonals(x: Any) -> Any:
    """The sums of the 2 n - 1 diagonals of square matrices, from the lower left corner to the upper right one."""
    n = x.shape[-1]
    lead = [x.shape[i] for i in range(x.type.ndim - 2)]
    # rows of 2 n elements, cut into rows of 2 n - 1, have the diagonals in their columns
    beside = concatenate([x[..., ::-1, :], zeros_like(x)], axis=-1)
    flat = beside.reshape([*lead, 2 * n * n])[..., : 2 * n * n - n]
    return sum_(flat.reshape([*lead, n, maximum(2 * n - 1, 0)]), axis=-2)


def solve_toeplitz(
    c_or_cr: Any, b: Any, *, b_ndim: int | None = None, on_error: str = "raise"
) -> TensorVariable:
    """The ``x`` with ``a @ x == b`` for square Toeplitz matrices ``a``; SciPy's ``solve_toeplitz``.

    ``c_or_cr`` is the first column ``c`` of ``a``, or a pair ``(c, r)`` with the first row ``r``. ``r[0]`` is not read;
    by default ``r`` is the conjugate of ``c``. Levinson's recursion takes n^2 operations for n rows. It is less precise
    than ``solve(toeplitz(c, r), b)``, and needs leading principal minors that are far from singular. ``c`` and ``r``
    have shape (..., n). ``b`` consists of vectors, (..., n), if ``b_ndim`` is 1, and of matrices, (..., n, k), if it is
    2. By default ``b`` has vectors if it has one dimension. Batch dimensions broadcast. The result has the common
    dtype, float64 for integers; float16 is a TypeError. A singular leading minor raises ``numpy.linalg.LinAlgError``;
    with ``on_error="nan"`` the solution is NaN. ValueError for shapes that do not fit. The gradient solves with the
    conjugate transpose.
    """
    if isinstance(c_or_cr, tuple):
        column, row, right = as_matrices("solve_toeplitz", *c_or_cr, b)
    else:
        column, right = as_matrices("solve_toeplitz", c_or_cr, b)
        row = column.conj() if is_complex(column.dtype) else column
    made = SolveToeplitz(check_on_error(on_error))
    return with_columns(made, [column, row], right, b_ndim)
