"""Conversions of ops on sparse matrices: the functions of `occelo.sparse`. Imported with the first such op.

Gradients here have the structure of their matrices. A gradient that PyTensor made, for the mode, is converted as it is.
"""

from __future__ import annotations

from typing import Any

import pytensor.sparse.basic as basic
import pytensor.sparse.math as math
import pytensor.sparse.rewriting as rewriting
from pytensor.sparse.linalg import SparseBlockDiagonal

import occelo.sparse as sp
import occelo.tensor as ot
from occelo_pytensor.registry import register_conversion
from occelo_sparse.ops.assembling import lengths_of, properties
from occelo_sparse.ops.merging import from_places, keys_of, sum_duplicates
from occelo_sparse.ops.types import is_sparse

_MADE = {"csr": sp.CSR, "csc": sp.CSC}
_FROM_DENSE = {"csr": sp.csr_from_dense, "csc": sp.csc_from_dense}
_SAME: dict[type, Any] = {
    basic.DenseFromSparse: sp.dense_from_sparse,
    basic.GetItemList: sp.get_item_list,
    basic.GetItem2Lists: sp.get_item_2lists,
    basic.Transpose: sp.transpose,
    basic.ColScaleCSC: sp.col_scale,
    basic.RowScaleCSC: sp.row_scale,
    basic.Diag: sp.diag,
    basic.EnsureSortedIndices: sp.ensure_sorted_indices,
    basic.Remove0: sp.remove0,
    math.AddSparseSparse: sp.add,
    math.AddSparseDense: sp.add,
    math.AddSparseSparseData: sp.add_s_s_data,
    math.StructuredAddSparseDenseVector: sp.structured_add_s_v,
    math.MultiplySparseSparse: sp.multiply,
    math.MultiplySparseDense: sp.multiply,
    math.MultiplySparseDenseVector: sp.multiply,
    math.EqualSparseSparse: sp.eq,
    math.EqualSparseDense: sp.eq,
    math.NotEqualSparseSparse: sp.neq,
    math.NotEqualSparseDense: sp.neq,
    math.LessThanSparseSparse: sp.lt,
    math.LessThanSparseDense: sp.lt,
    math.GreaterThanSparseSparse: sp.gt,
    math.GreaterThanSparseDense: sp.gt,
    math.LessEqualSparseSparse: sp.le,
    math.LessEqualSparseDense: sp.le,
    math.GreaterEqualSparseSparse: sp.ge,
    math.GreaterEqualSparseDense: sp.ge,
    math.TrueDot: sp.true_dot,
    math.StructuredDot: sp.structured_dot,
    math.SamplingDot: sp.sampling_dot,
    math.Dot: sp.dot,
    math.Usmm: sp.usmm,
}
"""Ops without options, each with the function of the same inputs."""


@register_conversion(*_SAME)
def _same(node: Any, *inputs: Any) -> Any:
    return next(_SAME[c] for c in type(node.op).__mro__ if c in _SAME)(*inputs)


@register_conversion(basic.CSM)
def _matrix(node: Any, values: Any, indices: Any, offsets: Any, shape: Any) -> Any:
    return _MADE[node.op.format](values, indices, offsets, shape)


@register_conversion(basic.CSMProperties)
def _parts(node: Any, x: Any) -> Any:
    return list(sp.csm_properties(x))


@register_conversion(basic.CSMGrad)
def _at_places(node: Any, *inputs: Any) -> Any:
    """The values of one matrix at the places of another; 0 where it has none. Both are given by their parts."""
    (values, indices, offsets, shape), (data, *structure, _) = inputs[:4], inputs[4:]
    if structure == [indices, offsets]:
        return data
    # PyTensor tells rows from columns by their number
    minor = ot.switch(ot.eq(offsets.shape[0] - 1, shape[0]), shape[1], shape[0])
    lengths = [offsets.shape[0] - 1, minor]
    other = sum_duplicates(sp.CSR(data, structure[0], structure[1], lengths))
    keys, places = keys_of(other), keys_of(sp.CSR(values, indices, offsets, lengths))
    keys = ot.concatenate([keys, ot.constant([-1])])
    of_keys = ot.concatenate([properties(other)[0], ot.zeros(1, data.dtype)])
    at = ot.searchsorted(keys[:-1], places)
    return ot.switch(ot.eq(keys[at], places), of_keys[at], ot.zeros((), data.dtype))


@register_conversion(basic.Cast)
def _cast(node: Any, x: Any) -> Any:
    return sp.cast(x, node.op.out_type)


