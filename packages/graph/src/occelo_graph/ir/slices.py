"""The parts of Python's slice objects."""

from __future__ import annotations

from typing import Any

__all__ = ["slice_parts"]


def slice_parts(entry: Any) -> tuple[Any, Any, Any]:
    """Start, stop and step of a slice."""
    return entry.start, entry.stop, entry.step
