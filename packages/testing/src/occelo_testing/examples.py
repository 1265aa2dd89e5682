"""The example calls of the ops of the core and of all installed families, `EXAMPLES`, which drive tests of every layer.

Tests check the laws in `checks` and the conformance suite of linkers (`conforming_ops`) for every example.
"""

from __future__ import annotations

from occelo_graph.examples.example import Example
from occelo_graph.examples.table import every_example
from occelo_graph.families import installed
from occelo_graph.ops.elemwise.scalar import ScalarFunction
from occelo_graph.wiring import OWN_SCALAR_FUNCTIONS

EXAMPLES: list[Example] = every_example()


def _scalar_functions() -> frozenset[str]:
    for family in installed():
        if family.name == "special":
            family.load("scalars")
    return OWN_SCALAR_FUNCTIONS | {
        name
        for name, row in ScalarFunction.table().items()
        if getattr(row.function, "__module__", "").startswith("occelo_special.")
    }


SCALAR_FUNCTIONS = _scalar_functions()
"""The names of the scalar functions of the core, and of special functions if these are installed."""


def by_family(family: str) -> list[Example]:
    """The examples of one family of ops, such as "linalg"."""
    return [e for e in EXAMPLES if e.family == family]
