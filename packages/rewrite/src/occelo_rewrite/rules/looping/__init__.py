"""Rules of loops: scans are merged, lose what is not needed, and are expanded to what linkers run.

`pipeline` puts them into the stages canonicalize and expand_scans when loops are imported; the stage rewrite_bodies is
`rules.looping.bodies`.
"""

from __future__ import annotations

from occelo_rewrite.rules.looping import (
    accumulating,
    expanding,
    hoisting,
    merging,
    sequences,
    steps,
    unused,
)

__all__ = ["CANONICALIZE", "EXPAND"]

CANONICALIZE = (
    merging.CANONICALIZE
    | accumulating.CANONICALIZE
    | unused.CANONICALIZE
    | hoisting.CANONICALIZE
    | sequences.CANONICALIZE
    | steps.CANONICALIZE
)
EXPAND = expanding.EXPAND
