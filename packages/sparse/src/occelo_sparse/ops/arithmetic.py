"""Sums, products and comparisons, element by element, of two matrices of which one or both are sparse.

Operands broadcast as in NumPy; a sparse operand broadcasts along dimensions whose length is statically 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from occelo_graph import tensor as ot
from occelo_graph.errors import describe
from occelo_sparse.ops.assembling import (
    COMPRESSED,
    as_sparse_or_tensor_variable,
    as_sparse_variable,
    lengths_of,
    properties,
    with_values,
)
from occelo_sparse.ops.conversions import (
    csc_from_dense,
    csr_from_dense,
    dense_from_sparse,
    places,
    transpose,
)
from occelo_sparse.ops.elementwise import neg
from occelo_sparse.ops.merging import Union, check_same_shape
from occelo_sparse.ops.types import is_sparse

if TYPE_CHECKING:
    from occelo_sparse.ops.variable import SparseVariable

__all__ = [
    "add",
    "add_s_d",
    "add_s_s",
    "add_s_s_data",
    "col_scale",
    "divide",
    "eq",
    "equal_s_d",
    "equal_s_s",
    "ge",
    "greater_equal_s_d",
    "greater_equal_s_s",
    "greater_than_s_d",
    "greater_than_s_s",
    "gt",
    "le",
    "less_equal_s_d",
    "less_equal_s_s",
    "less_than_s_d",
    "less_than_s_s",
    "lt",
    "maximum",
    "minimum",
    "mul",
    "mul_s_d",
    "mul_s_s",
    "mul_s_v",
    "multiply",
    "neq",
    "not_equal_s_d",
    "not_equal_s_s",
    "row_scale",
    "structured_add_s_v",
    "sub",
    "subtract",
]

_WEAK = (int, float, complex)


def _operands(x: Any, y: Any, what: str) -> tuple[Any, Any]:
    x, y = as_sparse_or_tensor_variable(x), as_sparse_or_tensor_variable(y)
    if not is_sparse(x) and not is_sparse(y):
        raise TypeError(
            f"sparse.{what} takes a sparse matrix, got {describe(x)} and {describe(y)}; use occelo.tensor"
        )
    for each in (x, y):
        if each.type.ndim > 2:
            raise TypeError(f"sparse.{what} takes at most two dimensions, got {describe(each)}")
    return _stretched(x, y), _stretched(y, x)


def _weak(number: Any, dense: Any) -> Any:
    """A Python number as it is, so that it takes the dtype of the matrix, else ``dense``."""
    return number if type(number) in _WEAK else dense


def _stretched(x: Any, y: Any) -> Any:
    """``x`` repeated along dimensions of length 1, if it is sparse and ``y`` is known to be longer there."""
    if not is_sparse(x) or not y.type.ndim:
        return x
    for axis in (0, 1):
        beside = axis - 2 + y.type.ndim
        if x.type.shape[axis] == 1 and beside >= 0 and y.type.shape[beside] != 1:
            times = lengths_of(y)[beside] if is_sparse(y) else y.shape[beside]
            x = _repeated(x, times) if axis == 0 else transpose(_repeated(transpose(x), times))
    return x


def _repeated(x: Any, times: Any) -> SparseVariable:
    """A matrix of one row, repeated."""
    values, indices, offsets, _ = properties(x)
    shape = [times, lengths_of(x)[1]]
    if x.type.format == "csr":
        starts = ot.arange(times + 1) * values.shape[0]
        parts = ot.tile(values, times), ot.tile(indices, times), starts
    else:
        parts = (
            ot.repeat(values, times),
            ot.tile(ot.arange(times), values.shape[0]),
            offsets * ot.cast(times, "int32"),
        )
    return COMPRESSED[x.type.format](*parts, shape)


def _at_places(x: Any, dense: Any) -> Any:
    """The elements of a dense tensor that belong to the stored values of ``x``, by broadcasting."""
    if dense.type.ndim == 0:
        return dense
    axes = range(2 - dense.type.ndim, 2)
    static = [1 if n == 1 else None for n in dense.type.shape]
    lengths = [lengths_of(x)[a] if n is None else 1 for a, n in zip(axes, static, strict=True)]
    dense = ot.specify_shape(dense, lengths)
    at = places(x)
    return dense[tuple(0 if n == 1 else at[a] for a, n in zip(axes, static, strict=True))]


def add(x: Any, y: Any) -> Any:
    """``x + y``, sparse if both are, else dense. TypeError if none is sparse, ValueError for shapes that do not fit."""
    numbers = y, x
    x, y = _operands(x, y, "add")
    if is_sparse(x) and is_sparse(y):
        check_same_shape(x, y, "add")
        both = Union(x, y)
        return both.matrix(both.values[0] + both.values[1])
    x, y, number = (x, y, numbers[0]) if is_sparse(x) else (y, x, numbers[1])
    return dense_from_sparse(x) + _weak(number, y)


def subtract(x: Any, y: Any) -> Any:
    """``x - y``, as `add`."""
    y = y if type(y) in _WEAK else as_sparse_or_tensor_variable(y)
    return add(x, neg(y) if is_sparse(y) else -y)


def multiply(x: Any, y: Any) -> SparseVariable:
    """``x * y`` element by element, a sparse matrix; of two sparse ones with values where both have some.

    The other one may be a dense matrix, a vector or a scalar, which broadcasts. An element that is not stored is 0 in the
    product, also where the dense one is infinite or NaN. TypeError if none is sparse.
    """
    numbers = y, x
    x, y = _operands(x, y, "multiply")
    if is_sparse(x) and is_sparse(y):
        check_same_shape(x, y, "multiply")
        both = Union(x, y)
        return both.of_both(both.values[0] * both.values[1])
    x, y, number = (x, y, numbers[0]) if is_sparse(x) else (y, x, numbers[1])
    return with_values(x, properties(x)[0] * _weak(number, _at_places(x, y)))


def divide(x: Any, y: Any) -> SparseVariable:
    """A sparse matrix ``x`` divided by a dense ``y``, which broadcasts. Elements that are not stored stay 0.

    TypeError if ``x`` is dense or ``y`` sparse.
    """
    number = y
    x, y = _operands(x, y, "divide")
    if not is_sparse(x) or is_sparse(y):
        raise TypeError(
            f"sparse.divide takes a sparse and a dense matrix, got {describe(x)} and {describe(y)}"
        )
    return with_values(x, properties(x)[0] / _weak(number, _at_places(x, y)))


def _of_union(x: Any, y: Any, function: Callable[[Any, Any], Any], what: str) -> SparseVariable:
    x, y = _operands(x, y, what)
    if not (is_sparse(x) and is_sparse(y)):
        raise TypeError(
            f"sparse.{what} takes two sparse matrices, got {describe(x)} and {describe(y)}; "
            f"structured_{what} takes a scalar"
        )
    check_same_shape(x, y, "compare")
    both = Union(x, y)
    return both.matrix(function(*both.values))


def maximum(x: Any, y: Any) -> SparseVariable:
    """The larger elements of two sparse matrices ``x`` and ``y``. TypeError if one is dense."""
    return _of_union(x, y, ot.maximum, "maximum")


def minimum(x: Any, y: Any) -> SparseVariable:
    """The smaller elements of two sparse matrices ``x`` and ``y``. TypeError if one is dense."""
    return _of_union(x, y, ot.minimum, "minimum")


def _comparison(name: str, symbol: str, function: Any, of_zeros: bool) -> Callable[[Any, Any], Any]:
    """A comparison, whose result is uint8: sparse if both operands are, else dense."""

    def compare(x: Any, y: Any) -> Any:
        x, y = _operands(x, y, name)
        if not (is_sparse(x) and is_sparse(y)):
            x, y = (dense_from_sparse(each) if is_sparse(each) else each for each in (x, y))
            return ot.cast(function(x, y), "uint8")
        check_same_shape(x, y, "compare")
        if of_zeros:
            dense = ot.cast(function(dense_from_sparse(x), dense_from_sparse(y)), "uint8")
            return (csr_from_dense if x.type.format == "csr" else csc_from_dense)(dense)
        both = Union(x, y)
        return both.matrix(ot.cast(function(*both.values), "uint8"))

    compare.__name__ = compare.__qualname__ = name
    compare.__doc__ = (
        f"Whether elements of ``x`` are {symbol} those of ``y``, as uint8: a sparse matrix if both are sparse, else dense.\n\n"
        "TypeError if none is sparse."
    )
    return compare


eq = equal_s_s = equal_s_d = _comparison("eq", "equal to", ot.eq, True)
neq = not_equal_s_s = not_equal_s_d = _comparison("neq", "other than", ot.neq, False)
lt = less_than_s_s = less_than_s_d = _comparison("lt", "less than", ot.lt, False)
gt = greater_than_s_s = greater_than_s_d = _comparison("gt", "greater than", ot.gt, False)
le = less_equal_s_s = less_equal_s_d = _comparison("le", "at most", ot.le, True)
ge = greater_equal_s_s = greater_equal_s_d = _comparison("ge", "at least", ot.ge, True)
sub = subtract
mul = mul_s_s = mul_s_d = mul_s_v = multiply
add_s_s = add_s_d = add


def add_s_s_data(x: Any, y: Any) -> SparseVariable:
    """The sum of two sparse matrices ``x`` and ``y`` that are known to have the same structure, that of ``x``."""
    x, y = as_sparse_variable(x), as_sparse_variable(y)
    if x.type.format != y.type.format:
        raise TypeError(f"Matrices of one structure have one format, got {x.type} and {y.type}")
    return with_values(x, properties(x)[0] + properties(y)[0])


def structured_add_s_v(x: Any, y: Any) -> SparseVariable:
    """A dense vector ``y`` added to the rows of ``x``, only to stored values."""
    x, y = as_sparse_variable(x), ot.as_tensor_variable(y)
    if y.type.ndim != 1:
        raise TypeError(f"structured_add_s_v adds a vector, got {describe(y)}")
    return with_values(x, properties(x)[0] + _at_places(x, y))


def col_scale(x: Any, s: Any) -> SparseVariable:
    """The columns of ``x`` times the elements of the vector ``s``."""
    return multiply(as_sparse_variable(x), _scale(s, "col_scale"))


def row_scale(x: Any, s: Any) -> SparseVariable:
    """The rows of ``x`` times the elements of the vector ``s``."""
    return multiply(as_sparse_variable(x), _scale(s, "row_scale").dimshuffle(0, "x"))


def _scale(s: Any, name: str) -> Any:
    s = ot.as_tensor_variable(s)
    if s.type.ndim != 1:
        raise TypeError(f"{name} takes a vector of factors, got {describe(s)}")
    return s
