"""The stages of `stages.STAGES` that are rewriters of whole graphs rather than databases of rules."""

from __future__ import annotations

from occelo_graph import FunctionGraph
from occelo_rewrite.assumptions import assumptions_of
from occelo_rewrite.assumptions.control import statements
from occelo_rewrite.features.protection import DestroyHandler
from occelo_rewrite.merge import MergeFeature
from occelo_rewrite.rewriter import GraphRewriter, MergeOptimizer, graph_rewriter

merge_equal_nodes = MergeOptimizer("merge1")


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


def fusion() -> GraphRewriter:
    """The rewriter that makes one node of connected elementwise nodes."""
    from occelo_rewrite.fusion.fusing import FusionRewriter

    return FusionRewriter()


def writes_in_place() -> GraphRewriter:
    """The rewriter after which writes overwrite dead arrays."""
    from occelo_rewrite.inplace import InplaceRewriter, flag_variants
    from occelo_rewrite.rules.index import writes

    return InplaceRewriter("inplace_subtensor", flag_variants(*writes.OVERWRITING))


def products_in_place() -> GraphRewriter:
    """The rewriter after which matrix products overwrite dead arrays."""
    from occelo_rewrite.inplace import InplaceRewriter, flag_variants
    from occelo_rewrite.rules import blas

    return InplaceRewriter("InplaceBlasOpt", flag_variants(*blas.OVERWRITING))


def elemwise_in_place() -> GraphRewriter:
    """The rewriter after which elementwise results overwrite dead arrays."""
    from occelo_rewrite.inplace import InplaceRewriter, elemwise_variants

    return InplaceRewriter("inplace_elemwise", elemwise_variants)
