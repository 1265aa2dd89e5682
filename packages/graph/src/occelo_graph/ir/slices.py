"""`slice_parts`: start, stop and step of a slice object, with a type for type checkers.

Indexing uses it in every layer, and so do the encoding of ops and the printer of Python source.
"""

from __future__ import annotations

from typing import Any

__all__ = ["slice_parts"]


def slice_parts(entry: Any) -> tuple[Any, Any, Any]:
    """Start, stop and step of a slice."""
    return entry.start, entry.stop, entry.step
