"""Means, variances and covariances, which are graphs of reductions and elementwise functions.

Users call the functions from `occelo.tensor`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ops.arguments import plain_number
from occelo_graph.ops.elemwise.arithmetic import maximum, sqrt
from occelo_graph.ops.reduce import max, min, sum
from occelo_graph.ops.shape.axes import normalize_axes
from occelo_graph.ops.shape.dimensions import squeeze
from occelo_graph.ops.shape.reading import length_op, length_product
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import is_complex, is_discrete

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["cov", "mean", "ptp", "std", "var"]


def mean(
    input: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, acc_dtype: Any = None
) -> TensorVariable:
    """Mean over ``axis`` (one, several, or None for all). The mean of integers is float64 by default.

    The mean of float16 is computed in float32, as in NumPy.
    """
    x = as_tensor_variable(input)
    wanted = dtype or ("float64" if is_discrete(x.dtype) else x.dtype)
    if wanted == "float16" and acc_dtype is None:
        return mean(x, axis, "float32", keepdims).astype("float16")
    total = sum(x, axis=axis, dtype=wanted, keepdims=keepdims, acc_dtype=acc_dtype)
    if is_discrete(total.dtype):
        return (total / _count(x, axis, "int64")).astype(total.dtype)
    return total / _count(x, axis, total.dtype)


def _count(x: Any, axis: Any, dtype: str) -> Any:
    # read from x even if they are static, so that a graph that is rebuilt for another x divides by its lengths
    lengths: list[Any] = [length_op(i)(x) for i in normalize_axes(axis, x.type.ndim)]
    return as_tensor_variable(length_product(lengths)).astype(dtype)


def var(input: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> TensorVariable:
    """Variance over ``axis`` (one, several, or None for all).

    The sum of squared deviations from the mean is divided by the number of elements minus ``ddof``. If this difference
    is negative, the sum is divided by 0. The variance of float16 is computed in float32, as in NumPy.
    """
    x = as_tensor_variable(input)
    if x.dtype == "float16":
        return var(x.astype("float32"), axis, ddof, keepdims).astype("float16")
    centered = x - mean(x, axis, keepdims=True)
    squares = (centered * centered.conj()).real if is_complex(x.dtype) else centered * centered
    total = sum(squares, axis=axis, keepdims=keepdims)
    return total / _freedom(_count(x, axis, total.dtype), ddof)


def _freedom(count: Any, ddof: Any) -> Any:
    """``count - ddof``, or 0 if this is negative, so that the variance is NaN or inf."""
    plain_number(ddof, "ddof", "var, std and cov have no dtype")
    if type(ddof) is int and ddof <= 0:
        return count - ddof if ddof else count
    return maximum(count - ddof, 0)


def std(input: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> TensorVariable:
    """Standard deviation over ``axis``: the square root of `var`.

    If all elements are equal, the gradient is 0, the subgradient of least norm.
    """
    return sqrt(var(input, axis, ddof, keepdims))


def ptp(a: Any, axis: Any = None, keepdims: bool = False) -> TensorVariable:
    """The largest element minus the smallest element over ``axis``."""
    return max(a, axis, keepdims) - min(a, axis, keepdims)


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
) -> TensorVariable:
    """Covariance matrix. Each row of ``m`` has the observations of one quantity, or each column if ``rowvar`` is False.

    ``y`` holds further quantities, which are appended to those of ``m``. Sums of products are divided by the number of
    observations minus ``ddof``. By default ``ddof`` is 0 if ``bias`` is True, else 1. The dtype is the common dtype of
    the arguments and float64. If the number of quantities is statically 1, the result is a scalar, the variance.
    NotImplementedError for weights.
    """
    if fweights is not None or aweights is not None:
        raise NotImplementedError("cov takes no weights, neither fweights nor aweights")
    given = [_variables_in_rows(v, rowvar) for v in (m, y) if v is not None]
    common = np.result_type(np.float64, *(v.type.numpy_dtype for v in given)).name
    rows = [v.astype(common) for v in given]
    x = rows[0].join_with(*rows[1:]) if len(rows) > 1 else rows[0]
    centered = x - mean(x, axis=1, keepdims=True)
    products = centered.dot(centered.conj().T if is_complex(common) else centered.T)
    freedom = (0 if bias else 1) if ddof is None else ddof
    return squeeze(products / _freedom(_count(x, 1, "float64"), freedom))


def _variables_in_rows(m: Any, rowvar: bool) -> Any:
    m = as_tensor_variable(m)
    if m.type.ndim > 2:
        raise ValueError(f"cov takes at most 2 dimensions, got {m.type}")
    if m.type.ndim < 2:
        return m.reshape((1, -1))
    return m if rowvar else m.T
