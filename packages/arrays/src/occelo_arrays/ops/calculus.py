"""Differences and sums along an axis: finite differences by `gradient`, `trapezoid`, `ediff1d`, `unwrap`, `cumulative_sum`, `cumlogsumexp`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import tensor as ot
from occelo_graph import zero_grad
from occelo_graph.ops.arguments import real_tensor, stands_for
from occelo_graph.ops.reduce import CumOp, LinearRecurrence
from occelo_graph.ops.shape.axes import listed_axes, normalize_axes, normalize_axis
from occelo_graph.tensors.type import is_complex, is_discrete

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "cumlogsumexp",
    "cummax",
    "cummin",
    "cumulative_logsumexp",
    "cumulative_prod",
    "cumulative_sum",
    "ediff1d",
    "gradient",
    "trapezoid",
    "unwrap",
]


def _part(x: Any, axis: int, start: int | None, stop: int | None) -> Any:
    return x[(*[slice(None)] * axis, slice(start, stop))]


def _along(vector: Any, axis: int, ndim: int) -> Any:
    """A vector along an axis of tensors with ``ndim`` dimensions; a scalar stays as it is."""
    if not vector.type.ndim:
        return vector
    return vector.dimshuffle([0 if i == axis else "x" for i in range(ndim)])


@stands_for("gradient", "f * axis edge_order")
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Finite differences of the samples ``f`` along ``axis`` (one, several, or None for all), each of the shape of ``f``.

    Inside they are central differences of second order, at both ends of order ``edge_order``, 1 or 2. ``varargs`` are the
    distances of the samples: one scalar for all axes, or for each axis a scalar or the vector of the places. The result is
    a tensor for one axis, and a tuple of tensors for several. Integers are float64. For derivatives of graphs see
    `occelo.grad`. ValueError if an axis has less than ``edge_order`` + 1 samples, TypeError for another number of
    distances.
    """
    x = ot.as_tensor_variable(f)
    axes = normalize_axes(axis, x)
    if axis is not None:  # in the order in which they are given
        axes = tuple(normalize_axis(i, x) for i in listed_axes(axis))
    if edge_order not in (1, 2):
        raise ValueError(f"edge_order of gradient is 1 or 2, not {edge_order!r}")
    x = ot.cast(x, "float64") if is_discrete(x.dtype) else x
    spaces = [_spacing(each, x.dtype) for each in varargs] or [
        ot.as_tensor_variable(1, dtype=x.dtype)
    ]
    if len(spaces) == 1 and not spaces[0].type.ndim:
        spaces *= len(axes)
    if len(spaces) != len(axes):
        raise TypeError(
            f"gradient takes no or one distance, or one for each of {len(axes)} axes, got {len(spaces)}; "
            "for the derivative of an expression use grad"
        )
    slopes = tuple(_differences(x, i, s, edge_order) for i, s in zip(axes, spaces, strict=True))
    single = (axis is not None and np.ndim(axis) == 0) or len(axes) == 1
    return slopes[0] if single else slopes


def _spacing(space: Any, dtype: str) -> Any:
    number = type(space) in (int, float)
    v = ot.as_tensor_variable(np.asarray(space, dtype) if number else space)
    if v.type.ndim > 1:
        raise ValueError(f"A distance of gradient must be a scalar or a vector, got {v.type}")
    return ot.cast(v, "float64") if is_discrete(v.dtype) else v


def _enough(x: Any, axis: int, least: int) -> Any:
    message = f"gradient needs at least {least} samples along axis {axis} for this edge_order"
    length = x.type.shape[axis]
    if length is None:
        return ot.CheckAndRaise(ValueError, message)(x, ot.ge(x.shape[axis], least))
    if length < least:
        raise ValueError(f"{message}, got {x.type}")
    return x


