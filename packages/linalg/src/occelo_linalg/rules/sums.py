"""The rule for a sum of two results of an op that is linear in one argument.

`pipeline` puts it into the stage canonicalize. Gradients contain such sums. For instance, if two results are computed
from one Cholesky factor, two pullbacks of the factorisation are added.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from occelo_graph import FunctionGraph, TensorApply, TensorVariable, computed_by
from occelo_graph import tensor as ot
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_linalg.ops.matrix_op import MatrixOp
from occelo_rewrite.matrices import is_only_reader
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter


def _linear_argument(first: TensorApply[MatrixOp], second: TensorApply[MatrixOp]) -> int | None:
    """The position of the only argument in which two nodes of one op differ, if the op is linear in it; else None."""
    if first is second or first.op != second.op or len(first.outputs) != 1:
        return None
    pairs = list(zip(first.inputs, second.inputs, strict=True))
    unlike = [i for i, (x, y) in enumerate(pairs) if x is not y]
    if len(unlike) != 1 or pairs[unlike[0]][0].type != pairs[unlike[0]][1].type:
        return None
    groups = [range(*g.indices(len(pairs))) for g in first.op.linear_in(first)]
    return unlike[0] if any(list(group) == unlike for group in groups) else None


@node_rewriter([ot.add, ot.sub], tags=("comparison", "overflow", "finite"))
def sum_of_linear(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """f(a, x) + f(a, y) = f(a, x + y), if the op f is linear in its last argument; likewise for other arguments.

    So a gradient needs only one pullback of a factorisation where it would otherwise add the results of two.
    """
    out = node.outputs[0]
    owners = [(i, computed_by(x, MatrixOp)) for i, x in enumerate(node.inputs)]
    # without the other terms first: a long sum has many pairs of them
    matrix_ops = [(i, owner) for i, owner in owners if owner is not None]
    for (i, first), (j, second) in combinations(matrix_ops, 2):
        terms = first.outputs[0], second.outputs[0]
        at = _linear_argument(first, second)
        if at is None or any(t.type != out.type or not is_only_reader(fgraph, t) for t in terms):
            continue
        # otherwise the sum would be computed and rounded in a smaller dtype
        if any(n.inputs[at].type.dtype != out.type.dtype for n in (first, second)):
            continue
        arguments: list[Any] = list(first.inputs)
        arguments[at] = node.op(arguments[at], second.inputs[at])
        rest: Sequence[TensorVariable] = [x for k, x in enumerate(node.inputs) if k not in (i, j)]
        merged: TensorVariable = first.op(*arguments)
        return [node.op(merged, *rest) if rest else merged]
    return None


CANONICALIZE = RuleSet((sum_of_linear,), "sums of linear functions")
