"""The example calls of the ops of the core and of all installed families, `EXAMPLES`, which drive tests of every layer.

Tests check the laws in `checks` and the conformance suite of linkers (`conforming_ops`) for every example.
"""

from __future__ import annotations

from occelo_graph.examples.example import Example
from occelo_graph.examples.table import every_example

EXAMPLES: list[Example] = every_example()


def by_family(family: str) -> list[Example]:
    """The examples of one family of ops, such as "linalg"."""
    return [e for e in EXAMPLES if e.family == family]
