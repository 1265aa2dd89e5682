"""Rules for elementwise functions: identities of single functions, sums, products, stable forms, casts.

`pipeline` puts them into the stages canonicalize, stabilize and specialize. The tags of a rule declare how it may
change results (`occelo_rewrite.queries`).
"""

from __future__ import annotations

from occelo_rewrite.rules.elemwise import casts, identities, products, stable, sums

CANONICALIZE = (
    sums.CANONICALIZE | products.CANONICALIZE | identities.CANONICALIZE | casts.CANONICALIZE
)
STABILIZE = stable.STABILIZE | products.STABILIZE | stable.GENERAL
SPECIALIZE = sums.SPECIALIZE | products.SPECIALIZE | identities.SPECIALIZE | stable.SPECIALIZE
