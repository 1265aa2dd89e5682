"""`AliasedMemoryError`, which is raised when a function is pickled whose values share memory.

It is raised only if ``Function.pickle_aliased_memory_strategy`` is "raise".

`copying` raises it. The exceptions of DebugMode are in `debugging.errors`.
"""

from __future__ import annotations

from occelo_graph import OcceloError

__all__ = ["AliasedMemoryError"]


class AliasedMemoryError(OcceloError):
    """Values that share memory cannot be pickled, since they would no longer share it when loaded."""
