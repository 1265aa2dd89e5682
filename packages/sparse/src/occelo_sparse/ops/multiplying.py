"""Products of matrices of which one is sparse: `dot`, `sampling_dot`, `usmm`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.errors import describe
from occelo_graph.ops.cast import cast
from occelo_graph.ops.length_inputs import integer_length
from occelo_graph.ops.shape.asserting import specify_shape
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_sparse.ops.assembling import (
    as_sparse_or_tensor_variable,
    as_sparse_variable,
    lengths_of,
    properties,
    where_equal,
    with_values,
)
from occelo_sparse.ops.conversions import dense_from_sparse, transpose
from occelo_sparse.ops.products import LineProduct, SampledProduct, ScatteredProduct
from occelo_sparse.ops.types import is_sparse

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable
    from occelo_sparse.ops.variable import SparseVariable

__all__ = ["dot", "sampling_dot", "usmm"]


def common_dtype(*dtypes: str) -> str:
    """The dtype that NumPy promotes to."""
    return np.result_type(*dtypes).name


def dot(x: Any, y: Any) -> TensorVariable:
    """The dense product of ``x`` and ``y``, of which one is a sparse matrix; the other one may be a vector.

    The dtype is that of NumPy. TypeError if both are dense or one has more than two dimensions, ValueError at run time if the
    shapes do not fit.
    """
    x, y = as_sparse_or_tensor_variable(x), as_sparse_or_tensor_variable(y)
    if not is_sparse(x):
        if not is_sparse(y):
            raise TypeError(
                f"sparse.dot takes a sparse matrix, got {describe(x)} and {describe(y)}; use occelo.tensor.dot"
            )
        return _transposed(dot(transpose(y), _transposed(_operand(x, y))))
    y = dense_from_sparse(y) if is_sparse(y) else _operand(y, x)
    rows, columns = x.type.shape
    if None not in (columns, y.type.shape[0]) and columns != y.type.shape[0]:
        raise ValueError(
            f"A product of {rows} x {columns} needs {columns} rows on its right, got {describe(y)}"
        )
    y = _of_length(y, lengths_of(x)[1], "The inner lengths of a product differ")
    values, indices, offsets, _ = properties(x)
    dtype = common_dtype(x.type.dtype, y.type.dtype)
    values, y = cast(values, dtype), cast(y, dtype)
    if x.type.format == "csr":
        product: TensorVariable = LineProduct()(values, indices, offsets, y)
        return product
    count = cast(as_tensor_variable(integer_length(lengths_of(x)[0])), "int64")
    product = ScatteredProduct()(values, indices, offsets, y, count)
    return product


def _operand(dense: Any, matrix: Any) -> Any:
    if dense.type.ndim not in (1, 2):
        raise TypeError(
            f"A sparse matrix is multiplied by a vector or a matrix, got {describe(dense)}; "
            "vectorize makes batches of either"
        )
    return dense


def _of_length(dense: Any, n: Any, message: str) -> Any:
    """``dense`` with a check that it has ``n`` rows: the products only see that it has enough."""
    (rows, *_) = lengths_by_variables(dense)
    checked = where_equal(dense, n, rows, message)
    if not isinstance(n, int) or isinstance(rows, int):
        return checked
    return specify_shape(checked, (n, *[None] * (dense.type.ndim - 1)))


def _transposed(x: Any) -> Any:
    return x.T if x.type.ndim == 2 else x


def sampling_dot(x: Any, y: Any, p: Any) -> SparseVariable:
    """``p * (x y')`` for dense matrices ``x`` and ``y``, computed only where the sparse matrix ``p`` has values."""
    x, y, p = as_tensor_variable(x), as_tensor_variable(y), as_sparse_variable(p)
    if x.type.ndim != 2 or y.type.ndim != 2:
        raise TypeError(f"sampling_dot takes two matrices, got {describe(x)} and {describe(y)}")
    values, indices, offsets, _ = properties(p)
    dtype = common_dtype(x.dtype, y.dtype)
    x, y = (
        _of_length(cast(each, dtype), n, "sampling_dot takes a row for each row or column of p")
        for each, n in zip((x, y), lengths_of(p), strict=True)
    )
    first, second = (x, y) if p.type.format == "csr" else (y, x)
    return with_values(p, values * SampledProduct()(indices, offsets, first, second))


def usmm(alpha: Any, x: Any, y: Any, z: Any) -> TensorVariable:
    """``alpha * (x y) + z``, where ``x`` or ``y`` is sparse, ``z`` is a dense matrix and ``alpha`` a scalar.

    TypeError for an ``alpha`` of more than one number, and for another ``z``.
    """
    z = as_tensor_variable(z)
    if z.type.ndim != 2:
        raise TypeError(f"usmm adds a dense matrix, got {describe(z)}")
    scale = as_tensor_variable(alpha)
    if not all(scale.type.broadcastable):
        raise TypeError(f"usmm scales by one number, got {describe(scale)}")
    total: TensorVariable = scale * dot(x, y) + z
    return total
