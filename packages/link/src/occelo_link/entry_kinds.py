"""Constants that say what an entry returns: a list of the results, a single result, or an empty list.

An entry is a callable that does a whole call of a compiled function, from the user's arguments to the results. If a VM
supports entries, its method ``entry`` makes one, or returns None if its graph cannot have an entry. `units.unit` and
`occelo_link.traced.linker` make entries. `occelo_compile.calling` chooses the kind.
"""

from __future__ import annotations

LIST, SINGLE, NOTHING = range(3)
"""What an entry returns: a list of the results, the single result, or an empty list."""
