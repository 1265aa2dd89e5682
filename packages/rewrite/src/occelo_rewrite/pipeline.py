"""The pipeline: all stages of rewriting, in order, on one screen.

| position | stage | what it does |
|---|---|---|
| 0 | merge1 | equal nodes become one |
| 1 | canonicalize | constants are computed, identities dropped, shapes worked out, until nothing changes |
| 1.2 | merge1.2 | merge again |
| 1.5 | stabilize | forms that neither overflow nor cancel |
| 1.6 | merge1.6 | merge again |
| 2 | specialize | cheaper special cases |
| 49 | merge2 | merge again |
| 49.5 | add_destroy_handler | from here on ops may overwrite their inputs |
| 100 | merge3 | merge what in-place rewriting left |

Rules tagged ``shape_unsafe`` may hide that shapes do not fit; exclude the tag to keep every check.
Rules may be registered from outside into a stage (``canonicalize_db.register(...)``) or stages into
`optdb` at any position.
"""

from __future__ import annotations

from occelo_graph import DestroyHandler, FunctionGraph
from occelo_rewrite.database import EquilibriumDB, RewriteDatabaseQuery, SequenceDB
from occelo_rewrite.merge import MergeOptimizer
from occelo_rewrite.rewriter import GraphRewriter, graph_rewriter
from occelo_rewrite.rules import elemwise, fold, reduce, shape

__all__ = [
    "OPTIMIZERS",
    "canonicalize_db",
    "optdb",
    "optimizer_query",
    "register_optimizer",
    "specialize_db",
    "stabilize_db",
]

_ALWAYS = ("fast_run", "fast_compile", "minimum_compile")
_USUAL = ("fast_run", "fast_compile")


def _add_destroy_handler(fgraph: FunctionGraph) -> None:
    """Attach the feature that keeps graphs with in-place ops computable."""
    fgraph.attach_feature(DestroyHandler())


canonicalize_db = EquilibriumDB("canonicalize")
canonicalize_db.register_rules(fold.RULES, *_ALWAYS)
canonicalize_db.register_rules(elemwise.CANONICALIZE, *_USUAL)
canonicalize_db.register_rules(reduce.CANONICALIZE, *_USUAL)
canonicalize_db.register_rules(shape.CANONICALIZE, *_USUAL)
for _name in ("length_from_inputs", "shape_of_lengths", "reshape_of_reshape"):
    canonicalize_db.add_tags(_name, "shape_unsafe")
stabilize_db = EquilibriumDB("stabilize")
stabilize_db.register_rules(elemwise.STABILIZE, *_USUAL)
stabilize_db.register_rules(reduce.STABILIZE, *_USUAL)
stabilize_db.register("merge_stable", MergeOptimizer("merge_stable"), *_USUAL, cleanup=True)
specialize_db = EquilibriumDB("specialize")

optdb = SequenceDB("optdb")
optdb.register("merge1", MergeOptimizer("merge1"), "merge", *_ALWAYS, position=0)
optdb.register("canonicalize", canonicalize_db, *_ALWAYS, position=1)
optdb.register("merge1.2", MergeOptimizer("merge1.2"), "merge", *_ALWAYS, position=1.2)
optdb.register("stabilize", stabilize_db, "fast_run", "fast_compile", position=1.5)
optdb.register("specialize", specialize_db, "fast_run", position=2)
optdb.register("merge1.6", MergeOptimizer("merge1.6"), "merge", *_USUAL, position=1.6)
optdb.register("merge2", MergeOptimizer("merge2"), "merge", "fast_run", position=49)
optdb.register("add_destroy_handler", graph_rewriter(_add_destroy_handler), *_ALWAYS, position=49.5)
optdb.register("merge3", MergeOptimizer("merge3"), "merge", "fast_run", position=100)


def _named(name: str, *include: str, **more: object) -> RewriteDatabaseQuery:
    return RewriteDatabaseQuery(include, name=name, **more)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]


OPTIMIZERS: dict[str | None, RewriteDatabaseQuery] = {
    None: _named("None", "nothing"),
    "None": _named("None", "nothing"),
    "merge": _named("merge", "merge"),
    "minimum_compile": _named("minimum_compile", "minimum_compile"),
    "fast_compile": _named("fast_compile", "fast_compile"),
    "o1": _named("o1", "fast_compile"),
    "o2": _named("o2", "fast_compile", "fusion"),
    "o3": _named("o3", "fast_run", exclude=["inplace"]),
    "o4": _named("o4", "fast_run"),
    "fast_run": _named("fast_run", "fast_run"),
    "fast_run_stable": _named("fast_run_stable", "fast_run", require=["stable"]),
    "unsafe": _named("unsafe", "fast_run", "unsafe", exclude=["inplace"]),
    "stabilize": _named("stabilize", "fast_run", position_cutoff=1.5000001),
}


def register_optimizer(name: str, query: RewriteDatabaseQuery) -> None:
    """Give a query a name that modes can use; ValueError if it is taken."""
    if name in OPTIMIZERS:
        raise ValueError(f"There is an optimizer named {name!r} already")
    OPTIMIZERS[name] = query


def optimizer_query(name: str | None) -> RewriteDatabaseQuery:
    """The query of a name; ValueError if there is none."""
    if name not in OPTIMIZERS:
        known = ", ".join(str(n) for n in OPTIMIZERS if n is not None)
        raise ValueError(f"There is no optimizer {name!r}; there are {known}")
    return OPTIMIZERS[name]


def rewriter_for(query: RewriteDatabaseQuery) -> GraphRewriter:
    """The rewriter that a query chooses from `optdb`."""
    built: GraphRewriter = optdb.query(query)
    return built
