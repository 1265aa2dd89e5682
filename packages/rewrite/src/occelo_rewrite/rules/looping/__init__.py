"""Rules for loops: scans are merged, made smaller, and at the end replaced by `Iterate`, the loop that linkers run.

When loops are imported, `pipeline` puts these rules into the stages canonicalize, join_scans and expand_scans. The
stage rewrite_bodies is in `rules.looping.bodies`.
"""

from __future__ import annotations

from occelo_rewrite.rules.looping import (
    accumulating,
    cumulative,
    delay_lines,
    expanding,
    factoring,
    hoisting,
    joining,
    last_steps,
    merging,
    sequences,
    sharing,
    steps,
    unused,
)

__all__ = ["CANONICALIZE", "EXPAND", "JOIN"]

CANONICALIZE = (
    merging.CANONICALIZE
    | accumulating.CANONICALIZE
    | cumulative.CANONICALIZE
    | unused.CANONICALIZE
    | hoisting.CANONICALIZE
    | factoring.CANONICALIZE
    | sequences.CANONICALIZE
    | sharing.CANONICALIZE
    | steps.CANONICALIZE
    | delay_lines.CANONICALIZE
    | last_steps.CANONICALIZE
)
JOIN = joining.JOIN
EXPAND = expanding.EXPAND
