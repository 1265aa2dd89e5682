"""The rule that merges two scans that do the same steps and differ only in their traces.

`pipeline` puts it into the stage canonicalize.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from occelo_graph import Apply, FunctionGraph, Variable, freeze
from occelo_loops.ops.scan_op import Scan
from occelo_rewrite.demands import note_merged, run_together
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter
from occelo_rewrite.rewriter import MergeOptimizer


@node_rewriter([Scan])
def merged_scans(fgraph: FunctionGraph, node: Apply[Scan]) -> Replacements:
    """Two scans with the same inputs and carried values = one scan with the traces of both.

    The gradient of a scan contains a second scan that does the same steps and also keeps the carried values as traces.
    The merged scan computes these values only once. Scans in different branches stay apart, since a call may need only
    one of them.
    """
    # scans have all their inputs in common, so an input with few users is as good as any
    place, common = min(enumerate(node.inputs), key=lambda pair: len(fgraph.clients[pair[1]]))
    for user, position in fgraph.clients[common]:
        if user is node or position != place or not isinstance(user.op, Scan):
            continue
        other = cast("Apply[Scan]", user)
        if other not in fgraph.apply_nodes or not _alike(node, other):
            continue
        if run_together(fgraph, node, other):
            replaced = _merged(node, other)
            owner = next(iter(replaced.values())).owner
            assert owner is not None
            note_merged(fgraph, node, owner)
            return replaced
    return None


def _alike(node: Apply[Scan], other: Apply[Scan]) -> bool:
    """Whether two scans have the same inputs and do the same steps. Their traces may differ."""
    if len(node.inputs) != len(other.inputs):
        return False
    if any(x is not y for x, y in zip(node.inputs, other.inputs, strict=True)):
        return False
    return node.op.same_steps(other.op)


def _merged(node: Apply[Scan], other: Apply[Scan]) -> dict[Variable, Variable]:
    a, b = node.op, other.op
    inner = [v.type.make_variable() for v in a.body.inputs]
    results = [*a.body.bind(inner), *b.body.bind(inner)]
    # otherwise a body that is merged several times would have many copies of its nodes
    both = FunctionGraph(inner, results, clone=False)
    MergeOptimizer("both bodies").rewrite(both)
    mine, its = both.outputs[: len(a.body.outputs)], both.outputs[len(a.body.outputs) :]
    # a trace that both keep is kept once: else a scan that is merged again and again would have thousands of copies
    traces: dict[Variable, int] = {}
    of_node, of_other = (
        [traces.setdefault(v, a.carried + len(traces)) for v in own[a.carried : a.carried + n]]
        for own, n in ((mine, a.traces), (its, b.traces))
    )
    body = freeze(inner, [*mine[: a.carried], *traces, *mine[a.carried + a.traces :]])
    op = replace(a, body=body)
    # a new scan that equals one of the two would not replace it, and could be merged with it again
    same = next((scan.outputs for scan in (node, other) if scan.op == op), None)
    outputs = op(*node.inputs, return_list=True) if same is None else same
    replaced: dict[Variable, Variable] = {}
    for scan, positions in ((node, of_node), (other, of_other)):
        replaced.update(
            zip(
                scan.outputs,
                [*outputs[: a.carried], *(outputs[i] for i in positions)],
                strict=False,
            )
        )
    if a.stops:
        replaced[node.outputs[-1]] = replaced[other.outputs[-1]] = outputs[-1]
    return replaced


CANONICALIZE = RuleSet((merged_scans,), "looping merging")
