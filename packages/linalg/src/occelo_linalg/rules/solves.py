"""Rules for linear equations: known facts choose the method, and several results share one Cholesky factor.

`pipeline` puts them into the stages stabilize and specialize.
"""

from __future__ import annotations

from typing import Any

from occelo_graph import FunctionGraph, TensorApply, TensorVariable, computed_by
from occelo_graph import tensor as ot
from occelo_graph.ir.nodes import is_node
from occelo_graph.ops.blas.products import Dot
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.tensors.nodes import tensors
from occelo_graph.tensors.type import is_complex
from occelo_linalg.ops.determinant import Det, SLogDet
from occelo_linalg.ops.equations.banded import SolveBanded, SolvePositiveBanded, three_diagonals
from occelo_linalg.ops.equations.solve import Solve
from occelo_linalg.ops.equations.triangular import SolveTriangular
from occelo_linalg.ops.factorizations.cholesky import Cholesky
from occelo_linalg.ops.inverse import Inv
from occelo_linalg.rules.stated_definite import definite_form
from occelo_rewrite.matrices import (
    adjoint,
    has,
    is_only_reader,
    product,
    readers_of_transposes,
    untransposed,
)
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter
from occelo_rewrite.shapes import shapes_of

CHANGES = ("stabler", "comparison", "overflow", "finite", "singular")
SMALL = 16
"""Tridiagonal matrices of at most this many rows are solved like full ones: linkers have fast loops for small matrices.
"""


@node_rewriter([Solve], tags=CHANGES)
def solve_by_facts(fgraph: FunctionGraph, node: TensorApply[Solve]) -> Replacements:
    """solve(x, y) = the solution by a method for orthogonal, diagonal, triangular, tridiagonal or definite x."""
    x, y = node.inputs
    kind, on_error = node.op.assume_a, node.op.on_error
    if kind in ("diagonal", "pos"):
        # "pos" checks that the matrix is positive definite, which the methods for other facts do
        # not
        return None
    if has(fgraph, x, "orthogonal"):
        return _if_typed(node, product(ot.matrix_transpose(x), y))
    lower, upper = (has(fgraph, x, f) for f in ("lower_triangular", "upper_triangular"))
    if lower and upper:
        return [Solve("diagonal", on_error)(x, y)]
    if kind != "gen":
        # the methods of other kinds read one triangle only, and the user may have set only this
        # triangle
        return None
    if lower or upper:
        unit = has(fgraph, x, "unit_diagonal")
        return [SolveTriangular(lower, unit, on_error)(x, y)]
    definite = has(fgraph, x, "positive_definite")
    if has(fgraph, x, "tridiagonal") and not _is_small(x):
        diagonals = three_diagonals(x)
        if definite and not is_complex(x.type.dtype):
            return [SolvePositiveBanded(1, on_error)(diagonals[..., 1:, :], y)]
        return [SolveBanded(1, 1, on_error)(diagonals, y)]
    return [Solve("pos", on_error)(x, y)] if definite else None


def _is_small(x: TensorVariable) -> bool:
    """Whether matrices are known to be so small that loops over all of their elements are fastest."""
    rows = x.type.shape[-1]
    return rows is not None and rows <= SMALL


@node_rewriter([Solve, SolveTriangular], tags=("comparison", "overflow", "finite"))
def solve_of_many_columns(
    fgraph: FunctionGraph, node: TensorApply[Solve | SolveTriangular]
) -> Replacements:
    """solve(x, y) for a batch y = one solve with all columns of the batch, so that the matrix x is factored once."""
    x, y = node.inputs
    ndim = y.type.ndim
    if x.type.ndim != 2 or ndim < 3:
        return None
    *batch, n, k = shapes_of(fgraph).shape_of(fgraph, y)
    columns = y.dimshuffle(ndim - 2, *range(ndim - 2), ndim - 1)
    count: Any = k
    for each in batch:
        count = count * each
    solved: TensorVariable = node.op(x, columns.reshape((n, count)))
    parted = solved.reshape((n, *batch, k))
    return [parted.dimshuffle(*range(1, ndim - 1), 0, ndim - 1)]


def _if_typed(node: TensorApply, result: TensorVariable) -> Replacements:
    """The replacement ``result`` of a node's result; None if it has fewer batch axes than the result."""
    return [result] if result.type.ndim == node.outputs[0].type.ndim else None


STABILIZE = RuleSet((solve_by_facts, solve_of_many_columns), "solutions")


# one Cholesky factor for several results


def _shares_factor(fgraph: FunctionGraph, x: TensorVariable, on_error: str) -> bool:
    """Whether the graph has the Cholesky factor of a matrix, or at least two nodes need this factor."""
    results = 0
    base, _ = untransposed(x)
    for reader, position in readers_of_transposes(fgraph, base):
        if not is_node(reader) or position:
            continue
        op, (own, *_) = reader.op, tensors(reader.inputs)
        if op == Cholesky(on_error) and own is x:
            return True
        results += isinstance(op, Solve) and op == Solve("pos", on_error) and own is x
        results += isinstance(op, Det | Inv | SLogDet) and definite_form(fgraph, own) is x
    return results > 1


