"""`median`, `quantile` and `percentile`, and those that ignore NaN: sorted rows, read between two neighbours.

NumPy's thirteen methods differ in where between the sorted elements a quantile lies (`_METHODS`). The names of the methods
and their formulas are those of Hyndman and Fan, "Sample quantiles in statistical packages", The American Statistician 50
(1996). Gradients flow to the elements that are read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ir.nodes import Constant
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.cast import cast
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.create import arange, broadcast_to, zeros
from occelo_graph.ops.elemwise.arithmetic import (
    and_,
    ceil,
    clip,
    eq,
    floor,
    ge,
    invert,
    isnan,
    le,
    lt,
    maximum,
    minimum,
    neq,
    or_,
    switch,
)
from occelo_graph.ops.elemwise.arithmetic import round as rounded
from occelo_graph.ops.index.search import take_along_axis
from occelo_graph.ops.index.subtensor import getitem
from occelo_graph.ops.join import join
from occelo_graph.ops.reduce import all as all_
from occelo_graph.ops.reduce import cumsum, sum
from occelo_graph.ops.shape.dimensions import expand_dims, moveaxis
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.ops.shape.reshaping import reshape
from occelo_graph.ops.statistics import mean
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import is_complex, is_discrete
from occelo_sorting.ops.order_statistics import OrderStatistics
from occelo_sorting.ops.orders import ArgSort, Sort
from occelo_sorting.ops.rows import Rows, has_nan, with_room
from occelo_sorting.ops.searching import SearchSorted

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"]

Place = Callable[[Any, Any], Any]
"""A function of the number of elements n and of q: the position among the sorted elements, counted from 0."""


def _between(alpha: float, beta: float) -> Place:
    return lambda n, q: n * q + (alpha + q * (1 - alpha - beta)) - 1


def _linear(n: Any, q: Any) -> Any:
    return (n - 1) * q


def _midpoint(n: Any, q: Any) -> Any:
    at = _linear(n, q)
    return (floor(at) + ceil(at)) * 0.5


def _before(n: Any, q: Any) -> Any:
    return n * q - 1


def _step(at: Any, stays: Any) -> Any:
    """The position itself where it stays, else the next one."""
    below = floor(at)
    return switch(and_(eq(at, below), stays), below, below + 1)


def _inverted(n: Any, q: Any) -> Any:
    return _step(_before(n, q), np.True_)


def _closest(n: Any, q: Any) -> Any:
    at = _before(n, q) - 0.5
    return _step(at, eq(floor(at) % 2, 1))


_READ: dict[str, Place] = {
    "inverted_cdf": _inverted,
    "closest_observation": _closest,
    "lower": lambda n, q: floor(_linear(n, q)),
    "higher": lambda n, q: ceil(_linear(n, q)),
    "nearest": lambda n, q: rounded(_linear(n, q)),
}
"""Methods that read one element."""
_INTERPOLATED: dict[str, Place] = {
    "linear": _linear,
    "averaged_inverted_cdf": _before,
    "interpolated_inverted_cdf": _between(0, 1),
    "hazen": _between(0.5, 0.5),
    "weibull": _between(0, 0),
    "median_unbiased": _between(1 / 3, 1 / 3),
    "normal_unbiased": _between(3 / 8, 3 / 8),
    "midpoint": _midpoint,
}
"""Methods that lie between two elements."""
METHODS = (*_READ, *_INTERPOLATED)


def _fraction(method: str, at: Any, below: Any) -> Any:
    """How far the quantile lies from the element below it to the next one."""
    fraction = at - below
    if method == "averaged_inverted_cdf":
        return switch(eq(fraction, 0), 0.5, 1.0)
    if method == "midpoint":
        return switch(eq(at, floor(at)), 0.0, 0.5)
    return fraction


class _Levels:
    """The numbers q of a quantile, as a vector. A plain Python number does not decide about the dtype of the result."""

    def __init__(self, q: Any, whole: int, name: str) -> None:
        self.weak = type(q) in (int, float)
        levels = as_tensor_variable(np.float64(q) if self.weak else q)
        if self.weak and whole == 1 and type(q) is int:
            levels = as_tensor_variable(np.int64(q))
        if levels.type.ndim > 2 or is_complex(levels.dtype):
            raise ValueError(
                f"q of {name} must be real numbers of at most 2 dimensions, got {levels}"
            )
        if levels.dtype == "bool":
            raise TypeError(f"q of {name} must be numbers, got {levels} of type {levels.type}")
        self.ndim, self.lengths = levels.type.ndim, lengths_by_variables(levels)
        checked = _within(levels, whole, name)
        flat = reshape(checked, (-1,), 1) if self.ndim != 1 else checked
        self.values = flat if whole == 1 else flat / whole

    def whole(self, result: Any, ndim: int) -> Any:
        """The result, whose last axis is that of the levels, with the dimensions of q in front."""
        if not self.ndim:
            return getitem(result, (..., 0))
        moved = moveaxis(result, -1, 0) if ndim > 1 else result
        if self.ndim == 1:
            return moved
        return reshape(
            moved, [*self.lengths, *lengths_by_variables(moved)[1:]], self.ndim + ndim - 1
        )


def _within(q: Any, most: int, name: str) -> Any:
    """``q``, with a check that it is from 0 to ``most``: ValueError, at once if its value is known."""
    message = f"q of {name} must be in the range [0, {most}]"
    if isinstance(q, Constant):
        if not ((q.data >= 0) & (q.data <= most)).all():
            raise ValueError(f"{message}, got {q.data}")
        return q
    inside = and_(ge(q, 0), le(q, most))
    return CheckAndRaise(ValueError, message)(q, all_(inside) if q.type.ndim else inside)


def _read(rows: TensorVariable, at: Any) -> Any:
    """The elements at integer positions of each row, once sorted: the same positions in all rows if ``at`` is a vector."""
    at = cast(at, "int64")
    if at.type.ndim > 1:
        return take_along_axis(Sort()(rows), at, axis=-1)
    elements: Any = OrderStatistics()(rows, at)
    return elements


def _is_float(rows: Any, levels: _Levels, method: str) -> bool:
    """Whether quantiles of integers are floats."""
    exact = is_discrete(levels.values.dtype)
    return (
        is_discrete(rows.dtype) and method in _INTERPOLATED and not (method == "linear" and exact)
    )


def _of_rows(rows: Any, kind: Any, n: Any, levels: _Levels, method: str) -> Any:
    """The quantiles of rows of which the first ``n`` elements count, once sorted. ``kind`` is the user's dtype."""
    q, exact = levels.values, is_discrete(levels.values.dtype)
    last = maximum(cast(n, "int64") - 1, 0)
    if method in _READ or (method == "linear" and exact):
        place = _READ.get(method, _linear)
        return _read(rows, clip(cast(place(cast(n, q.dtype), q), "int64"), 0, last))
    q = cast(q, "float64") if exact else q
    at = _INTERPOLATED[method](cast(n, q.dtype), q)
    below = clip(floor(at), 0, cast(last, at.dtype))
    above = switch(lt(at, 0), below, minimum(below + 1, cast(last, at.dtype)))
    if is_discrete(rows.dtype):
        rows = cast(rows, "float64")
    low, high = _read_both(rows, below, above)
    dtype = rows.dtype if levels.weak else at.dtype
    quantiles = _interpolated(low, high, cast(_fraction(method, at, below), dtype))
    return (
        quantiles
        if levels.weak
        else cast(quantiles, np.result_type(kind, at.type.numpy_dtype).name)
    )


