"""Rules of linear algebra: factors of matrices with a known structure, and cheaper ways to the same result.

`pipeline` puts them into the stages canonicalize, stabilize and specialize when linear algebra is first used.
"""

from __future__ import annotations

from occelo_rewrite.node_rule import RuleSet

__all__ = ["CANONICALIZE", "SPECIALIZE", "STABILIZE"]

CANONICALIZE = RuleSet((), "canonical linear algebra")
STABILIZE = RuleSet((), "stable linear algebra")
SPECIALIZE = RuleSet((), "special linear algebra")
