"""Constants for what an entry returns: a list of the results, a single result, or nothing.

An entry is a callable that takes the user's arguments and does a whole call of a compiled function. A VM that supports
entries has a method ``entry``. It returns an entry, or None if its graph cannot have one. `units.unit` and
`traced.linker` make entries; `occelo_compile.calling` chooses the kind.
"""

from __future__ import annotations

__all__ = ["LIST", "NOTHING", "SINGLE"]

LIST, SINGLE, NOTHING = range(3)
"""The kind of the return value: a list of the results, the single result, or an empty list."""
