"""Functions that ops of linear algebra share: formulas of gradients, dtypes, checks.

Most of them are for gradients of eigenvalues, singular values, pseudoinverses, adjugates and orthogonal factors (`eig`,
`eigh`, `svd`, `pinv`, `adjugate`, `qr`, `householder`). `schur` and `qz` use some of them, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ir.op import ZERO
from occelo_graph.ops.create import eye, tril, triu
from occelo_graph.ops.elemwise.arithmetic import abs as abs_
from occelo_graph.ops.elemwise.arithmetic import gt, le, minimum, switch
from occelo_graph.ops.linalg.cholesky import half_diagonal
from occelo_graph.ops.linalg.matrix_op import hermitian
from occelo_graph.ops.reduce import sum as sum_
from occelo_graph.ops.shape.dimensions import expand_dims
from occelo_graph.tensors.type import is_complex

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array

__all__: list[str] = []

REAL = {"complex64": "float32", "complex128": "float64"}
COMPLEX = {"float32": "complex64", "float64": "complex128"}


def real_dtype(dtype: str) -> str:
    """The dtype of the parts of a complex dtype, or the dtype itself."""
    return REAL.get(dtype, dtype)


def complex_dtype(dtype: str) -> str:
    """The complex dtype whose parts have this dtype, or the dtype itself."""
    return COMPLEX.get(dtype, dtype)


def absent(cotangent: Any) -> bool:
    """Whether a cotangent is None or ZERO."""
    return cotangent is None or cotangent is ZERO


def nothing(cotangents: Sequence[Any]) -> Any:
    """The cotangent of an input if the cotangents of all outputs are absent: None if all are None, else ZERO."""
    return None if all(ct is None for ct in cotangents) else ZERO


def least(known: Mapping[str, Any], first: str, second: str) -> Any:
    """The smaller of two lengths, given by name in ``known``: an integer, a variable, or None if one is unknown."""
    m, n = known[first], known[second]
    if m is None or n is None:
        return None
    return min(m, n) if isinstance(m, int) and isinstance(n, int) else minimum(m, n)


def as_row(values: Any) -> Any:
    """Vectors as matrices of one row, to scale columns."""
    return expand_dims(values, -2)


def as_column(values: Any) -> Any:
    """Vectors as matrices of one column, to scale rows."""
    return expand_dims(values, -1)


def on_diagonal(values: Any) -> Any:
    """Diagonal matrices."""
    return as_row(values) * eye(values.shape[-1], dtype=values.dtype)


def reciprocals(values: Any) -> Any:
    """1 / x, and NaN where x is 0: a derivative that does not exist."""
    zero = le(abs_(values), 0)
    return switch(zero, np.nan, 1 / switch(zero, 1, values)).astype(values.dtype)


def resolution(values: Any) -> Any:
    """For each vector, the difference up to which two of its values count as equal: eps times the sum of magnitudes."""
    total = sum_(abs_(values), axis=-1)
    eps = np.asarray(np.finfo(values.dtype).eps, values.dtype)
    return expand_dims(total * eps, (-2, -1))


def inverse_differences(values: Any) -> Any:
    """The matrix of 1 / (x_j - x_i), 0 on the diagonal, and NaN where two values are equal within rounding errors.

    Where values are equal, the eigenvectors or singular vectors have no derivatives. A function of the vectors may
    still have a derivative. But it cannot be computed with this matrix, so the gradient of such a function is NaN, too.
    """
    apart = as_row(values) - as_column(values)
    own = gt(eye(values.shape[-1], dtype=real_dtype(values.dtype)), 0)
    equal = le(abs_(apart), resolution(values))
    unknown = switch(own, 0, np.nan)
    return switch(equal, unknown, 1 / switch(equal, 1, apart)).astype(values.dtype)


def inverse_sums(values: Any) -> Any:
    """The matrix of 1 / (x_i + x_j) of values that are not negative, and NaN where both are 0."""
    return reciprocals(as_row(values) + as_column(values))


def from_triangle(x: Any, lower: bool) -> Any:
    """The Hermitian matrices with the given triangle. Imaginary parts on the diagonal are ignored."""
    part, rest = (tril(x), tril(x, -1)) if lower else (triu(x), triu(x, 1))
    whole = part + hermitian(rest)
    if not is_complex(x.dtype):
        return whole
    unit = eye(x.shape[-1], dtype=real_dtype(x.dtype))
    return whole - unit * (part - hermitian(part)) * np.asarray(0.5, real_dtype(x.dtype))


def to_triangle(ct: Any, lower: bool) -> Any:
    """The pullback of `from_triangle`: the cotangent of one triangle, from that of the Hermitian matrices."""
    both = ct + hermitian(ct)
    return half_diagonal(tril(both) if lower else triu(both))


def require_finite(array: Array) -> None:
    """LinAlgError for an infinite or NaN element, since some routines of LAPACK do not end if there is one."""
    if not np.isfinite(array).all():
        raise np.linalg.LinAlgError("Array must not contain infs or NaNs")
