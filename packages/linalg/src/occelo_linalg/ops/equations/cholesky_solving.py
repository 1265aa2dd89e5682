"""`cho_factor` and `cho_solve`, which solve linear equations with a Cholesky factor, as in SciPy.

Users call them from `occelo.tensor.linalg`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from occelo_linalg.ops.equations.triangular import check_b_ndim, solve_triangular
from occelo_linalg.ops.factorizations.cholesky import cholesky
from occelo_linalg.ops.matrix_op import as_matrices, several
from occelo_linalg.ops.scipy_options import ScipyOptions

if TYPE_CHECKING:
    from typing import Unpack

    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["cho_factor", "cho_solve"]


def cho_factor(
    a: Any, lower: bool = False, *, on_error: str = "raise", **options: Unpack[ScipyOptions]
) -> tuple[TensorVariable, bool]:
    """A pair for `cho_solve`: the Cholesky factors of matrices ``a`` of shape (..., n, n), and ``lower``.

    ``on_error``, ``options`` and errors are as in `cholesky`. The other triangle of the factor is 0. In SciPy's ``cho_factor`` it has
    elements of ``a``.
    """
    return cholesky(a, lower=bool(lower), on_error=on_error, **options), bool(lower)


def cho_solve(
    c_and_lower: Any,
    b: Any,
    *,
    b_ndim: int | None = None,
    on_error: str = "raise",
    **options: Unpack[ScipyOptions],
) -> TensorVariable:
    """Solve ``a @ x == b`` with the result ``c_and_lower`` of `cho_factor`, like SciPy's ``cho_solve``.

    ``c_and_lower`` is a pair: the Cholesky factors of ``a``, of shape (..., n, n), and whether they are lower
    triangular. The other triangle of the factors is not read. If ``b_ndim`` is 1, ``b`` consists of vectors (..., n);
    if it is 2, of matrices (..., n, k). By default, ``b`` is a vector if it has one dimension, else it consists of
    matrices. Batch dimensions broadcast.

    If a factor has a zero on its diagonal, ``numpy.linalg.LinAlgError`` is raised. With ``on_error="nan"``, the
    solution is NaN for this element of the batch. ``options`` are SciPy's.
    """
    origin = "the pair that cho_factor returns, or (cholesky(a), True)"
    matrix, lower = several("cho_solve", "c_and_lower", c_and_lower, 2, origin)
    factor, right = as_matrices("cho_solve", matrix, b, options=options)
    ndim = check_b_ndim("cho_solve", right, b_ndim)
    settings: dict[str, Any] = {"lower": bool(lower), "b_ndim": ndim, "on_error": on_error}
    first, second = ("N", "C") if lower else ("C", "N")
    half = solve_triangular(factor, right, first, **settings)
    # `half` may have more batch dimensions than b, so the number of dimensions does not tell whether it holds vectors
    return solve_triangular(factor, half, second, **settings)
