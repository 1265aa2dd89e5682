"""The rule that factors a matrix only once, if all steps of a scan solve linear equations with this matrix.

In the body of the scan, the rule replaces a solve by a factorization and a solve with the factors. `hoisting` then
moves the factorization out of the loop. `pipeline` puts both rules into the stage canonicalize.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from occelo_graph import Apply, FunctionGraph, Variable, freeze
from occelo_graph.families import is_registered
from occelo_graph.ir.clone import clone_replace
from occelo_graph.ir.regions import divide
from occelo_graph.tensors.nodes import tensors
from occelo_loops.ops.scan_op import Scan
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter

if TYPE_CHECKING:
    from occelo_graph import TensorVariable
    from occelo_linalg.ops.equations.banded import SolveBanded
    from occelo_linalg.ops.equations.solve import Solve


@node_rewriter([Scan], tags=("stabler", "comparison", "overflow", "finite", "singular"))
def factors_before_loop(fgraph: FunctionGraph, node: Apply[Scan]) -> Replacements:
    """solve(x, y) in a scan = a solve with the factors of x, if x is the same in all steps. So x is factored once."""
    if not is_registered("linalg"):
        return None
    op_ = node.op
    solved = {each.outputs[0]: _by_factors(each) for each in _equations(op_)}
    if not solved:
        return None
    results: list[Variable] = clone_replace(list(op_.body.outputs), list(solved.items()))
    made_op = replace(op_, body=freeze(list(op_.body.inputs), results))
    outputs: list[Variable] = made_op(*node.inputs, return_list=True)
    return outputs


def _equations(op_: Scan) -> list[Apply[Solve | SolveBanded]]:
    """The nodes of a scan's body that solve equations with a matrix that is the same in all steps.

    Nodes in branches are left out. They may not run, so their matrices must not be factored before the loop.
    """
    # imported here, since the family may not be loaded yet
    from occelo_linalg.ops.equations.banded import SolveBanded
    from occelo_linalg.ops.equations.solve import Solve

    def has_factors(op: object) -> bool:
        if isinstance(op, SolveBanded):
            return op.lower == op.upper == 1
        return isinstance(op, Solve) and op.assume_a in ("gen", "pos")

    constants = set(op_.body.inputs[op_.carried + op_.sequences :])
    equations: list[Apply[Any]] = [
        each
        for each in op_.body.nodes
        if has_factors(each.op) and each.inputs[0] in constants and each.inputs[1] not in constants
    ]
    if not equations:
        return []
    lazily = divide(op_.body.nodes, op_.body.outputs).outermost
    return [each for each in equations if each not in lazily]


def _by_factors(node: Apply[Solve | SolveBanded]) -> TensorVariable:
    """The solution of a node's equation, computed from factors of its matrix: Cholesky, tridiagonal or LU factors."""
    from occelo_linalg.ops.equations.cholesky_solving import cho_solve
    from occelo_linalg.ops.equations.lu_solving import lu_solve
    from occelo_linalg.ops.equations.solve import Solve
    from occelo_linalg.ops.equations.tridiagonal import TridiagonalFactor, TridiagonalSolve
    from occelo_linalg.ops.factorizations.cholesky import cholesky
    from occelo_linalg.ops.factorizations.lu import lu_factor

    x, y = tensors(node.inputs)
    on_error = node.op.on_error
    if not isinstance(node.op, Solve):
        solution: TensorVariable = TridiagonalSolve(0, on_error)(*TridiagonalFactor()(x), y)
        return solution
    if node.op.assume_a == "pos":
        factor = cholesky(x, on_error=on_error)
        return cho_solve((factor, True), y, b_ndim=2, on_error=on_error)
    return lu_solve(lu_factor(x), y, b_ndim=2, on_error=on_error)


CANONICALIZE = RuleSet((factors_before_loop,), "looping factoring")
