"""`bincount`, the histograms, `mode`, `count_nonzero` and `argwhere`: how often and where something occurs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from occelo_arrays.ops.grids import linspace
from occelo_graph.ir.known_values import known_integer
from occelo_graph.ir.nodes import Variable
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.cast import cast
from occelo_graph.ops.control.checks import CheckAndRaise, raise_unless
from occelo_graph.ops.create import broadcast_to, ones_like, zeros
from occelo_graph.ops.elemwise.arithmetic import (
    and_,
    eq,
    ge,
    le,
    lt,
    maximum,
    minimum,
    neq,
    switch,
)
from occelo_graph.ops.index.search import nonzero, take, take_along_axis
from occelo_graph.ops.index.subtensor import getitem
from occelo_graph.ops.join import diff, join, stack
from occelo_graph.ops.reduce import all as all_
from occelo_graph.ops.reduce import argmax, sum
from occelo_graph.ops.reduce import max as max_
from occelo_graph.ops.reduce import min as min_
from occelo_graph.ops.shape.axes import normalize_axes
from occelo_graph.ops.shape.dimensions import expand_dims
from occelo_graph.ops.shape.reading import length_product, lengths_by_variables
from occelo_graph.ops.shape.reshaping import flatten, reshape
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import is_complex, is_discrete
from occelo_sorting.ops.orders import Sort
from occelo_sorting.ops.rows import Rows
from occelo_sorting.ops.searching import SearchSorted, of_one_dtype, searchsorted

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "argwhere",
    "bincount",
    "count_nonzero",
    "histogram",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
    "mode",
]


def _totals(at: Any, weights: Any, count: Any) -> Any:
    """The sums of the weights for each number in ``at``, from 0 to ``count - 1``."""
    return getitem(zeros((count,), dtype=weights.dtype), at).inc(weights)


@stands_for("bincount", "x weights minlength")
def bincount(
    x: Any, weights: Any = None, minlength: Any = 0, *, length: Any = None
) -> TensorVariable:
    """How often each number from 0 on occurs in the vector ``x`` of integers, or the sums of its weights (float64).

    The result has ``minlength`` elements, or more if a number is larger. With ``length`` it has this length, and larger
    numbers are not counted, as in JAX. TypeError unless ``x`` are integers or booleans; ValueError unless it is a vector,
    or if a number is negative.
    """
    x = as_tensor_variable(np.zeros(0, "int64") if is_list_or_tuple(x) and not x else x)
    if x.type.ndim != 1:
        raise ValueError(f"bincount takes a vector, got {x} of type {x.type}")
    if not is_discrete(x.dtype):
        raise TypeError(f"bincount takes integers, got {x} of type {x.type}")
    at = CheckAndRaise(ValueError, "bincount takes no negative numbers")(
        cast(x, "int64"), all_(ge(x, 0))
    )
    if weights is None:
        each = ones_like(at)
    else:
        each = cast(as_tensor_variable(weights), "float64")
        if each.type.ndim != 1:
            raise ValueError(f"The weights must be a vector, got {weights} of type {each.type}")
        each = CheckAndRaise(ValueError, "The weights and list don't have the same length.")(
            each, eq(lengths_by_variables(each)[0], lengths_by_variables(x)[0])
        )
    if length is not None:
        inside = lt(at, length)
        return _totals(switch(inside, at, 0), switch(inside, each, 0), length)
    least = as_tensor_variable(0 if minlength is None else minlength)
    if not is_discrete(least.dtype) or least.type.ndim:
        raise TypeError(f"minlength must be an integer, got {least} of type {least.type}")
    number = known_integer(least)
    if number is not None and number < 0:
        raise ValueError(f"minlength must not be negative, got {number}")
    if number is None:
        least = raise_unless(least, ge(least, 0), error=ValueError, message="minlength must not be negative")  # fmt: skip
    most = max_(cast(x, "int64"), initial=-1) + 1
    return _totals(at, each, maximum(most, cast(least, "int64")))


def _range_of(a: Any, range_: Any) -> tuple[Any, Any, str]:
    """The first and the last edge, and the dtype of the edges of elements ``a``.

    The edges are those of ``range_``, or the smallest and the largest element, or 0 and 1 if there is none. As in NumPy,
    the edges between them are computed in their own dtype, which is float64 for plain numbers, then converted.
    """
    if range_ is not None:
        ends = list(range_) if np.iterable(range_) else []
        if len(ends) != 2:
            raise TypeError(f"range of a histogram must be a pair of numbers, got {range_!r}")
    else:
        empty = eq(lengths_by_variables(a)[0], 0)
        one = join(0, a, _first(a, np.zeros(1, a.dtype)))  # there may be none
        ends = [switch(empty, 0, min_(one)), switch(empty, 1, max_(one))]
    # plain numbers do not decide about the dtype of the edges
    kinds: list[Any] = [
        v if type(v) in (int, float) else as_tensor_variable(v).type.numpy_dtype for v in ends
    ]
    own: Any = np.result_type(*(np.float64 if type(v) in (int, float) else v for v in kinds))
    low, high = (cast(as_tensor_variable(v), _of_floats(own)) for v in ends)
    fits = CheckAndRaise(ValueError, "The range of a histogram must be finite and ascend")
    low = fits(low, and_(le(low, high), eq(high - low, high - low)))
    same = eq(low, high)
    name = _of_floats(np.result_type(a.type.numpy_dtype, *kinds))
    return switch(same, low - 0.5, low), switch(same, high + 0.5, high), name


def _of_floats(dtype: np.dtype[Any]) -> str:
    return (np.result_type(dtype, float) if dtype.kind in "biu" else dtype).name


def _first(a: Any, other: Any) -> Any:
    """The first element as a vector, or ``other`` if there is none."""
    return getitem(join(0, a, other), slice(None, 1))


def _edges(a: Any, bins: Any, range_: Any, name: str = "bins", is_alike: bool = True) -> Any:
    """The edges of the bins, from their number or as they are given.

    Edges from a number have the dtype of the elements if ``is_alike`` is true, else that of the range.
    """
    if isinstance(bins, str):
        raise TypeError(
            f"The number of bins cannot be chosen by {bins!r}: it would follow from values; pass a number or edges"
        )
    edges = as_tensor_variable(bins)
    if edges.type.ndim > 1:
        raise ValueError(f"{name} must be a number or a vector of edges, got {edges.type}")
    if edges.type.ndim:
        ascend = CheckAndRaise(ValueError, f"{name} must increase monotonically")
        return ascend(edges, all_(ge(diff(edges), 0)))
    if not is_discrete(edges.dtype):
        raise TypeError(f"{name} must be an integer, or a vector of edges, got {edges.type}")
    n = known_integer(edges)
    if n is not None and n < 1:
        raise ValueError(f"{name} must be positive, got {n}")
    low, high, of_elements = _range_of(a, range_)
    count = edges if n is None or isinstance(bins, Variable) else n
    return linspace(low, high, count + 1, dtype=of_elements if is_alike else None)


def _numbers(a: Any, edges: Any) -> tuple[Any, Any]:
    """The number of the bin of each element, and whether it is in a bin. The last bin has its right edge."""
    a, edges = of_one_dtype(a, edges)
    count = as_tensor_variable(lengths_by_variables(edges)[0]) - 1
    at = searchsorted(edges, a, "right") - 1
    at = switch(eq(a, getitem(edges, -1)), count - 1, at)
    inside = and_(ge(at, 0), lt(at, count))
    inside = inside if is_discrete(a.dtype) else and_(inside, eq(a, a))
    return switch(inside, at, 0), inside


def _numbers_of_equal_bins(a: Any, edges: Any) -> tuple[Any, Any]:
    """The same as `_numbers` for bins of equal width: divided by the width, then corrected beside the edges."""
    if edges.dtype != "float64":  # bins may be narrower than the distance of two numbers
        return _numbers(a, edges)
    x = cast(a, "float64")
    count = as_tensor_variable(lengths_by_variables(edges)[0]) - 1
    low, high = getitem(edges, 0), getitem(edges, -1)
    inside = and_(ge(x, low), le(x, high))
    share = switch(inside, (x - low) / (high - low), 0.0)
    at = minimum(cast(share * count, "int64"), count - 1)
    at = at - cast(and_(inside, lt(x, take(edges, at))), "int64")
    more = and_(and_(inside, lt(at, count - 1)), ge(x, take(edges, at + 1)))
    return at + cast(more, "int64"), inside


@stands_for("histogram_bin_edges", "a bins range -weights")
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None) -> TensorVariable:
    """The edges of the bins of `histogram`, for the same ``a``, ``bins`` and ``range``."""
    edges: TensorVariable = _edges(flatten(as_tensor_variable(a)), bins, range)
    return edges


@stands_for("histogram", "a bins range density weights")
def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[TensorVariable, TensorVariable]:
    """How many elements of ``a`` are in each bin (int64), or the sums of their weights; and the edges of the bins.

    ``bins`` is the number of bins of equal width between the numbers of ``range``, by default the smallest and the largest
    element, or a vector of edges. The last bin has its right edge; elements outside of all bins and NaN are not counted.
    With ``density`` the integral over the bins is 1. TypeError for the name of a rule as ``bins``, and for
    complex numbers. ValueError if edges do not ascend, or a range is not finite.
    """
    shape = as_tensor_variable(a)
    if is_complex(shape.dtype):
        raise TypeError(f"histogram is for real numbers, got {shape.type}")
    x = flatten(shape)
    edges = _edges(x, bins, range)
    is_number = not as_tensor_variable(bins).type.ndim
    at, inside = (_numbers_of_equal_bins if is_number else _numbers)(x, edges)
    if weights is None:
        each = cast(inside, "int64")
    else:
        w = _fitting(weights, shape)
        each = switch(inside, flatten(w), cast(0, w.dtype))
    counts = _totals(at, each, as_tensor_variable(lengths_by_variables(edges)[0]) - 1)
    if density:
        counts = counts / cast(diff(edges), "float64") / sum(counts)
    return counts, edges


def _fitting(weights: Any, a: Any) -> Any:
    """The weights, with a check that they have the shape of ``a``."""
    w = as_tensor_variable(weights)
    pairs = list(zip(w.type.shape, a.type.shape, strict=False))
    if w.type.ndim != a.type.ndim or any(None not in (n, m) and n != m for n, m in pairs):
        raise ValueError(f"weights should have the shape of a, got {w.type} and {a.type}")
    lengths = zip(lengths_by_variables(w), lengths_by_variables(a), pairs, strict=True)
    equal = [eq(n, m) for n, m, pair in lengths if None in pair]
    message = "weights should have the shape of a"
    return raise_unless(w, *equal, error=ValueError, message=message) if equal else w


def _listed(value: Any, count: int, what: str) -> Sequence[Any]:
    """An argument for each dimension, from one for all or from a sequence."""
    if value is None or not is_list_or_tuple(value):
        return [value] * count
    if len(value) != count:
        raise ValueError(
            f"{what} must have an entry for each of {count} dimensions, got {len(value)}"
        )
    return value


@stands_for("histogramdd", "sample bins range density weights")
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[TensorVariable, tuple[TensorVariable, ...]]:
    """The histogram of points (float64), and a tuple of the edges of the bins of each dimension.

    ``sample`` is a matrix with a point in each row, or a sequence with a vector for each dimension. ``bins`` and ``range``
    are those of `histogram`, one for all dimensions or a sequence. ``density`` and ``weights`` are those of `histogram`, too.
    TypeError for complex numbers.
    """
    if is_list_or_tuple(sample):
        columns = of_one_dtype(*sample)
    else:
        points = as_tensor_variable(sample)
        if points.type.ndim == 1:
            points = expand_dims(points, 1)
        if points.type.ndim != 2:
            raise ValueError(
                f"sample of histogramdd is a matrix with a point in each row, got {points.type}"
            )
        width = points.type.shape[1]
        if width is None:
            raise ValueError(
                f"histogramdd has a dimension for each column of sample, whose number must be known when the graph is "
                f"built, got {points.type}; for 3 columns pass specify_shape(sample, (None, 3)), or a list of 3 vectors"
            )
        columns = [getitem(points, (slice(None), i)) for i in _counted(width)]
    if any(is_complex(v.dtype) for v in columns):
        raise TypeError(f"histogramdd is for real numbers, got {columns[0].type}")
    n = len(columns)
    numbers = bins if is_list_or_tuple(bins) else [bins] * n
    if len(numbers) != n:
        raise ValueError(f"bins must have an entry for each of {n} dimensions, got {len(numbers)}")
    ranges = [None] * n if range is None else _listed(range, n, "range")
    edges = [
        _edges(x, b, r, f"bins[{i}]", is_alike=False)
        for i, (x, b, r) in enumerate(zip(columns, numbers, ranges, strict=True))
    ]
    lengths: list[Any] = [as_tensor_variable(lengths_by_variables(e)[0]) - 1 for e in edges]
    place: Any = as_tensor_variable(0)
    inside: Any = as_tensor_variable(np.True_)
    for x, e, length in zip(columns, edges, lengths, strict=True):
        at, fits = _numbers(x, e)
        place, inside = place * length + at, and_(inside, fits)
    each = cast(inside, "float64")
    if weights is not None:
        each = switch(inside, cast(_fitting(weights, columns[0]), "float64"), 0.0)
    counts = reshape(_totals(place, each, length_product(lengths)), lengths, n)
    if density:
        total = sum(counts)
        for i, e in enumerate(edges):
            order: list[Any] = [0 if j == i else "x" for j in _counted(n)]
            counts = counts / diff(e).dimshuffle(order)
        counts = counts / total
    return counts, tuple(edges)


_counted = range
"""Python's ``range``, which arguments of the functions above are called, too."""


