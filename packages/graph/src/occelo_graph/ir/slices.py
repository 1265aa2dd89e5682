"""`slice_parts`: start, stop and step of a slice object, with a type for type checkers.

Modules that treat index keys use it.
"""

from __future__ import annotations

from typing import Any

__all__ = ["slice_parts"]


def slice_parts(entry: Any) -> tuple[Any, Any, Any]:
    """Start, stop and step of a slice."""
    return entry.start, entry.stop, entry.step
