"""Rules for loops: scans are merged, made smaller, and at the end replaced by `Iterate`, the loop that linkers run.

`occelo_rewrite.pipeline` registers them, and three stages, when loops are used.
"""

from __future__ import annotations

from occelo_loops.rules import (
    accumulating,
    cumulative,
    delay_lines,
    expanding,
    factoring,
    hoisting,
    joining,
    keeping,
    last_steps,
    merging,
    sequences,
    sharing,
    steps,
    unused,
)
from occelo_loops.rules.bodies import BodiesDB
from occelo_rewrite.database import EquilibriumDB
from occelo_rewrite.family_rules import ALWAYS, USUAL, NewStage, StageRules
from occelo_rewrite.patterns.node_rule import RuleSet
from occelo_rewrite.pipeline import canonicalize_db, optdb

_CANONICALIZE = (
    merging.CANONICALIZE
    | accumulating.CANONICALIZE
    | cumulative.CANONICALIZE
    | unused.CANONICALIZE
    | hoisting.CANONICALIZE
    | factoring.CANONICALIZE
    | sequences.CANONICALIZE
    | sharing.CANONICALIZE
    | keeping.CANONICALIZE
    | steps.CANONICALIZE
    | delay_lines.CANONICALIZE
    | last_steps.CANONICALIZE
)
RULES = (StageRules("canonicalize", _CANONICALIZE, USUAL),)


def _database(name: str, rules: RuleSet, tags: tuple[str, ...]) -> EquilibriumDB:
    return EquilibriumDB(name, lambda db: db.register_rules(rules, *tags), canonicalize_db)


STAGES = {
    "join_scans": NewStage(2.4, _database("join_scans", joining.JOIN, USUAL), USUAL),
    "expand_scans": NewStage(2.5, _database("expand_scans", expanding.EXPAND, ALWAYS), ALWAYS),
    "rewrite_bodies": NewStage(2.6, BodiesDB("rewrite_bodies", optdb), ALWAYS),
}
"""
| position | stage | what it does |
|---|---|---|
| 2.4 | join_scans | scans with the same number of steps become one |
| 2.5 | expand_scans | scans become loops that carry their traces as values |
| 2.6 | rewrite_bodies | the bodies of loops are rewritten, with the same rules |
"""
