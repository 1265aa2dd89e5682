"""Three stages of `pipeline` that are functions of a graph rather than databases of rules.

`drain_assumptions` records assumptions, `add_destroy_handler` allows in-place ops, and
`check_integrity` validates the graph at the end.
"""

from __future__ import annotations

from occelo_graph import DestroyHandler, FunctionGraph
from occelo_rewrite.assumptions import assumptions_of
from occelo_rewrite.assumptions.control import statements
from occelo_rewrite.merge import MergeFeature
from occelo_rewrite.rewriter import graph_rewriter


@graph_rewriter
def drain_assumptions(fgraph: FunctionGraph) -> None:
    """Record the facts that `Assume` nodes state, and remove these nodes from the graph."""
    if statements(fgraph):
        assumptions_of(fgraph).drain(fgraph)


@graph_rewriter
def add_destroy_handler(fgraph: FunctionGraph) -> None:
    """Allow ops to overwrite inputs from here on, and end the merging of equal nodes.

    The feature `DestroyHandler` makes an in-place op run after all other readers of the input that it overwrites.
    """
    merging: MergeFeature | None = fgraph.__dict__.get("merge_feature")
    if merging is not None:
        fgraph.remove_feature(merging)
    fgraph.attach_feature(DestroyHandler())


@graph_rewriter
def check_integrity(fgraph: FunctionGraph) -> None:
    """Have every feature validate the graph."""
    fgraph.validate()
