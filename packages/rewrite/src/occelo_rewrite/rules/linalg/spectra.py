"""Rules for decompositions: one decomposition for all its results, and functions of diagonal matrices.

`pipeline` puts them into the stages canonicalize and specialize.
"""

from __future__ import annotations

from occelo_graph import FunctionGraph, TensorApply, TensorVariable
from occelo_graph import tensor as ot
from occelo_graph.ir.nodes import is_node
from occelo_graph.ir.op import Op
from occelo_graph.ops.linalg.eig import Eig, Eigvals
from occelo_graph.ops.linalg.eigh import Eigh, Eigvalsh
from occelo_graph.ops.linalg.matrix_functions import Expm
from occelo_graph.ops.linalg.qr import QR, QRTriangle
from occelo_graph.ops.linalg.svd import SVD, FullSVD, SingularValues
from occelo_graph.ops.linalg.sylvester import Sylvester
from occelo_graph.tensors.nodes import tensors
from occelo_graph.tensors.type import is_complex
from occelo_rewrite.node_rule import Replacements, RuleSet, node_rewriter
from occelo_rewrite.rules.linalg.matrices import (
    ascending_order,
    diagonal_of,
    has,
    is_square,
    with_diagonal,
)

__all__ = ["CANONICALIZE", "SPECIALIZE"]

CHANGES = ("stabler", "comparison", "overflow", "finite", "singular")


def _result_of(
    fgraph: FunctionGraph, x: TensorVariable, op: Op, output: int
) -> TensorVariable | None:
    """An output of a decomposition of ``x`` that is in the graph already."""
    for reader, _ in fgraph.clients.get(x, ()):
        if is_node(reader) and reader.op == op:
            return tensors(reader.outputs)[output]
    return None


@node_rewriter([SingularValues, Eigvalsh, Eigvals, QRTriangle], tags=CHANGES)
def part_of_decomposition(
    fgraph: FunctionGraph, node: TensorApply[SingularValues | Eigvalsh | Eigvals | QRTriangle]
) -> Replacements:
    """Singular values, eigenvalues or R are taken from a full decomposition that is computed anyway."""
    (x,) = node.inputs
    op = node.op
    whole: list[tuple[Op, int]]
    if isinstance(op, SingularValues):
        whole = [(SVD(op.on_error), 1), (FullSVD(op.on_error), 1)]
    elif isinstance(op, Eigvalsh):
        whole = [(Eigh(op.lower, op.on_error), 0)]
    elif isinstance(op, Eigvals):
        whole = [(Eig(op.on_error), 0)]
    else:
        whole = [(QR(), 1)]
    for each, output in whole:
        found = _result_of(fgraph, x, each, output)
        if found is not None:
            return [found]
    return None


@node_rewriter([Eig, Eigvals], tags=(*CHANGES, "arbitrary"))
def eig_of_symmetric(fgraph: FunctionGraph, node: TensorApply[Eig | Eigvals]) -> Replacements:
    """The eigenvalues of symmetric or Hermitian matrices are real, and the vectors orthogonal: those of eigh, in ascending order."""
    (x,) = node.inputs
    if not has(fgraph, x, "hermitian"):
        return None
    if isinstance(node.op, Eigvals):
        found = [Eigvalsh(True, node.op.on_error)(x)]
    else:
        found = Eigh(True, node.op.on_error)(x, return_list=True)
    return [ot.cast(v, old.type.dtype) for v, old in zip(found, node.outputs, strict=True)]


@node_rewriter([Eigvalsh, Eigh, SingularValues], tags=(*CHANGES, "arbitrary"))
def spectrum_of_diagonal(
    fgraph: FunctionGraph, node: TensorApply[Eigvalsh | Eigh | SingularValues]
) -> Replacements:
    """The eigenvalues of diag(d) are d in ascending order, and its singular values |d| in descending order."""
    (x,) = node.inputs
    if x.type.ndim != 2 or node.op.on_error != "raise":
        return None
    if not has(fgraph, x, "diagonal") or not is_square(fgraph, x):
        return None
    d = diagonal_of(x)
    if isinstance(node.op, SingularValues):
        sizes = ot.abs(d)
        return [sizes[ascending_order(-sizes)]]
    d = d.real if is_complex(d.type.dtype) else d
    order = ascending_order(d)
    if isinstance(node.op, Eigvalsh):
        return [d[order]]
    return [d[order], ot.eye(d.shape[0], dtype=x.type.dtype)[:, order]]


@node_rewriter([Expm], tags=CHANGES)
def exponential_of_diagonal(fgraph: FunctionGraph, node: TensorApply[Expm]) -> Replacements:
    """expm(diag(d)) = diag(exp(d))."""
    (x,) = node.inputs
    if not has(fgraph, x, "diagonal") or not is_square(fgraph, x):
        return None
    return [with_diagonal(ot.exp(diagonal_of(x)))]


@node_rewriter([Sylvester], tags=CHANGES)
def sylvester_of_diagonals(fgraph: FunctionGraph, node: TensorApply[Sylvester]) -> Replacements:
    """A x + x B = q is x_ij = q_ij / (a_i + b_j), for diagonal A and B."""
    a, b, q = node.inputs
    if not has(fgraph, a, "diagonal") or not has(fgraph, b, "diagonal"):
        return None
    total = ot.expand_dims(diagonal_of(a), -1) + ot.expand_dims(diagonal_of(b), -2)
    return [q / total]


CANONICALIZE = RuleSet(
    (eig_of_symmetric, spectrum_of_diagonal, exponential_of_diagonal, sylvester_of_diagonals),
    "known structure",
)
SPECIALIZE = RuleSet((part_of_decomposition,), "shared decompositions")
