"""Small functions for formulas of gradients in linear algebra, and for their dtypes and checks.

The modules of ops for eigenvalues, singular values, pseudoinverses, adjugates, orthogonal factors, tridiagonal
matrices, and Sylvester and Riccati equations call them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ir.op import ZERO
from occelo_graph.ops.create import eye, tril, triu
from occelo_graph.ops.elemwise.arithmetic import abs as abs_
from occelo_graph.ops.elemwise.arithmetic import eq, gt, le, minimum, switch
from occelo_graph.ops.reduce import sum as sum_
from occelo_graph.ops.shape.dimensions import expand_dims
from occelo_graph.tensors.type import is_complex
from occelo_linalg.ops.factorizations.cholesky import half_diagonal
from occelo_linalg.ops.matrix_op import hermitian

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array

REAL = {"complex64": "float32", "complex128": "float64"}
COMPLEX = {"float32": "complex64", "float64": "complex128"}


def real_dtype(dtype: str) -> str:
    """The dtype of the real part of numbers of ``dtype``."""
    return REAL.get(dtype, dtype)


def complex_dtype(dtype: str) -> str:
    """The complex dtype with the precision of ``dtype``, or ``dtype`` itself if it is complex."""
    return COMPLEX.get(dtype, dtype)


def absent(cotangent: Any) -> bool:
    """Whether a cotangent is None or `ZERO`."""
    return cotangent is None or cotangent is ZERO


def nothing(cotangents: Sequence[Any]) -> Any:
    """The cotangent of the input if the cotangents of all outputs are `absent`: None if all are None, else `ZERO`."""
    return None if all(ct is None for ct in cotangents) else ZERO


def least(lengths: Mapping[str, Any], first: str, second: str) -> Any:
    """The minimum of the lengths that ``lengths`` has for the names ``first`` and ``second``.

    It is an integer or a variable, or None if a length is None.
    """
    m, n = lengths[first], lengths[second]
    if m is None or n is None:
        return None
    return min(m, n) if isinstance(m, int) and isinstance(n, int) else minimum(m, n)


def as_row(values: Any) -> Any:
    """Convert vectors to matrices of one row, which scale the columns of a matrix by multiplication."""
    return expand_dims(values, -2)


def as_column(values: Any) -> Any:
    """Convert vectors to matrices of one column, which scale the rows of a matrix by multiplication."""
    return expand_dims(values, -1)


def on_diagonal(values: Any) -> Any:
    """Diagonal matrices with the vectors ``values`` on their diagonals."""
    return as_row(values) * eye(values.shape[-1], dtype=values.dtype)


def reciprocals(values: Any) -> Any:
    """1 / x, and NaN for x = 0, where a derivative with this factor does not exist."""
    zero = le(abs_(values), 0)
    return switch(zero, np.nan, 1 / switch(zero, 1, values)).astype(values.dtype)


def resolution(values: Any) -> Any:
    """For each vector, the difference up to which two of its values count as equal.

    It is the sum of absolute values times the machine epsilon.
    """
    total = sum_(abs_(values), axis=-1)
    eps = np.asarray(np.finfo(values.dtype).eps, values.dtype)
    return expand_dims(total * eps, (-2, -1))


def inverse_differences(values: Any, divides: bool = False) -> Any:
    """The matrix with 1 / (x_j - x_i) at (i, j), and 0 on the diagonal. NaN where x_i and x_j are equal up to rounding.

    With ``divides``, NaN only where they are equal.

    The values are eigenvalues or singular values. If two are equal, their vectors have no derivatives. A function of
    the vectors may still have a derivative, but it cannot be computed from this matrix. So its gradient is NaN, too.
    """
    apart = as_row(values) - as_column(values)
    own = gt(eye(values.shape[-1], dtype=real_dtype(values.dtype)), 0)
    equal = eq(apart, 0) if divides else le(abs_(apart), resolution(values))
    unknown = switch(own, 0, np.nan)
    return switch(equal, unknown, 1 / switch(equal, 1, apart)).astype(values.dtype)


def inverse_sums(values: Any) -> Any:
    """The matrix with 1 / (x_i + x_j) at (i, j), and NaN if both are 0. The values must not be negative."""
    return reciprocals(as_row(values) + as_column(values))


def from_triangle(x: Any, lower: bool) -> Any:
    """Hermitian matrices with the lower (or upper) triangle of ``x``. Imaginary parts on the diagonal are ignored."""
    if (rows := x.type.shape[-2]) != (columns := x.type.shape[-1]) and None not in (rows, columns):
        raise ValueError(f"Hermitian matrices are square, got {x.type}")
    part, rest = (tril(x), tril(x, -1)) if lower else (triu(x), triu(x, 1))
    whole = part + hermitian(rest)
    if not is_complex(x.dtype):
        return whole
    unit = eye(x.shape[-1], dtype=real_dtype(x.dtype))
    return whole - unit * (part - hermitian(part)) * np.asarray(0.5, real_dtype(x.dtype))


def to_triangle(ct: Any, lower: bool) -> Any:
    """The pullback of `from_triangle`. ``ct`` is the cotangent of the Hermitian matrices."""
    both = ct + hermitian(ct)
    return half_diagonal(tril(both) if lower else triu(both))


def require_finite(array: Array) -> None:
    """Raise LinAlgError if an element is infinite or NaN, since some routines of LAPACK would not terminate."""
    if not np.isfinite(array).all():
        raise np.linalg.LinAlgError("Array must not contain infs or NaNs")