def _differences(x: Any, axis: int, space: Any, order: int) -> Any:
    x = _enough(x, axis, order + 1)
    steps = None
    if space.type.ndim:
        steps = _along(ot.diff(space), axis, x.type.ndim)
        own, length = space.type.shape[0], x.type.shape[axis]
        message = f"gradient needs one place for each sample along axis {axis}"
        if own is not None and length is not None:
            if own != length:
                raise ValueError(f"{message}, got {space.type} and {x.type}")
        else:
            x = ot.CheckAndRaise(ValueError, message)(x, ot.eq(space.shape[0], x.shape[axis]))
    first = [_part(x, axis, i, i + 1) for i in range(order + 1)]
    last = [_part(x, axis, -i - 1, -i or None) for i in range(order + 1)]
    before, middle, after = (_part(x, axis, *ends) for ends in ((None, -2), (1, -1), (2, None)))
    if steps is None:
        inner = (after - before) / (2 * space)
        start = [space] * order
        end = start
    else:
        left, right = _part(steps, axis, None, -1), _part(steps, axis, 1, None)
        total = left + right
        inner = (
            before * (-right / (left * total))
            + middle * ((right - left) / (left * right))
            + after * (left / (right * total))
        )
        start = [_part(steps, axis, i, i + 1) for i in range(order)]
        end = [_part(steps, axis, -i - 1, -i or None) for i in range(order)]
    slopes = ot.join(axis, _one_sided(first, start), inner, -_one_sided(last, end))
    return ot.cast(slopes, x.dtype)


def _one_sided(samples: list[Any], steps: list[Any]) -> Any:
    """The derivative at the first of two or three samples, from the distances between them."""
    if len(samples) == 2:
        return (samples[1] - samples[0]) / steps[0]
    (a, b, c), (near, far) = samples, steps
    total = near + far
    return (
        a * (-(2 * near + far) / (near * total))
        + b * (total / (near * far))
        - c * (near / (far * total))
    )


@stands_for("trapezoid", "y x dx axis")
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> TensorVariable:
    """The integral of the samples ``y`` along ``axis`` by the trapezoidal rule.

    The samples lie at the places ``x``, a vector or a tensor that broadcasts with ``y``, or in distances of ``dx``.
    """
    y = ot.as_tensor_variable(y)
    where = normalize_axis(axis, y)
    if x is None:
        step = ot.as_tensor_variable(dx) if not isinstance(dx, int | float) else dx
    else:
        x = ot.as_tensor_variable(x)
        if x.type.ndim == 1:
            step = _along(ot.diff(x), where, y.type.ndim)
        else:
            step = ot.diff(x, axis=axis)
    return ot.sum(step * (_part(y, where, 1, None) + _part(y, where, None, -1)) / 2.0, axis=axis)


@stands_for("ediff1d", "ary to_end to_begin")
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> TensorVariable:
    """The differences of neighbours in the flattened tensor, between ``to_begin`` and ``to_end``, which are flattened.

    The dtype is that of ``ary``; TypeError if the two others do not convert to it.
    """
    flat = ot.flatten(ot.as_tensor_variable(ary))
    parts = [
        _fitting(to_begin, flat.dtype, "to_begin"),
        ot.diff(flat),
        _fitting(to_end, flat.dtype, "to_end"),
    ]
    return ot.join(0, *(each for each in parts if each is not None))


def _fitting(ends: Any, dtype: str, name: str) -> Any:
    if ends is None:
        return None
    v = ot.as_tensor_variable(ends)
    if not np.can_cast(v.type.numpy_dtype, dtype, "same_kind"):
        raise TypeError(f"{name} of ediff1d must convert to the dtype {dtype}, got {v.type}")
    return ot.cast(ot.flatten(v), dtype)


@stands_for("unwrap", "p discont axis period")
def unwrap(
    p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * np.pi
) -> TensorVariable:
    """The angles ``p`` without jumps along ``axis``: multiples of ``period`` are added where neighbours differ by over half of it.

    Only differences of at least ``discont`` are jumps, by default of half a period. Integers stay integers if the period
    is one.
    """
    p = real_tensor(p, "unwrap")
    where = normalize_axis(axis, p)
    steps = ot.diff(p, axis=where)
    whole = is_discrete(p.dtype) and isinstance(period, int)
    if whole and np.dtype(p.dtype).kind != "i":
        raise OverflowError(f"unwrap turns angles back, which {p.dtype} cannot hold; cast them")
    half = period // 2 if whole else period / 2
    at_edge = not whole or period % 2 == 0
    turned = (steps + half) % period - half
    if at_edge:
        turned = ot.switch(ot.and_(ot.eq(turned, -half), ot.gt(steps, 0)), half, turned)
    correction = turned - steps
    least = period / 2 if discont is None else discont
    correction = ot.switch(ot.lt(abs(steps), least), 0, correction)
    first, rest = _part(p, where, None, 1), _part(p, where, 1, None)
    rest = ot.cast(rest + ot.cumsum(correction, axis=where), turned.dtype)
    return ot.join(where, ot.cast(first, rest.dtype), rest)


