"""`slice_parts`: the start, stop and step of a slice, as a tuple with a known type for type checkers.

It is used by code for index keys in all packages, by the encoding of ops, and by the printer of Python source.
"""

from __future__ import annotations

from typing import Any


def slice_parts(entry: Any) -> tuple[Any, Any, Any]:
    """The start, stop and step of a slice."""
    return entry.start, entry.stop, entry.step
