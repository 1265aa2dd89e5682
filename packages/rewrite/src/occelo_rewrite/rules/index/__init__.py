"""Rules for indexing: reads are moved before computations, and chains of reads and writes are simplified.

`pipeline` puts them into the stages canonicalize (`reads`, `writes`, `tilings`) and specialize (`lifts`).
"""

from __future__ import annotations

from occelo_rewrite.rules.index import lifts, reads, short_vectors, tilings, writes

CANONICALIZE = reads.CANONICALIZE | writes.CANONICALIZE | tilings.CANONICALIZE
SPECIALIZE = lifts.SPECIALIZE | short_vectors.SPECIALIZE
