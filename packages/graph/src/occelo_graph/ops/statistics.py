"""Means, variances and covariances, which are graphs of reductions and elementwise functions.

Users call the functions from `occelo.tensor`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from occelo_graph.ops.arguments import plain_number
from occelo_graph.ops.cast import cast
from occelo_graph.ops.elemwise.arithmetic import maximum, second, sqrt
from occelo_graph.ops.reduce import max, min, sum
from occelo_graph.ops.selected_elements import selects_all
from occelo_graph.ops.shape.axes import normalize_axes
from occelo_graph.ops.shape.reading import length_op, length_product
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import is_complex, is_discrete

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["mean", "ptp", "std", "var"]


def mean(
    input: Any,
    axis: Any = None,
    dtype: Any = None,
    keepdims: bool = False,
    acc_dtype: Any = None,
    *,
    where: Any = None,
) -> TensorVariable:
    """Mean of ``input`` over ``axis`` (one, several, or None for all), in ``dtype``: float64 for integers by default.

    It is computed in ``acc_dtype``, for float16 in float32, as in NumPy. Only elements for which ``where`` is true count.
    ``keepdims`` keeps the axes, with length 1.
    """
    x = as_tensor_variable(input)
    target = dtype or ("float64" if is_discrete(x.dtype) else x.dtype)
    if target == "float16" and acc_dtype is None:
        return mean(x, axis, "float32", keepdims, where=where).astype("float16")
    total = sum(x, axis=axis, dtype=target, keepdims=keepdims, acc_dtype=acc_dtype, where=where)
    count = "int64" if is_discrete(total.dtype) else total.dtype
    average = total / _counted(x, axis, count, keepdims, where)
    return average.astype(total.dtype) if is_discrete(total.dtype) else average


def _count(x: Any, axis: Any, dtype: str) -> Any:
    # read from x even if they are static, so that a graph that is rebuilt for another x divides by its lengths
    lengths: list[Any] = [length_op(i)(x) for i in normalize_axes(axis, x)]
    return as_tensor_variable(length_product(lengths)).astype(dtype)


def _counted(x: Any, axis: Any, dtype: str, keepdims: bool, where: Any) -> Any:
    """The numbers of the elements along ``axis`` for which ``where`` is true."""
    if selects_all(where):
        return _count(x, axis, dtype)
    counts = second(x, cast(as_tensor_variable(where), "bool"))
    return cast(sum(counts, axis, keepdims=keepdims), dtype)


def var(
    input: Any,
    axis: Any = None,
    ddof: Any = 0,
    keepdims: bool = False,
    *,
    dtype: Any = None,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> TensorVariable:
    """Variance of ``input`` over ``axis`` (one, several, or None for all), which ``keepdims`` keeps.

    The sum of squared deviations from the mean is divided by the number of elements minus ``ddof``, or ``correction``,
    its name in the array API. If this difference is negative, the sum is divided by 0. It is computed in ``dtype``, and by
    default in float32 for float16, as in NumPy. Only elements for which ``where`` is true count. ``mean`` is the mean, if
    it is known, with the axes kept. ValueError if both ``ddof`` and ``correction`` are given.
    """
    x = as_tensor_variable(input)
    if correction is not None:
        if type(ddof) is not int or ddof != 0:
            raise ValueError("ddof and correction of var and std are two names of one argument")
        ddof = correction
    if dtype is not None:
        x = cast(x, dtype)
    if x.dtype == "float16":
        wide = x.astype("float32")
        variance = var(wide, axis, ddof, keepdims, where=where, mean=mean)
        return variance.astype("float16")
    center = _mean(x, axis, where) if mean is None else mean
    if dtype is not None and mean is None:
        center = cast(center, x.dtype)  # NumPy computes all steps in it, also in integers
    centered = x - center
    squares = (centered * centered.conj()).real if is_complex(x.dtype) else centered * centered
    total = sum(squares, axis=axis, keepdims=keepdims, where=where)
    variance = total / degrees_of_freedom(_counted(x, axis, total.dtype, keepdims, where), ddof)
    return variance if dtype is None else cast(variance, x.dtype)


def _mean(x: Any, axis: Any, where: Any) -> TensorVariable:
    return mean(x, axis, keepdims=True, where=where)


def degrees_of_freedom(count: Any, ddof: Any) -> Any:
    """``count - ddof``, or 0 if this is negative, so that the variance is NaN or inf."""
    plain_number(ddof, "ddof", "var, std and cov take dtype= by keyword")
    if type(ddof) is int and ddof <= 0:
        return count - ddof if ddof else count
    return maximum(count - ddof, 0)


def std(
    input: Any,
    axis: Any = None,
    ddof: Any = 0,
    keepdims: bool = False,
    *,
    dtype: Any = None,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> TensorVariable:
    """Standard deviation of ``input`` over ``axis``: the square root of `var`.

    ``ddof``, ``keepdims``, ``dtype``, ``where``, ``mean`` and ``correction`` are those of `var`. If all elements are equal, the gradient is 0, the subgradient of least norm.
    """
    squared = var(
        input, axis, ddof, keepdims,
        dtype=dtype, where=where, mean=mean, correction=correction,
    )  # fmt: skip
    return sqrt(squared) if dtype is None else cast(sqrt(squared), squared.dtype)


def ptp(a: Any, axis: Any = None, keepdims: bool = False) -> TensorVariable:
    """The largest element of ``a`` minus the smallest one over ``axis`` (one, several, or None for all); see `max`.

    ``keepdims`` keeps the axes. TypeError for booleans."""
    return max(a, axis, keepdims) - min(a, axis, keepdims)
