"""`pad` with NumPy's modes. Each axis is padded by itself, in order, so corners follow from what was padded before.

Most modes read elements at positions that are computed from the lengths (`_positions`), so gradients are sums over the
positions, and widths may be symbolic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_arrays.ops.grids import linspace
from occelo_graph.ir.known_values import known_integer
from occelo_graph.ir.nodes import Constant, Variable
from occelo_graph.ir.taken_constants import taken
from occelo_graph.narrowing import is_dict, is_list_or_tuple
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.cast import cast
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.create import alloc, arange, broadcast_to
from occelo_graph.ops.elemwise.arithmetic import (
    clip,
    eq,
    floor,
    ge,
    gt,
    lt,
    maximum,
    minimum,
    or_,
    switch,
)
from occelo_graph.ops.elemwise.arithmetic import round as rounded
from occelo_graph.ops.join import flip, join
from occelo_graph.ops.reduce import max, min
from occelo_graph.ops.shape.axes import normalize_axis
from occelo_graph.ops.shape.dimensions import expand_dims, squeeze
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.ops.statistics import mean
from occelo_graph.tensors.constant import as_tensor_variable, constant
from occelo_graph.tensors.type import is_complex, is_discrete

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["pad"]

_OPTIONS: dict[str, dict[str, Any]] = {
    "constant": {"constant_values": 0},
    "edge": {},
    "empty": {},
    "linear_ramp": {"end_values": 0},
    "maximum": {"stat_length": None},
    "mean": {"stat_length": None},
    "median": {"stat_length": None},
    "minimum": {"stat_length": None},
    "reflect": {"reflect_type": "even"},
    "symmetric": {"reflect_type": "even"},
    "wrap": {},
}
"""The options of each mode, with their defaults."""

Ends = Callable[[Any, int, Any, Any], tuple[Any, Any]]
"""A function of the tensor, the axis and the two widths: what is joined before and after the tensor."""


@stands_for("pad", "array:x pad_width mode constant_values end_values reflect_type stat_length")
def pad(x: Any, pad_width: Any, mode: str = "constant", **kwargs: Any) -> TensorVariable:
    """Add elements at both ends of each dimension of ``x``.

    ``pad_width`` is one number, a pair (before, after), a sequence with a pair for each dimension, or a dict of axes to
    numbers or pairs. The numbers are integers or integer scalar variables; they may be in a vector or a matrix, whose lengths are checked when the graph runs. ``mode`` and its option, one of
    ``kwargs``, are NumPy's:

    - "constant": ``constant_values``, 0 by default; "empty": zeros
    - "edge": the last elements; "wrap": the elements of the other end
    - "linear_ramp": from the last elements to ``end_values``, 0 by default
    - "maximum", "minimum", "mean", "median": of ``stat_length`` elements at the end, of all if it is None
    - "reflect", "symmetric": mirrored at the last elements, or behind them; with ``reflect_type="odd"`` twice the last
      element minus the mirrored ones

    ``constant_values``, ``end_values`` and ``stat_length`` are given as widths are. ValueError for another mode or
    option, for negative widths, or if an empty dimension is padded except in the modes "constant" and "empty".
    TypeError unless widths are integers.
    """
    _check_mode(mode, kwargs)
    x = as_tensor_variable(x)
    widths = pairs_of(pad_width, x.type.ndim, "pad_width", _width)
    options = {**_OPTIONS[mode], **kwargs}
    for axis, (before, after) in enumerate(widths):
        if isinstance(before, int) and isinstance(after, int) and before == after == 0:
            continue
        if x.type.shape[axis] == 0 and mode not in ("constant", "empty"):
            raise ValueError(
                f"pad cannot extend the empty axis {axis} of {x.type} in mode {mode!r}"
            )
        if x.type.shape[axis] is None and mode not in ("constant", "empty"):
            check = CheckAndRaise(ValueError, f"pad cannot extend an empty axis in mode {mode!r}")
            fine = gt(x.shape[axis], 0)
            static = isinstance(before, int) and isinstance(after, int)
            if not static and mode != "linear_ramp":  # whose ramps start at elements
                fine = or_(fine, eq(before + after, 0))  # nothing is added
            x = check(x, fine)
        x = _padded(x, axis, before, after, mode, options)
    return x


def _check_mode(mode: Any, options: dict[str, Any]) -> None:
    if callable(mode):
        raise TypeError(
            "pad takes no function as mode, since it would change arrays in place; join what it computes instead"
        )
    if mode not in _OPTIONS:
        raise ValueError(f"The mode of pad is one of {', '.join(_OPTIONS)}, not {mode!r}")
    unknown = sorted(set(options) - set(_OPTIONS[mode]))
    if unknown:
        raise ValueError(f"pad has no option {', '.join(unknown)} in mode {mode!r}")
    if options.get("reflect_type", "even") not in ("even", "odd"):
        raise ValueError(f"reflect_type of pad is even or odd, not {options['reflect_type']!r}")


def pairs_of(
    width: Any, ndim: int, name: str, check: Callable[[Any, str], Any]
) -> list[tuple[Any, Any]]:
    """A pair of scalars for each dimension, of one number, a pair, a sequence of pairs, or a dict of axes to these.

    ``check`` is called with each scalar and the name of the argument. ValueError if the pairs do not fit the dimensions.
    """
    if is_dict(width):
        rows: list[Any] = [(0, 0)] * ndim
        for axis, pair in width.items():
            rows[normalize_axis(axis, ndim)] = (
                tuple(pair) if is_list_or_tuple(pair) else (pair, pair)
            )
        width = rows
    leaves: list[Any]
    if isinstance(width, Variable) and (vector := as_tensor_variable(width)).type.ndim:
        shape: Any = vector.type.shape
        if None in shape and len(shape) <= 2:
            return _rows_of(vector, ndim, name, check)
        if None in shape:
            raise TypeError(f"{name} of pad has at most 2 dimensions, got {vector.type}")
        leaves = [vector[place] for place in np.ndindex(*shape)]
    else:
        shape, leaves = np.shape(_without_variables(width)), _flat(width)
    leaves = [check(each, name) for each in leaves]
    # the positions of the scalars are broadcast, not the scalars, since NumPy would iterate over variables
    try:
        numbers = np.arange(len(leaves)).reshape(tuple(map(int, shape)))
        places = np.broadcast_to(numbers, (ndim, 2)).tolist()
    except ValueError:
        raise ValueError(
            f"{name} of pad has the shape {shape}, which does not broadcast to ({ndim}, 2)"
        ) from None
    return [(leaves[before], leaves[after]) for before, after in places]


def _rows_of(
    pairs: Any, ndim: int, name: str, check: Callable[[Any, str], Any]
) -> list[tuple[Any, Any]]:
    """The same of a vector or matrix whose lengths are known when the graph runs; they are checked then."""
    message = f"{name} of pad must broadcast to the shape ({ndim}, 2)"
    matrix = pairs if pairs.type.ndim == 2 else expand_dims(pairs, 0)
    lengths = [as_tensor_variable(n) for n in lengths_by_variables(matrix)]
    fits = [or_(eq(n, 1), eq(n, most)) for n, most in zip(lengths, (ndim, 2), strict=True)]
    if any(n not in (None, 1, most) for n, most in zip(matrix.type.shape, (ndim, 2), strict=True)):
        raise ValueError(f"{message}, got {pairs.type}")
    checked = CheckAndRaise(ValueError, message)(matrix, *fits)
    rows, columns = (n - 1 for n in lengths)
    return [
        tuple(check(checked[minimum(i, rows), minimum(j, columns)], name) for j in range(2))
        for i in range(ndim)
    ]


def _flat(nested: Any) -> list[Any]:
    if isinstance(nested, np.ndarray):
        nested = nested.tolist()
    return [w for each in nested for w in _flat(each)] if is_list_or_tuple(nested) else [nested]


def _without_variables(nested: Any) -> Any:
    if is_list_or_tuple(nested):
        return [_without_variables(each) for each in nested]
    return 0 if isinstance(nested, Variable) or nested is None else nested


def _width(width: Any, name: str) -> Any:
    """Check that a width is an integer and not negative. A variable is checked when the graph runs."""
    kind: Any = width.type if isinstance(width, Variable) else np.asarray(width)
    if getattr(kind, "ndim", None) != 0 or np.dtype(kind.dtype).kind not in "iu":
        raise TypeError(f"{name} must be integers, got {width!r}")
    number = known_integer(width)
    if number is not None and number < 0:
        raise ValueError(f"{name} must not be negative, got {number}")
    if number is None or isinstance(width, Constant):  # which a copy of the graph may replace
        return CheckAndRaise(ValueError, f"{name} must not be negative")(width, ge(width, 0))
    return width if isinstance(width, Variable) else number


def _any_scalar(value: Any, name: str) -> Any:
    v = as_tensor_variable(value)
    if v.type.ndim:
        raise ValueError(f"{name} of pad must consist of scalars, got {v.type}")
    return v


def _stat_length(value: Any, name: str) -> Any:
    return None if value is None else _width(value, name)


def _padded(x: Any, axis: int, before: Any, after: Any, mode: str, options: dict[str, Any]) -> Any:
    ndim = x.type.ndim
    if mode in ("constant", "empty"):
        values = pairs_of(options.get("constant_values", 0), ndim, "constant_values", _any_scalar)
        ends = _filled(x, axis, (before, after), values[axis])
    elif mode == "linear_ramp":
        values = pairs_of(options["end_values"], ndim, "end_values", _any_scalar)
        ends = _ramps(x, axis, (before, after), values[axis])
    elif mode in _STATISTICS:
        counts = pairs_of(options["stat_length"], ndim, "stat_length", _stat_length)
        ends = _statistics(x, axis, (before, after), counts[axis], mode)
    else:
        return _read(x, axis, before, after, mode, options.get("reflect_type") == "odd")
    return join(axis, ends[0], x, ends[1])


def _filled(x: Any, axis: int, widths: tuple[Any, Any], values: tuple[Any, Any]) -> list[Any]:
    lengths = list(lengths_by_variables(x))
    return [
        alloc(_in_dtype(value, x.dtype), [*lengths[:axis], width, *lengths[axis + 1 :]])
        for width, value in zip(widths, values, strict=True)
    ]


def _in_dtype(value: Any, dtype: str) -> Any:
    if is_complex(value.type.dtype) and not is_complex(dtype):
        raise TypeError(
            f"pad fills a tensor of {dtype} with real numbers, got complex ones: {value}"
        )
    if isinstance(value, Constant) and value.type.dtype != dtype:
        data = np.asarray(taken(value))
        if data.dtype.kind in "iu" and is_discrete(dtype) and dtype != "bool":
            limits = np.iinfo(dtype)
            if ((data < limits.min) | (data > limits.max)).any():
                raise OverflowError(
                    f"pad fills a tensor of {dtype} with a number out of bounds: {data}"
                )
        return constant(data.astype(dtype))
    return cast(value, dtype)


def _end(x: Any, axis: int, first: bool) -> Any:
    """The first or the last slice of a tensor along an axis, as a slice of length 1."""
    return x[(*[slice(None)] * axis, slice(0, 1) if first else slice(-1, None))]


def _along(vector: Any, axis: int, ndim: int) -> Any:
    return vector.dimshuffle([0 if i == axis else "x" for i in range(ndim)])


def _ramps(x: Any, axis: int, widths: tuple[Any, Any], values: tuple[Any, Any]) -> list[Any]:
    """Numbers from the end values, which are reached, to the last elements, which are not."""
    ends: list[Any] = []
    for first, width, value in zip((True, False), widths, values, strict=True):
        ramp = linspace(
            _in_dtype(value, x.dtype),
            squeeze(_end(x, axis, first), axis),
            width,
            False,
            axis=axis,
        )
        whole = is_discrete(x.dtype) and x.dtype != "bool"
        ramp = cast(floor(ramp) if whole else ramp, x.dtype)
        ends.append(ramp if first else flip(ramp, axis))
    return ends


def _median(x: Any, axis: int, keepdims: bool) -> Any:
    # sorting is a matter of a family, which NumPy's function finds
    return np.median(x, axis=axis, keepdims=keepdims)


_STATISTICS: dict[str, Any] = {
    "maximum": max,
    "minimum": min,
    "mean": mean,
    "median": _median,
}


def _statistics(
    x: Any, axis: int, widths: tuple[Any, Any], counts: tuple[Any, Any], mode: str
) -> list[Any]:
    ends: list[Any] = []
    for first, width, count in zip((True, False), widths, counts, strict=True):
        if isinstance(count, int) and count == 0 and mode in ("maximum", "minimum"):
            raise ValueError(f"stat_length of pad must not be 0 in mode {mode!r}")
        part = x
        if count is not None:
            start = maximum(lengths_by_variables(x)[axis] - count, 0)
            part = x[(*[slice(None)] * axis, slice(None, count) if first else slice(start, None))]
        value = _STATISTICS[mode](part, axis=axis, keepdims=True)
        # NumPy rounds integers, and takes a truth value that is no 0 for true
        if is_discrete(x.dtype) and x.dtype != "bool" and mode in ("mean", "median"):
            value = rounded(value)
        lengths = list(lengths_by_variables(x))
        lengths[axis] = width
        ends.append(broadcast_to(cast(value, x.dtype), lengths))
    return ends


def _read(x: Any, axis: int, before: Any, after: Any, mode: str, odd: bool) -> Any:
    """Read elements at positions around the tensor, which are mapped into it."""
    n = as_tensor_variable(lengths_by_variables(x)[axis])
    at = arange(n + before + after) - before
    lead = [slice(None)] * axis
    if mode == "edge":
        return x[(*lead, clip(at, 0, n - 1))]
    if mode == "wrap":
        return x[(*lead, at % maximum(n, 1))]
    if odd:
        return _mirrored_oddly(x, axis, n, at, mode)
    return x[(*lead, _folded(at, n, mode)[0])]


def _folded(at: Any, n: Any, mode: str) -> tuple[Any, Any, Any]:
    """Where positions lie in a tensor of length ``n`` that is mirrored again and again.

    Returns the positions in the tensor, whether the tensor is turned there, and how many pairs of tensors lie between.
    """
    period = maximum(2 * n if mode == "symmetric" else 2 * (n - 1), 1)
    folded = at % period
    mirrored = period - (1 if mode == "symmetric" else 0) - folded
    return minimum(folded, mirrored), lt(mirrored, folded), at // period


def _mirrored_oddly(x: Any, axis: int, n: Any, at: Any, mode: str) -> Any:
    """Values of an odd extension: beyond an end twice the element there minus the mirrored element, and so on.

    Positions before the tensor are counted from its last element, so that the far end only matters where it is reached.
    """
    lead, ndim = [slice(None)] * axis, x.type.ndim
    before = lt(at, 0)
    inner, behind, turns = _folded(switch(before, n - 1 - at, at), n, mode)
    value = x[(*lead, switch(before, n - 1 - inner, inner))]
    # of length 1 by type, which broadcasts also if the length of the axis is dynamic
    first, last = (expand_dims(x[(*lead, i)], axis) for i in (0, -1))
    before, behind, turns = (_along(v, axis, ndim) for v in (before, behind, turns))
    near, far = switch(before, first, last), switch(before, last, first)
    value = switch(behind, 2 * near - value, value)
    around = 2 * (near - far) * cast(turns, x.dtype)
    return cast(switch(gt(turns, 0), value + around, value), x.dtype)
