"""Occelo's rewriting: rules, rewriters, databases of them, and the standard pipeline."""

from __future__ import annotations

import os

from occelo_graph.provenance import register_internal
from occelo_rewrite.assumptions import AssumptionFeature, ConflictingAssumptionsError, infers
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
from occelo_rewrite.explaining import explain, rewrite_profile
from occelo_rewrite.pattern import call, number, p, wild
from occelo_rewrite.pattern_rule import PatternRule, rule
from occelo_rewrite.pipeline import (
    blas_db,
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
from occelo_rewrite.shapes import ShapeFeature
from occelo_rewrite.tuple_patterns import PatternNodeRewriter, SubstitutionNodeRewriter
from occelo_rewrite.viewer import RewriteView, view_rewriting

__all__ = [
    "Application",
    "AssumptionFeature",
    "ConflictingAssumptionsError",
    "EquilibriumDB",
    "EquilibriumGraphRewriter",
    "GraphRewriter",
    "LocalGroupDB",
    "MergeOptimizer",
    "NodeRewriter",
    "NotConvergedError",
    "OpPattern",
    "PatternNodeRewriter",
    "PatternRule",
    "ProxyDB",
    "RewriteDatabase",
    "RewriteDatabaseQuery",
    "RewriteError",
    "RewriteRecord",
    "RewriteView",
    "RuleSet",
    "SequenceDB",
    "SequentialGraphRewriter",
    "ShapeFeature",
    "SubstitutionNodeRewriter",
    "TopoDB",
    "WalkingGraphRewriter",
    "blas_db",
    "call",
    "canonicalize_db",
    "explain",
    "graph_rewriter",
    "in2out",
    "infers",
    "node_rewriter",
    "number",
    "optdb",
    "optimizer_query",
    "out2in",
    "p",
    "register_optimizer",
    "rewrite_graph",
    "rewrite_profile",
    "rewrite_subgraph",
    "rewriter_for",
    "rule",
    "specialize_db",
    "stabilize_db",
    "view_rewriting",
    "wild",
]
__version__ = "0.1.0"

register_internal(os.path.dirname(__file__))