def _cumulative(
    function: Any, neutral: float, x: Any, axis: Any, dtype: Any, initial: bool, name: str
) -> Any:
    v = ot.as_tensor_variable(x)
    if axis is None:
        if v.type.ndim != 1:
            raise ValueError(f"{name} needs an axis for {v.type.ndim} dimensions")
        axis = 0
    where = normalize_axis(axis, v)
    accumulated = function(v if dtype is None else ot.cast(v, dtype), axis=where)
    accumulated = accumulated if dtype is None else ot.cast(accumulated, dtype)
    if not initial:
        return accumulated
    shape = list(v.shape)
    shape[where] = 1
    return ot.join(where, ot.full(shape, neutral, dtype=accumulated.dtype), accumulated)


@stands_for("cumulative_sum", "x axis dtype -out include_initial")
def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> TensorVariable:
    """Cumulative sums of ``x`` along ``axis``, which only vectors may omit; with ``include_initial``, after a first 0.

    They are computed in ``dtype`` if it is given.
    The name is that of the array API. ValueError if the axis is missing.
    """
    return _cumulative(ot.cumsum, 0, x, axis, dtype, include_initial, "cumulative_sum")


@stands_for("cumulative_prod", "x axis dtype -out include_initial")
def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> TensorVariable:
    """Cumulative products of ``x``: `cumulative_sum` with its ``axis``, ``dtype`` and ``include_initial``, after a first 1."""
    return _cumulative(ot.cumprod, 1, x, axis, dtype, include_initial, "cumulative_prod")


def _along_one(x: Any, axis: int | None) -> tuple[TensorVariable, int]:
    """The tensor and an axis counted from the front; the flattened tensor and axis 0 if it is None."""
    x = ot.as_tensor_variable(x)
    return (ot.flatten(x), 0) if axis is None else (x, normalize_axis(axis, x))


def cummax(x: Any, axis: int | None = None) -> TensorVariable:
    """The largest element of ``x`` so far along ``axis``, or over all elements in C order: NumPy's ``maximum.accumulate``."""
    x, where = _along_one(x, axis)
    maxima: TensorVariable = CumOp(where, "maximum")(x)
    return maxima


def cummin(x: Any, axis: int | None = None) -> TensorVariable:
    """The smallest element of ``x`` so far along ``axis``, or over all elements in C order: NumPy's ``minimum.accumulate``."""
    x, where = _along_one(x, axis)
    minima: TensorVariable = CumOp(where, "minimum")(x)
    return minima


def cumlogsumexp(x: Any, axis: int | None = None) -> TensorVariable:
    """The logarithm of the cumulative sums of ``exp(x)`` along ``axis``, or over all elements in C order.

    It is NumPy's ``logaddexp.accumulate``: nothing overflows, and small first elements keep their digits. Integers
    become float64. TypeError for complex numbers.
    """
    x, where = _along_one(x, axis)
    if is_complex(x.dtype):
        raise TypeError(f"cumlogsumexp is for real numbers, got {x.type}")
    x = ot.cast(x, "float64") if is_discrete(x.dtype) else x
    # s_k = exp(m_{k-1} - m_k) s_{k-1} + exp(x_k - m_k), where m is the largest element so far; s is at least 1. The
    # result does not depend on m, so no gradient passes it
    largest = zero_grad(cummax(x, where))
    before = ot.join(where, _part(largest, where, None, 1), _part(largest, where, None, -1))
    scaled: TensorVariable = LinearRecurrence(where)(
        ot.exp(_difference(before, largest)), ot.exp(_difference(x, largest))
    )
    return largest + ot.log(scaled)


def _difference(x: Any, y: Any) -> Any:
    """``x - y``, but 0 for equal infinities."""
    return ot.switch(ot.and_(ot.isinf(x), ot.eq(x, y)), 0, x - y)


def cumulative_logsumexp(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> TensorVariable:
    """`cumlogsumexp` of ``x`` with ``axis``, ``dtype`` and ``include_initial`` as in `cumulative_sum`, after a first -inf."""
    name = "cumulative_logsumexp"
    return _cumulative(cumlogsumexp, -np.inf, x, axis, dtype, include_initial, name)
