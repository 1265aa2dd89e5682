"""The options of the rewrite package: which rewrites are applied, what happens at errors, limits, printing and
profiling.

`engine`, `record` and the modes of `occelo_compile` read the options. ``OPTIMIZER.get()`` returns the value of an
option.
"""

from __future__ import annotations

from typing import Any

from occelo_graph.config import boolean, config, one_of, text

_PACKAGE = "occelo_rewrite"


def _whole(value: Any) -> int:
    """a whole number"""
    return int(value)


def _number(value: Any) -> float:
    """any number"""
    return float(value)


OPTIMIZER = config.declare(
    "optimizer",
    "o4",
    "which rewrites a mode applies that names none",
    text,
    _PACKAGE,
)
INCLUDING = config.declare(
    "optimizer_including", "", "tags of rewrites to add, separated by colons", text, _PACKAGE
)
EXCLUDING = config.declare(
    "optimizer_excluding", "", "tags of rewrites to leave out, separated by colons", text, _PACKAGE
)
REQUIRING = config.declare(
    "optimizer_requiring", "", "tags that rewrites must have, separated by colons", text, _PACKAGE
)
ON_OPT_ERROR = config.declare(
    "on_opt_error",
    "warn",
    "what happens when a rewrite fails: warn and go on without it, raise, debug, or go on silently",
    one_of("warn", "raise", "pdb", "ignore"),
    _PACKAGE,
)
VERBOSE = config.declare(
    "optimizer_verbose", False, "print every replacement as it is made", boolean, _PACKAGE
)
VERBOSE_IGNORE = config.declare(
    "optimizer_verbose_ignore",
    "",
    "rules that optimizer_verbose leaves out, separated by colons",
    text,
    _PACKAGE,
)
POSITION_CUTOFF = config.declare(
    "optdb__position_cutoff",
    float("inf"),
    "stages at a position beyond this one are left out",
    _number,
    _PACKAGE,
)
MAX_USE_RATIO = config.declare(
    "optdb__max_use_ratio",
    8.0,
    "how often a rule may apply in a rewriter, as a multiple of the number of nodes",
    _number,
    _PACKAGE,
)
ON_LIMIT = config.declare(
    "optdb__on_limit",
    "warn",
    "what happens when a rewriter reaches a limit, perhaps because rules undo each other: "
    "it stops there, the graph is compiled as it is, and a RewriteLimitWarning says so, or NotConvergedError",
    one_of("warn", "raise"),
    _PACKAGE,
)
MAX_APPLICATIONS = config.declare(
    "optdb__max_applications",
    -1,
    "rewriting ends after this many replacements; a negative number sets no end",
    _whole,
    _PACKAGE,
)
PROFILE = config.declare(
    "profile_optimizer",
    False,
    "count calls, hits and time of each rule (see rewrite_profile)",
    boolean,
    _PACKAGE,
)
