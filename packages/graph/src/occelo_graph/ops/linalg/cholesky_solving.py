"""`cho_factor` and `cho_solve`: linear equations solved with a Cholesky factor. Users find them in
`occelo.tensor.linalg`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from occelo_graph.ops.linalg.cholesky import cholesky
from occelo_graph.ops.linalg.matrix_op import as_matrices
from occelo_graph.ops.linalg.triangular import check_b_ndim, solve_triangular

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["cho_factor", "cho_solve"]


def cho_factor(
    a: Any, lower: bool = False, *, on_error: str = "raise"
) -> tuple[TensorVariable, bool]:
    """The Cholesky factor of matrices ``a``, (..., n, n), and ``lower``, as a pair for `cho_solve`.

    This is SciPy's ``cho_factor``. Arguments and errors are those of `cholesky`. The other triangle of the factor is 0;
    SciPy leaves elements of ``a`` there.
    """
    return cholesky(a, lower=bool(lower), on_error=on_error), bool(lower)


def cho_solve(
    c_and_lower: Any, b: Any, *, b_ndim: int | None = None, on_error: str = "raise"
) -> TensorVariable:
    """The ``x`` with ``a @ x == b``, for the result ``c_and_lower`` of `cho_factor`; SciPy's ``cho_solve``.

    ``c_and_lower`` is a pair: a Cholesky factor of ``a``, of shape (..., n, n), and whether it is lower triangular. The
    other triangle of the factor is not read. ``b`` consists of vectors, (..., n), if ``b_ndim`` is 1, and of matrices,
    (..., n, k), if it is 2. By default ``b`` has vectors if it has one dimension. Batch dimensions broadcast.

    A zero on the diagonal raises ``numpy.linalg.LinAlgError``; with ``on_error="nan"`` this element of the batch is
    NaN.
    """
    given, lower = c_and_lower
    factor, right = as_matrices("cho_solve", given, b)
    ndim = check_b_ndim("cho_solve", right, b_ndim)
    options: dict[str, Any] = {"lower": bool(lower), "b_ndim": ndim, "on_error": on_error}
    first, second = ("N", "C") if lower else ("C", "N")
    half = solve_triangular(factor, right, first, **options)
    # the result has the batch dimensions of both, so it consists of vectors only if b does
    return solve_triangular(factor, half, second, **options)
