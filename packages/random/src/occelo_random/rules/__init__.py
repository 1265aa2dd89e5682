"""Rules for random draws with generators, and for ops that read the drawn numbers.

`occelo_rewrite.pipeline` registers them when random numbers are used.
"""

from __future__ import annotations

from occelo_random.rules import generators, lifting
from occelo_rewrite.family_rules import NewStage, StageRules
from occelo_rewrite.inplace import InplaceRewriter

# without tags: only a query that names a tag of the rules chooses them
RULES = (
    StageRules("canonicalize", generators.UNSAFE),
    StageRules("canonicalize", lifting.READS),
    StageRules("canonicalize", lifting.SIZES),
)
STAGES = {
    "random_make_inplace": NewStage(
        50.9, InplaceRewriter("random_make_inplace", generators.IN_PLACE), ("fast_run", "inplace")
    )
}
"""Draws overwrite dead states of generators."""
