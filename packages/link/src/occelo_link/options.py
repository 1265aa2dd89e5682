"""The options of linking."""

from __future__ import annotations

from typing import Any

from occelo_graph.config import boolean, config, text

__all__ = [
    "ALLOW_GC",
    "BASE_COMPILEDIR",
    "CACHE",
    "CACHE_SIZE",
    "CHECK_BOUNDS",
    "COMPILEDIR",
    "COMPILEDIR_FORMAT",
    "LINKER",
]


def positive(value: Any) -> int:
    """a positive whole number"""
    number = int(value)
    if number <= 0 or isinstance(value, bool):
        raise ValueError("expected a positive whole number")
    return number


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
BASE_COMPILEDIR = config.declare(
    "base_compiledir",
    "",
    "where compile directories are made; ~/.occelo by default",
    text,
    "occelo_link",
)
COMPILEDIR = config.declare(
    "compiledir",
    "",
    "the compile directory; by default one is made below base_compiledir",
    text,
    "occelo_link",
)
COMPILEDIR_FORMAT = config.declare(
    "compiledir_format",
    "compiledir_%(short_platform)s-%(processor)s-%(python_version)s-%(python_bitwidth)s",
    "the name of the compile directory below base_compiledir",
    text,
    "occelo_link",
)
CHECK_BOUNDS = config.declare(
    "check_bounds",
    False,
    "check every access of compiled code to memory; slow, for finding faults of the compiler",
    boolean,
    "occelo_link",
)
CACHE = config.declare(
    "cache",
    True,
    "keep compiled code in the compile directory, and use what is kept there",
    boolean,
    "occelo_link",
)
CACHE_SIZE = config.declare(
    "cache_size",
    1024,
    "how many megabytes of compiled code to keep; what was not used for longest goes first",
    positive,
    "occelo_link",
)
