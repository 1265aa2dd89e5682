"""Entries: callables of the user's arguments for whole calls of a compiled function; kinds of their return values.

A VM that can make one has a method ``entry``, which returns it, or None if that is not possible for its graph.
"""

from __future__ import annotations

__all__ = ["LIST", "NOTHING", "SINGLE"]

LIST, SINGLE, NOTHING = range(3)
"""The kind of the return value: a list of the results, the single result, or an empty list."""
