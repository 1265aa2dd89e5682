"""Means, variances, norms and covariances, which are graphs of reductions and elementwise functions.

Users call the functions from `occelo.tensor`; `norm` is in `occelo.tensor.linalg`, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ir.nodes import Constant, Variable
from occelo_graph.ops.arguments import checked_keepdims, plain_number
from occelo_graph.ops.control.branches import ifelse
from occelo_graph.ops.elemwise.arithmetic import abs as abs_
from occelo_graph.ops.elemwise.arithmetic import eq, maximum, neq, sqrt, switch
from occelo_graph.ops.reduce import max, min, sum
from occelo_graph.ops.shape.axes import normalize_axes, normalize_axis
from occelo_graph.ops.shape.dimensions import expand_dims, moveaxis, squeeze
from occelo_graph.ops.shape.reading import length_op, length_product
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import is_complex, is_discrete

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["cov", "mean", "norm", "ptp", "std", "var"]


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


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> TensorVariable:
    """Norm of vectors along one axis, or of matrices along two axes, like NumPy's ``linalg.norm``.

    ``axis`` None means all dimensions. If ``axis`` and ``ord`` are both None, ``x`` may have any number of dimensions,
    and the norm is the square root of the sum of squares. Else there are one or two axes.

    Orders of vectors are 2 (the default), 1, inf and -inf (largest and smallest absolute value), 0 (the number of
    nonzero elements) and other numbers. Orders of matrices are "fro" (the default), 1 and -1 (largest and smallest
    column sum), inf and -inf (largest and smallest row sum), 2 and -2 (largest and smallest singular value) and "nuc"
    (the sum of the singular values). ValueError for another order.

    The norm of integers is float64. The norm of no elements is 0, and inf for negative finite orders of vectors, as in
    NumPy 2.4. The norms that are the smallest of several numbers raise ValueError if there are no such numbers: -inf of
    vectors, and -1, -2 and -inf of matrices.

    At a zero vector the gradient is 0, the subgradient of least norm. The formula x / norm(x) would compute 0 / 0.
    """
    x = as_tensor_variable(x)
    if is_discrete(x.dtype):
        x = x.astype("float64")
    order = _known_order(ord)
    axes = _given_axes(axis, x.type.ndim)
    if order is None and axis is None:
        return _euclidean(x, axes, keepdims)
    if len(axes) == 1:
        return _vector_norm(x, order, axes[0], keepdims)
    if len(axes) == 2:
        return _matrix_norm(x, order, axes, keepdims)
    raise ValueError(f"norm takes one axis or two, not the {len(axes)} of axis={axis} for {x.type}")


def _known_order(order: Any) -> Any:
    if isinstance(order, Constant):
        order = order.data.item()
    if isinstance(order, Variable):
        raise TypeError(f"The order of a norm must be known when the graph is built, got {order}")
    return order


def _given_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes as non-negative integers, in the order of ``axis``. ValueError for a repeated axis."""
    normalize_axes(axis, ndim)
    if axis is None:
        return tuple(range(ndim))
    listed: Any = list(axis) if np.ndim(axis) else [axis]
    return tuple(normalize_axis(a, ndim) for a in listed)


def _euclidean(x: Any, axes: tuple[int, ...], keepdims: bool) -> TensorVariable:
    size = abs_(x)
    total = sum(size * size, axis=axes, keepdims=keepdims)
    zero = eq(total, 0)
    return switch(zero, 0.0, sqrt(switch(zero, 1.0, total)))


def _vector_norm(x: Any, order: Any, axis: int, keepdims: bool) -> TensorVariable:
    if order is None or order == 2:
        return _euclidean(x, (axis,), keepdims)
    if isinstance(order, str):
        raise ValueError(f"ord={order!r} is no norm of vectors")
    size = abs_(x)
    if order == 1:
        return sum(size, axis=axis, keepdims=keepdims)
    if order == 0:
        return sum(neq(x, 0), axis=axis, keepdims=keepdims, dtype=size.dtype)
    if order == np.inf:
        return _largest(size, axis, keepdims)
    if order == -np.inf:
        return min(size, axis, keepdims)
    total = sum(size**order, axis=axis, keepdims=keepdims)
    if order < 0:
        return total ** (1.0 / order)
    zero = eq(total, 0)
    return switch(zero, 0.0, switch(zero, 1.0, total) ** (1.0 / order))


def _largest(sizes: Any, axis: int, keepdims: bool = False) -> TensorVariable:
    """The largest of the numbers ``sizes`` along ``axis``, or 0 if there are none. The numbers are not negative."""
    length = sizes.type.shape[axis]
    if length:
        return max(sizes, axis, keepdims)
    of_none = sum(sizes, axis, keepdims=keepdims)
    if length == 0:
        return of_none
    found: TensorVariable = ifelse(eq(sizes.shape[axis], 0), of_none, max(sizes, axis, keepdims))
    return found


def _matrix_norm(x: Any, order: Any, axes: tuple[int, ...], keepdims: bool) -> TensorVariable:
    row, column = axes
    if order is None or order in ("fro", "f"):
        return _euclidean(x, axes, keepdims)
    if order == "nuc" or order in (2, -2):
        return _norm_by_singular_values(x, order, axes, keepdims)
    if order not in (1, -1, np.inf, -np.inf):
        raise ValueError(f"ord={order!r} is no norm of matrices")
    summed, chosen = (row, column) if order in (1, -1) else (column, row)
    lengths = sum(abs_(x), axis=summed, keepdims=True)
    result = (_largest if order > 0 else min)(lengths, chosen, keepdims=True)
    return result if checked_keepdims(keepdims) else squeeze(result, axes)


def _norm_by_singular_values(
    x: Any, order: Any, axes: tuple[int, ...], keepdims: bool
) -> TensorVariable:
    from occelo_graph.ops.linalg.svd import svdvals  # linear algebra is imported at its first use

    values = svdvals(moveaxis(x, axes, (-2, -1)))
    reduction = sum if order == "nuc" else _largest if order > 0 else min
    found = reduction(values, axis=-1)
    return expand_dims(found, sorted(axes)) if checked_keepdims(keepdims) else found


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
