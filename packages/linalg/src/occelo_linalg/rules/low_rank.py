"""Rules that apply Woodbury's identity to matrices D + u v, where D is diagonal, u is tall and v is wide.

`pipeline` puts them into the stage stabilize. They are off unless a mode includes the tag ``low_rank``, since they lose
digits if D is much smaller than u v.
"""

from __future__ import annotations

from occelo_graph import FunctionGraph, TensorApply, TensorVariable, computed_by
from occelo_graph import tensor as ot
from occelo_graph.ops.blas.products import Dot, MatMul
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_linalg.ops.determinant import Det, SLogDet
from occelo_linalg.ops.equations.solve import Solve
from occelo_linalg.ops.inverse import Inv
from occelo_rewrite.matrices import diagonal_of, has, product, with_diagonal
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter
from occelo_rewrite.shapes import shapes_of

CHANGES = ("comparison", "overflow", "finite", "singular")


def _parts(
    fgraph: FunctionGraph, x: TensorVariable
) -> tuple[TensorVariable, TensorVariable, TensorVariable] | None:
    """The d, u and v of a matrix x = diag(d) + u v, if u has few columns; else None.

    The number of columns must be static, and at most half the number of rows if that is static, too.
    """
    total = computed_by(x, Elemwise)
    if total is None or total.op != ot.add or len(total.inputs) != 2:
        return None
    for diagonal, other in (total.inputs, total.inputs[::-1]):
        factors = computed_by(other, Dot, MatMul)
        if factors is None or not has(fgraph, diagonal, "diagonal"):
            continue
        if any(v.type.ndim != x.type.ndim for v in (diagonal, *factors.inputs)):
            continue
        if any(_is_repeated(v, x) for v in (diagonal, other)):
            continue
        rows, columns = shapes_of(fgraph).shape_of(fgraph, factors.inputs[0])[-2:]
        if not isinstance(columns, int) or (isinstance(rows, int) and 2 * columns > rows):
            continue
        return diagonal_of(diagonal), factors.inputs[0], factors.inputs[1]
    return None


def _is_repeated(term: TensorVariable, total: TensorVariable) -> bool:
    """Whether a term of a sum is a row or a column that is broadcast to the shape of the sum."""
    pairs = zip(term.type.shape[-2:], total.type.shape[-2:], strict=True)
    return any(own == 1 and n != 1 for own, n in pairs)


def _capacitance(d: TensorVariable, u: TensorVariable, v: TensorVariable) -> TensorVariable:
    """The small matrix 1 + v diag(d)^-1 u of Woodbury's identity."""
    inner = product(v, u / ot.expand_dims(d, -1))
    return inner + ot.eye(inner.shape[-1], dtype=inner.type.dtype)


@node_rewriter([Solve], tags=("low_rank", *CHANGES))
def solve_of_low_rank(fgraph: FunctionGraph, node: TensorApply[Solve]) -> Replacements:
    """solve(D + u v, b) = D^-1 b - D^-1 u solve(1 + v D^-1 u, v D^-1 b), for diagonal D (Woodbury, 1950)."""
    x, b = node.inputs
    parts = _parts(fgraph, x)
    if parts is None or node.op.assume_a == "diagonal" or node.op.on_error != "raise":
        return None
    d, u, v = parts
    if b.type.ndim != x.type.ndim:
        return None
    column = ot.expand_dims(d, -1)
    scaled = b / column
    inner = Solve("gen")(_capacitance(d, u, v), product(v, scaled))
    return [scaled - product(u / column, inner)]


@node_rewriter([SLogDet], tags=("low_rank", *CHANGES))
def slogdet_of_low_rank(fgraph: FunctionGraph, node: TensorApply[SLogDet]) -> Replacements:
    """det(D + u v) = det(D) det(1 + v D^-1 u), for diagonal D: the matrix determinant lemma."""
    parts = _parts(fgraph, node.inputs[0])
    if parts is None:
        return None
    d, u, v = parts
    sign, logarithm = SLogDet()(_capacitance(d, u, v))
    return [
        sign * ot.prod(ot.sgn(d), axis=-1),
        logarithm + ot.log(ot.abs(d)).sum(axis=-1),
    ]


@node_rewriter([Det], tags=("low_rank", *CHANGES))
def det_of_low_rank(fgraph: FunctionGraph, node: TensorApply[Det]) -> Replacements:
    """det(D + u v) = det(D) det(1 + v D^-1 u), for diagonal D."""
    parts = _parts(fgraph, node.inputs[0])
    if parts is None:
        return None
    d, u, v = parts
    return [ot.prod(d, axis=-1) * Det()(_capacitance(d, u, v))]


@node_rewriter([Inv], tags=("low_rank", *CHANGES))
def inverse_of_low_rank(fgraph: FunctionGraph, node: TensorApply[Inv]) -> Replacements:
    """inv(D + u v) = D^-1 - D^-1 u solve(1 + v D^-1 u, v D^-1), for diagonal D (Woodbury, 1950)."""
    parts = _parts(fgraph, node.inputs[0])
    if parts is None or node.op.on_error != "raise":
        return None
    d, u, v = parts
    inner = Solve("gen")(_capacitance(d, u, v), v / ot.expand_dims(d, -2))
    return [with_diagonal(ot.reciprocal(d)) - product(u / ot.expand_dims(d, -1), inner)]


LOW_RANK = RuleSet(
    (solve_of_low_rank, slogdet_of_low_rank, det_of_low_rank, inverse_of_low_rank),
    "matrices of low rank and a diagonal",
)
