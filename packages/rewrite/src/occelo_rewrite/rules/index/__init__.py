"""Rules of indexing: reads that are moved towards inputs, chains made one, writes that meet reads."""

from __future__ import annotations

from occelo_rewrite.rules.index import lifts, reads, writes

__all__ = ["CANONICALIZE", "SPECIALIZE"]

CANONICALIZE = reads.CANONICALIZE | writes.CANONICALIZE
SPECIALIZE = lifts.SPECIALIZE
