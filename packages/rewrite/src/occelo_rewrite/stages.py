"""Graph rewriters that are whole stages of the pipeline: recording assumptions, allowing in-place ops, a final check.

`pipeline` puts them at their positions.
"""

from __future__ import annotations

from occelo_graph import DestroyHandler, FunctionGraph
from occelo_rewrite.assumptions import assumptions_of
from occelo_rewrite.assumptions.control import statements
from occelo_rewrite.merge import MergeFeature
from occelo_rewrite.rewriter import graph_rewriter

__all__ = ["add_destroy_handler", "check_integrity", "drain_assumptions"]


@graph_rewriter
def drain_assumptions(fgraph: FunctionGraph) -> None:
    """Record the facts of `Assume` nodes, and remove these nodes."""
    if statements(fgraph):
        assumptions_of(fgraph).drain(fgraph)


@graph_rewriter
def add_destroy_handler(fgraph: FunctionGraph) -> None:
    """Attach the feature that makes in-place ops run after all other readers of the input that they overwrite, and end
    merging.
    """
    merging: MergeFeature | None = fgraph.__dict__.get("merge_feature")
    if merging is not None:
        fgraph.remove_feature(merging)
    fgraph.attach_feature(DestroyHandler())


@graph_rewriter
def check_integrity(fgraph: FunctionGraph) -> None:
    """Validate the graph with every feature."""
    fgraph.validate()
