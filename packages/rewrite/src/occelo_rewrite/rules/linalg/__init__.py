"""Rules of linear algebra: known structure, shared factors, inverses that need not be computed.

`pipeline` puts them into the stages canonicalize, stabilize and specialize when linear algebra is imported.
"""

from __future__ import annotations

from occelo_rewrite.rules.linalg import determinants, factors, inverses, products, solves

__all__ = ["CANONICALIZE", "SPECIALIZE", "STABILIZE"]

CANONICALIZE = inverses.CANONICALIZE | factors.CANONICALIZE | products.CANONICALIZE
STABILIZE = determinants.STABILIZE | solves.STABILIZE
SPECIALIZE = solves.SPECIALIZE | products.SPECIALIZE
