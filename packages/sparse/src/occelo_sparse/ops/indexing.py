"""Parts of sparse matrices: elements, slices, lists of rows, diagonals, and sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import tensor as ot
from occelo_graph.errors import describe
from occelo_graph.ir.nodes import Variable
from occelo_graph.narrowing import is_list_or_tuple, is_slice
from occelo_sorting.ops.searching import searchsorted
from occelo_sparse.ops.assembling import (
    COMPRESSED,
    CSC,
    as_sparse_variable,
    lengths_of,
    properties,
)
from occelo_sparse.ops.conversions import places, to_format
from occelo_sparse.ops.merging import keys_of, sum_duplicates
from occelo_sparse.ops.multiplying import dot
from occelo_sparse.ops.stated import ORDERS, arranged, of_symmetric
from occelo_sparse.ops.structure import lines_of

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable
    from occelo_sparse.ops.variable import SparseVariable

__all__ = [
    "diag",
    "get_item_2d",
    "get_item_2lists",
    "get_item_list",
    "get_item_scalar",
    "getitem",
    "sp_sum",
    "square_diagonal",
]


def getitem(x: Any, key: Any) -> Any:
    """``x[key]``: an element for two integers, a matrix for slices, lists of rows, and lists of columns with a slice of rows.

    Two lists give a vector of elements. NotImplementedError for an integer beside a slice, since there are no sparse vectors.
    """
    x = as_sparse_variable(x)
    entries = _entries(key)
    if not 1 <= len(entries) <= 2:
        raise IndexError(f"A sparse matrix has two dimensions, got {len(entries)} indices")
    kinds = [_kind(each) for each in entries]
    if kinds == ["integer", "integer"]:
        return get_item_scalar(x, entries)
    if "integer" in kinds:
        raise NotImplementedError(
            "There are no sparse vectors: use x[a:b, c:d], x[a:b, c:c+1] or x[a:b]"
        )
    if kinds == ["list", "list"]:
        return get_item_2lists(x, *entries)
    if "list" not in kinds:
        return get_item_2d(x, entries)
    for axis, (kind, each) in enumerate(zip(kinds, entries, strict=True)):
        x = (
            get_item_2d(x, (slice(None),) * axis + (each,))
            if kind == "slice"
            else _taken(x, each, axis)
        )
    return x


def _entries(key: Any) -> Sequence[Any]:
    return key if is_list_or_tuple(key) and type(key) is tuple else (key,)


def _kind(entry: Any) -> str:
    if is_slice(entry):
        return "slice"
    if entry is None or entry is Ellipsis:
        raise IndexError(f"A sparse matrix takes integers, slices and lists, got {entry!r}")
    ndim = _vector(entry).type.ndim
    if ndim > 1:
        raise IndexError(f"A sparse matrix takes vectors of integers, got {entry}")
    return "list" if ndim else "integer"


def _vector(entry: Any) -> Any:
    """An entry as a tensor, an empty list as one of integers."""
    return (
        ot.zeros(0, "int64")
        if is_list_or_tuple(entry) and not entry
        else ot.as_tensor_variable(entry)
    )


def _positions(entry: Any, length: Any) -> Any:
    """The positions that a slice, an integer, a list of integers or one of truth values selects, from 0 on."""
    if not is_slice(entry):
        entry = _vector(entry)
        if np.dtype(entry.dtype).kind not in ("iub" if entry.type.ndim else "iu"):
            raise TypeError(f"A sparse matrix takes integers as indices, got {describe(entry)}")
    return ot.arange(length)[entry]


def get_item_scalar(x: Any, index: Any) -> TensorVariable:
    """The element of ``x`` at ``index``, a pair of integers. IndexError at run time if it is outside."""
    x = as_sparse_variable(x)
    if len(index) != 2 or any(_kind(each) != "integer" for each in index):
        raise TypeError(f"get_item_scalar takes two integers, got {index}")
    row, column = (_positions(i, n) for i, n in zip(index, lengths_of(x), strict=True))
    line, place = (row, column) if x.type.major == 0 else (column, row)
    values, indices, offsets, _ = properties(x)
    own = slice(offsets[line], offsets[line + 1])
    zero = ot.zeros((), x.type.dtype)
    element: TensorVariable = ot.sum(
        ot.switch(ot.eq(indices[own], place), values[own], zero), dtype=x.type.dtype
    )
    return element


def get_item_2d(x: Any, index: Any) -> SparseVariable:
    """The part of ``x`` that one or two slices select, a sparse matrix of the same format. ``index`` is a slice or a tuple."""
    x = as_sparse_variable(x)
    entries = _entries(index)
    if any(not is_slice(each) for each in entries):
        raise TypeError(f"get_item_2d takes slices, got {index}")
    for axis, each in enumerate(entries):
        if each == slice(None):
            continue
        x = _taken(x, each, axis) if axis == x.type.major else _cut(x, each)
    return x


def get_item_list(x: Any, index: Any) -> SparseVariable:
    """The rows of ``x`` at the positions ``index``, a vector of integers, with repetitions."""
    return _taken(as_sparse_variable(x), index, 0)


def get_item_2lists(x: Any, ind1: Any, ind2: Any) -> TensorVariable:
    """The elements of ``x`` at the rows ``ind1`` and columns ``ind2``, a dense vector."""
    x = as_sparse_variable(x)
    rows, columns = (_positions(i, n) for i, n in zip((ind1, ind2), lengths_of(x), strict=True))
    x = sum_duplicates(x)
    lines, indices = (rows, columns) if x.type.major == 0 else (columns, rows)
    keys = ot.concatenate([keys_of(x), ot.constant(np.array([-1]))])
    values = ot.concatenate([properties(x)[0], ot.zeros(1, x.type.dtype)])
    own = lines * lengths_of(x)[1 - x.type.major] + indices
    at = searchsorted(keys[:-1], own)
    elements: TensorVariable = ot.switch(
        ot.eq(keys[at], own), values[at], ot.zeros((), x.type.dtype)
    )
    return elements


def _taken(x: Any, entry: Any, axis: int) -> SparseVariable:
    """The rows or columns at positions, in their order, with repetitions."""
    format = x.type.format
    x = to_format(x, "csr" if axis == 0 else "csc")
    values, indices, offsets, _ = properties(x)
    lengths = lengths_of(x)
    lines = _positions(entry, lengths[axis])
    starts = ot.cast(offsets, "int64")[lines]
    counts = ot.cast(offsets, "int64")[lines + 1] - starts
    ends = ot.cumsum(counts)
    bounds = ot.concatenate([ot.zeros(1, "int64"), ends])
    total = ot.sum(counts)
    of = searchsorted(ends, ot.arange(total), side="right")
    at = ot.arange(total) - bounds[of] + starts[of]
    lengths[axis] = lines.shape[0]
    taken = COMPRESSED[x.type.format](values[at], indices[at], bounds, lengths)
    return to_format(arranged(taken, x, inherited=ORDERS), format)


def _cut(x: Any, entry: slice) -> SparseVariable:
    """The part of ``x`` that a slice of its indices selects."""
    values, indices, offsets, _ = properties(x)
    lengths = lengths_of(x)
    minor = 1 - x.type.major
    chosen = _positions(entry, lengths[minor])
    count = chosen.shape[0]
    place = ot.set_subtensor(ot.full(lengths[minor], -1, dtype="int64")[chosen], ot.arange(count))
    moved = place[indices]
    inside = ot.flatnonzero(ot.ge(moved, 0))
    lines = lines_of(indices, offsets)[inside]
    bounds = searchsorted(lines, ot.arange(lengths[x.type.major] + 1))
    lengths[minor] = count
    cut = COMPRESSED[x.type.format](values[inside], moved[inside], bounds, lengths)
    ahead = entry.step is None or (isinstance(entry.step, int) and entry.step > 0)
    return arranged(cut, x, inherited=ORDERS) if ahead else cut


def diag(x: Any) -> TensorVariable:
    """The main diagonal of ``x``, a dense vector."""
    x = as_sparse_variable(x)
    values = properties(x)[0]
    rows, columns = places(x)
    on = ot.eq(rows, columns)
    n, m = lengths_of(x)
    length = min(n, m) if isinstance(n, int) and isinstance(m, int) else ot.minimum(n, m)
    at = ot.minimum(rows, ot.maximum(length - 1, 0))
    zero = ot.zeros((), x.type.dtype)
    diagonal: TensorVariable = ot.zeros(length + 1, x.type.dtype)[at].inc(
        ot.switch(on, values, zero)
    )[:-1]
    return diagonal


def square_diagonal(diag: Any) -> SparseVariable:
    """The square CSC matrix with the vector ``diag`` on its diagonal."""
    values = ot.as_tensor_variable(diag)
    if values.type.ndim != 1:
        raise TypeError(f"square_diagonal takes a vector, got {describe(values)}")
    (length,) = values.type.shape
    n = values.shape[0] if length is None else length
    matrix = CSC(values, ot.arange(n), ot.arange(n + 1), (n, n))
    return of_symmetric(arranged(matrix, facts=("canonical",)))


def sp_sum(x: Any, axis: int | None = None, sparse_grad: bool = False) -> TensorVariable:
    """The sum of ``x``, or with ``axis`` 0 or 1 of its columns or rows, dense. Sums of integers are int64 or uint64, as in NumPy.

    The gradient has the structure of ``x``, also with ``sparse_grad=False``. ValueError for another axis.
    """
    x = as_sparse_variable(x)
    if isinstance(axis, Variable) or axis not in (None, 0, 1, -1, -2):
        raise ValueError(f"The axis of a sum of a sparse matrix is 0, 1 or None, got {axis}")
    values = properties(x)[0]
    kind = np.dtype(x.type.dtype).kind
    dtype = {"i": "int64", "u": "uint64"}.get(kind, x.type.dtype)
    if axis is None:
        total: TensorVariable = ot.sum(values, dtype=dtype)
        return total
    axis %= 2
    wide = x.with_values(ot.cast(values, dtype))
    ones = ot.ones(lengths_of(x)[axis], dtype)
    return dot(wide, ones) if axis == 1 else dot(ones, wide)
