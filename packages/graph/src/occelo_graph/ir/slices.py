"""The parts of Python's slice objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import TypeIs

__all__ = ["is_slice", "slice_parts"]


def is_slice(entry: object) -> TypeIs[slice[Any, Any, Any]]:
    """Whether an entry of a key is a slice."""
    return isinstance(entry, slice)


def slice_parts(entry: Any) -> tuple[Any, Any, Any]:
    """Start, stop and step of a slice."""
    return entry.start, entry.stop, entry.step