@register_conversion(basic.SparseFromDense)
def _from_dense(node: Any, x: Any) -> Any:
    return _FROM_DENSE[node.op.format](x)


@register_conversion(basic.GetItem2d)
def _slices(node: Any, x: Any, *ends: Any) -> Any:
    return sp.get_item_2d(x, (slice(*ends[:3]), slice(*ends[3:])))


@register_conversion(basic.GetItemScalar)
def _element(node: Any, x: Any, row: Any, column: Any) -> Any:
    return sp.get_item_scalar(x, (row, column))


@register_conversion(basic.GetItemListGrad)
def _rows_back(node: Any, x: Any, rows: Any, cotangent: Any) -> Any:
    """A matrix with the rows of ``cotangent`` where they came from. PyTensor keeps the last of those of one row; here they are added."""
    count = rows.shape[0]
    chosen = sp.CSR(
        ot.ones(count, cotangent.type.dtype), rows % lengths_of(x)[0], ot.arange(count + 1),
        [count, lengths_of(x)[0]],
    )  # fmt: skip
    return _formatted(sp.true_dot(sp.transpose(chosen), cotangent), node)


@register_conversion(basic.GetItem2ListsGrad)
def _elements_back(node: Any, x: Any, rows: Any, columns: Any, cotangent: Any) -> Any:
    """A matrix with elements where they came from. PyTensor keeps the last of those of one place; here they are added."""
    rows, columns = (i % n for i, n in zip((rows, columns), lengths_of(x), strict=True))
    matrix = from_places(cotangent, rows, columns, properties(x)[3], x.type.format)
    return sum_duplicates(matrix)


@register_conversion(basic.HStack)
def _side_by_side(node: Any, *blocks: Any) -> Any:
    return sp.hstack(list(blocks), node.op.format, node.op.dtype)


@register_conversion(basic.VStack)
def _below(node: Any, *blocks: Any) -> Any:
    return sp.vstack(list(blocks), node.op.format, node.op.dtype)


@register_conversion(SparseBlockDiagonal)
def _blocks(node: Any, *blocks: Any) -> Any:
    return sp.block_diag(*blocks, format=node.op.format)


@register_conversion(basic.ConstructSparseFromList)
def _rows(node: Any, shape: Any, values: Any, rows: Any) -> Any:
    columns, count = values.shape[1], rows.shape[0]
    offsets = ot.arange(columns + 1) * count
    return sp.CSC(ot.flatten(values.T), ot.tile(rows, columns), offsets, shape)


@register_conversion(math.SpSum)
def _sum(node: Any, x: Any) -> Any:
    return sp.sp_sum(x, node.op.axis)


@register_conversion(math.StructuredDotGradCSR, math.StructuredDotGradCSC)
def _slope_of_values(node: Any, indices: Any, offsets: Any, b: Any, cotangent: Any) -> Any:
    dtype = node.outputs[0].type.dtype
    b, cotangent = (ot.cast(sp.dense_from_sparse(v), dtype) for v in (b, cotangent))
    csr = isinstance(node.op, math.StructuredDotGradCSR)
    return (sp.sdg_csr if csr else sp.sdg_csc)(indices, offsets, b, cotangent)


@register_conversion(rewriting.StructuredDotCSR)
def _rows_times(node: Any, values: Any, indices: Any, offsets: Any, b: Any) -> Any:
    return sp.dot(sp.CSR(values, indices, offsets, [offsets.shape[0] - 1, b.shape[0]]), b)


@register_conversion(rewriting.StructuredDotCSC)
def _columns_times(node: Any, values: Any, indices: Any, offsets: Any, count: Any, b: Any) -> Any:
    return sp.dot(sp.CSC(values, indices, offsets, [count, b.shape[0]]), b)


def _formatted(x: Any, node: Any) -> Any:
    return (sp.tocsr if node.outputs[0].type.format == "csr" else sp.tocsc)(x)


def of_shape(x: Any, lengths: list[Any]) -> Any:
    """``x`` with a check that it has these lengths, of which None is any."""
    values, indices, offsets, extent = properties(x)
    return _MADE[x.type.format](values, indices, offsets, ot.specify_shape(extent, [*lengths, 0]))


def fitted(x: Any, wanted: Any) -> Any:
    """``x`` with the dtype and the format of PyTensor's variable ``wanted``. TypeError if it is a dense matrix."""
    if not is_sparse(x):
        raise TypeError(f"{x} is dense, and PyTensor's {wanted} a sparse matrix")
    if x.type.dtype != wanted.type.dtype:
        x = sp.cast(x, wanted.type.dtype)
    return x if x.type.format == wanted.type.format else _formatted(x, wanted.owner)