def _read_both(rows: TensorVariable, below: Any, above: Any) -> tuple[Any, Any]:
    """The elements at both positions, which are read at once if the positions are the same in all rows."""
    if below.type.ndim > 1:
        return _read(rows, below), _read(rows, above)
    both, count = _read(rows, join(0, below, above)), lengths_by_variables(below)[0]
    return getitem(both, (..., slice(None, count))), getitem(both, (..., slice(count, None)))


def _interpolated(low: Any, high: Any, fraction: Any) -> Any:
    """The number between ``low`` and ``high``, computed from the nearer one.

    At one of them it is this one, also if the other one is infinite, and between two equal infinities it is infinite.
    """
    width = high - low
    between = switch(lt(fraction, 0.5), low + width * fraction, high - width * (1 - fraction))
    at_end = switch(
        or_(eq(low, high), eq(fraction, 0)), low, switch(eq(fraction, 1), high, between)
    )
    return switch(isnan(between), at_end, between)


def _checked_method(name: str, method: Any, weights: Any) -> str:
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(f"The method of {name} is one of {', '.join(METHODS)}, got {method!r}")
    if weights is not None and method != "inverted_cdf":
        raise ValueError(f"Only the method 'inverted_cdf' supports weights, not {method!r}")
    return method


def _quantiles(
    name: str,
    a: Any,
    levels: _Levels,
    axis: Any,
    method: Any,
    keepdims: Any,
    weights: Any,
    ignore_nan: bool,
) -> Any:
    _checked_method(name, method, weights)
    rows = Rows(a, axis, keepdims)
    if is_complex(rows.tensor.dtype):
        raise TypeError(f"{name} takes real numbers, got {rows.tensor} of type {rows.tensor.type}")
    values = rows.values
    missing = None
    if ignore_nan and not values.type.shape[-1] and _is_float(values, levels, method):
        values = cast(values, "float64")  # of no elements the result is NaN
    if ignore_nan and not is_discrete(values.dtype):
        values = with_room(values)
        missing = isnan(values)
    if weights is not None:
        quantiles = _weighted(rows, values, missing, weights, levels)
    else:
        if missing is None:
            n: Any = as_tensor_variable(lengths_by_variables(values)[-1])
        else:
            n = sum(invert(missing), axis=-1, keepdims=True)
        quantiles = _of_rows(values, rows.tensor.type.numpy_dtype, n, levels, method)
    nan = None if ignore_nan else has_nan(values)
    if nan is not None:
        quantiles = switch(expand_dims(nan, -1), cast(np.nan, quantiles.dtype), quantiles)
    return rows.whole(levels.whole(quantiles, values.type.ndim), levels.ndim)


