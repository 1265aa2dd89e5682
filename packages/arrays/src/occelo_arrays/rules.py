"""The stage after which `Scatter` overwrites dead arrays. `occelo_rewrite.pipeline` adds it when the family is used."""

from __future__ import annotations

from occelo_arrays.ops.parts.scatter import Scatter
from occelo_rewrite.family_rules import NewStage, StageRules
from occelo_rewrite.inplace import InplaceRewriter, flag_variants

RULES: tuple[StageRules, ...] = ()
STAGES = {
    "inplace_scatter": NewStage(
        50.15, InplaceRewriter("inplace_scatter", flag_variants(Scatter)), ("fast_run", "inplace")
    )
}
