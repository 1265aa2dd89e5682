"""Rules of products of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_graph import Apply, FunctionGraph
from occelo_graph import tensor as ot
from occelo_graph.ops.blas import Dot, MatMul
from occelo_graph.ops.shape import DimShuffle
from occelo_rewrite.rule import RuleSet, node_rewriter
from occelo_rewrite.shaping import shaped_like

__all__ = ["CANONICALIZE", "SPECIALIZE"]


@node_rewriter([Dot])
def dot_of_nothing(fgraph: FunctionGraph, node: Apply) -> Any:
    """dot(x, y) = 0 where the sum has no terms, or the result no elements."""
    x, y = (v.type for v in node.inputs)
    out: Any = node.outputs[0]
    if 0 not in (*x.shape, *y.shape):  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        return None
    rows = ot.shape_tuple(node.inputs[0])[:-1]
    columns = ot.shape_tuple(node.inputs[1])[1:]
    return [ot.alloc(ot.constant(np.zeros((), out.type.dtype)), *rows, *columns) if rows or columns
            else ot.constant(np.zeros((), out.type.dtype))]


@node_rewriter([Dot])
def dot_of_length_one(fgraph: FunctionGraph, node: Apply) -> Any:
    """dot(x, y) = x y where the sum has one term."""
    x, y = node.inputs
    first, last = x.type, y.type
    if first.shape[-1] != 1 or last.shape[0] != 1:  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        return None
    left: Any = x if first.ndim == 2 else ot.dimshuffle(x, [])  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    right: Any = y if last.ndim == 2 else ot.dimshuffle(y, [])  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    if first.ndim == 2 and last.ndim == 1:  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        left = ot.dimshuffle(x, [0])
    if first.ndim == 1 and last.ndim == 2:  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        right = ot.dimshuffle(y, [1])
    return [shaped_like(ot.mul(left, right), node.outputs[0])]


@node_rewriter([DimShuffle])
def transposed_dot(fgraph: FunctionGraph, node: Apply) -> Any:
    """dot(x, y).T = dot(y.T, x.T), where nothing else uses the product and a factor is transposed already."""
    op: Any = node.op
    inner: Any = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, Dot) or op.new_order != (1, 0):
        return None
    x, y = inner.inputs
    if x.type.ndim != 2 or y.type.ndim != 2 or len(fgraph.clients[node.inputs[0]]) > 1:
        return None
    if not any(v.owner is not None and v.owner.op == op for v in (x, y)):
        return None
    return [inner.op(op(y), op(x))]


@node_rewriter([MatMul])
def matmul_of_matrices(fgraph: FunctionGraph, node: Apply) -> Any:
    """matmul(x, y) = dot(x, y), for two matrices."""
    x, y = node.inputs
    return [Dot()(x, y)] if x.type.ndim == y.type.ndim == 2 else None  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]


CANONICALIZE = RuleSet((dot_of_nothing, dot_of_length_one, matmul_of_matrices), "blas canonicalize")


@node_rewriter([MatMul])
def matmul_with_one_matrix(fgraph: FunctionGraph, node: Apply) -> Any:
    """matmul of a batch with one matrix is one product: the batch and the rows are made one dimension."""
    x, y = node.inputs
    xt: Any = x.type
    yt: Any = y.type
    if xt.ndim < 3 or yt.ndim < 2 or any(n != 1 for n in yt.shape[:-2]) or yt.ndim > xt.ndim:
        return None
    matrix: Any = ot.dimshuffle(y, [yt.ndim - 2, yt.ndim - 1]) if yt.ndim > 2 else y
    lengths = ot.shape_tuple(x)
    rows: Any = 1
    for n in lengths[:-1]:
        rows = rows * n
    flat = ot.reshape(x, (rows, lengths[-1]))
    product = Dot()(flat, matrix)
    return [ot.reshape(product, (*lengths[:-1], ot.shape_tuple(matrix)[1]))]


SPECIALIZE = RuleSet((transposed_dot, matmul_with_one_matrix), "blas specialize")
