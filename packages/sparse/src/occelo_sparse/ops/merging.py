"""Matrices from places in any order, and two matrices with the places of both: what elementwise functions are made of.

A place has a key, an integer: the line times the length of the lines, plus the index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from occelo_graph import tensor as ot
from occelo_sorting.ops.orders import argsort
from occelo_sorting.ops.sets import unique
from occelo_sparse.ops.assembling import COMPRESSED, lengths_of, properties, where_equal
from occelo_sparse.ops.conversions import offsets_of, to_format
from occelo_sparse.ops.ordering import DistinctPlaces
from occelo_sparse.ops.stated import arranged, of_symmetric
from occelo_sparse.ops.structure import lines_of

if TYPE_CHECKING:
    from occelo_sparse.ops.variable import SparseVariable


def keys_of(x: Any) -> Any:
    """The key of each stored value, an int64 vector."""
    _, indices, offsets, _ = properties(x)
    return lines_of(indices, offsets) * lengths_of(x)[1 - x.type.major] + indices


def from_keys(values: Any, keys: Any, extent: Any, format: str) -> SparseVariable:
    """A matrix of ``values`` at places with ``keys``, which are in order."""
    major = 0 if format == "csr" else 1
    minor = extent.shape[1 - major]
    lines = keys // ot.maximum(minor, 1)
    return COMPRESSED[format](
        values, keys - lines * minor, offsets_of(lines, extent.shape[major]), extent
    )


def from_places(values: Any, rows: Any, columns: Any, extent: Any, format: str) -> SparseVariable:
    """A matrix of ``values`` at places in any order, in order. Places that occur several times are kept."""
    lines, indices = (rows, columns) if format == "csr" else (columns, rows)
    major = 0 if format == "csr" else 1
    keys = ot.cast(lines, "int64") * extent.shape[1 - major] + indices
    order = argsort(keys, kind="stable")
    return arranged(
        from_keys(values[order], keys[order], extent, format), facts=("sorted_indices",)
    )


def sum_duplicates(x: Any) -> SparseVariable:
    """``x`` in order, with one stored value for each place: the sum of those that were there."""
    values, indices, offsets, extent = properties(x)
    minor = ot.as_tensor_variable(lengths_of(x)[1 - x.type.major])
    distinct, starts, positions = DistinctPlaces()(indices, offsets, minor)
    summed = COMPRESSED[x.type.format](
        _summed(values, positions, distinct), distinct, starts, extent
    )
    return of_symmetric(arranged(summed, facts=("canonical",)), x)


def _summed(values: Any, places: Any, keys: Any) -> Any:
    return ot.zeros(keys.shape, values.dtype)[places].inc(values)


def check_same_shape(x: Any, y: Any, what: str) -> None:
    """ValueError if two matrices are known to differ in shape."""
    for n, m in zip(x.type.shape, y.type.shape, strict=True):
        if None not in (n, m) and n != m:
            raise ValueError(
                f"Cannot {what} matrices of the shapes {x.type.shape} and {y.type.shape}"
            )


class Union:
    """The places at which one of two matrices has a stored value, and the values of both there, which are 0 elsewhere.

    The second matrix is converted to the format of the first.
    """

    def __init__(self, x: Any, y: Any) -> None:
        y = to_format(y, x.type.format)
        self.format: str = x.type.format
        self.operands = x, y
        self.extent = properties(x)[3]
        count = properties(x)[1].shape[0]
        keys = ot.concatenate([keys_of(x), keys_of(y)])
        for n, m in zip(lengths_of(x), lengths_of(y), strict=True):
            keys = where_equal(keys, n, m, "The two sparse matrices differ in shape")
        self.keys, inverse = unique(keys, return_inverse=True)
        self.places = inverse[:count], inverse[count:]
        self.values = [
            _summed(properties(each)[0], at, self.keys)
            for each, at in zip((x, y), self.places, strict=True)
        ]

    def matrix(self, values: Any) -> SparseVariable:
        """A matrix with ``values`` at these places: a function of the values of both."""
        return self._known(from_keys(values, self.keys, self.extent, self.format))

    def _known(self, matrix: SparseVariable) -> SparseVariable:
        return of_symmetric(arranged(matrix, facts=("canonical",)), *self.operands)

    def of_both(self, values: Any) -> SparseVariable:
        """A matrix with ``values`` at the places where both matrices have one."""
        here = [
            _summed(ot.ones(at.shape, "bool").astype("int8"), at, self.keys) for at in self.places
        ]
        common = ot.flatnonzero(ot.and_(ot.neq(here[0], 0), ot.neq(here[1], 0)))
        return self._known(from_keys(values[common], self.keys[common], self.extent, self.format))
