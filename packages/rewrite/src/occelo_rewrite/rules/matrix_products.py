"""Rules for products with orthogonal and other special matrices, and for the order of chains of products.

The special matrices are diagonal, orthogonal, selection and permutation matrices. `pipeline` puts the rules for batches
into the stage canonicalize, and `cheapest_order` into the stage specialize.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_graph import FunctionGraph, TensorApply, TensorVariable, computed_by
from occelo_graph import tensor as ot
from occelo_graph.ops.blas.products import Dot, MatMul
from occelo_graph.ops.index.search import rows_in_order
from occelo_rewrite.matrices import (
    has,
    is_only_reader,
    is_square,
    transposed_of,
    with_diagonal,
)
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter
from occelo_rewrite.rules.blas import positions_of_ones
from occelo_rewrite.shapes import shapes_of

MOST_TERMS = 16
"""Products with a selection matrix that sum over at most this many terms stay products: computing them is faster than
finding the positions of the elements 1.
"""


@node_rewriter([MatMul], tags=("rounding", "finite", "shape_unsafe"))
def batched_product_with_diagonal(fgraph: FunctionGraph, node: TensorApply[MatMul]) -> Replacements:
    """diag(d) @ x = x with its rows scaled, and x @ diag(d) = x with its columns scaled, for batches of matrices.

    (finite: as for `dot_with_diagonal` in `rules.blas`, zeros are no longer multiplied by infinite elements.
    shape_unsafe: nothing checks that the lengths fit.)
    """
    x, y = node.inputs
    for matrix, other, axis in ((x, y, -1), (y, x, -2)):
        if has(fgraph, matrix, "diagonal") and is_square(fgraph, matrix):
            ndim = matrix.type.ndim
            d = ot.diagonal(matrix, 0, ndim - 2, ndim - 1)
            return [ot.expand_dims(d, axis) * other]
    return None


@node_rewriter([MatMul], tags=("stabler", "finite"))
def batched_product_of_orthogonal(fgraph: FunctionGraph, node: TensorApply[MatMul]) -> Replacements:
    """q @ q^T = q^T @ q = 1, for batches of orthogonal matrices."""
    x, y = node.inputs
    for a, b in ((x, y), (y, x)):
        if transposed_of(b) is a and has(fgraph, a, "orthogonal"):
            lengths = shapes_of(fgraph).shape_of(fgraph, a)[:-1]
            return [with_diagonal(ot.ones(lengths, node.outputs[0].type.dtype))]
    return None


@node_rewriter([MatMul], tags=("rounding", "finite", "shape_unsafe"))
def batched_product_with_selection(
    fgraph: FunctionGraph, node: TensorApply[MatMul]
) -> Replacements:
    """s @ x = rows of x, and x @ p = columns of x, for batches of selection matrices s and permutation matrices p.

    (finite: as for `dot_with_diagonal` in `rules.blas`, zeros are no longer multiplied by infinite elements.
    shape_unsafe: nothing checks that the lengths fit.)
    """
    x, y = node.inputs
    if x.type.dtype != y.type.dtype or min(v.type.ndim for v in node.inputs) < 2:
        return None
    terms = [n for n in (x.type.shape[-1], y.type.shape[-2]) if n is not None]
    if terms and terms[0] <= MOST_TERMS:
        return None
    if has(fgraph, x, "selection"):
        return [rows_in_order(y, positions_of_ones(x))]
    if has(fgraph, y, "permutation") and x.type.shape[-2] != 1:
        order = positions_of_ones(ot.matrix_transpose(y))
        return [ot.matrix_transpose(rows_in_order(ot.matrix_transpose(x), order))]
    return None


@node_rewriter([Dot, MatMul], tags=("stabler", "finite", "shape_unsafe"))
def product_of_orthogonal(fgraph: FunctionGraph, node: TensorApply[Dot | MatMul]) -> Replacements:
    """q^T (q x) = x, for orthogonal q."""
    x, y = node.inputs
    inner = computed_by(y, Dot, MatMul)
    if inner is None or inner.inputs[1].type != node.outputs[0].type:
        return None
    q, rest = inner.inputs
    turned = transposed_of(x) is q or transposed_of(q) is x
    return [rest] if turned and has(fgraph, q, "orthogonal") else None


CANONICALIZE = RuleSet(
    (
        product_of_orthogonal,
        batched_product_with_diagonal,
        batched_product_of_orthogonal,
        batched_product_with_selection,
    ),
    "products of diagonal and orthogonal matrices, selections and permutations",
)


@node_rewriter([Dot], tags=("comparison", "overflow", "finite"))
def cheapest_order(fgraph: FunctionGraph, node: TensorApply[Dot]) -> Replacements:
    """(x y) z = x (y z), for matrices of static lengths: the order with fewer multiplications."""
    readers = fgraph.clients.get(node.outputs[0], ())
    if any(getattr(reader, "op", None) == Dot() for reader, _ in readers) and len(readers) == 1:
        return None  # the node is part of a longer chain
    factors = _chain(fgraph, node)
    if len(factors) < 3:
        return None
    sizes = _sizes(fgraph, factors)
    if sizes is None:
        return None
    cost, split = _orders(sizes)
    if cost >= _cost_as_written(node, factors):
        return None
    return [_multiplied(factors, split, 0, len(factors) - 1)]


def _chain(fgraph: FunctionGraph, node: TensorApply[Dot]) -> list[TensorVariable]:
    """The factors of a chain of products, whose intermediate products have no other users."""
    factors: list[TensorVariable] = []
    for v in node.inputs:
        inner = computed_by(v, Dot)
        if inner is not None and v.type.ndim == 2 and is_only_reader(fgraph, v):
            factors += _chain(fgraph, inner)
        else:
            factors.append(v)
    return factors


def _sizes(fgraph: FunctionGraph, factors: Sequence[TensorVariable]) -> list[int] | None:
    """The number of rows of the first factor, and the number of columns of each factor; None if one is not static.

    A vector counts as one row or one column.
    """
    sizes: list[int] = []
    for k, x in enumerate(factors):
        shape: list[object] = list(shapes_of(fgraph).shape_of(fgraph, x))
        if len(shape) == 1:
            shape = [1, *shape] if k == 0 else [*shape, 1]
        for n in shape if k == 0 else shape[1:]:
            if not isinstance(n, int):
                return None
            sizes.append(n)
    return sizes


def _cost_as_written(node: TensorApply[Dot], factors: Sequence[TensorVariable]) -> float:
    """The number of multiplications of a chain in the user's order."""
    first, second = (v.type.shape for v in node.inputs)
    own = 1.0
    for n in (*first, *second[1:]):
        own *= float("inf") if n is None else n
    inner = [computed_by(v, Dot) for v in node.inputs if not any(v is f for f in factors)]
    return own + sum(_cost_as_written(n, factors) for n in inner if n is not None)


