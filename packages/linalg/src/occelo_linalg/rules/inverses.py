"""Rules for inverses: of inverses, of matrices with known structure, and of products with an inverse.

`pipeline` puts them into the stage canonicalize.
"""

from __future__ import annotations

from occelo_graph import FunctionGraph, TensorApply, TensorVariable, computed_by
from occelo_graph import tensor as ot
from occelo_graph.ops.blas.products import Dot, MatMul
from occelo_linalg.ops.equations.solve import Solve
from occelo_linalg.ops.equations.triangular import SolveTriangular
from occelo_linalg.ops.inverse import Inv
from occelo_linalg.ops.matrix_op import if_square
from occelo_rewrite.matrices import (
    adjoint,
    has,
    is_only_reader,
    is_square,
    transposed_of,
    untransposed,
)
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter
from occelo_rewrite.shapes import shapes_of

CHANGES = ("stabler", "comparison", "overflow", "finite", "singular")


@node_rewriter([Inv], tags=CHANGES)
def inverse_of_inverse(fgraph: FunctionGraph, node: TensorApply[Inv]) -> Replacements:
    """inv(inv(x)) = x (singular: the left side raises an error for a singular x)."""
    inner = computed_by(node.inputs[0], Inv)
    if inner is None or inner.op.on_error != "raise":
        return None
    (x,) = inner.inputs
    return [x if is_square(fgraph, x) else if_square(node.op.label, x, x)]


@node_rewriter([Inv], tags=CHANGES)
def inverse_of_transposed(fgraph: FunctionGraph, node: TensorApply[Inv]) -> Replacements:
    """inv(x^T) = inv(x)^T and inv(x^H) = inv(x)^H, so that a matrix and its transpose share one inverse."""
    base, kind = untransposed(node.inputs[0])
    if not kind:
        return None
    inverse = node.op(base)
    return [adjoint(inverse) if kind == 2 else ot.matrix_transpose(inverse)]


@node_rewriter([Inv], tags=CHANGES)
def inverse_of_orthogonal(fgraph: FunctionGraph, node: TensorApply[Inv]) -> Replacements:
    """inv(q) = q^T, for orthogonal q."""
    (x,) = node.inputs
    return [ot.matrix_transpose(x)] if has(fgraph, x, "orthogonal") else None


@node_rewriter([Inv], tags=CHANGES)
def inverse_of_triangular(fgraph: FunctionGraph, node: TensorApply[Inv]) -> Replacements:
    """inv(x) = solve_triangular(x, 1), for a triangular x.

    A diagonal x is left to `inverse_of_diagonal` if x is known to be square and a singular x must raise an error. For
    any other diagonal x, inv(x) = solve(x, 1) by the method for diagonal matrices, which divides by the diagonal.
    """
    (x,) = node.inputs
    facts = [t for t in ("lower_triangular", "upper_triangular") if has(fgraph, x, t)]
    if not facts or (len(facts) == 2 and node.op.on_error == "raise" and is_square(fgraph, x)):
        return None  # `inverse_of_diagonal` applies
    one = ot.eye(shapes_of(fgraph).shape_of(fgraph, x)[-1], dtype=x.type.dtype)
    if len(facts) == 2:
        return [Solve("diagonal", node.op.on_error)(x, one)]
    unit = has(fgraph, x, "unit_diagonal")
    solver = SolveTriangular(facts[0] == "lower_triangular", unit, node.op.on_error)
    return [solver(x, one)]


@node_rewriter([Dot, MatMul], tags=(*CHANGES, "shape_unsafe"))
def product_with_inverse(fgraph: FunctionGraph, node: TensorApply[Dot | MatMul]) -> Replacements:
    """inv(x) y = solve(x, y) and y inv(x) = solve(x^T, y^T)^T, if the inverse has no other user.

    inv(x)^T is treated likewise.
    """
    x, y = node.inputs
    left, right = _inverted(fgraph, x), _inverted(fgraph, y)
    if left is not None:
        matrix, on_error = left
        solve = Solve("gen", on_error)
        if y.type.ndim == 1:
            return [ot.squeeze(solve(matrix, ot.expand_dims(y, -1)), axis=-1)]
        return [solve(matrix, y)]
    if right is not None:
        matrix, on_error = right
        turned, solve = ot.matrix_transpose(matrix), Solve("gen", on_error)
        if x.type.ndim == 1:
            return [ot.squeeze(solve(turned, ot.expand_dims(x, -1)), axis=-1)]
        return [ot.matrix_transpose(solve(turned, ot.matrix_transpose(x)))]
    return None


def _inverted(fgraph: FunctionGraph, x: TensorVariable) -> tuple[TensorVariable, str] | None:
    """The matrix whose inverse is ``x``, and the `Inv.on_error` of the inverse.

    None if ``x`` is not an inverse, or if it has several users.
    """
    if not is_only_reader(fgraph, x):
        return None
    owner = computed_by(x, Inv)
    if owner is not None:
        return owner.inputs[0], owner.op.on_error
    inner = transposed_of(x)
    owner = None if inner is None else computed_by(inner, Inv)
    if inner is None or owner is None or not is_only_reader(fgraph, inner):
        return None
    return ot.matrix_transpose(owner.inputs[0]), owner.op.on_error


CANONICALIZE = RuleSet(
    (
        inverse_of_inverse,
        inverse_of_transposed,
        inverse_of_orthogonal,
        inverse_of_triangular,
        product_with_inverse,
    ),
    "inverses",
)
