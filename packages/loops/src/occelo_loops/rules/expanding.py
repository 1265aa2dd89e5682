"""The rule that replaces each `Scan` by an `Iterate`, the only loop op that linkers run.

`pipeline` puts it into the stage expand_scans.
"""

from __future__ import annotations

from occelo_graph import Apply, FunctionGraph
from occelo_loops.ops.expansion import expanded
from occelo_loops.ops.scan_op import Scan
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter


@node_rewriter([Scan])
def expand_scan(fgraph: FunctionGraph, node: Apply[Scan]) -> Replacements:
    """A scan = an `Iterate` that also carries the memory of each trace. Each step writes one element of this memory."""
    return expanded(node.op, node.inputs)


EXPAND = RuleSet((expand_scan,), "looping expand")
