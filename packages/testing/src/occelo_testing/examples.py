"""The example calls of the ops of the core and of all installed families, `EXAMPLES`, which drive tests of every layer.

Tests check the laws in `checks` and the conformance suite of linkers (`conforming_ops`) for every example.
"""

from __future__ import annotations

import sys

from occelo_graph.examples.example import Example
from occelo_graph.families import installed
from occelo_graph.ops.elemwise.scalar import ScalarFunction
from occelo_testing.core_examples import elementwise, lists, options, shapes, structure

CORE: list[Example] = [
    *elementwise.EXAMPLES,
    *shapes.EXAMPLES,
    *structure.EXAMPLES,
    *lists.EXAMPLES,
    *options.EXAMPLES,
]
"""The examples of the core."""


def every_example() -> list[Example]:
    """The examples of the core and of all installed families."""
    examples = list(CORE)
    for family in installed():
        table = family.load("examples")
        if table is not None:
            examples += table.EXAMPLES
    return examples


EXAMPLES: list[Example] = every_example()


_DEFINE_SCALAR_FUNCTIONS = ("occelo_graph.ops.", "occelo_special.ops.", "occelo_arrays.ops.")


def _scalar_functions() -> frozenset[str]:
    for family in installed():
        if family.name in ("special", "arrays"):
            family.load("numpy")
    modules = [m for name, m in sys.modules.items() if name.startswith(_DEFINE_SCALAR_FUNCTIONS)]
    values = [each for module in modules for each in vars(module).values()]
    rows = [getattr(each, "scalar_op", each) for each in values]
    return frozenset(row.name for row in rows if isinstance(row, ScalarFunction))


SCALAR_FUNCTIONS = _scalar_functions()
"""The names of the scalar functions of the core, and of families of elementwise functions that are installed."""


def by_family(family: str) -> list[Example]:
    """The examples of one family of ops, such as "linalg"."""
    return [e for e in EXAMPLES if e.family == family]
