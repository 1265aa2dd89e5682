"""The standard pipeline: all stages of rewriting, in order, and the database of rules of each stage.

The modes of `occelo_compile`, `rewriting` and `viewer` query `optdb`, the database of the stages. `stages.STAGES` lists
the stages with what each does. Families of ops add rules to them, and stages of their own (`family_rules`).

The tags of a rule declare how it may change results (`CHANGES` in `queries.py`). A rule without any of these tags
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
from collections.abc import Callable, Mapping
from typing import Any, cast

from occelo_graph.errors import explained_by
from occelo_graph.families import Family, follow
from occelo_rewrite.database import EquilibriumDB, SequenceDB
from occelo_rewrite.family_rules import USUAL
from occelo_rewrite.patterns.node_rule import RuleSet
from occelo_rewrite.queries import RewriteDatabaseQuery
from occelo_rewrite.rewriter import GraphRewriter, LateRewriter
from occelo_rewrite.stages import STAGES


def _register_sets(sets: Mapping[str, tuple[str, ...]], db: EquilibriumDB) -> None:
    for place, tags in sets.items():
        module, _, name = place.rpartition(".")
        rules = getattr(importlib.import_module(f"occelo_rewrite.rules.{module}"), name)
        _register_set(db, rules, tags)


def _register_set(db: EquilibriumDB, rules: RuleSet, tags: tuple[str, ...]) -> None:
    # without tags, a query for the whole stage does not choose the rules
    db.register_rules(rules, *tags, use_db_name_as_tag=bool(tags))


_DATABASES: dict[str, EquilibriumDB] = {}
for _stage in sorted(STAGES, key=lambda stage: stage.tidies):  # `canonicalize` first
    if _stage.rules is not None:
        _DATABASES[_stage.name] = EquilibriumDB(
            _stage.name,
            functools.partial(_register_sets, _stage.rules) if _stage.rules else None,
            _DATABASES["canonicalize"] if _stage.tidies else None,
        )
        _DATABASES[_stage.name].__doc__ = f"The rewrites of the stage {_stage.name}."
canonicalize_db = _DATABASES["canonicalize"]
inline_db = _DATABASES["inline_graphs"]
expand_db = _DATABASES["expand_graphs"]
stabilize_db = _DATABASES["stabilize"]
specialize_db = _DATABASES["specialize"]
uncanonicalize_db = _DATABASES["uncanonicalize"]
accumulation_db = _DATABASES["accumulate_products"]
blas_db = _DATABASES["BlasOpt"]


def _stages(db: SequenceDB) -> None:
    from occelo_rewrite.rules import whole_graphs

    for stage in STAGES:
        runs: Any = _DATABASES.get(stage.name)
        if runs is None:
            runs = getattr(whole_graphs, stage.place)
        if stage.late:
            runs = LateRewriter(stage.name, runs)
        db.register(stage.name, runs, *stage.tags, position=stage.position)


optdb = SequenceDB("optdb", _stages)
optdb.__doc__ = """The database of all rewrites: the stages in order, each a rewriter or a database of rules.

``optdb.query(...)`` returns the rewriter of a choice of them, and ``optdb.register(...)`` adds a stage."""

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
                _register_set(db, each.rules, each.tags)

    # this is called again if it fails, such as by an import
    for db, fill in (
        *((each, rules) for each in _STAGES_OF_FAMILIES),
        (optdb, functools.partial(stages_of_family, family)),
    ):
        if (db.name, family.name) not in _extended:
            db.extend_standard(fill)
            _extended.add((db.name, family.name))


_extended: set[tuple[str | None, str]] = set()
"""The stages that the rules of a family were given to."""

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
        f'``@register_{what}`` or ``@register_{what}("tag")``.\n\n'
        "    ``rewrite`` is a rule, a rewriter or a database, ``more`` are the further tags, ``name`` is a name instead of its\n"
        "    own, and ``options`` are those of the database. Returns the rewrite.\n    "
    )
    return register


register_canonicalize = _registering(canonicalize_db, "canonicalize")
register_stabilize = _registering(stabilize_db, "stabilize")
register_specialize = _registering(specialize_db, "specialize")
register_uncanonicalize = _registering(uncanonicalize_db, "uncanonicalize", ("fast_run",))
register_useless = _registering(canonicalize_db, "useless", (*USUAL, "useless"))
register_infer_shape = _registering(canonicalize_db, "infer_shape", (*USUAL, "infer_shape"))


_built: dict[RewriteDatabaseQuery, tuple[int, Any]] = {}
_MOST_BUILT = 32


@explained_by("rules")
def rewriter_for(query: RewriteDatabaseQuery) -> GraphRewriter:
    """The rewriter that applies all rewrites that a query chooses from `optdb`. Rewriters are cached by query."""
    if not isinstance(cast("object", query), RewriteDatabaseQuery):
        raise TypeError(
            f"rewriter_for takes a query, such as optimizer_query('fast_run'), got {query!r}"
        )
    if query.subquery or query.extra_rewrites:
        built: GraphRewriter = optdb.query(query)
        return built
    entry = _built.get(query)
    if entry is None or entry[0] != optdb.total_generation:
        if len(_built) >= _MOST_BUILT:
            _built.clear()
        fresh = optdb.query(query)
        entry = _built[query] = (optdb.total_generation, fresh)
    rewriter: GraphRewriter = entry[1]
    return rewriter
