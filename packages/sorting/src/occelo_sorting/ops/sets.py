"""`unique`, `isin` and the functions of sets: graphs that compare neighbours in a sorted vector.

The lengths of most results follow from values, so they are known only when the function runs. With ``size``, the length of
the result, as in JAX, the result is cut, or filled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from occelo_graph.ir.known_values import known_integer
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.cast import cast, converted
from occelo_graph.ops.create import arange, zeros
from occelo_graph.ops.elemwise.arithmetic import (
    and_,
    eq,
    invert,
    isnan,
    lt,
    minimum,
    neq,
    switch,
)
from occelo_graph.ops.index.search import flatnonzero, take
from occelo_graph.ops.index.subtensor import getitem
from occelo_graph.ops.join import join
from occelo_graph.ops.length_inputs import integer_length
from occelo_graph.ops.reduce import any as any_
from occelo_graph.ops.reduce import cumsum
from occelo_graph.ops.shape.axes import normalize_axis
from occelo_graph.ops.shape.dimensions import moveaxis
from occelo_graph.ops.shape.reading import length_product, lengths_by_variables
from occelo_graph.ops.shape.reshaping import flatten, reshape
from occelo_graph.tensors.constant import as_tensor_variable, promote_arguments
from occelo_graph.tensors.type import is_discrete
from occelo_sorting.ops.orders import ArgSort, LexicographicOrder, Sort
from occelo_sorting.ops.repeats import without_repeats
from occelo_sorting.ops.searching import of_one_dtype, searchsorted
from occelo_sorting.ops.selecting import lexsort

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "intersect1d",
    "isin",
    "setdiff1d",
    "setxor1d",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]


def _vector(a: Any) -> TensorVariable:
    x = as_tensor_variable(a)
    return x if x.type.ndim == 1 else flatten(x)


def _differs(ordered: Any, equal_nan: bool) -> Any:
    """For each element of a sorted vector but the first, whether it differs from the one before it."""
    before, after = getitem(ordered, slice(None, -1)), getitem(ordered, slice(1, None))
    differs = neq(before, after)
    if ordered.type.ndim > 1:
        return any_(differs, axis=1)
    if equal_nan and not is_discrete(ordered.dtype):
        differs = and_(differs, invert(and_(isnan(before), isnan(after))))
    return differs


def _starts(ordered: Any, equal_nan: bool = True) -> Any:
    """Whether each element of a sorted vector is the first of those that equal it."""
    one = (
        arange(minimum(lengths_by_variables(ordered)[0], 1)) >= 0
    )  # True, or nothing in an empty vector
    return join(0, one, _differs(ordered, equal_nan))


def _rows(x: TensorVariable, where: int) -> tuple[TensorVariable, TensorVariable]:
    """The slices of ``x`` along an axis, first as such, then as the rows of a matrix."""
    slices = moveaxis(x, where, 0) if where else x
    lengths = lengths_by_variables(slices)
    return slices, reshape(slices, (lengths[0], length_product(lengths[1:])), 2)


_FEW = 8  # columns that are sorted one after the other, which backends compile


def _order_of_rows(matrix: TensorVariable) -> TensorVariable:
    width = matrix.type.shape[1]
    if width is None or not 0 < width <= _FEW:
        return LexicographicOrder()(matrix)
    return lexsort([getitem(matrix, (slice(None), i)) for i in reversed(range(width))])


class _Runs:
    """Where the runs of equal elements of a sorted vector start: in the sorted vector, and how many there are.

    In general, where the elements of the vector of booleans ``starts`` are true, all of them or the first ``size``.
    """

    def __init__(self, starts: Any, size: Any) -> None:
        self.starts = starts
        self.length = lengths_by_variables(starts)[0]
        self.numbers = cumsum(starts) - 1
        self.size = None if size is None else _checked_size(size)
        if self.size is None:
            self.positions = flatnonzero(starts)
            self.exists: Any = None
            return
        total = starts.sum()
        numbers = arange(self.size)
        # the first position at which as many runs have started; for a length that is given, no length follows from values
        firsts = searchsorted(self.numbers, numbers)
        self.exists = lt(numbers, total)
        self.positions = switch(self.exists, firsts, 0)

    def filled(self, values: Any, fill: Any) -> Any:
        """The values of the runs, and ``fill`` for those that are wanted and do not exist."""
        return values if self.exists is None else switch(self.exists, values, fill)

    def counts(self) -> Any:
        """The lengths of the runs."""
        end = cast(as_tensor_variable(self.length), "int64")
        if self.exists is None:
            bounds = join(0, self.positions, end.dimshuffle("x"))
            return getitem(bounds, slice(1, None)) - getitem(bounds, slice(None, -1))
        numbers = arange(self.size)
        return searchsorted(self.numbers, numbers, "right") - searchsorted(self.numbers, numbers)


def _checked_size(size: Any) -> Any:
    size = integer_length(size)
    n = known_integer(as_tensor_variable(size))
    if n is not None and n < 0:
        raise ValueError(f"size must not be negative, got {n}")
    return size if n is None else n


@stands_for(
    "unique",
    "ar return_index return_inverse return_counts axis equal_nan sorted",
)
def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
    size: Any = None,
    fill_value: Any = None,
) -> Any:
    """The different elements of ``ar`` in ascending order, or with ``axis`` its different slices along this axis.

    The result is a list with ``return_index`` (the positions at which the elements occur first), ``return_inverse`` (the
    positions in the result at which the elements of ``ar`` are) or ``return_counts`` (how often each occurs). If ``equal_nan`` is true,
    all NaN are one element (but not in slices of more dimensions). The result is always sorted,
    whatever ``sorted`` says.

    ``size`` is the length of the result: it is cut, or filled with ``fill_value``, by default the smallest element; counts
    of what is filled in are 0. It needs at least one element. OverflowError if ``fill_value`` does not fit the dtype.
    """
    x = as_tensor_variable(ar)
    where = 0 if axis is None else normalize_axis(axis, x)
    if axis is None or x.type.ndim == 1:
        if not (return_index or return_inverse or return_counts) and (
            equal_nan or is_discrete(x.dtype)
        ):
            x = without_repeats(x)
        items: Any = _vector(x)
        need_order = return_index or return_inverse
        order: Any = ArgSort()(items) if need_order else None
        ordered: Any = take(items, order) if need_order else Sort()(items)
        starts = _starts(ordered, equal_nan)
    else:
        items, matrix = _rows(x, where)
        order = _order_of_rows(matrix)
        ordered = take(items, order, axis=0)
        starts = _starts(take(matrix, order, axis=0))
    runs = _Runs(starts, size)
    first = getitem(ordered, 0) if fill_value is None and size is not None else fill_value
    values = _filled_values(runs, take(ordered, runs.positions, axis=0), first)
    if where:
        values = moveaxis(values, 0, where)
    results = [values]
    if return_index:
        at = take(order, runs.positions)
        results.append(runs.filled(at, 0 if size is None else getitem(order, 0)))
    if return_inverse:
        blank = zeros((runs.length,), dtype="int64")
        inverse = getitem(blank, order).set(runs.numbers)
        if axis is None and x.type.ndim != 1:
            inverse = reshape(inverse, lengths_by_variables(x), x.type.ndim)
        results.append(inverse)
    if return_counts:
        results.append(runs.counts())
    return results if len(results) > 1 else values


def _filled_values(runs: _Runs, values: Any, fill: Any) -> Any:
    if runs.exists is None:
        return values
    exists = runs.exists.dimshuffle([0, *["x"] * (values.type.ndim - 1)])
    return switch(exists, values, converted(fill, values.dtype))


class UniqueAll(NamedTuple):
    """The result of `unique_all`."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    """The result of `unique_counts`."""

    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    """The result of `unique_inverse`."""

    values: Any
    inverse_indices: Any


@stands_for("unique_all", "x")
def unique_all(x: Any, *, size: Any = None, fill_value: Any = None) -> UniqueAll:
    """The different elements of ``x``, where each occurs first, where each element is in the result, and counts: see `unique`.

    As in the array API standard, each NaN is an element. ``size`` and ``fill_value`` are those of `unique`.
    """
    return UniqueAll(
        *unique(x, True, True, True, equal_nan=False, size=size, fill_value=fill_value)
    )


@stands_for("unique_counts", "x")
def unique_counts(x: Any, *, size: Any = None, fill_value: Any = None) -> UniqueCounts:
    """The different elements of ``x`` and how often each occurs; each NaN is an element.

    ``size`` and ``fill_value`` are those of `unique`.
    """
    return UniqueCounts(
        *unique(x, return_counts=True, equal_nan=False, size=size, fill_value=fill_value)
    )


@stands_for("unique_inverse", "x")
def unique_inverse(x: Any, *, size: Any = None, fill_value: Any = None) -> UniqueInverse:
    """The different elements, and where each element of ``x`` is among them; each NaN is an element.

    ``size`` and ``fill_value`` are those of `unique`.
    """
    return UniqueInverse(
        *unique(x, return_inverse=True, equal_nan=False, size=size, fill_value=fill_value)
    )


@stands_for("unique_values", "x")
def unique_values(x: Any, *, size: Any = None, fill_value: Any = None) -> TensorVariable:
    """The different elements of ``x`` in ascending order; each NaN is an element.

    ``size`` and ``fill_value`` are those of `unique`.
    """
    values: TensorVariable = unique(x, equal_nan=False, size=size, fill_value=fill_value)
    return values


@stands_for("isin", "element test_elements assume_unique invert kind")
def isin(
    element: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
) -> TensorVariable:
    """Whether each element of ``element`` is one of ``test_elements``, or with ``invert`` whether it is none.

    NaN is never one of them. ``assume_unique`` and ``kind`` do not change the result. ValueError for an unknown ``kind``.
    """
    if kind not in (None, "sort", "table"):
        raise ValueError(f"The kind of isin is None, 'sort' or 'table', got {kind!r}")
    x, test = of_one_dtype(element, test_elements)
    ordered: Any = Sort()(_vector(test))
    among = neq(searchsorted(ordered, x), searchsorted(ordered, x, "right"))
    if not is_discrete(x.dtype):
        among = and_(among, eq(x, x))
    return eq(among, np.False_) if invert else among


def _sides(ar1: Any, ar2: Any) -> tuple[Any, Any]:
    first, second = of_one_dtype(ar1, ar2)
    return _vector(first), _vector(second)


@stands_for("union1d", "ar1 ar2")
def union1d(ar1: Any, ar2: Any, *, size: Any = None, fill_value: Any = None) -> TensorVariable:
    """The different elements of ``ar1`` and ``ar2`` in ascending order. ``size`` and ``fill_value`` are those of `unique`."""
    both = join(0, *_sides(*promote_arguments([ar1, ar2])))
    union: TensorVariable = unique(both, size=size, fill_value=fill_value)
    return union


def _chosen(vector: Any, mask: Any, size: Any, fill_value: Any) -> tuple[_Runs, Any]:
    """The elements of a vector where ``mask`` is true, and if there is a ``size``, as many of them."""
    runs = _Runs(mask, size)
    values = take(vector, runs.positions)
    if fill_value is None and size is not None:
        first = searchsorted(runs.numbers, 0)
        exists = lt(first, runs.length)
        fill_value = switch(exists, getitem(vector, switch(exists, first, 0)), 0)
    return runs, _filled_values(runs, values, fill_value)


@stands_for("intersect1d", "ar1 ar2 assume_unique return_indices")
def intersect1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    return_indices: bool = False,
    *,
    size: Any = None,
    fill_value: Any = None,
) -> Any:
    """The different elements that are in both tensors, ``ar1`` and ``ar2``, in ascending order.

    ``assume_unique`` changes nothing. With ``return_indices``, a list of these and of the positions in each flattened
    tensor at which they occur first. With ``size`` the result is cut, or filled with ``fill_value``, by default its
    smallest element, or 0 if there is none.
    """
    first, second = _sides(ar1, ar2)
    order: Any = ArgSort()(first) if return_indices else None
    ordered: Any = take(first, order) if return_indices else Sort()(first)
    mask = and_(_starts(ordered), isin(ordered, second))
    runs, common = _chosen(ordered, mask, size, fill_value)
    if not return_indices:
        return common
    order2: Any = ArgSort()(second)
    values = take(ordered, runs.positions)
    places = take(order2, minimum(searchsorted(take(second, order2), values), _last(second)))
    return [common, take(order, runs.positions), places]


def _last(vector: Any) -> Any:
    return as_tensor_variable(lengths_by_variables(vector)[0]) - 1


@stands_for("setdiff1d", "ar1 ar2 assume_unique")
def setdiff1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, *, size: Any = None, fill_value: Any = None
) -> TensorVariable:
    """The different elements of ``ar1`` that are not in ``ar2``, in ascending order.

    With ``assume_unique``, all elements of ``ar1`` that are not in ``ar2``, in their order. With ``size`` the result is
    cut, or filled with ``fill_value``, by default its smallest element, or 0 if there is none.
    """
    own = _vector(ar1)
    values: Any = own if assume_unique else Sort()(own)
    mask: Any = isin(values, ar2, invert=True)
    if not assume_unique:
        mask = and_(mask, _starts(values))
    return _chosen(values, mask, size, fill_value)[1]


@stands_for("setxor1d", "ar1 ar2 assume_unique")
def setxor1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, *, size: Any = None, fill_value: Any = None
) -> TensorVariable:
    """The different elements that are in exactly one of ``ar1`` and ``ar2``, in ascending order.

    With ``size`` the result is cut, or filled with ``fill_value``, by default its smallest element or 0. ``assume_unique``
    does not change the result.
    """
    sides: list[Any] = [Sort()(side) for side in _sides(ar1, ar2)]
    masks = [
        and_(_starts(side), isin(side, other, invert=True))
        for side, other in zip(sides, reversed(sides), strict=True)
    ]
    both: Any = join(0, *sides)
    order: Any = ArgSort()(both)
    return _chosen(take(both, order), take(join(0, *masks), order), size, fill_value)[1]
