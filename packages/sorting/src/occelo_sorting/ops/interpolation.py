"""Interpolation of one-dimensional data: NumPy's `interp`, and PyTensor's `interpolate1d` with its methods.

Positions are found by `searchsorted`, and the results are elementwise, so gradients flow to the places, to the data's
places and to its values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from occelo_graph import tensor as ot
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.type import is_complex
from occelo_sorting.ops.orders import argsort
from occelo_sorting.ops.searching import searchsorted

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["interp", "interpolate1d"]

InterpolationMethod = Literal["linear", "nearest", "first", "last", "mean"]


def _data(x: Any, y: Any, names: tuple[str, str], function: str) -> tuple[Any, Any]:
    """The places and values of the data, with checks that both are vectors of one length of at least 1."""
    x, y = ot.as_tensor_variable(x), ot.as_tensor_variable(y)
    if x.type.ndim != 1 or y.type.ndim != 1:
        raise ValueError(
            f"{names[0]} and {names[1]} of {function} must be vectors, got {x.type} and {y.type}"
        )
    (n,), (m,) = x.type.shape, y.type.shape
    message = f"{names[0]} and {names[1]} of {function} must be of equal length, and not empty"
    if (n is not None and m is not None and n != m) or 0 in (n, m):
        raise ValueError(f"{message}, got {x.type} and {y.type}")
    if n is None or m is None:
        x = ot.CheckAndRaise(ValueError, message)(
            x, ot.eq(x.shape[0], y.shape[0]), ot.gt(x.shape[0], 0)
        )
    return x, y


@stands_for("interp", "x xp fp left right period")
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> TensorVariable:
    """The values at ``x`` of the function that is linear between the points (``xp``, ``fp``).

    ``xp`` and ``fp`` are vectors of equal length, ``xp`` ascends, and the result has the shape of ``x``. Outside of
    ``xp`` the result is ``left`` or ``right``, by default the first or last of ``fp``. Between a
    point at infinity and one that is not, it is the value of the latter. With a ``period``, which is not 0,
    the points are sorted by their places modulo the period, and ``left`` and ``right`` are ignored. The dtype is float64,
    or complex128 if ``fp`` is complex. ValueError if the vectors do not fit, or the period is 0. TypeError for
    complex places.
    """
    xp, fp = _data(xp, fp, ("xp", "fp"), "interp")
    x, xp = ot.as_tensor_variable(x), ot.as_tensor_variable(xp)
    if is_complex(x.dtype) or is_complex(xp.dtype):
        raise TypeError(f"x and xp of interp must be real, got {x.type} and {xp.type}")
    x, xp = (ot.cast(v, "float64") for v in (x, xp))
    fp = ot.cast(fp, "complex128" if is_complex(fp.dtype) else "float64")
    if period is not None:
        x, xp, fp = _periodic(x, xp, fp, period)
        left = right = None
    last = lengths_by_variables(xp)[0] - 1
    above = searchsorted(xp, x, side="right")
    at = ot.clip(above - 1, 0, ot.maximum(last - 1, 0))
    after = ot.minimum(at + 1, last)
    low, high = xp[at], xp[after]
    start, end = fp[at], fp[after]
    inside = ot.and_(ot.gt(above, 0), ot.le(above, last))
    width = ot.switch(ot.eq(low, high), 1.0, high - low)
    # an interval that is open to the left has the value of its right end, one to the right that of its left end
    at_start = ot.eq(x, low)
    opens = inside & ot.isinf(low) & ~at_start
    unknown = opens & ot.isinf(high)
    # gradients multiply by the fraction where other values are chosen, too, so it is finite
    counts = inside & ~ot.isinf(x) & ~unknown
    fraction = ot.switch(counts, x - ot.switch(opens, high, low), 0.0) / width
    rise = end - start
    value = ot.switch(opens, end, start) + rise * fraction
    value = ot.switch(at_start & ~ot.lt(abs(rise), np.inf), start, value)
    value = ot.switch(unknown & ot.neq(start, end), np.nan, value)
    edges = (_edge(left, fp[0], fp.dtype), _edge(right, fp[-1], fp.dtype))
    outside = ot.switch(ot.lt(x, xp[0]), edges[0], ot.switch(ot.gt(x, xp[-1]), edges[1], fp[-1]))
    result = ot.switch(inside, value, outside)
    return ot.switch(ot.isnan(x) & ot.gt(last, 0), x.astype(fp.dtype), result)


def _edge(pad: Any, value: Any, dtype: str) -> Any:
    return value if pad is None else ot.cast(ot.as_tensor_variable(pad), dtype)


def _periodic(x: Any, xp: Any, fp: Any, period: Any) -> tuple[Any, Any, Any]:
    """Places modulo the period, the points in their order, with the last one before them and the first one behind."""
    if isinstance(period, int | float) and period == 0:
        raise ValueError("period of interp must not be 0")
    period = abs(ot.cast(ot.as_tensor_variable(period), "float64"))
    x, xp = x % period, xp % period
    order = argsort(xp)
    xp, fp = xp[order], fp[order]
    xp = ot.join(0, xp[-1:] - period, xp, xp[:1] + period)
    return x, xp, ot.join(0, fp[-1:], fp, fp[:1])


def interpolate1d(
    x: Any,
    y: Any,
    method: InterpolationMethod = "linear",
    left_pad: Any = None,
    right_pad: Any = None,
    extrapolate: bool = True,
) -> Callable[[Any], TensorVariable]:
    """A function that interpolates the points (``x``, ``y``), two vectors of equal length, which are sorted by ``x``.

    It takes a tensor of places and returns a tensor of its shape. Between two points, ``method`` "linear" interpolates,
    "nearest" takes the value of the nearer point, "first" of the left one, "last" of the right one, and "mean" the mean of
    both. Outside of the points, it continues so if ``extrapolate`` is True. Else it returns ``left_pad`` and
    ``right_pad``, by default the first and last value. The function and its arguments are PyTensor's. ValueError if the
    vectors do not fit, or for another method.
    """
    if method not in _METHODS:
        raise ValueError(
            f"The method of interpolate1d is one of {', '.join(_METHODS)}, not {method!r}"
        )
    x, y = _data(x, y, ("x", "y"), "interpolate1d")
    order = argsort(x)
    x, y = x[order], y[order]
    pads = [_edge(pad, y[i], y.dtype) for pad, i in ((left_pad, 0), (right_pad, -1))]

    def interpolated(x_hat: Any) -> TensorVariable:
        places = ot.as_tensor_variable(x_hat)
        count = lengths_by_variables(x)[0]
        above = searchsorted(x, places)
        value = _METHODS[method](x, y, places, above, count)
        if extrapolate:
            return value
        outside = ot.switch(ot.eq(above, count), pads[1], value)
        return ot.switch(ot.eq(above, 0), pads[0], outside)

    return interpolated


def _around(above: Any, count: Any) -> tuple[Any, Any]:
    """The positions of the points left and right of a place, the first two or last two for places outside."""
    right = ot.maximum(ot.clip(above, 1, count - 1), 0)
    return ot.maximum(right - 1, 0), right


def _linear(x: Any, y: Any, places: Any, above: Any, count: Any) -> Any:
    left, right = _around(above, count)
    width = x[right] - x[left]
    slope = (places - x[left]) / ot.switch(ot.eq(width, 0), np.array(1, width.dtype), width)
    return y[left] + slope * (y[right] - y[left])


def _nearest(x: Any, y: Any, places: Any, above: Any, count: Any) -> Any:
    left, right = _around(above, count)
    return ot.switch(ot.le(places - x[left], x[right] - places), y[left], y[right])


def _first(x: Any, y: Any, places: Any, above: Any, count: Any) -> Any:
    return y[ot.clip(above - 1, 0, count - 1)]


def _last(x: Any, y: Any, places: Any, above: Any, count: Any) -> Any:
    return y[ot.clip(above, 0, count - 1)]


def _mean(x: Any, y: Any, places: Any, above: Any, count: Any) -> Any:
    left, right = _around(above, count)
    return (y[left] + y[right]) / 2


_METHODS: dict[str, Callable[..., Any]] = {
    "linear": _linear,
    "nearest": _nearest,
    "first": _first,
    "last": _last,
    "mean": _mean,
}
