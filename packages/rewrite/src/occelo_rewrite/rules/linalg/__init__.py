"""Rules for linear algebra: inverses, equations, determinants, decompositions and products of matrices.

When linear algebra is imported, `pipeline` puts them into the stages canonicalize, stabilize and specialize.
"""

from __future__ import annotations

from occelo_rewrite.rules.linalg import (
    blocks,
    determinants,
    diagonals,
    factors,
    inverses,
    low_rank,
    products,
    shared_lu,
    solves,
    spectra,
    sums,
)

__all__ = ["CANONICALIZE", "LOW_RANK", "SPECIALIZE", "STABILIZE"]

CANONICALIZE = (
    determinants.CANONICALIZE
    | diagonals.CANONICALIZE
    | inverses.CANONICALIZE
    | factors.CANONICALIZE
    | products.CANONICALIZE
    | spectra.CANONICALIZE
    | blocks.CANONICALIZE
    | sums.CANONICALIZE
)
STABILIZE = blocks.STABILIZE | determinants.STABILIZE | solves.STABILIZE
SPECIALIZE = (
    spectra.SPECIALIZE
    | solves.SPECIALIZE
    | shared_lu.SPECIALIZE
    | products.SPECIALIZE
    | diagonals.SPECIALIZE
    | blocks.SPECIALIZE
)
LOW_RANK = low_rank.LOW_RANK
