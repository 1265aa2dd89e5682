"""Occelo's rewriting of graphs: rules, rewriters that apply them, databases that are queried by tags, and the pipeline.

`occelo_compile.maker` rewrites the graph of each function with this package, before a linker compiles the graph. Each
linker declares by tags which rewrites it requires or excludes. `rewrite_graph` rewrites a graph without compiling it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import occelo_forms as occelo_forms  # derivatives are taken of stable forms from now on
from occelo_graph.errors import ConflictingAssumptionsError
from occelo_graph.lazy_names import deferred
from occelo_rewrite.database import (
    EquilibriumDB,
    LocalGroupDB,
    ProxyDB,
    RewriteDatabase,
    RewriteDatabaseQuery,
    SequenceDB,
    TopoDB,
)
from occelo_rewrite.engine import RewriteError
from occelo_rewrite.limits import NotConvergedError, RewriteLimitWarning
from occelo_rewrite.patterns.node_rule import NodeRewriter, OpPattern, RuleSet, node_rewriter
from occelo_rewrite.pipeline import (
    accumulation_db,
    blas_db,
    canonicalize_db,
    expand_db,
    inline_db,
    optdb,
    optimizer_query,
    register_canonicalize,
    register_infer_shape,
    register_optimizer,
    register_specialize,
    register_stabilize,
    register_uncanonicalize,
    register_useless,
    rewriter_for,
    specialize_db,
    stabilize_db,
    uncanonicalize_db,
)
from occelo_rewrite.records.record import Application, RewriteRecord
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
    "RewriteLimitWarning",
    "RewriteRecord",
    "RewriteView",
    "RuleSet",
    "SequenceDB",
    "SequentialGraphRewriter",
    "ShapeFeature",
    "SubstitutionNodeRewriter",
    "TopoDB",
    "WalkingGraphRewriter",
    "accumulation_db",
    "blas_db",
    "call",
    "canonicalize_db",
    "expand_db",
    "explain",
    "graph_rewriter",
    "in2out",
    "infers",
    "inline_db",
    "node_rewriter",
    "number",
    "optdb",
    "optimizer_query",
    "out2in",
    "p",
    "register_canonicalize",
    "register_infer_shape",
    "register_optimizer",
    "register_specialize",
    "register_stabilize",
    "register_uncanonicalize",
    "register_useless",
    "rewrite_graph",
    "rewrite_profile",
    "rewrite_subgraph",
    "rewriter_for",
    "rule",
    "specialize_db",
    "stabilize_db",
    "uncanonicalize_db",
    "view_rewriting",
    "wild",
]
__version__ = "0.1.0"

# names that are imported at their first use, since most programs do not use them
_LATER = {
    "AssumptionFeature": "occelo_rewrite.assumptions",
    "PatternNodeRewriter": "occelo_rewrite.patterns.tuple_patterns",
    "PatternRule": "occelo_rewrite.patterns.pattern_rule",
    "RewriteView": "occelo_rewrite.records.viewer",
    "ShapeFeature": "occelo_rewrite.shapes",
    "SubstitutionNodeRewriter": "occelo_rewrite.patterns.tuple_patterns",
    "call": "occelo_rewrite.patterns.pattern",
    "explain": "occelo_rewrite.records.explaining",
    "infers": "occelo_rewrite.assumptions",
    "number": "occelo_rewrite.patterns.pattern",
    "p": "occelo_rewrite.patterns.pattern",
    "rewrite_profile": "occelo_rewrite.records.explaining",
    "rule": "occelo_rewrite.patterns.pattern_rule",
    "view_rewriting": "occelo_rewrite.records.viewer",
    "wild": "occelo_rewrite.patterns.pattern",
}

if TYPE_CHECKING:
    from occelo_rewrite.assumptions import AssumptionFeature as AssumptionFeature
    from occelo_rewrite.assumptions import infers as infers
    from occelo_rewrite.patterns.pattern import call as call
    from occelo_rewrite.patterns.pattern import number as number
    from occelo_rewrite.patterns.pattern import p as p
    from occelo_rewrite.patterns.pattern import wild as wild
    from occelo_rewrite.patterns.pattern_rule import PatternRule as PatternRule
    from occelo_rewrite.patterns.pattern_rule import rule as rule
    from occelo_rewrite.patterns.tuple_patterns import PatternNodeRewriter as PatternNodeRewriter
    from occelo_rewrite.patterns.tuple_patterns import (
        SubstitutionNodeRewriter as SubstitutionNodeRewriter,
    )
    from occelo_rewrite.records.explaining import explain as explain
    from occelo_rewrite.records.explaining import rewrite_profile as rewrite_profile
    from occelo_rewrite.records.viewer import RewriteView as RewriteView
    from occelo_rewrite.records.viewer import view_rewriting as view_rewriting
    from occelo_rewrite.shapes import ShapeFeature as ShapeFeature
else:  # so that type checkers report unknown names
    __getattr__, __dir__ = deferred(__name__, _LATER)
