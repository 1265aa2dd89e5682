"""Occelo's rewriting: rules, rewriters, databases of them, and the standard pipeline."""

from __future__ import annotations

import os

from occelo_graph.provenance import register_internal
from occelo_rewrite.database import (
    EquilibriumDB,
    LocalGroupDB,
    ProxyDB,
    RewriteDatabase,
    RewriteDatabaseQuery,
    SequenceDB,
    TopoDB,
)
from occelo_rewrite.engine import NotConvergedError, RewriteError
from occelo_rewrite.pipeline import (
    canonicalize_db,
    optdb,
    optimizer_query,
    register_optimizer,
    rewriter_for,
    specialize_db,
    stabilize_db,
)
from occelo_rewrite.record import Application, RewriteRecord
from occelo_rewrite.rewriter import (
    EquilibriumGraphRewriter,
    GraphRewriter,
    MergeOptimizer,
    SequentialGraphRewriter,
    WalkingGraphRewriter,
    graph_rewriter,
    in2out,
    out2in,
)
from occelo_rewrite.rewriting import rewrite_graph, rewrite_subgraph
from occelo_rewrite.rule import NodeRewriter, OpPattern, RuleSet, node_rewriter

__all__ = [
    "Application",
    "EquilibriumDB",
    "EquilibriumGraphRewriter",
    "GraphRewriter",
    "LocalGroupDB",
    "MergeOptimizer",
    "NodeRewriter",
    "NotConvergedError",
    "OpPattern",
    "ProxyDB",
    "RewriteDatabase",
    "RewriteDatabaseQuery",
    "RewriteError",
    "RewriteRecord",
    "RuleSet",
    "SequenceDB",
    "SequentialGraphRewriter",
    "TopoDB",
    "WalkingGraphRewriter",
    "canonicalize_db",
    "graph_rewriter",
    "in2out",
    "node_rewriter",
    "optdb",
    "optimizer_query",
    "out2in",
    "register_optimizer",
    "rewrite_graph",
    "rewrite_subgraph",
    "rewriter_for",
    "specialize_db",
    "stabilize_db",
]
__version__ = "0.1.0"

register_internal(os.path.dirname(__file__))
