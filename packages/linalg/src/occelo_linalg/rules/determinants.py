"""Rules for determinants: logarithms and signs of determinants, and determinants of matrices with known structure.

`pipeline` puts them into the stages canonicalize and stabilize.
"""

from __future__ import annotations

import numpy as np

from occelo_graph import FunctionGraph, TensorApply, TensorVariable, computed_by
from occelo_graph import tensor as ot
from occelo_graph.ir.nodes import is_node
from occelo_graph.ops.blas.products import Dot, MatMul
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.tensors.nodes import tensors
from occelo_graph.tensors.type import is_complex
from occelo_linalg.ops.adjugate import Adjugate
from occelo_linalg.ops.determinant import Det, SLogDet
from occelo_linalg.ops.inverse import Inv
from occelo_linalg.ops.matrix_op import if_square
from occelo_rewrite.matrices import (
    diagonal_of,
    has,
    is_square,
    is_vector_product,
    transposed_of,
)
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter
from occelo_rewrite.rules.blas import positions_of_ones
from occelo_rewrite.shapes import shapes_of

CHANGES = ("stabler", "comparison", "overflow", "finite", "singular")


@node_rewriter([ot.log, ot.abs, ot.sgn], tags=CHANGES)
def function_of_det(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """log(det(x)), log(|det(x)|) and sgn(det(x)) = results of slogdet(x), which does not overflow or underflow."""
    (value,) = node.inputs
    if node.op == ot.abs:
        return None  # by slogdet, |det(x)| would become an exponential
    inner = computed_by(value, Elemwise)
    of_size = inner is not None and inner.op == ot.abs
    determinant = computed_by(inner.inputs[0] if inner is not None and of_size else value, Det)
    if determinant is None:
        return None
    sign, logarithm = SLogDet()(determinant.inputs[0])
    if node.op == ot.sgn:
        return None if of_size else [sign]
    if of_size:
        return [logarithm]
    if is_complex(sign.type.dtype):
        return [ot.complex(logarithm, ot.angle(sign))]
    nan = np.asarray(np.nan, logarithm.type.dtype)
    return [ot.switch(ot.lt(sign, 0), nan, logarithm)]


def _is_triangular(fgraph: FunctionGraph, x: TensorVariable) -> bool:
    return has(fgraph, x, "lower_triangular") or has(fgraph, x, "upper_triangular")


@node_rewriter([Det], tags=("rounding", "overflow", "finite"))
def det_of_triangular(fgraph: FunctionGraph, node: TensorApply[Det]) -> Replacements:
    """det(x) = prod(diag(x)), for triangular x."""
    (x,) = node.inputs
    if not _is_triangular(fgraph, x):
        return None
    if has(fgraph, x, "unit_diagonal"):
        # the shape is that of x: reading the shape of the determinant would keep the determinant in
        # the graph
        product = ot.ones(shapes_of(fgraph).shape_of(fgraph, x)[:-2], x.type.dtype)
    else:
        product = ot.prod(diagonal_of(x), axis=-1)
    return [product if is_square(fgraph, x) else if_square(node.op.label, x, product)]


@node_rewriter([SLogDet], tags=CHANGES)
def slogdet_of_triangular(fgraph: FunctionGraph, node: TensorApply[SLogDet]) -> Replacements:
    """slogdet(x) = (prod(sgn(d)), sum(log(|d|))), with d = diag(x), for triangular x."""
    (x,) = node.inputs
    if not _is_triangular(fgraph, x):
        return None
    d = diagonal_of(x)
    parts = [ot.prod(ot.sgn(d), axis=-1), ot.log(ot.abs(d)).sum(axis=-1)]
    return parts if is_square(fgraph, x) else [if_square(node.op.label, x, v) for v in parts]


@node_rewriter([Det, SLogDet], tags=(*CHANGES, "rounding", "shape_unsafe"))
def det_of_triangular_product(
    fgraph: FunctionGraph, node: TensorApply[Det | SLogDet]
) -> Replacements:
    """det(x @ y) = det(x) det(y), for square matrices of which one is triangular."""
    (value,) = node.inputs
    product = computed_by(value, Dot) or computed_by(value, MatMul)
    if product is None or is_vector_product(product):
        return None
    x, y = product.inputs
    if not (is_square(fgraph, x) and is_square(fgraph, y)):
        return None
    if not (_is_triangular(fgraph, x) or _is_triangular(fgraph, y)):
        return None
    if isinstance(node.op, Det):
        return [node.op(x) * node.op(y)]
    (sign, logarithm), (other, beside) = node.op(x), node.op(y)
    return [sign * other, logarithm + beside]


@node_rewriter([Det, SLogDet], tags=CHANGES)
def det_of_permutation(fgraph: FunctionGraph, node: TensorApply[Det | SLogDet]) -> Replacements:
    """det(p) = (-1)^k, for a permutation matrix p with k pairs of rows in the wrong order."""
    (x,) = node.inputs
    if not has(fgraph, x, "permutation"):
        return None
    places = positions_of_ones(x)
    mine, others = ot.expand_dims(places, -1), ot.expand_dims(places, -2)
    wrong = ot.and_(ot.lt(others, mine), ot.tri(places.shape[-1], k=-1).astype("bool").T)
    sign = 1 - 2 * (wrong.sum(axis=(-2, -1)) % 2)
    signs = [ot.cast(sign, v.type.dtype) for v in node.outputs]
    return signs if isinstance(node.op, Det) else [signs[0], ot.zeros_like(signs[1])]


@node_rewriter([Det, SLogDet], tags=CHANGES)
def det_of_transposed(fgraph: FunctionGraph, node: TensorApply[Det | SLogDet]) -> Replacements:
    """det(x^T) = det(x)."""
    inner = transposed_of(node.inputs[0])
    return None if inner is None else list(node.op(inner, return_list=True))


@node_rewriter([Det, SLogDet], tags=CHANGES)
def det_of_inverse(fgraph: FunctionGraph, node: TensorApply[Det | SLogDet]) -> Replacements:
    """det(inv(x)) = 1 / det(x)."""
    inner = computed_by(node.inputs[0], Inv)
    if inner is None or inner.op.on_error != "raise":
        return None
    if isinstance(node.op, Det):
        return [ot.reciprocal(node.op(inner.inputs[0]))]
    sign, logarithm = node.op(inner.inputs[0])
    return [sign.conj() if is_complex(sign.type.dtype) else sign, -logarithm]


@node_rewriter([Adjugate], tags=("stabler", "rounding", "overflow", "finite", "singular"))
def adjugate_beside_det(fgraph: FunctionGraph, node: TensorApply[Adjugate]) -> Replacements:
    """adj(x.T) = det(x) inv(x).T, if another node computes log(det(x)) or divides by det(x).

    Then det(x) cancels in the graph.
    """
    (matrix,) = node.inputs
    # a symmetric matrix is its own transpose
    x = matrix if has(fgraph, matrix, "symmetric") else transposed_of(matrix)
    if x is None:
        return None
    for reader, _ in fgraph.clients.get(x, ()):
        if not is_node(reader) or not isinstance(reader.op, Det):
            continue
        determinant = tensors(reader.outputs)[0]
        users: list[TensorVariable] = [determinant]
        for user, _ in fgraph.clients.get(determinant, ()):
            if is_node(user) and isinstance(user.op, DimShuffle):
                users.append(tensors(user.outputs)[0])
        for value in users:
            for user, place in fgraph.clients.get(value, ()):
                divides = is_node(user) and (
                    user.op in (ot.log, ot.reciprocal) or (user.op == ot.true_div and place == 1)
                )
                if divides:
                    return [ot.expand_dims(determinant, (-2, -1)) * ot.matrix_transpose(Inv()(x))]
    return None


CANONICALIZE = RuleSet((adjugate_beside_det,), "derivatives of determinants")
STABILIZE = RuleSet(
    (
        function_of_det,
        det_of_triangular,
        slogdet_of_triangular,
        det_of_triangular_product,
        det_of_permutation,
        det_of_transposed,
        det_of_inverse,
    ),
    "determinants",
)
