"""Matrices that a graph states to be positive definite, since it solves equations under this assumption.

The stage ``note_stated_definite`` runs once. Rules then compute determinants and inverses of such a
matrix from the Cholesky factor that the equations need anyway. The rules read the triangle of the matrix that the
equations read. The fact "positive_definite" is not recorded for such a matrix: it would tell all rules that the matrix
is Hermitian, but the user may have set only this triangle.
"""

from __future__ import annotations

from occelo_graph import FunctionGraph, TensorVariable
from occelo_graph import tensor as ot
from occelo_graph.ir.nodes import Apply, is_node
from occelo_graph.ir.op import Op
from occelo_graph.ir.regions import divide
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.tensors.nodes import tensors
from occelo_graph.tensors.type import is_complex
from occelo_linalg.ops.determinant import Det, SLogDet
from occelo_linalg.ops.equations.solve import Solve
from occelo_linalg.ops.equations.triangular import SolveTriangular
from occelo_linalg.ops.factorizations.cholesky import Cholesky
from occelo_linalg.ops.inverse import Inv
from occelo_rewrite.assumptions import assumptions_of
from occelo_rewrite.matrices import has, readers_of_transposes, untransposed
from occelo_rewrite.rewriter import graph_rewriter

_TRIANGULAR = ("lower_triangular", "upper_triangular")


@graph_rewriter
def note_stated_definite(fgraph: FunctionGraph) -> None:
    """Note which matrices the graph states to be positive definite.

    Rules may compute determinants and inverses of such a matrix from its Cholesky factor, too. An equation counts if it is computed in every run, and if an error is raised unless the matrix is positive definite.
    So if the matrix is not positive definite in a run, this run fails anyway, whatever rules compute from the matrix.
    """
    nodes = [n for n in fgraph.apply_nodes if _needs_definite(n.op)]
    if not nodes or not any(isinstance(n.op, Det | SLogDet | Inv) for n in fgraph.apply_nodes):
        return
    chosen = divide(fgraph.toposort(), fgraph.outputs).outermost
    assumptions = assumptions_of(fgraph)
    for node in nodes:
        if node in chosen:
            continue
        x = tensors(node.inputs)[0]
        base, _ = untransposed(x)
        if any(has(fgraph, base, fact) for fact in _TRIANGULAR):
            continue
        if isinstance(node.op, Solve) or _is_stated(fgraph, node, base):
            assumptions.note_stated_definite(base)


def _needs_definite(op: Op) -> bool:
    """Whether an op raises an error unless its matrix is positive definite."""
    return op == Cholesky("raise") or (
        isinstance(op, Solve) and op.assume_a == "pos" and op.on_error == "raise"
    )


def _is_stated(fgraph: FunctionGraph, node: Apply, base: TensorVariable) -> bool:
    """Whether the matrix of a Cholesky factor is known to be Hermitian, or equations with this matrix are solved."""
    if has(fgraph, base, "hermitian") or has(fgraph, base, "symmetric"):
        return not is_complex(base.type.dtype) or has(fgraph, base, "hermitian")
    (factor,) = tensors(node.outputs)
    for second in fgraph.apply_nodes:
        if not _is_half(second, factor, False):
            continue
        first = _moved(tensors(second.inputs)[1]).owner
        if first is not None and _is_half(first, factor, True):
            return True
    return False


def _is_half(node: Apply, factor: TensorVariable, lower: bool) -> bool:
    """Whether a node solves a triangular equation with a Cholesky factor, or with the factor's conjugate transpose.

    ``lower`` says which of the two: True for the factor, False for the factor's conjugate transpose.
    """
    if not isinstance(node.op, SolveTriangular) or node.op.lower != lower:
        return False
    return _moved(tensors(node.inputs)[0]) is factor


def _moved(x: TensorVariable) -> TensorVariable:
    """The variable from which ``x`` is made by transposing, conjugating, and adding and removing dimensions."""
    while x.owner is not None and (isinstance(x.owner.op, DimShuffle) or x.owner.op == ot.conj):
        x = tensors(x.owner.inputs)[0]
    return x


def definite_form(fgraph: FunctionGraph, x: TensorVariable) -> TensorVariable | None:
    """The matrix whose Cholesky factor rules can use in place of a factorisation of ``x``. None if there is none.

    If ``x`` is known to be positive definite, the result is ``x``. If only an equation states this, the result is the
    matrix that the equation reads: ``x`` or its transpose. (Of a complex matrix, only the conjugate transpose counts.)
    """
    if has(fgraph, x, "positive_definite"):
        return x
    base, trans = untransposed(x)
    if not assumptions_of(fgraph).is_stated_definite(base):
        return None
    for reader, position in readers_of_transposes(fgraph, base):
        if is_node(reader) and position == 0 and _needs_definite(reader.op):
            matrix = tensors(reader.inputs)[0]
            # of a complex matrix, the transpose is another matrix
            if not is_complex(x.type.dtype) or 1 not in (trans, untransposed(matrix)[1]):
                return matrix
    return None
