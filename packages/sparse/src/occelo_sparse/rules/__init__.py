"""Rules for sparse matrices. `occelo_rewrite.pipeline` registers them when sparse matrices are used."""

from __future__ import annotations

from occelo_rewrite.family_rules import USUAL, StageRules
from occelo_rewrite.patterns.node_rule import RuleSet
from occelo_sparse.rules.order import count_places, stay_in_place
from occelo_sparse.rules.parts import drop_stated, parts_of_parts
from occelo_sparse.rules.symmetry import product_with_symmetric, solution_with_symmetric

_CANONICALIZE = (parts_of_parts, stay_in_place, product_with_symmetric, solution_with_symmetric)
RULES = (
    StageRules("canonicalize", RuleSet(_CANONICALIZE, "sparse"), USUAL),
    StageRules("stabilize", RuleSet((stay_in_place,), "sparse stabilize"), USUAL),
    StageRules(
        "specialize", RuleSet((count_places, drop_stated), "sparse specialize"), ("fast_run",)
    ),
)
