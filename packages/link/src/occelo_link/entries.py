"""What a VM may offer beside being called: one function that does a whole call of a compiled function.

Such a VM has a method ``entry``, which gives a callable of the user's arguments, or None where there is none for
this graph.
"""

from __future__ import annotations

__all__ = ["LIST", "NOTHING", "SINGLE"]

LIST, SINGLE, NOTHING = range(3)
"""What a call returns: a list of the results, the only one, or an empty list."""
