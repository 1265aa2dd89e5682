"""Rules that replace ops with an inner graph by this graph.

`pipeline` puts them into the stages inline_graphs and expand_graphs when `OpFromGraph` is imported.
"""

from __future__ import annotations

from occelo_graph import FunctionGraph, TensorApply
from occelo_graph.inner_graph import OpFromGraph
from occelo_rewrite.family_rules import ALWAYS, StageRules
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter


@node_rewriter([OpFromGraph])
def inline_graph(fgraph: FunctionGraph, node: TensorApply[OpFromGraph]) -> Replacements:
    """An op with the option ``inline`` = its inner graph. This rule runs before all other rules."""
    op = node.op
    return op.inlined(node, every=False) if op.inline else None


@node_rewriter([OpFromGraph])
def expand_graph(fgraph: FunctionGraph, node: TensorApply[OpFromGraph]) -> Replacements:
    """An op with an inner graph = its inner graph, so that rules and linkers see a single graph."""
    op = node.op
    return op.inlined(node)


RULES = (
    StageRules("inline_graphs", RuleSet((inline_graph,), "inner_graphs inline"), ALWAYS),
    StageRules("expand_graphs", RuleSet((expand_graph,), "inner_graphs expand"), ALWAYS),
)
