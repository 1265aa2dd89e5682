"""The options of compiling."""

from __future__ import annotations

from occelo_graph.config import config, one_of, text

__all__ = ["MODE", "ON_UNUSED_INPUT"]

MODE = config.declare(
    "mode",
    "Mode",
    "the mode of functions that name none; Mode is made from linker and optimizer",
    text,
    "occelo_compile",
)
ON_UNUSED_INPUT = config.declare(
    "on_unused_input",
    "raise",
    "what happens when an input is not needed",
    one_of("raise", "warn", "ignore"),
    "occelo_compile",
)
