"""Matrices of several blocks: stacks, block-diagonal matrices, Kronecker products; and sparse products of sparse matrices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import tensor as ot
from occelo_graph.errors import describe
from occelo_graph.narrowing import is_list_or_tuple
from occelo_sorting.ops.searching import searchsorted
from occelo_sparse.ops.assembling import (
    CSC,
    CSR,
    as_sparse_or_tensor_variable,
    as_sparse_variable,
    extent_of,
    lengths_of,
    properties,
    where_equal,
    with_values,
)
from occelo_sparse.ops.conversions import csr_from_dense, places, to_format, transpose
from occelo_sparse.ops.merging import from_places, sum_duplicates
from occelo_sparse.ops.multiplying import common_dtype, dot
from occelo_sparse.ops.products import SampledProduct
from occelo_sparse.ops.stated import ORDERS, arranged, of_symmetric
from occelo_sparse.ops.structure import lines_of
from occelo_sparse.ops.types import FORMATS, is_sparse

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable
    from occelo_sparse.ops.variable import SparseVariable

__all__ = [
    "block_diag",
    "construct_sparse_from_list",
    "hstack",
    "kron",
    "sdg_csc",
    "sdg_csr",
    "structured_dot",
    "structured_dot_grad",
    "true_dot",
    "vstack",
]


def _blocks(blocks: Any, name: str, format: Any, dtype: Any) -> tuple[list[Any], str, str]:
    if not is_list_or_tuple(blocks) or not blocks:
        raise TypeError(f"sparse.{name} takes a list of matrices, got {blocks!r}")
    matrices = [as_sparse_variable(block) for block in blocks]
    return (
        matrices,
        checked_format(format),
        dtype or common_dtype(*(b.type.dtype for b in matrices)),
    )


def checked_format(format: str | None) -> str:
    """The format of a result, "csc" for None as in PyTensor. ValueError for an unknown one."""
    if format is not None and format not in FORMATS:
        raise ValueError(f"The format of a sparse matrix is csr or csc, got {format!r}")
    return format or "csc"


def _stacked(blocks: Sequence[Any], dtype: str, name: str) -> SparseVariable:
    """CSR matrices one below the other."""
    parts = [properties(block) for block in blocks]
    lengths = [lengths_of(block) for block in blocks]
    what = "columns" if name == "vstack" else "rows"
    message = f"The matrices of {name} must have equally many {what}"
    for _, n in lengths[1:]:
        # not with the entries of the matrix itself: where these are known to be none, they and the check are dropped
        parts[-1][2] = where_equal(parts[-1][2], lengths[0][1], n, message)
    starts: list[Any] = []
    start = ot.zeros((), "int32")
    for i, (_, indices, offsets, _) in enumerate(parts):
        starts.append((offsets if i == len(parts) - 1 else offsets[:-1]) + start)
        start = start + ot.cast(indices.shape[0], "int32")
    rows = reduce(lambda a, b: a + b, [block[3].shape[0] for block in parts])
    matrix = CSR(
        ot.concatenate([ot.cast(values, dtype) for values, *_ in parts]),
        ot.concatenate([indices for _, indices, *_ in parts]),
        ot.concatenate(starts),
        extent_of((_total([n for n, _ in lengths], rows), lengths[0][1])),
    )
    return arranged(matrix, *blocks, inherited=ORDERS)


def _total(lengths: Sequence[Any], dynamic: Any) -> Any:
    return sum(lengths) if all(isinstance(n, int) for n in lengths) else dynamic


def vstack(blocks: Any, format: str | None = None, dtype: Any = None) -> SparseVariable:
    """The sparse matrices of the list ``blocks`` one below the other.

    ``format`` is "csc" by default, ``dtype`` the one that NumPy promotes to. ValueError, also at run time, if they differ in
    columns.
    """
    matrices, format, dtype = _blocks(blocks, "vstack", format, dtype)
    return to_format(_stacked([to_format(b, "csr") for b in matrices], dtype, "vstack"), format)


def hstack(blocks: Any, format: str | None = None, dtype: Any = None) -> SparseVariable:
    """The sparse matrices of the list ``blocks`` side by side, with the ``format`` and ``dtype`` of `vstack`."""
    matrices, format, dtype = _blocks(blocks, "hstack", format, dtype)
    turned = [transpose(to_format(b, "csc")) for b in matrices]
    return to_format(transpose(_stacked(turned, dtype, "hstack")), format)


def block_diag(*matrices: Any, format: str = "csc") -> SparseVariable:
    """The matrix with ``matrices`` on its diagonal, sparse or dense ones, in the ``format`` "csc" or "csr".

    TypeError without matrices.
    """
    if not matrices:
        raise TypeError("block_diag takes at least one matrix")
    blocks = [_as_csr(each) for each in matrices]
    dtype = common_dtype(*(m.type.dtype for m in blocks))
    lengths = [lengths_of(m) for m in blocks]
    columns = _total([n for _, n in lengths], reduce(lambda a, b: a + b, [m for _, m in lengths]))
    wide: list[Any] = []
    before: Any = ot.zeros((), "int32")
    for each, (rows, own) in zip(blocks, lengths, strict=True):
        values, indices, offsets, _ = properties(each)
        moved = CSR(values, indices + before, offsets, (rows, columns))
        wide.append(arranged(moved, each, inherited=ORDERS))
        before = before + ot.cast(ot.as_tensor_variable(own), "int32")
    return to_format(_stacked(wide, dtype, "block_diag"), checked_format(format))


def _as_csr(x: Any) -> Any:
    matrix = as_sparse_or_tensor_variable(x)
    return to_format(matrix, "csr") if is_sparse(matrix) else csr_from_dense(matrix)


def kron(a: Any, b: Any, format: str = "csr") -> SparseVariable:
    """The Kronecker product of two matrices ``a`` and ``b``, sparse or dense ones, in the ``format`` "csr" or "csc"."""
    a, b = _as_csr(a), _as_csr(b)
    first, second = properties(a)[0], properties(b)[0]
    many, few = first.shape[0], second.shape[0]
    (n, m), (k, j) = lengths_of(a), lengths_of(b)
    rows, columns = (
        ot.repeat(one, few) * length + ot.tile(other, many)
        for one, other, length in zip(_long(a), _long(b), (k, j), strict=True)
    )
    values = ot.repeat(first, few) * ot.tile(second, many)
    format = checked_format(format)
    product = from_places(values, rows, columns, extent_of((n * k, m * j)), format)
    return of_symmetric(
        arranged(product, a, b, facts=("sorted_indices",), inherited=("canonical",)), a, b
    )


def _long(x: Any) -> list[Any]:
    return [ot.cast(each, "int64") for each in places(x)]


def construct_sparse_from_list(x: Any, values: Any, ilist: Any) -> SparseVariable:
    """A CSC matrix of the shape of the dense matrix ``x``, whose rows ``ilist`` are the rows of the dense matrix ``values``."""
    x, values = ot.as_tensor_variable(x), ot.as_tensor_variable(values)
    ilist = ot.as_tensor_variable(ilist)
    if x.type.ndim != 2 or values.type.ndim != 2:
        raise TypeError(f"Rows of a matrix are a matrix, got {describe(x)} and {describe(values)}")
    if ilist.type.ndim != 1 or np.dtype(ilist.dtype).kind not in "iu":
        raise TypeError(f"The places of rows are a vector of integers, got {describe(ilist)}")
    columns = values.shape[1]
    count = ilist.shape[0]
    values = ot.specify_shape(values, (count, x.shape[1]))
    return CSC(
        ot.flatten(values.T), ot.tile(ilist, columns), ot.arange(columns + 1) * count, x.shape
    )


def true_dot(x: Any, y: Any, grad_preserves_dense: bool = True) -> SparseVariable:
    """The sparse product of ``x`` and ``y``, of which one is sparse; in the format of the first sparse one.

    Gradients of dense operands are dense, also with ``grad_preserves_dense=False``. TypeError if both are dense.
    """
    x, y = as_sparse_or_tensor_variable(x), as_sparse_or_tensor_variable(y)
    if not is_sparse(x) and not is_sparse(y):
        raise TypeError(f"true_dot takes a sparse matrix, got {describe(x)} and {describe(y)}")
    format = x.type.format if is_sparse(x) else y.type.format
    x, y = _as_csr(x), _as_csr(y)
    values, indices, offsets, _ = properties(x)
    others, places_, starts, _ = properties(y)
    message = "The columns of the first matrix must be as many as the rows of the second one"
    indices = where_equal(indices, lengths_of(x)[1], lengths_of(y)[0], message)
    starts = ot.cast(starts, "int64")
    counts = starts[1:][indices] - starts[:-1][indices]
    ends = ot.cumsum(counts)
    total = ot.arange(ot.sum(counts))
    of = searchsorted(ends, total, side="right")
    at = total - (ends - counts)[of] + starts[:-1][indices][of]
    rows = lines_of(indices, offsets)[of]
    shape = extent_of((lengths_of(x)[0], lengths_of(y)[1]))
    terms = from_places(values[of] * others[at], rows, places_[at], shape, format)
    return sum_duplicates(terms)


def structured_dot(x: Any, y: Any) -> Any:
    """The product of ``x`` and ``y``: sparse if both are (`true_dot`), else dense (`dot`). Gradients have the structure of the sparse ones."""
    x, y = as_sparse_or_tensor_variable(x), as_sparse_or_tensor_variable(y)
    return true_dot(x, y) if is_sparse(x) and is_sparse(y) else dot(x, y)


def _structure(*vectors: Any) -> list[Any]:
    tensors = [ot.as_tensor_variable(v) for v in vectors]
    for each in tensors:
        if each.type.ndim != 1 or each.type.numpy_dtype.kind not in "iu":
            raise TypeError(
                f"The structure of a sparse matrix is vectors of integers, got {describe(each)}"
            )
    return tensors


def sdg_csr(indices: Any, indptr: Any, b: Any, g_ab: Any) -> TensorVariable:
    """The cotangent of the values of a CSR matrix, with ``indices`` and ``indptr``, in its product with ``b``; ``g_ab`` is that of the product.

    TypeError for ``indices`` and ``indptr`` that are no vectors of integers.
    """
    slope: TensorVariable = SampledProduct()(*_structure(indices, indptr), g_ab, b)
    return slope


def sdg_csc(indices: Any, indptr: Any, b: Any, g_ab: Any) -> TensorVariable:
    """The cotangent of the values of a CSC matrix in its product with ``b``, from ``indices``, ``indptr`` and ``g_ab`` as `sdg_csr`."""
    slope: TensorVariable = SampledProduct()(*_structure(indices, indptr), b, g_ab)
    return slope


def structured_dot_grad(sparse_A: Any, dense_B: Any, ga: Any) -> SparseVariable:
    """The cotangent of ``sparse_A`` in its product with ``dense_B``, from that of the product, ``ga``: a matrix of its structure."""
    a = as_sparse_variable(sparse_A)
    _, indices, offsets, _ = properties(a)
    function = sdg_csr if a.type.format == "csr" else sdg_csc
    return with_values(a, function(indices, offsets, dense_B, ga))
