"""`toeplitz`, which makes Toeplitz matrices, and `solve_toeplitz`, which solves linear equations with them.

Users call both from `occelo.tensor.linalg`. The linkers for machine code have a lowering of the op `SolveToeplitz`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_arrays.ops.joining import concat_with_broadcast
from occelo_graph.ir.op import ZERO, op
from occelo_graph.ops.blas.products import matmul
from occelo_graph.ops.create import arange, zeros_like
from occelo_graph.ops.elemwise.arithmetic import maximum, switch
from occelo_graph.ops.index.search import take
from occelo_graph.ops.join import concatenate
from occelo_graph.ops.reduce import sum as sum_
from occelo_graph.ops.shape.dimensions import expand_dims
from occelo_graph.optional_scipy import scipy_module
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import is_complex
from occelo_linalg.ops.equations.triangular import with_columns
from occelo_linalg.ops.matrix_op import MatrixOp, as_matrices, check_on_error, hermitian, several
from occelo_linalg.ops.scipy_options import ScipyOptions

if TYPE_CHECKING:
    from typing import Unpack

    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["SolveToeplitz", "solve_toeplitz", "toeplitz"]


def toeplitz(c: Any, r: Any = None) -> TensorVariable:
    """Matrices with constant diagonals, given by the first column ``c`` and the first row ``r``.

    The function is like SciPy's ``toeplitz``. ``c`` has the shape (..., m), ``r`` has (..., n), and the result has
    (..., m, n). ``r[0]`` is not read. By default, ``r`` is the conjugate of ``c``. The result has the common dtype.
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
    """Solves T X = B. The inputs are the first column and the first row of the Toeplitz matrix T, and B.

    The first element of the row is not read. Levinson's recursion over leading minors computes the solution in double
    precision, with about n^2 operations and memory for n numbers.
    """

    on_error: str = "raise"
    signature: ClassVar[str] = "(n),(n),(n,k)->(n,k)"
    formula: ClassVar[str | None] = "{label}(({0}, {1}), {2}{options})"

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
        # the element on the diagonal is read from the column
        first = arange(row.shape[-1]) < 1
        of_b = self(switch(first, turned[1], turned[0]), turned[1], ct)
        sums = _sums_of_diagonals(-matmul(of_b, hermitian(outputs[0])))
        n = column.shape[-1]
        of_row = sums[..., maximum(n - 1, 0) :]
        of_row = switch(arange(of_row.shape[-1]) < 1, 0, of_row).astype(of_row.dtype)
        return [sums[..., :n][..., ::-1], of_row, of_b]


def _sums_of_diagonals(x: Any) -> Any:
    """The sums of the 2 n - 1 diagonals of square matrices, from the lower left corner to the upper right corner."""
    n = x.shape[-1]
    lead = [x.shape[i] for i in range(x.type.ndim - 2)]
    # if rows of 2 n elements are reshaped to rows of 2 n - 1 elements, the diagonals become columns
    beside = concatenate([x[..., ::-1, :], zeros_like(x)], axis=-1)
    flat = beside.reshape([*lead, 2 * n * n])[..., : 2 * n * n - n]
    return sum_(flat.reshape([*lead, n, maximum(2 * n - 1, 0)]), axis=-2)


def solve_toeplitz(
    c_or_cr: Any,
    b: Any,
    *,
    b_ndim: int | None = None,
    on_error: str = "raise",
    **options: Unpack[ScipyOptions],
) -> TensorVariable:
    """Solve ``a @ x == b`` for square Toeplitz matrices ``a``, like SciPy's ``solve_toeplitz``.

    ``c_or_cr`` is the first column ``c`` of ``a``, or a pair ``(c, r)`` of the first column and the first row. Both
    have the shape (..., n). ``r[0]`` is not read. By default, ``r`` is the conjugate of ``c``. If ``b_ndim`` is 1,
    ``b`` consists of vectors, of shape (..., n). If ``b_ndim`` is 2, ``b`` consists of matrices, of shape (..., n, k).
    By default, ``b`` is a vector if it has one dimension, else it consists of matrices. Batch dimensions broadcast. The
    result has the common dtype, or float64 for integers.

    Levinson's recursion needs about n^2 operations for n rows. It is less precise than ``solve(toeplitz(c, r), b)``,
    and needs leading principal minors that are far from singular. If a leading minor is singular,
    ``numpy.linalg.LinAlgError`` is raised. With ``on_error="nan"``, the solution is NaN. ValueError if the shapes do
    not fit, TypeError for float16. To compute the gradient, an equation with the conjugate transpose of ``a`` is
    solved. ``options`` are SciPy's.
    """
    if isinstance(c_or_cr, tuple):
        several(
            "solve_toeplitz", "c_or_cr", c_or_cr, 2, "a column, or a pair of a column and a row"
        )
        column, row, right = as_matrices("solve_toeplitz", *c_or_cr, b, options=options)
    else:
        column, right = as_matrices("solve_toeplitz", c_or_cr, b, options=options)
        row = column.conj() if is_complex(column.dtype) else column
    solver = SolveToeplitz(check_on_error(on_error))
    return with_columns(solver, [column, row], right, b_ndim)
