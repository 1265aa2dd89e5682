"""`AliasedMemoryError`, which is raised when a function whose values share memory is pickled.

`copying` raises it, but only if ``Function.pickle_aliased_memory_strategy`` is "raise". The exceptions of DebugMode are
in `debugging.errors`.
"""

from __future__ import annotations

from occelo_graph import OcceloError


class AliasedMemoryError(OcceloError, explained=True):
    """Values that share memory are not pickled, since they would no longer share it after loading."""
