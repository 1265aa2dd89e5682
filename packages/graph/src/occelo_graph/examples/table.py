"""The table of example calls of ops, which drives the tests of every layer and the list of ops of the backends.

`EXAMPLES` has those of the core. Each family has a table of its own (`occelo_graph.families`); `every_example` collects
them.
"""

from __future__ import annotations

from occelo_graph.examples import elementwise, lists, shapes, structure
from occelo_graph.examples.example import Example
from occelo_graph.families import installed

EXAMPLES: list[Example] = [
    *elementwise.EXAMPLES,
    *shapes.EXAMPLES,
    *structure.EXAMPLES,
    *lists.EXAMPLES,
]


def every_example() -> list[Example]:
    """The examples of the core and of all installed families."""
    found = list(EXAMPLES)
    for family in installed():
        table = family.load("examples")
        if table is not None:
            found += table.EXAMPLES
    return found
