"""Conversions of sparse matrices: from and to dense ones, between formats and dtypes, transposes, and their constructors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from occelo_graph.config import FLOAT_X
from occelo_graph.errors import describe
from occelo_graph.ops.cast import cast as cast_dense
from occelo_graph.ops.create import arange, ones_like, zeros
from occelo_graph.ops.elemwise.arithmetic import neq
from occelo_graph.ops.index.search import nonzero
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import TensorType
from occelo_sorting.ops.orders import argsort
from occelo_sorting.ops.searching import searchsorted
from occelo_sparse.ops.assembling import (
    COMPRESSED,
    CSC,
    CSR,
    as_sparse_variable,
    lengths_of,
    properties,
    with_values,
)
from occelo_sparse.ops.ordering import OrderOfPlaces
from occelo_sparse.ops.stated import ORDERS, arranged, of_symmetric
from occelo_sparse.ops.structure import lines_of
from occelo_sparse.ops.types import SparseTensorType, is_sparse

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable
    from occelo_sparse.ops.variable import SparseVariable

__all__ = [
    "bcast",
    "cast",
    "ccast",
    "clean",
    "csc_dmatrix",
    "csc_fmatrix",
    "csc_from_dense",
    "csc_matrix",
    "csr_dmatrix",
    "csr_fmatrix",
    "csr_from_dense",
    "csr_matrix",
    "dcast",
    "dense_from_sparse",
    "ensure_sorted_indices",
    "fcast",
    "icast",
    "lcast",
    "matrix",
    "remove0",
    "sp_ones_like",
    "sp_zeros_like",
    "tocsc",
    "tocsr",
    "transpose",
    "wcast",
    "zcast",
]

csc_dmatrix = SparseTensorType("csc", "float64")
csr_dmatrix = SparseTensorType("csr", "float64")
csc_fmatrix = SparseTensorType("csc", "float32")
csr_fmatrix = SparseTensorType("csr", "float32")


def matrix(
    format: str, name: str | None = None, dtype: Any = None, shape: Any = None
) -> SparseVariable:
    """A new sparse variable of the ``format`` "csr" or "csc", named ``name``.

    ``dtype`` is floatX by default. ``shape`` has None for lengths that are not known. ValueError for other formats,
    TypeError for dtypes that sparse matrices do not have.
    """
    variable: SparseVariable = SparseTensorType(format, dtype or FLOAT_X.get(), shape)(name)
    return variable


def csr_matrix(name: str | None = None, dtype: Any = None, shape: Any = None) -> SparseVariable:
    """A new sparse variable in CSR, with the ``name``, ``dtype`` and ``shape`` of `matrix`."""
    return matrix("csr", name, dtype, shape)


def csc_matrix(name: str | None = None, dtype: Any = None, shape: Any = None) -> SparseVariable:
    """A new sparse variable in CSC, with the ``name``, ``dtype`` and ``shape`` of `matrix`."""
    return matrix("csc", name, dtype, shape)


def places(x: Any) -> tuple[Any, Any]:
    """The rows and the columns of the stored values of a sparse variable, two vectors of integers."""
    _, indices, offsets, _ = properties(x)
    lines = lines_of(indices, offsets)
    return (lines, indices) if x.type.major == 0 else (indices, lines)


def dense_from_sparse(x: Any) -> TensorVariable:
    """The dense matrix with the elements of ``x``. A dense variable is returned as it is."""
    if not is_sparse(x):
        return as_tensor_variable(x) if isinstance(x, (int, float)) else _dense_or_sparse(x)
    values = properties(x)[0]
    dense: TensorVariable = zeros(lengths_of(x), x.type.dtype)[places(x)].inc(values)
    return dense


def _dense_or_sparse(x: Any) -> Any:
    from occelo_sparse.ops.assembling import as_sparse_or_tensor_variable

    matrix = as_sparse_or_tensor_variable(x)
    return dense_from_sparse(matrix) if is_sparse(matrix) else matrix


def _from_dense(x: Any, format: str) -> SparseVariable:
    dense = as_tensor_variable(x)
    if dense.type.ndim != 2:
        raise TypeError(f"{format}_from_dense takes a matrix, got {describe(dense)}")
    turned = dense if format == "csr" else dense.T
    lines, indices = nonzero(neq(turned, 0))
    first, second = lengths = [
        dense.shape[i] if n is None else n for i, n in enumerate(dense.type.shape)
    ]
    values = turned[lines, indices]
    offsets = offsets_of(lines, first if format == "csr" else second)
    matrix = COMPRESSED[format](values, indices, offsets, lengths)
    return arranged(matrix, facts=("canonical",))


def csr_from_dense(x: Any) -> SparseVariable:
    """The CSR matrix of the elements of a dense matrix ``x`` that are not 0. TypeError for other numbers of dimensions.

    The derivative by ``x`` is that of the stored elements, and 0 for elements that are 0.
    """
    return _from_dense(x, "csr")


def csc_from_dense(x: Any) -> SparseVariable:
    """The CSC matrix of the elements of a dense matrix ``x`` that are not 0, as in `csr_from_dense`."""
    return _from_dense(x, "csc")


def offsets_of(lines: Any, count: Any) -> Any:
    """The offsets of ``count`` lines, from the line of each stored value; these are in order."""
    return searchsorted(lines, arange(count + 1, dtype=lines.dtype))


def to_format(x: Any, format: str) -> SparseVariable:
    """The matrix ``x`` in another ``format``, "csr" or "csc". Values of one line come in the order of their indices."""
    if x.type.format == format:
        same: SparseVariable = x
        return same
    values, indices, offsets, _ = properties(x)
    order = argsort(indices, kind="stable")
    lines = indices[order]
    count = lengths_of(x)[1 - x.type.major]
    turned = COMPRESSED[format](
        values[order], lines_of(indices, offsets)[order], offsets_of(lines, count), properties(x)[3]
    )
    turned = arranged(turned, x, facts=("sorted_indices",), inherited=("canonical",))
    return of_symmetric(turned, x)


def tocsr(x: Any) -> SparseVariable:
    """The matrix ``x`` in CSR."""
    return to_format(as_sparse_variable(x), "csr")


def tocsc(x: Any) -> SparseVariable:
    """The matrix ``x`` in CSC."""
    return to_format(as_sparse_variable(x), "csc")


def transpose(x: Any) -> SparseVariable:
    """The transpose of ``x``, which has the same arrays: that of a CSR matrix is a CSC matrix."""
    x = as_sparse_variable(x)
    values, indices, offsets, extent = properties(x)
    turned = extent.transpose(1, 0, 2)
    return (CSC if x.type.format == "csr" else CSR)(values, indices, offsets, turned)


def sp_ones_like(x: Any) -> SparseVariable:
    """A matrix of ones where ``x`` has stored values."""
    x = as_sparse_variable(x)
    return with_values(x, ones_like(properties(x)[0]))


def sp_zeros_like(x: Any) -> SparseVariable:
    """A matrix of the shape, format and dtype of ``x`` without stored values."""
    x = as_sparse_variable(x)
    _, indices, offsets, _ = properties(x)
    empty = TensorType(x.type.dtype, (0,)).make_constant(zeros(0, x.type.dtype).eval())
    return COMPRESSED[x.type.format](empty, indices[:0], offsets * 0, properties(x)[3])


def cast(variable: Any, dtype: Any) -> SparseVariable:
    """The matrix ``variable`` with its values cast to ``dtype``."""
    x = as_sparse_variable(variable)
    return with_values(x, cast_dense(properties(x)[0], dtype))


def bcast(x: Any) -> SparseVariable:
    """``x`` as int8."""
    return cast(x, "int8")


def wcast(x: Any) -> SparseVariable:
    """``x`` as int16."""
    return cast(x, "int16")


def icast(x: Any) -> SparseVariable:
    """``x`` as int32."""
    return cast(x, "int32")


def lcast(x: Any) -> SparseVariable:
    """``x`` as int64."""
    return cast(x, "int64")


def fcast(x: Any) -> SparseVariable:
    """``x`` as float32."""
    return cast(x, "float32")


def dcast(x: Any) -> SparseVariable:
    """``x`` as float64."""
    return cast(x, "float64")


def ccast(x: Any) -> SparseVariable:
    """``x`` as complex64."""
    return cast(x, "complex64")


def zcast(x: Any) -> SparseVariable:
    """``x`` as complex128."""
    return cast(x, "complex128")


def ensure_sorted_indices(x: Any) -> SparseVariable:
    """``x`` with the stored values of each line in the order of their indices."""
    x = as_sparse_variable(x)
    values, indices, offsets, extent = properties(x)
    minor = as_tensor_variable(lengths_of(x)[1 - x.type.major])
    order = OrderOfPlaces()(indices, offsets, minor)
    ordered = COMPRESSED[x.type.format](values[order], indices[order], offsets, extent)
    ordered = arranged(ordered, x, facts=("sorted_indices",), inherited=("canonical",))
    return of_symmetric(ordered, x)


def remove0(x: Any) -> SparseVariable:
    """``x`` without stored values that are 0. The derivative by ``x`` is 0 at these."""
    x = as_sparse_variable(x)
    values, indices, offsets, _ = properties(x)
    (nonzeros,) = nonzero(neq(values, 0))
    lines = lines_of(indices, offsets)[nonzeros]
    count = lengths_of(x)[x.type.major]
    rest = COMPRESSED[x.type.format](
        values[nonzeros], indices[nonzeros], offsets_of(lines, count), properties(x)[3]
    )
    return of_symmetric(arranged(rest, x, inherited=ORDERS), x)


def clean(x: Any) -> SparseVariable:
    """``x`` in order, without stored zeros: `remove0` after `ensure_sorted_indices`."""
    return ensure_sorted_indices(remove0(x))
