"""`AliasedMemoryError`, which pickling a function raises for values that share memory, if it is told to.

`copying` raises it. The exceptions of DebugMode are in `debugging.errors`.
"""

from __future__ import annotations

from occelo_graph import OcceloError

__all__ = ["AliasedMemoryError"]


class AliasedMemoryError(OcceloError):
    """Values that share memory cannot be pickled, since they would no longer share it when loaded."""
