"""The standard pipeline: all stages of rewriting, in order, and the database of rules of each stage.

The modes of `occelo_compile`, `rewriting` and `viewer` query `optdb`, the database of the stages.

| position | stage | what it does |
|---|---|---|
| -0.01 | inline_graphs | ops with an inner graph that is to be inlined are replaced by this graph |
| 0 | merge1 | common subexpressions are merged; from here on, new nodes are merged with equal nodes |
| 0.8 | drain_assumptions | facts of `assume` are recorded |
| 1 | canonicalize | constants are folded, sums and products get one form, lengths are inferred, reads of writes are simplified |
| 1.4 | expand_graphs | all other ops with an inner graph are replaced by this graph |
| 1.5 | stabilize | expressions that overflow or cancel are replaced by stable forms |
| 1.7 | BlasOpt | matrix products with factors and added terms become gemm, gemv and ger, for linkers that run op by op |
| 2 | specialize | expressions are replaced by cheaper special cases; indexing is moved before computations |
| 3 | uncanonicalize | (no rules; users may add rules with results that must not be canonicalized again) |
| 48 | accumulate_products | matrix products with factors and added terms become gemm and gemv, for linkers that compile the whole graph |
| 49 | elemwise_fusion | connected elementwise nodes become one |
| 49.5 | add_destroy_handler | merging ends; from here on, ops may overwrite their inputs |
| 50.1 | inplace_subtensor | writes overwrite dead arrays |
| 50.2 | InplaceBlasOpt | matrix products overwrite dead arrays |
| 50.5 | inplace_elemwise | elementwise results overwrite dead arrays |
| 100 | check_integrity | the whole graph is validated again |

The stages ``inline_graphs`` and ``expand_graphs`` have no rules until `OpFromGraph` is imported. Families of ops add rules
to these stages, and stages of their own, when they are imported: loops, for instance, ``join_scans`` at 2.4,
``expand_scans`` at 2.5 and ``rewrite_bodies`` at 2.6 (`family_rules`).

The tags of a rule declare how it may change results (`CHANGES` in `rule_tags.py`). A rule without any of these tags
keeps every bit:

| tag | what may change |
|---|---|
| rounding | the last digits, and the sign of a zero |
| stabler | results that overflow, underflow or cancel in the user's formula become right |
| comparison | the digits left after a cancellation, and so whether a result is zero or negative |
| overflow | whether an intermediate result overflows or underflows |
| finite | results if an operand or intermediate result is not finite |
| shape_unsafe | whether shapes that do not fit raise an error |
| singular | whether a matrix that is singular, or not positive definite, raises an error |
| arbitrary | arbitrary choices: the order of eigenvalues of `eig`, and the signs of eigenvectors |
| unsafe | whether a check that fails, or an index out of range, raises an error |

The optimizer ``strict`` excludes rules with any of these tags except ``rounding``. Other packages may register rules in
a stage (``canonicalize_db.register(...)``), or stages in `optdb` at any position. New nodes that the stages stabilize
and specialize make are canonicalized at once. No rule is imported before the first query.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from occelo_graph.extensions import place_of_caller
from occelo_graph.families import Family, follow
from occelo_rewrite.database import EquilibriumDB, RewriteDatabaseQuery, SequenceDB
from occelo_rewrite.family_rules import ALWAYS, USUAL
from occelo_rewrite.rewriter import GraphRewriter, LateRewriter, MergeOptimizer
from occelo_rewrite.rule_tags import NOT_STRICT


def _canonical_rules(db: EquilibriumDB) -> None:
    from occelo_rewrite.rules import (
        blas,
        control,
        create,
        elemwise,
        fold,
        index,
        join,
        matrix_products,
        reduce,
        shape,
    )

    db.register_rules(fold.RULES, *ALWAYS)
    for family in (control, shape, create, reduce, join, index, blas, matrix_products, elemwise):
        db.register_rules(family.CANONICALIZE, *USUAL)
    # without the stage's name as a tag, so that a query for the whole stage does not choose them
    db.register_rules(control.UNSAFE, use_db_name_as_tag=False)


def _stable_rules(db: EquilibriumDB) -> None:
    from occelo_rewrite.rules import elemwise, reduce

    db.register_rules(elemwise.STABILIZE, *USUAL)
    db.register_rules(reduce.STABILIZE, *USUAL)


def _special_rules(db: EquilibriumDB) -> None:
    from occelo_rewrite.rules import blas, create, elemwise, index, matrix_products, reduce

    for family in (create, reduce, index, blas, matrix_products, elemwise):
        db.register_rules(family.SPECIALIZE, "fast_run")


def _blas_rules(db: EquilibriumDB) -> None:
    from occelo_rewrite.rules import blas

    db.register_rules(blas.ACCUMULATION, "fast_run")
    db.register_rules(blas.OUTER, "fast_run")


def _accumulating_rules(db: EquilibriumDB) -> None:
    from occelo_rewrite.rules import blas

    db.register_rules(blas.ACCUMULATION, "fast_run")
    db.register_rules(blas.BROADCAST, "fast_run")


canonicalize_db = EquilibriumDB("canonicalize", _canonical_rules)
inline_db = EquilibriumDB("inline_graphs")
expand_db = EquilibriumDB("expand_graphs", None, canonicalize_db)
stabilize_db = EquilibriumDB("stabilize", _stable_rules, canonicalize_db)
blas_db = EquilibriumDB("BlasOpt", _blas_rules, canonicalize_db)
accumulation_db = EquilibriumDB("accumulate_products", _accumulating_rules, canonicalize_db)
specialize_db = EquilibriumDB("specialize", _special_rules, canonicalize_db)


uncanonicalize_db = EquilibriumDB("uncanonicalize")


def _fusion() -> GraphRewriter:
    from occelo_rewrite.fusion import FusionRewriter

    return FusionRewriter()


def _inplace_writes() -> GraphRewriter:
    from occelo_rewrite.inplace import InplaceRewriter, flag_variants
    from occelo_rewrite.rules.index import writes

    return InplaceRewriter("inplace_subtensor", flag_variants(*writes.OVERWRITING))


def _inplace_products() -> GraphRewriter:
    from occelo_rewrite.inplace import InplaceRewriter, flag_variants
    from occelo_rewrite.rules import blas

    return InplaceRewriter("InplaceBlasOpt", flag_variants(*blas.OVERWRITING))


def _inplace_elemwise() -> GraphRewriter:
    from occelo_rewrite.inplace import InplaceRewriter, elemwise_variants

    return InplaceRewriter("inplace_elemwise", elemwise_variants)


def _stages(db: SequenceDB) -> None:
    from occelo_rewrite.stages import add_destroy_handler, check_integrity, drain_assumptions

    def late(name: str, make: Callable[[], GraphRewriter], tag: str, position: float) -> None:
        db.register(name, LateRewriter(name, make), "fast_run", tag, position=position)

    db.register("inline_graphs", inline_db, *ALWAYS, position=-0.01)
    db.register("merge1", MergeOptimizer("merge1"), "merge", *ALWAYS, position=0)
    db.register("drain_assumptions", drain_assumptions, *ALWAYS, position=0.8)
    db.register("canonicalize", canonicalize_db, *ALWAYS, position=1)
    db.register("expand_graphs", expand_db, *ALWAYS, position=1.4)
    db.register("stabilize", stabilize_db, *USUAL, position=1.5)
    db.register("BlasOpt", blas_db, "fast_run", position=1.7)
    db.register("specialize", specialize_db, "fast_run", position=2)
    db.register("uncanonicalize", uncanonicalize_db, "fast_run", position=3)
    db.register("accumulate_products", accumulation_db, "fast_run", position=48)
    late("elemwise_fusion", _fusion, "fusion", 49)
    db.register("add_destroy_handler", add_destroy_handler, *ALWAYS, position=49.5)
    late("inplace_subtensor", _inplace_writes, "inplace", 50.1)
    late("InplaceBlasOpt", _inplace_products, "inplace", 50.2)
    late("inplace_elemwise", _inplace_elemwise, "inplace", 50.5)
    db.register("check_integrity", check_integrity, *ALWAYS, position=100)


optdb = SequenceDB("optdb", _stages)

_STAGES_OF_FAMILIES = (
    inline_db,
    canonicalize_db,
    expand_db,
    stabilize_db,
    specialize_db,
)
"""The stages to which families add rules."""
_LATE_RULES = {"inner_graph": "occelo_rewrite.rules.inner_graphs"}
"""The modules of rules for ops of the core that are imported at their first use, by the names of their families."""


def _rules_module(family: Family) -> Any:
    if family.name in _LATE_RULES:
        return importlib.import_module(_LATE_RULES[family.name])
    return family.load("rules")


def stages_of_family(family: Family, db: SequenceDB) -> None:
    """Register the stages that a family adds to a sequence. ValueError if it has rules for a stage that does not exist."""
    module = _rules_module(family)
    unknown = {each.stage for each in module.RULES} - {each.name for each in _STAGES_OF_FAMILIES}
    if unknown:
        raise ValueError(f"The family {family.name} has rules for {sorted(unknown)}: no such stage")
    for name, each in getattr(module, "STAGES", {}).items():
        db.register(name, each.rewriter, *each.tags, position=each.position)


def _follow(family: Family) -> None:
    """Let the stages import and register a family's rules when they are first queried.

    A program that loads all its functions from the cache queries no stage, and needs no rules.
    """
    if family.rules is None and family.name not in _LATE_RULES:
        return

    def rules(db: EquilibriumDB) -> None:
        for each in _rules_module(family).RULES:
            if each.stage == db.name:
                chosen = {} if each.tags else {"use_db_name_as_tag": False}
                db.register_rules(each.rules, *each.tags, **chosen)

    for db in _STAGES_OF_FAMILIES:
        db.extend_standard(rules)
    optdb.extend_standard(functools.partial(stages_of_family, family))


follow(_follow)


_OPEN_STAGES = (canonicalize_db, stabilize_db, specialize_db, uncanonicalize_db)
"""The stages that have a decorator for users, such as `register_canonicalize`."""


def _registering(db: EquilibriumDB, what: str, tags: tuple[str, ...] = USUAL) -> Callable[..., Any]:
    """A decorator that registers a rewrite in the stage ``db``, under the rewrite's own name and with ``tags``."""

    def register(rewrite: Any, *more: str, name: str | None = None, **options: Any) -> Any:
        if isinstance(rewrite, str):
            first: str = rewrite

            def register_with_tags(inner: Any) -> Any:
                return register(inner, first, *more, name=name, **options)

            return register_with_tags
        own = name or str(rewrite)
        db.register(own, rewrite, *tags, *more, **options)
        for other in _OPEN_STAGES:
            # if a notebook cell is edited and runs again, its decorator may be that of another
            # stage
            if other is not db:
                other.drop_earlier(own, rewrite)
        return rewrite

    register.__name__ = f"register_{what}"
    register.__doc__ = (
        f"Register a rewrite in the stage {db.name}, with the tags {', '.join(tags)} and further ones: "
        f'``@register_{what}`` or ``@register_{what}("tag")``.'
    )
    return register