def _orders(sizes: Sequence[int]) -> tuple[float, dict[tuple[int, int], int]]:
    """The least number of multiplications for a chain, and the order that reaches it.

    The order is a dict ``split``. The factors i to j are multiplied in two groups, whose products are then multiplied:
    the factors i to ``split[i, j]``, and the factors after it (Cormen et al., section 15.2).
    """
    count = len(sizes) - 1
    best: dict[tuple[int, int], float] = {(i, i): 0.0 for i in range(count)}
    split: dict[tuple[int, int], int] = {}
    for width in range(1, count):
        for i in range(count - width):
            j = i + width
            costs = {
                k: best[i, k] + best[k + 1, j] + float(sizes[i] * sizes[k + 1] * sizes[j + 1])
                for k in range(i, j)
            }
            split[i, j] = min(costs, key=lambda k: costs[k])
            best[i, j] = costs[split[i, j]]
    return best[0, count - 1], split


def _multiplied(
    factors: Sequence[TensorVariable], split: dict[tuple[int, int], int], i: int, j: int
) -> TensorVariable:
    if i == j:
        return factors[i]
    k = split[i, j]
    left, right = _multiplied(factors, split, i, k), _multiplied(factors, split, k + 1, j)
    product: TensorVariable = Dot()(left, right)
    return product


SPECIALIZE = RuleSet((cheapest_order,), "products in the cheapest order")
