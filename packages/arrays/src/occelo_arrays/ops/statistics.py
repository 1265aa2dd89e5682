"""Weighted means, covariances, correlations, and both extrema: `average`, `cov`, `corrcoef`, `minmax`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import tensor as ot
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.arguments import checked_keepdims, stands_for
from occelo_graph.ops.cast import cast
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.elemwise.arithmetic import eq, floor, ge, maximum, neq
from occelo_graph.ops.elemwise.complex import conj
from occelo_graph.ops.join import join
from occelo_graph.ops.shape.axes import listed_axes, normalize_axes, normalize_axis
from occelo_graph.ops.shape.dimensions import squeeze
from occelo_graph.ops.shape.reshaping import reshape
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import TensorType, is_complex, is_discrete

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable
from occelo_graph.ops.statistics import degrees_of_freedom, mean

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["average", "corrcoef", "cov", "minmax"]


def minmax(
    a: Any, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None
) -> tuple[TensorVariable, TensorVariable]:
    """The smallest and the largest element of ``a`` over ``axis`` (one, several, or None for all), as `min` and `max`.

    ``keepdims`` keeps the axes. Only elements where ``where`` is true count; it needs ``initial``, a number that counts, too, or a
    pair of one for the minimum and one for the maximum.
    """
    low, high = initial if is_list_or_tuple(initial) else (initial, initial)
    return (
        ot.min(a, axis, keepdims, initial=low, where=where),
        ot.max(a, axis, keepdims, initial=high, where=where),
    )


@stands_for("average", "a axis weights returned keepdims")
def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False
) -> Any:
    """The mean over ``axis`` (one, several, or None for all), weighted by ``weights``.

    ``weights`` have the shape of ``a``, or the lengths along ``axis`` only, in the order of ``axis``; without them the result is `mean`. If
    ``returned`` is True, the result is a pair of the average and the sums of the weights, broadcast to its shape. The
    average of integers is float64. ``keepdims`` keeps the axes, with length 1. ZeroDivisionError if weights add up to 0,
    at run time if they are not constant, ValueError or TypeError if their shape does not fit.
    """
    x = ot.as_tensor_variable(a)
    keep = checked_keepdims(keepdims, "out")
    axes = None if axis is None else normalize_axes(axis, x)
    if weights is None:
        mean = ot.mean(x, axis=axes, keepdims=keep)
        total: Any = x.size if axes is None else ot.as_tensor_variable(_count(x, axes))
        scale = ot.broadcast_to(ot.cast(total, mean.dtype), mean.shape) if mean.type.ndim else None
        return (mean, ot.cast(total, mean.dtype) if scale is None else scale) if returned else mean
    tensor = ot.as_tensor_variable(weights)
    w = _fitting(
        tensor, x, None if axis is None else [normalize_axis(i, x) for i in listed_axes(axis)]
    )
    message = "Weights of average add up to 0, so there is no mean"
    if isinstance(tensor, ot.TensorConstant):  # the graph of a mean by zeros is simplified to 0
        over = axes if tensor.type.ndim == x.type.ndim else None
        if not np.all(np.sum(tensor.data, axis=over)):
            raise ZeroDivisionError(message)
    least = np.float64 if is_discrete(x.dtype) else x.type.numpy_dtype
    dtype = np.result_type(x.type.numpy_dtype, w.type.numpy_dtype, least).name
    total = ot.sum(ot.cast(w, dtype), axis=axes, keepdims=keep)
    nonzero = ot.neq(total, 0)
    total = ot.CheckAndRaise(ZeroDivisionError, message)(
        total, ot.all(nonzero) if nonzero.type.ndim else nonzero
    )
    sums = ot.sum(ot.cast(x, dtype) * ot.cast(w, dtype), axis=axes, keepdims=keep)
    mean = sums / total
    if not returned:
        return mean
    return mean, ot.broadcast_to(total, mean.shape) if mean.type.ndim else total


def _count(x: Any, axes: tuple[int, ...]) -> Any:
    count: Any = 1
    for axis in axes:
        count = count * x.shape[axis]
    return count


def _fitting(w: Any, x: Any, axes: list[int] | None) -> Any:
    """Weights with as many dimensions as the tensor: those of another shape lie along the axes, in their order."""
    equal = _may_be_equal(w.type.shape, x.type.shape)
    if equal and (
        axes is None
        or axes == sorted(axes)
        or not _may_be_equal(w.type.shape, [x.type.shape[i] for i in axes])
        or (w.type.shape == x.type.shape and None not in x.type.shape)
    ):
        return w
    if axes is None:
        raise TypeError(
            f"average needs an axis for weights of another shape than a, got weights={w.type} and a={x.type}"
        )
    if not _may_be_equal(w.type.shape, [x.type.shape[i] for i in axes]):
        raise ValueError(
            f"The weights of average must have the lengths of a along axis={tuple(axes)}, got {w.type} for {x.type}"
        )
    ordered = sorted(axes)
    along = ot.transpose(w, [axes.index(i) for i in ordered])
    if equal:  # only the lengths at run time tell whether the weights have the shape of the tensor, which comes first
        return ot.ifelse(ot.all(ot.eq(w.shape, x.shape)), w, along)
    return along.dimshuffle([ordered.index(i) if i in ordered else "x" for i in range(x.type.ndim)])


def _may_be_equal(first: Any, second: Any) -> bool:
    return len(first) == len(second) and all(
        n is None or m is None or n == m for n, m in zip(first, second, strict=True)
    )


@stands_for("corrcoef", "x y rowvar bias ddof dtype")
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> TensorVariable:
    """The matrix of correlation coefficients, from -1 to 1, of the quantities of which `cov` has the covariances.

    ``x``, ``y``, ``rowvar`` and ``dtype`` are those of `cov`. If the number of quantities is statically 1, the result is
    the scalar 1. A constant quantity has the coefficients NaN.
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if not c.type.ndim:
        return c / c
    deviation = ot.sqrt(ot.real(ot.diagonal(c)))
    c = c / deviation.dimshuffle(0, "x") / deviation.dimshuffle("x", 0)
    if not is_complex(c.dtype):
        return ot.clip(c, -1, 1)
    return ot.clip(ot.real(c), -1, 1) + 1j * ot.clip(ot.imag(c), -1, 1)


