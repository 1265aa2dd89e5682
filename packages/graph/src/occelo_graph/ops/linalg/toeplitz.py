"""Toeplitz matrices, and equations with them; users find the functions in `occelo.tensor.linalg`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from occelo_graph.ops.create import arange
from occelo_graph.ops.index.search import take
from occelo_graph.ops.join import concat_with_broadcast
from occelo_graph.ops.linalg.solve import solve
from occelo_graph.ops.shape.dimensions import expand_dims
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import is_complex

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["solve_toeplitz", "toeplitz"]


def toeplitz(c: Any, r: Any = None) -> TensorVariable:
    """The matrices, (..., m, n), with first column ``c``, (..., m), and first row ``r``, (..., n), constant along diagonals.

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


def solve_toeplitz(
    c_or_cr: Any, b: Any, *, b_ndim: int | None = None, on_error: str = "raise"
) -> TensorVariable:
    """The ``x`` with ``a @ x == b`` for the square Toeplitz matrix ``a`` with first column ``c``, or first column and row ``(c, r)``.

    As ``solve(toeplitz(c, r), b)``, so it takes memory for the matrix; unlike SciPy's ``solve_toeplitz`` it is right whenever the
    matrix is regular, also if a principal minor is singular. ``b`` consists of vectors, (..., n), if ``b_ndim`` is 1, else of matrices,
    (..., n, k); by default of vectors if it has one dimension. A singular matrix is a ``numpy.linalg.LinAlgError``.
    """
    matrix = toeplitz(*c_or_cr) if isinstance(c_or_cr, tuple) else toeplitz(c_or_cr)
    return solve(matrix, b, b_ndim=b_ndim, on_error=on_error)