register_canonicalize = _registering(canonicalize_db, "canonicalize")
register_stabilize = _registering(stabilize_db, "stabilize")
register_specialize = _registering(specialize_db, "specialize")
register_uncanonicalize = _registering(uncanonicalize_db, "uncanonicalize", ("fast_run",))
register_useless = _registering(canonicalize_db, "useless", (*USUAL, "useless"))
register_infer_shape = _registering(canonicalize_db, "infer_shape", (*USUAL, "infer_shape"))


def _named(name: str, *include: str, **more: Any) -> RewriteDatabaseQuery:
    return RewriteDatabaseQuery(include, name=name, **more)


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
    "strict": _named("strict", "fast_run", exclude=NOT_STRICT),
}


_places: dict[str, tuple[str, ...] | None] = {}
"""For the name of each registered optimizer, the place in the code that registered it."""


def register_optimizer(name: str, query: RewriteDatabaseQuery) -> None:
    """Register a query as an optimizer: modes can refer to the query by the name.

    ValueError if the name is taken, unless the same place in the user's code registered it, such as a notebook cell
    that runs again.
    """
    place = place_of_caller()
    if name in OPTIMIZERS and (place is None or _places.get(name) != place):
        raise ValueError(f"There is an optimizer named {name!r} already")
    OPTIMIZERS[name] = query
    _places[name] = place


def optimizer_query(name: str | None) -> RewriteDatabaseQuery:
    """The query of the optimizer of that name; ValueError if there is none."""
    if name not in OPTIMIZERS:
        known = ", ".join(str(n) for n in OPTIMIZERS if n is not None)
        raise ValueError(f"There is no optimizer {name!r}; there are {known}")
    return OPTIMIZERS[name]


_built: dict[RewriteDatabaseQuery, tuple[int, Any]] = {}
_MOST_BUILT = 32


def rewriter_for(query: RewriteDatabaseQuery) -> GraphRewriter:
    """The rewriter that applies all rewrites that a query chooses from `optdb`. Rewriters are cached by query."""
    if query.subquery or query.extra_rewrites:
        built: GraphRewriter = optdb.query(query)
        return built
    known = _built.get(query)
    if known is None or known[0] != optdb.total_generation:
        if len(_built) >= _MOST_BUILT:
            _built.clear()
        made = optdb.query(query)
        known = _built[query] = (optdb.total_generation, made)
    found: GraphRewriter = known[1]
    return found
