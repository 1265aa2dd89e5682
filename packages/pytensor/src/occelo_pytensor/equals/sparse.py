"""The equals of sparse matrices: their parts, and their products with dense ones."""

from __future__ import annotations

from typing import Any

from occelo_pytensor.equals.registry import register_equal
from occelo_pytensor.library import tensor as pt
from occelo_pytensor.library import theirs
from occelo_sparse.ops.assembling import CSM, CSMProperties
from occelo_sparse.ops.products import LineProduct, ScatteredProduct


@register_equal(CSM)
def _matrix(op: Any, values: Any, indices: Any, offsets: Any, extent: Any) -> Any:
    """The extent of a matrix here has its lengths, and no elements."""
    shape = pt.cast(extent.shape[:2], "int32")
    return theirs.sparse.CSM(op.format)(values, indices, offsets, shape)


@register_equal(CSMProperties)
def _parts(op: Any, x: Any) -> Any:
    *parts, shape = theirs.sparse.csm_properties(x)
    return [*parts, pt.zeros((shape[0], shape[1], 0), dtype="bool")]


@register_equal(LineProduct)
def _lines_times(op: Any, values: Any, indices: Any, offsets: Any, x: Any) -> Any:
    shape = pt.stack([offsets.shape[0] - 1, x.shape[0]])
    return _product(theirs.sparse.CSR(values, indices, offsets, shape), x)


@register_equal(ScatteredProduct)
def _scattered(op: Any, values: Any, indices: Any, offsets: Any, x: Any, count: Any) -> Any:
    shape = pt.stack([count, offsets.shape[0] - 1])
    return _product(theirs.sparse.CSC(values, indices, offsets, shape), x)


def _product(matrix: Any, x: Any) -> Any:
    """The product with a matrix or a vector, whose gradient has the structure of the sparse matrix."""
    product = theirs.sparse.structured_dot
    return product(matrix, x) if x.type.ndim == 2 else product(matrix, x[:, None])[:, 0]
