"""Weighted means and correlations: `average`, `corrcoef`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import tensor as ot
from occelo_graph.ops.arguments import checked_keepdims, stands_for
from occelo_graph.ops.shape.axes import normalize_axes
from occelo_graph.tensors.type import is_complex, is_discrete

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["average", "corrcoef"]


@stands_for("average", "a axis weights returned keepdims")
def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False
) -> Any:
    """The mean over ``axis`` (one, several, or None for all), weighted by ``weights``.

    ``weights`` have the shape of ``a``, or the lengths along ``axis`` only; without them the result is `mean`. If
    ``returned`` is True, the result is a pair of the average and the sums of the weights, broadcast to its shape. The
    average of integers is float64. ZeroDivisionError at run time if weights add up to 0, ValueError or TypeError if their
    shape does not fit.
    """
    x = ot.as_tensor_variable(a)
    keep = checked_keepdims(keepdims, "out")
    axes = None if axis is None else normalize_axes(axis, x.type.ndim)
    if weights is None:
        made = ot.mean(x, axis=axes, keepdims=keep)
        total: Any = x.size if axes is None else ot.as_tensor_variable(_count(x, axes))
        scale = ot.broadcast_to(ot.cast(total, made.dtype), made.shape) if made.type.ndim else None
        return (made, ot.cast(total, made.dtype) if scale is None else scale) if returned else made
    w = _fitting(ot.as_tensor_variable(weights), x, axes)
    least = np.float64 if is_discrete(x.dtype) else x.type.numpy_dtype
    dtype = np.result_type(x.type.numpy_dtype, w.type.numpy_dtype, least).name
    total = ot.sum(ot.cast(w, dtype), axis=axes, keepdims=keep)
    message = "Weights of average add up to 0, so there is no mean"
    nonzero = ot.neq(total, 0)
    total = ot.CheckAndRaise(ZeroDivisionError, message)(
        total, ot.all(nonzero) if nonzero.type.ndim else nonzero
    )
    sums = ot.sum(ot.cast(x, dtype) * ot.cast(w, dtype), axis=axes, keepdims=keep)
    made = sums / total
    if not returned:
        return made
    return made, ot.broadcast_to(total, made.shape) if made.type.ndim else total


def _count(x: Any, axes: tuple[int, ...]) -> Any:
    count: Any = 1
    for axis in axes:
        count = count * x.shape[axis]
    return count


def _fitting(w: Any, x: Any, axes: tuple[int, ...] | None) -> Any:
    """Weights with as many dimensions as the tensor: those of a vector, or of fewer axes, lie along the axes."""
    if w.type.ndim == x.type.ndim and _may_be_equal(w.type.shape, x.type.shape):
        return w
    if axes is None:
        raise TypeError(
            f"average needs an axis for weights of another shape than a, got weights={w.type} and a={x.type}"
        )
    if not _may_be_equal(w.type.shape, [x.type.shape[i] for i in axes]):
        raise ValueError(
            f"The weights of average must have the lengths of a along axis={axes}, got {w.type} for {x.type}"
        )
    w = ot.transpose(w, list(np.argsort(axes)))
    ordered = sorted(axes)
    return w.dimshuffle([ordered.index(i) if i in ordered else "x" for i in range(x.type.ndim)])


def _may_be_equal(first: Any, second: Any) -> bool:
    return len(first) == len(second) and all(
        n is None or m is None or n == m for n, m in zip(first, second, strict=True)
    )


@stands_for("corrcoef", "x y rowvar bias ddof dtype")
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> TensorVariable:
    """The matrix of correlation coefficients, from -1 to 1, of the quantities of which `cov` has the covariances.

    If the number of quantities is statically 1, the result is the scalar 1. A constant quantity has the coefficients NaN.
    """
    c = ot.cov(x, y, rowvar, dtype=dtype)
    if not c.type.ndim:
        return c / c
    deviation = ot.sqrt(ot.real(ot.diagonal(c)))
    c = c / deviation.dimshuffle(0, "x") / deviation.dimshuffle("x", 0)
    if not is_complex(c.dtype):
        return ot.clip(c, -1, 1)
    return ot.clip(ot.real(c), -1, 1) + 1j * ot.clip(ot.imag(c), -1, 1)
