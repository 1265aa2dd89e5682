"""`slice_parts`: start, stop and step of a slice object, as a tuple whose type is declared for type checkers.

Indexing in every layer, the encoding of ops and the printer of Python source use it.
"""

from __future__ import annotations

from typing import Any

__all__ = ["slice_parts"]


def slice_parts(entry: Any) -> tuple[Any, Any, Any]:
    """Start, stop and step of a slice."""
    return entry.start, entry.stop, entry.step
