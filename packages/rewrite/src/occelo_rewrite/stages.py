"""Four stages of `pipeline` that are functions of a graph rather than databases of rules.

`drain_assumptions` and `note_stated_definite` record assumptions, `add_destroy_handler` allows in-place ops, and
`check_integrity` validates the graph at the end.
"""

from __future__ import annotations

from occelo_graph import DestroyHandler, FunctionGraph
from occelo_rewrite.assumptions import assumptions_of
from occelo_rewrite.assumptions.control import statements
from occelo_rewrite.merge import MergeFeature
from occelo_rewrite.rewriter import graph_rewriter

__all__ = ["add_destroy_handler", "check_integrity", "drain_assumptions", "note_stated_definite"]


@graph_rewriter
def drain_assumptions(fgraph: FunctionGraph) -> None:
    """Record the facts that `Assume` nodes state, and remove these nodes from the graph."""
    if statements(fgraph):
        assumptions_of(fgraph).drain(fgraph)


@graph_rewriter
def note_stated_definite(fgraph: FunctionGraph) -> None:
    """Note the matrices that equations or Cholesky factorisations of the graph assume to be positive definite.

    A matrix is noted only if every run of the graph raises an error unless the matrix is positive definite. So rules
    may compute determinants and inverses of this matrix from its Cholesky factor, too.
    """
    from occelo_rewrite.rules.linalg.stated_definite import note_stated

    note_stated(fgraph)


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
