"""Rules for the Cholesky factors of products L L^H and of diagonal matrices.

`pipeline` puts them into the stage canonicalize.
"""

from __future__ import annotations

import numpy as np

from occelo_graph import FunctionGraph, TensorApply, computed_by
from occelo_graph import tensor as ot
from occelo_graph.ops.blas.products import Dot, MatMul
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.tensors.type import is_complex
from occelo_linalg.ops.factorizations.cholesky import Cholesky, factor_of_product
from occelo_rewrite.assumptions.shape import are_transposes
from occelo_rewrite.matrices import (
    diagonal_of,
    has,
    is_square,
    with_diagonal,
)
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter

CHANGES = ("stabler", "comparison", "overflow", "finite", "singular")


@node_rewriter([Cholesky], tags=CHANGES)
def cholesky_of_product(fgraph: FunctionGraph, node: TensorApply[Cholesky]) -> Replacements:
    """cholesky(L L^H) = L, for a square lower triangular L, with its columns scaled so that the diagonal is positive.

    The scale factors have the absolute value 1. If there is a zero on the diagonal of L, the product is singular: a check
    raises an error, or the result is NaN, as the op says.
    """
    (x,) = node.inputs
    owner = computed_by(x, Dot, MatMul)
    if owner is None:
        return None
    first, second = owner.inputs
    if first.type.ndim != x.type.ndim or not are_transposes(first, second, True):
        return None
    if not has(fgraph, first, "lower_triangular") or not is_square(fgraph, first):
        return None
    return [factor_of_product(first, node.op.on_error)]


@node_rewriter([Cholesky], tags=("rounding", "finite"))
def cholesky_of_diagonal(fgraph: FunctionGraph, node: TensorApply[Cholesky]) -> Replacements:
    """cholesky(diag(d)) = diag(sqrt(d)) for real d, with a check that raises an error if an element is not positive.

    As in NumPy, NaN is no error.
    """
    (x,) = node.inputs
    if node.op.on_error != "raise" or is_complex(x.type.dtype):
        return None
    if not has(fgraph, x, "diagonal") or not is_square(fgraph, x):
        return None
    d = diagonal_of(x)
    check = CheckAndRaise(np.linalg.LinAlgError, "cholesky: Matrix is not positive definite")
    return [with_diagonal(ot.sqrt(check(d, ot.invert(ot.le(d, 0)).all())))]


CANONICALIZE = RuleSet((cholesky_of_product, cholesky_of_diagonal), "Cholesky factors")
