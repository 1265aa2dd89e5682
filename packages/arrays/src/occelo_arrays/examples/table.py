"""The example calls of the family's functions, `EXAMPLES`."""

from __future__ import annotations

from occelo_arrays.examples import numbers, parts, positions, products, structure
from occelo_graph.examples.example import Example

EXAMPLES: list[Example] = [
    *products.EXAMPLES,
    *structure.EXAMPLES,
    *numbers.EXAMPLES,
    *positions.EXAMPLES,
    *parts.EXAMPLES,
]