@stands_for("histogram2d", "x y bins range density weights")
def histogram2d(
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: Any = None,
) -> tuple[TensorVariable, TensorVariable, TensorVariable]:
    """The histogram of the points with coordinates ``x`` and ``y``, and the edges of both: see `histogramdd`.

    ``bins`` is a number or a vector of edges for both, or a pair of these; ``range`` is a pair of such pairs. ``density``
    and ``weights`` are those of `histogram`. ValueError unless ``x`` and ``y`` are vectors.
    """
    if any(as_tensor_variable(v).type.ndim != 1 for v in (x, y)):
        kinds = " and ".join(str(as_tensor_variable(v).type) for v in (x, y))
        raise ValueError(f"histogram2d takes two vectors, got {kinds}")
    pair = is_list_or_tuple(bins) and len(bins) == 2
    if not pair and not isinstance(bins, int):
        bins = [bins, bins]
    counts, (first, second) = histogramdd([x, y], bins, range, density, weights)
    return counts, first, second


class ModeResult(NamedTuple):
    """The result of `mode`: the values, and how often they occur."""

    mode: Any
    count: Any


def mode(
    a: Any,
    axis: Any = 0,
    nan_policy: Literal["propagate", "omit", "raise"] = "propagate",
    keepdims: bool = False,
) -> ModeResult:
    """The element of ``a`` that occurs most often along ``axis`` (one, several, or None for all), and how often, as int64.

    Of several such elements it is the smallest one. NaN counts as one element, larger than all others, with the
    ``nan_policy`` "propagate"; with "omit" it counts only where there is nothing else, 0 times, and "raise" makes it a
    ValueError when the graph runs. As in SciPy, ``axis`` is 0 by default; ``keepdims`` keeps it. ValueError if there are
    no elements, and for another policy.
    """
    if nan_policy not in ("propagate", "omit", "raise"):
        raise ValueError(f"nan_policy of mode is propagate, omit or raise, not {nan_policy!r}")
    rows = Rows(a, axis, keepdims)
    if rows.values.type.shape[-1:] == (0,):
        raise ValueError(
            f"mode needs an element along the axis, got {rows.tensor} of type {rows.tensor.type}"
        )
    ordered: Any = Sort()(rows.values)
    if nan_policy == "raise":
        check = CheckAndRaise(ValueError, "mode with nan_policy='raise' got NaN")
        ordered = check(ordered, all_(eq(ordered, ordered)))
    counts = SearchSorted("right")(ordered, ordered) - SearchSorted("left")(ordered, ordered)
    if nan_policy == "omit":
        counts = switch(eq(ordered, ordered), counts, 0)
    at = argmax(counts, axis=-1, keepdims=True)
    values = getitem(take_along_axis(ordered, at, -1), (..., 0))
    return ModeResult(rows.whole(values), rows.whole(max_(counts, axis=-1)))


@stands_for("count_nonzero", "a axis keepdims")
def count_nonzero(a: Any, axis: Any = None, keepdims: bool = False) -> TensorVariable:
    """How many elements of ``a`` along ``axis`` (one, several, or None for all) are not 0, as int64.

    ``keepdims`` keeps these dimensions, with length 1.
    """
    axes = normalize_axes(axis, as_tensor_variable(a))
    return sum(neq(a, 0), axes, keepdims=keepdims)


@stands_for("argwhere", "a")
def argwhere(a: Any, *, size: Any = None, fill_value: Any = None) -> TensorVariable:
    """The indices of the elements of ``a`` that are not 0, as the rows of an int64 matrix.

    ``size`` is the number of rows, and ``fill_value`` is what the missing ones have, as in `nonzero`.
    """
    x = as_tensor_variable(a)
    if not x.type.ndim:
        positions = nonzero(reshape(x, (1,)), size=size)[0]
        return broadcast_to(expand_dims(positions, 1), [lengths_by_variables(positions)[0], 1])[
            :, :0
        ]
    return stack(list(nonzero(x, size=size, fill_value=fill_value)), axis=1)
