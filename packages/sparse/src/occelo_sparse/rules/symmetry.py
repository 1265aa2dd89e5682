"""Rules about symmetric matrices, which are their own transposes."""

from __future__ import annotations

from occelo_graph import FunctionGraph, TensorApply
from occelo_rewrite.constants import number_of
from occelo_rewrite.patterns.node_rule import Replacements, node_rewriter
from occelo_sparse.facts import is_symmetric
from occelo_sparse.ops.products import LineProduct, ScatteredProduct
from occelo_sparse.ops.solving import SparseSolve
from occelo_sparse.rules.parts import asking

_ORDER = ("comparison", "overflow")


@node_rewriter([ScatteredProduct], tags=_ORDER)
def product_with_symmetric(
    fgraph: FunctionGraph, node: TensorApply[ScatteredProduct]
) -> Replacements:
    """A' x = A x for a symmetric matrix A (comparison, overflow: the order of sums), whose elements are independent of each other."""
    values, indices, offsets, x, count = node.inputs
    (more,) = offsets.type.shape
    square = more is not None and number_of(count) == more - 1
    if not is_symmetric(asking(fgraph), values, indices, offsets, square):
        return None
    return [LineProduct()(values, indices, offsets, x)]


@node_rewriter([SparseSolve], tags=_ORDER)
def solution_with_symmetric(fgraph: FunctionGraph, node: TensorApply[SparseSolve]) -> Replacements:
    """solve(A', b) = solve(A, b) for a symmetric matrix A (comparison, overflow)."""
    values, indices, offsets, b = node.inputs
    if not node.op.transposed or not is_symmetric(asking(fgraph), values, indices, offsets, True):
        return None
    return [SparseSolve()(values, indices, offsets, b)]
