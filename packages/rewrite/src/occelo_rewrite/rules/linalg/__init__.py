"""Rules of linear algebra: inverses, equations, determinants, Cholesky factors and chains of products.

`pipeline` puts them into the stages canonicalize, stabilize and specialize when linear algebra is imported.
"""

from __future__ import annotations

from occelo_rewrite.rules.linalg import determinants, factors, inverses, products, solves

__all__ = ["CANONICALIZE", "SPECIALIZE", "STABILIZE"]

CANONICALIZE = inverses.CANONICALIZE | factors.CANONICALIZE | products.CANONICALIZE
STABILIZE = determinants.STABILIZE | solves.STABILIZE
SPECIALIZE = solves.SPECIALIZE | products.SPECIALIZE
