"""Rules that let solutions, inverses and determinants of one matrix share its LU factorisation.

`pipeline` puts them into the stage specialize. Equations with the transposed matrix, which gradients contain, share the
factorisation, too.
"""

from __future__ import annotations

from typing import Any

from occelo_graph import FunctionGraph, TensorApply, TensorVariable
from occelo_graph.ir.nodes import is_node
from occelo_graph.ir.op import Op
from occelo_graph.tensors.type import is_complex
from occelo_linalg.ops.determinant import Det, SLogDet
from occelo_linalg.ops.equations.lu_solving import LuInverse, LuSolve
from occelo_linalg.ops.equations.solve import Solve
from occelo_linalg.ops.factorizations.lu import LuFactor
from occelo_linalg.ops.inverse import Inv
from occelo_linalg.rules.stated_definite import definite_form
from occelo_rewrite.matrices import readers_of_transposes, untransposed
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter

CHANGES = ("stabler", "comparison", "overflow", "finite", "singular")


def _takes_factors(op: Op) -> bool:
    """Whether an op computes an LU factorisation of its first argument."""
    if isinstance(op, Solve):
        return op.assume_a == "gen"
    return isinstance(op, Inv | Det | SLogDet | LuFactor)


def _is_shared(fgraph: FunctionGraph, x: TensorVariable) -> bool:
    """Whether at least two nodes compute an LU factorisation of a matrix or its transpose."""
    readers: set[Any] = set()
    for reader, position in readers_of_transposes(fgraph, x):
        if is_node(reader) and position == 0 and _takes_factors(reader.op):
            readers.add(reader)
            if len(readers) > 1:
                return True
    return False


def _shared(fgraph: FunctionGraph, x: TensorVariable) -> tuple[TensorVariable, int] | None:
    """Return the matrix ``m`` to factor, and a number: 0 if ``x`` is ``m``, 1 for ``m.T``, and 2 for ``conj(m.T)``.

    `LuSolve.trans` has the same numbers. None if ``m`` is positive definite, or if only one node needs its factors.
    """
    base, trans = untransposed(x)
    if definite_form(fgraph, base) is not None or not _is_shared(fgraph, base):
        return None
    return base, trans


@node_rewriter([Solve], tags=CHANGES)
def solve_by_shared_lu(fgraph: FunctionGraph, node: TensorApply[Solve]) -> Replacements:
    """solve(x, y) and solve(x^T, y) = lu_solve with the LU factors of x, if another node needs these factors."""
    x, y = node.inputs
    shared = _shared(fgraph, x) if node.op.assume_a == "gen" else None
    if shared is None:
        return None
    base, trans = shared
    return [LuSolve(trans, node.op.on_error)(*LuFactor()(base), y)]


@node_rewriter([Inv], tags=CHANGES)
def inverse_by_shared_lu(fgraph: FunctionGraph, node: TensorApply[Inv]) -> Replacements:
    """inv(x) = the inverse from the LU factors of x, if another node needs these factors."""
    shared = _shared(fgraph, node.inputs[0])
    if shared is None or shared[1]:
        return None
    return [LuInverse(node.op.on_error)(*LuFactor()(shared[0]))]


@node_rewriter([Det, SLogDet], tags=CHANGES)
def det_by_shared_lu(fgraph: FunctionGraph, node: TensorApply[Det | SLogDet]) -> Replacements:
    """det(x) = the product of the diagonal of U, if another node needs the LU factors of x."""
    (x,) = node.inputs
    if _shared(fgraph, x) is None:
        return None
    base, trans = untransposed(x)
    if trans == 2 and is_complex(x.type.dtype):
        return None
    return list(node.op.decompose(base))


SPECIALIZE = RuleSet(
    (solve_by_shared_lu, inverse_by_shared_lu, det_by_shared_lu), "shared LU factors"
)