def _weighted(rows: Rows, values: Any, missing: Any, weights: Any, levels: _Levels) -> Any:
    """The first elements of the sorted rows at which the sum of weights reaches the levels."""
    check = CheckAndRaise(ValueError, "Weights must be finite, not negative and not all zero")
    w = cast(rows.of(_like_elements(rows, weights)), "float64")
    lengths = lengths_by_variables(values)
    if values is not rows.values:  # one element more: see `with_room`
        w = join(-1, w, zeros([*lengths[:-1], 1]))
    if missing is not None:
        w = switch(missing, 0.0, w)
    order = ArgSort()(values)
    w = take_along_axis(w, order, axis=-1)
    total = cumsum(w, axis=-1)
    end = expand_dims(getitem(total, (..., -1)), -1)
    some = and_(lt(end, np.inf), neq(end, 0))
    if missing is not None:  # rows without elements have no weights
        some = or_(some, all_(missing, axis=-1, keepdims=True))
    shares = check(total / end, and_(all_(ge(w, 0)), all_(some)))
    q = levels.values
    q = cast(q, "float64") if is_discrete(q.dtype) else q
    shares = cast(shares, q.dtype)
    shares = switch(eq(shares, 0), -1.0, shares)  # an element without weight is not the first one
    count = lengths_by_variables(q)[0]
    at = SearchSorted("left")(shares, broadcast_to(q, [*lengths[:-1], count]))
    ordered = take_along_axis(values, order, axis=-1)
    last = as_tensor_variable(lengths[-1]) - 1
    return take_along_axis(ordered, minimum(at, last), axis=-1)


def _like_elements(rows: Rows, weights: Any) -> Any:
    """The weights in the shape of the elements. They may have only the axes of the rows, in the order of these axes."""
    w, kind = as_tensor_variable(weights), rows.tensor.type
    lengths = lengths_by_variables(rows.tensor)
    if w.type.ndim != kind.ndim:
        if w.type.ndim != len(rows.axes):
            raise ValueError(
                f"Weights have the shape of the elements or of the axes {rows.axes}, got {w.type} "
                f"for {rows.tensor} of type {kind}"
            )
        w = expand_dims(w, [i for i in range(kind.ndim) if i not in rows.axes])
    return broadcast_to(w, lengths)


@stands_for("quantile", "a q axis -out overwrite_input method keepdims weights")
def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    method: str = "linear",
    keepdims: bool = False,
    weights: Any = None,
    *,
    overwrite_input: bool = False,
) -> TensorVariable:
    """The quantiles ``q`` (from 0 to 1) of ``a`` along ``axis`` (one, several, or None for all), which ``keepdims`` keeps.

    ``q`` is a number, or has up to two dimensions, which are the first ones of the result. ``method`` is one of
    `METHODS`. With ``weights``, which need the method "inverted_cdf", elements count as often as their weights say. The
    result is NaN where an element is NaN. It has NumPy's dtype: a plain number ``q`` leaves that of floats as it is.
    Unlike in NumPy, a quantile that lies at an infinite element is infinite. ``overwrite_input`` is accepted, and changes nothing.

    TypeError for complex elements, ValueError for an unknown method, or if ``q`` is out of range.
    """
    levels = _Levels(q, 1, "quantile")
    quantiles: TensorVariable = _quantiles(
        "quantile", a, levels, axis, method, keepdims, weights, False
    )
    return quantiles


