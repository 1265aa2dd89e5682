"""Occelo's rewriting of graphs: rules, rewriters that apply them, databases that are queried by tags, and the pipeline.

`occelo_compile.maker` rewrites the graph of each function with this package, before a linker compiles the graph. Each
linker declares by tags which rewrites it requires or excludes. `rewrite_graph` rewrites a graph without compiling it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import occelo_forms as occelo_forms  # derivatives are taken of stable forms from now on
from occelo_graph.errors import ConflictingAssumptionsError
from occelo_graph.lazy_names import deferred
from occelo_rewrite import options as options  # configurations may name them from now on

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

# imported at their first use: a function from the cache needs a query alone
_LATER = {
    name: f"occelo_rewrite.{module}"
    for module, names in {
        "assumptions": "AssumptionFeature infers",
        "database": "EquilibriumDB LocalGroupDB ProxyDB RewriteDatabase SequenceDB TopoDB",
        "engine": "RewriteError",
        "limits": "NotConvergedError RewriteLimitWarning",
        "patterns.node_rule": "NodeRewriter OpPattern RuleSet node_rewriter",
        "patterns.pattern": "call number p wild",
        "patterns.pattern_rule": "PatternRule rule",
        "patterns.tuple_patterns": "PatternNodeRewriter SubstitutionNodeRewriter",
        "pipeline": "accumulation_db blas_db canonicalize_db expand_db inline_db optdb "
        "register_canonicalize register_infer_shape register_specialize "
        "register_stabilize register_uncanonicalize register_useless rewriter_for "
        "specialize_db stabilize_db uncanonicalize_db",
        "queries": "RewriteDatabaseQuery optimizer_query register_optimizer",
        "records.explaining": "explain rewrite_profile",
        "records.record": "Application RewriteRecord",
        "records.viewer": "RewriteView view_rewriting",
        "rewriter": "EquilibriumGraphRewriter GraphRewriter MergeOptimizer SequentialGraphRewriter "
        "WalkingGraphRewriter graph_rewriter in2out out2in",
        "rewriting": "rewrite_graph rewrite_subgraph",
        "shapes": "ShapeFeature",
    }.items()
    for name in names.split()
}

if TYPE_CHECKING:
    from occelo_rewrite.assumptions import AssumptionFeature, infers
    from occelo_rewrite.database import (
        EquilibriumDB,
        LocalGroupDB,
        ProxyDB,
        RewriteDatabase,
        SequenceDB,
        TopoDB,
    )
    from occelo_rewrite.engine import RewriteError
    from occelo_rewrite.limits import NotConvergedError, RewriteLimitWarning
    from occelo_rewrite.patterns.node_rule import NodeRewriter, OpPattern, RuleSet, node_rewriter
    from occelo_rewrite.patterns.pattern import call, number, p, wild
    from occelo_rewrite.patterns.pattern_rule import PatternRule, rule
    from occelo_rewrite.patterns.tuple_patterns import PatternNodeRewriter, SubstitutionNodeRewriter
    from occelo_rewrite.pipeline import (
        accumulation_db,
        blas_db,
        canonicalize_db,
        expand_db,
        inline_db,
        optdb,
        register_canonicalize,
        register_infer_shape,
        register_specialize,
        register_stabilize,
        register_uncanonicalize,
        register_useless,
        rewriter_for,
        specialize_db,
        stabilize_db,
        uncanonicalize_db,
    )
    from occelo_rewrite.queries import RewriteDatabaseQuery, optimizer_query, register_optimizer
    from occelo_rewrite.records.explaining import explain, rewrite_profile
    from occelo_rewrite.records.record import Application, RewriteRecord
    from occelo_rewrite.records.viewer import RewriteView, view_rewriting
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
    from occelo_rewrite.shapes import ShapeFeature
else:  # so that type checkers report unknown names
    __getattr__, __dir__ = deferred(__name__, _LATER)
