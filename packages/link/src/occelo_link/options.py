"""The options of linking."""

from __future__ import annotations

from occelo_graph.config import boolean, config, text

__all__ = ["ALLOW_GC", "LINKER"]

LINKER = config.declare(
    "linker",
    "auto",
    "the linker of modes that name none; auto is the fastest there is",
    text,
    "occelo_link",
)
ALLOW_GC = config.declare(
    "allow_gc",
    True,
    "drop values between inputs and outputs after their last use",
    boolean,
    "occelo_link",
)