@stands_for("percentile", "a q axis -out overwrite_input method keepdims weights")
def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    method: str = "linear",
    keepdims: bool = False,
    weights: Any = None,
    *,
    overwrite_input: bool = False,
) -> TensorVariable:
    """The percentiles ``q`` (from 0 to 100) of ``a``: `quantile`, also for ``axis``, ``method``, ``keepdims``, ``weights``.

    ``overwrite_input`` is accepted, and changes nothing.
    """
    levels = _Levels(q, 100, "percentile")
    quantiles: TensorVariable = _quantiles(
        "percentile", a, levels, axis, method, keepdims, weights, False
    )
    return quantiles


@stands_for("nanquantile", "a q axis -out overwrite_input method keepdims weights")
def nanquantile(
    a: Any,
    q: Any,
    axis: Any = None,
    method: str = "linear",
    keepdims: bool = False,
    weights: Any = None,
    *,
    overwrite_input: bool = False,
) -> TensorVariable:
    """The quantiles ``q`` of the elements of ``a`` that are not NaN, or NaN if there are none.

    ``axis``, ``method``, ``keepdims``, ``weights`` and ``overwrite_input`` are those of `quantile`.
    """
    levels = _Levels(q, 1, "nanquantile")
    quantiles: TensorVariable = _quantiles(
        "nanquantile", a, levels, axis, method, keepdims, weights, True
    )
    return quantiles


@stands_for("nanpercentile", "a q axis -out overwrite_input method keepdims weights")
def nanpercentile(
    a: Any,
    q: Any,
    axis: Any = None,
    method: str = "linear",
    keepdims: bool = False,
    weights: Any = None,
    *,
    overwrite_input: bool = False,
) -> TensorVariable:
    """The percentiles ``q`` of the elements of ``a`` that are not NaN, or NaN if there are none.

    ``axis``, ``method``, ``keepdims``, ``weights`` and ``overwrite_input`` are those of `quantile`.
    """
    levels = _Levels(q, 100, "nanpercentile")
    quantiles: TensorVariable = _quantiles(
        "nanpercentile", a, levels, axis, method, keepdims, weights, True
    )
    return quantiles


@stands_for("median", "a axis -out overwrite_input keepdims")
def median(
    a: Any, axis: Any = None, keepdims: bool = False, *, overwrite_input: bool = False
) -> TensorVariable:
    """The middle of the sorted elements of ``a`` along ``axis`` (one, several, or None for all), or the mean of the two in it.

    It is NaN if an element is NaN, or if there are no elements. The median of integers is float64. ``keepdims`` keeps
    the axes, with length 1. ``overwrite_input`` is accepted, and changes nothing.
    """
    rows = Rows(a, axis, keepdims)
    values = rows.values
    n: Any = lengths_by_variables(values)[-1]
    if isinstance(n, int):
        at: Any = np.arange(max((n - 1) // 2, 0), min(n // 2 + 1, n))
    else:
        at = arange(maximum((n - 1) // 2, 0), minimum(n // 2 + 1, n))
    middle = mean(OrderStatistics()(values, at), axis=-1)
    nan = has_nan(values)
    return rows.whole(middle if nan is None else switch(nan, cast(np.nan, middle.dtype), middle))


@stands_for("nanmedian", "a axis -out overwrite_input keepdims")
def nanmedian(
    a: Any, axis: Any = None, keepdims: bool = False, *, overwrite_input: bool = False
) -> TensorVariable:
    """The `median` of the elements of ``a`` over ``axis`` that are not NaN, or NaN if there are none; with ``keepdims``.

    ``overwrite_input`` is accepted, and changes nothing.
    """
    rows = Rows(a, axis, keepdims)
    if is_discrete(rows.tensor.dtype):
        return median(a, axis, keepdims)
    values = with_room(rows.values)
    n = sum(invert(isnan(values)), axis=-1, keepdims=True)
    middle = [maximum((n - 1) // 2, 0), n // 2]
    low, high = (getitem(_read(values, at), (..., 0)) for at in middle)
    return rows.whole(switch(eq(low, high), low, mean_of_two(low, high)))


def mean_of_two(x: Any, y: Any) -> Any:
    """The mean of two tensors of one dtype. That of float16 is computed in float32."""
    if x.dtype == "float16":
        return cast(mean_of_two(cast(x, "float32"), cast(y, "float32")), "float16")
    return (x + y) / cast(2, x.dtype)