def _weights(weights: Any, name: str, count: Any, whole: bool) -> Any:
    """The vector of weights of the observations, with checks of its dtype, its length and its signs."""
    w = as_tensor_variable(weights)
    if w.type.ndim != 1:
        raise RuntimeError(f"{name} of cov must be a vector, got {w.type}")
    if whole and not is_discrete(w.dtype):
        check = CheckAndRaise(TypeError, f"{name} of cov must be integers")
        w = check(w, ot.all(eq(w, floor(w))))
    own = w.type.shape[0]
    if own is not None and isinstance(count, int) and own != count:
        raise RuntimeError(f"{name} of cov has {own} weights for {count} observations")
    w = CheckAndRaise(ValueError, f"{name} of cov cannot be negative")(w, ot.all(ge(w, 0)))
    return cast(w, "float64")


def _rows(m: Any, rowvar: bool) -> Any:
    m = as_tensor_variable(m)
    if m.type.ndim > 2:
        raise ValueError(f"cov and corrcoef take at most 2 dimensions, got {m.type}")
    if m.type.ndim < 2:
        return reshape(m, (1, -1))
    return m if rowvar else m.T


@stands_for("cov", "m y rowvar bias ddof fweights aweights dtype")
def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> TensorVariable:
    """Covariance matrix. Each row of ``m`` has the observations of one quantity, or each column if ``rowvar`` is False.

    ``y`` holds further quantities, which are appended to those of ``m``. Sums of products are divided by the number of
    observations minus ``ddof``. By default ``ddof`` is 0 if ``bias`` is True, else 1. ``fweights`` are integers that
    repeat observations, ``aweights`` weigh them. The dtype is ``dtype``, or the common dtype of the arguments and float64.
    If the number of quantities is statically 1, the result is a scalar, the variance. TypeError unless ``fweights`` are
    integers, RuntimeError unless weights are vectors with a weight for each observation, ValueError if one is negative.
    """
    if isinstance(ddof, float) and not ddof.is_integer():
        raise ValueError(f"ddof of cov must be an integer, got {ddof}")
    samples = [_rows(v, rowvar) for v in (m, y) if v is not None]
    common = np.result_type(np.float64, *(v.type.numpy_dtype for v in samples)).name
    common = common if dtype is None else TensorType(dtype, ()).dtype
    x = join(0, *(cast(v, common) for v in samples))
    freedom = (0 if bias else 1) if ddof is None else ddof
    weights = _combined(fweights, aweights, x.type.shape[1])
    if weights is None:
        centred = x - mean(x, axis=1, keepdims=True)
        weighted, factor = (
            centred,
            degrees_of_freedom(ot.cast(ot.as_tensor_variable(x.shape[1]), "float64"), freedom),
        )
    else:
        total = ot.sum(weights)
        message = "Weights of cov add up to 0, so there is no mean"
        total = CheckAndRaise(ZeroDivisionError, message)(total, neq(total, 0))
        centred = x - ot.sum(x * weights, axis=1, keepdims=True) / total
        weighted, factor = centred * weights, degrees_of_freedom(total, freedom)
        if aweights is not None and freedom != 0:
            scale = ot.sum(weights * cast(as_tensor_variable(aweights), "float64"))
            factor = maximum(total - freedom * scale / total, 0)
    products = centred.dot(conj(weighted).T if is_complex(common) else weighted.T)
    return squeeze(cast(products / factor, common))


def _combined(fweights: Any, aweights: Any, count: Any) -> Any:
    """The product of both kinds of weights; None if there are none."""
    weights = [
        _weights(w, name, count, whole)
        for w, name, whole in ((fweights, "fweights", True), (aweights, "aweights", False))
        if w is not None
    ]
    return None if not weights else weights[0] * weights[-1] if len(weights) > 1 else weights[0]
