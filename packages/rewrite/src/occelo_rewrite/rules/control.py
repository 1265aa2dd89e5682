"""Rules for branches and checks.

`pipeline` puts them into the stage canonicalize. `drop_check` is off unless a query includes the tag ``unsafe``.
"""

from __future__ import annotations

from typing import cast

from occelo_graph import Apply, FunctionGraph, TensorApply, Variable, computed_by
from occelo_graph.ops.control import CheckAndRaise, IfElse
from occelo_rewrite.constants import number_of
from occelo_rewrite.demands import note_merged, run_together
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter


@node_rewriter([CheckAndRaise])
def check_of_truth(fgraph: FunctionGraph, node: TensorApply[CheckAndRaise]) -> Replacements:
    """check(x, True) = x, and check(x, c, c) = check(x, c)."""
    conditions: dict[Variable, None] = {}
    for v in node.inputs[1:]:
        value = number_of(v)
        if value is None or not value:
            conditions[v] = None
    if len(conditions) == len(node.inputs) - 1:
        return None
    return [node.op(node.inputs[0], *conditions) if conditions else node.inputs[0]]


@node_rewriter([IfElse])
def branch_of_constant(fgraph: FunctionGraph, node: TensorApply[IfElse]) -> Replacements:
    """ifelse(True, a, b) = a, and ifelse(False, a, b) = b."""
    op = node.op
    value = number_of(node.inputs[0])
    if value is None:
        return None
    start = 1 if value else 1 + op.n_outs
    return list(node.inputs[start : start + op.n_outs])


@node_rewriter([IfElse])
def equal_branches(fgraph: FunctionGraph, node: TensorApply[IfElse]) -> Replacements:
    """ifelse(c, a, a) = a."""
    op = node.op
    then, other = node.inputs[1 : 1 + op.n_outs], node.inputs[1 + op.n_outs :]
    if all(a is b for a, b in zip(then, other, strict=True)):
        return list(then)
    return None


@node_rewriter([IfElse])
def nested_branches(fgraph: FunctionGraph, node: TensorApply[IfElse]) -> Replacements:
    """ifelse(c, ifelse(c, a, b), d) = ifelse(c, a, d), and ifelse(c, a, ifelse(c, b, d)) = ifelse(c, a, d)."""
    op = node.op
    condition = node.inputs[0]
    parts: list[Variable] = list(node.inputs[1:])
    changed = False
    for i, v in enumerate(parts):
        inner = computed_by(v, IfElse)
        if inner is not None and v.index is not None and inner.inputs[0] is condition:
            taken = 1 if i < op.n_outs else 1 + inner.op.n_outs
            parts[i] = inner.inputs[taken + v.index]
            changed = True
    return node.op(condition, *parts, return_list=True) if changed else None


@node_rewriter([IfElse])
def merged_branches(fgraph: FunctionGraph, node: TensorApply[IfElse]) -> Replacements:
    """ifelse(c, a, b) and ifelse(c, x, y) = the two results of ifelse(c, [a, x], [b, y]).

    Both results must be needed under the same conditions. If they are in different branches of another condition, they
    stay apart, since a call needs only one of them.
    """
    op = node.op
    for user, position in fgraph.clients[node.inputs[0]]:
        if (
            user is node
            or position
            or not isinstance(user.op, IfElse)
            or IfElse not in user.op.computes_as
            or user not in fgraph.apply_nodes
        ):
            continue
        other = cast("Apply[IfElse]", user)
        if _depends(node, other) or _depends(other, node):
            continue
        if not run_together(fgraph, node, other):
            continue
        first, second = op.n_outs, other.op.n_outs
        then = [*node.inputs[1 : 1 + first], *other.inputs[1 : 1 + second]]
        rest = [*node.inputs[1 + first :], *other.inputs[1 + second :]]
        outs = IfElse(first + second)(node.inputs[0], *then, *rest, return_list=True)
        note_merged(fgraph, node, outs[0].owner)
        pairs = dict(zip((*node.outputs, *other.outputs), outs, strict=True))
        return pairs
    return None


_NEAR = 200


def _depends(node: Apply, other: Apply) -> bool:
    """Whether ``node`` depends on ``other``. Also True if the search takes too long."""
    pending = [v.owner for v in node.inputs if v.owner is not None]
    seen: set[Apply] = set()
    while pending:
        each = pending.pop()
        if each is other or len(seen) > _NEAR:
            return True
        if each not in seen:
            seen.add(each)
            pending.extend(v.owner for v in each.inputs if v.owner is not None)
    return False


CANONICALIZE = RuleSet(
    (check_of_truth, branch_of_constant, equal_branches, nested_branches, merged_branches),
    "control canonicalize",
)


@node_rewriter([CheckAndRaise], tags=("unsafe",))
def drop_check(fgraph: FunctionGraph, node: TensorApply[CheckAndRaise]) -> Replacements:
    """check(x, condition) = x, for users who know that the condition holds."""
    return [node.inputs[0]]


UNSAFE = RuleSet((drop_check,), "control unsafe")
