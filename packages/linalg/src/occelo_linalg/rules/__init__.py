"""Rules for linear algebra: inverses, equations, determinants, decompositions and products of matrices.

`occelo_rewrite.pipeline` registers them when linear algebra is used.
"""

from __future__ import annotations

from occelo_linalg.rules import (
    blocks,
    determinants,
    diagonals,
    factors,
    inverses,
    low_rank,
    shared_lu,
    solves,
    spectra,
    stated_definite,
    sums,
)
from occelo_rewrite.family_rules import USUAL, NewStage, StageRules

_CANONICALIZE = (
    determinants.CANONICALIZE
    | diagonals.CANONICALIZE
    | inverses.CANONICALIZE
    | factors.CANONICALIZE
    | spectra.CANONICALIZE
    | blocks.CANONICALIZE
    | sums.CANONICALIZE
)
_STABILIZE = blocks.STABILIZE | determinants.STABILIZE | solves.STABILIZE
_SPECIALIZE = (
    spectra.SPECIALIZE
    | solves.SPECIALIZE
    | shared_lu.SPECIALIZE
    | diagonals.SPECIALIZE
    | blocks.SPECIALIZE
)
RULES = (
    StageRules("canonicalize", _CANONICALIZE, USUAL),
    StageRules("stabilize", _STABILIZE, USUAL),
    StageRules("specialize", _SPECIALIZE, ("fast_run",)),
    StageRules("stabilize", low_rank.LOW_RANK),
)
STAGES = {
    "note_stated_definite": NewStage(0.9, stated_definite.note_stated_definite, ("fast_run",))
}
