"""Exceptions of compiling."""

from __future__ import annotations

from occelo_graph import OcceloError

__all__ = ["AliasedMemoryError"]


class AliasedMemoryError(OcceloError):
    """Values that share memory were to be pickled, which would separate them."""