def _factor_for(fgraph: FunctionGraph, x: TensorVariable, on_error: str) -> TensorVariable | None:
    """The Cholesky factor from which a rule computes the solution, inverse or determinant of the matrix ``x``.

    None if ``x`` is neither known nor stated to be positive definite, or if no other node needs the factor.
    """
    form = definite_form(fgraph, x)
    if form is None:
        return None
    if not has(fgraph, x, "positive_definite"):
        on_error = "raise"  # an equation with this matrix raises the error anyway
    return Cholesky(on_error)(form) if _shares_factor(fgraph, form, on_error) else None


@node_rewriter([Solve], tags=CHANGES)
def solve_by_shared_factor(fgraph: FunctionGraph, node: TensorApply[Solve]) -> Replacements:
    """solve(x, y) = L^-H L^-1 y, for the Cholesky factor L of x, if another node needs L, too."""
    x, y = node.inputs
    on_error = node.op.on_error
    factor: TensorVariable | None = None
    if node.op.assume_a == "pos" and _shares_factor(fgraph, x, on_error):
        factor = Cholesky(on_error)(x)
    elif node.op.assume_a == "gen" and not has(fgraph, x, "positive_definite"):
        factor = _factor_for(fgraph, x, "raise")
    return None if factor is None else [_solved(factor, y, on_error)]


def _solved(factor: TensorVariable, y: TensorVariable, on_error: str) -> TensorVariable:
    half = SolveTriangular(True, False, on_error)(factor, y)
    solved: TensorVariable = SolveTriangular(False, False, on_error)(adjoint(factor), half)
    return solved


@node_rewriter([Inv], tags=CHANGES)
def inverse_by_shared_factor(fgraph: FunctionGraph, node: TensorApply[Inv]) -> Replacements:
    """inv(x) = L^-H L^-1, for the Cholesky factor L of a positive definite x, if another node needs L, too."""
    (x,) = node.inputs
    factor = _factor_for(fgraph, x, node.op.on_error)
    if factor is None:
        return None
    one = ot.eye(shapes_of(fgraph).shape_of(fgraph, x)[-1], dtype=x.type.dtype)
    return [_solved(factor, one, node.op.on_error)]


@node_rewriter([SLogDet], tags=CHANGES)
def slogdet_by_shared_factor(fgraph: FunctionGraph, node: TensorApply[SLogDet]) -> Replacements:
    """slogdet(x) = (1, 2 sum(log(diag(L)))), for the Cholesky factor L of a positive definite x, if another node needs
    L, too.
    """
    factor = _factor_for(fgraph, node.inputs[0], "raise")
    return None if factor is None else list(_log_determinant(node, factor))


@node_rewriter([Det], tags=CHANGES)
def det_by_shared_factor(fgraph: FunctionGraph, node: TensorApply[Det]) -> Replacements:
    """det(x) = prod(diag(L))^2, for the Cholesky factor L of a positive definite x, if another node needs L, too."""
    factor = _factor_for(fgraph, node.inputs[0], "raise")
    if factor is None:
        return None
    return [ot.sqr(ot.prod(_pivots(factor), axis=-1)).astype(node.outputs[0].type.dtype)]


def _pivots(factor: TensorVariable) -> TensorVariable:
    """The diagonals of Cholesky factors, as real numbers."""
    ndim = factor.type.ndim
    diagonal = ot.diagonal(factor, 0, ndim - 2, ndim - 1)
    return diagonal.real if is_complex(factor.type.dtype) else diagonal


def _log_determinant(node: TensorApply, factor: TensorVariable) -> list[TensorVariable]:
    logarithm = ot.log(_pivots(factor)).sum(axis=-1)
    logarithm = logarithm + logarithm
    sign = ot.ones_like(logarithm).astype(node.outputs[0].type.dtype)
    return [sign, logarithm]


@node_rewriter([Dot], tags=CHANGES)
def quadratic_form(fgraph: FunctionGraph, node: TensorApply[Dot]) -> Replacements:
    """v solve(x, v) = sum((L^-1 v)^2), for a real vector v and the Cholesky factor L of a positive definite x."""
    v, other = node.inputs
    for vector, solved in ((v, other), (other, v)):
        if vector.type.ndim != 1 or solved.type.ndim != 1 or not is_only_reader(fgraph, solved):
            continue
        squeezed = computed_by(solved, DimShuffle)
        solution = None if squeezed is None else computed_by(squeezed.inputs[0], Solve)
        if (
            squeezed is None
            or solution is None
            or solution.op.assume_a != "pos"
            or is_complex(solved.type.dtype)
        ):
            continue
        x, column = solution.inputs
        spread = computed_by(column, DimShuffle)
        if spread is None or spread.inputs[0] is not vector or spread.op.new_order != (0, "x"):
            continue
        if x.type.ndim != 2 or not is_only_reader(fgraph, squeezed.inputs[0]):
            continue
        on_error = solution.op.on_error
        half = SolveTriangular(True, False, on_error)(Cholesky(on_error)(x), column)
        return [ot.sqr(half).sum()]
    return None


SPECIALIZE = RuleSet(
    (
        solve_by_shared_factor,
        inverse_by_shared_factor,
        slogdet_by_shared_factor,
        det_by_shared_factor,
        quadratic_form,
    ),
    "shared factors",
)
