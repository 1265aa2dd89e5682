"""The table of examples of all ops.

The laws of ops (`checks`) and the conformance suite of linkers (`occelo_link.conform`) are checked for all examples.
The table that ``occelo backends`` prints is made from them, too.
"""

from __future__ import annotations

from occelo_graph.testing import (
    elementwise_examples,
    equation_examples,
    generator_examples,
    linear_algebra_examples,
    list_examples,
    looping_examples,
    matrix_function_examples,
    product_examples,
    random_examples,
    random_law_examples,
    schur_examples,
    shape_examples,
    spectral_examples,
    structure_examples,
)
from occelo_graph.testing.example import Example

__all__ = ["EXAMPLES", "by_family"]

EXAMPLES: list[Example] = [
    *elementwise_examples.EXAMPLES,
    *shape_examples.EXAMPLES,
    *structure_examples.EXAMPLES,
    *linear_algebra_examples.EXAMPLES,
    *looping_examples.EXAMPLES,
    *list_examples.EXAMPLES,
    *random_examples.EXAMPLES,
    *random_law_examples.EXAMPLES,
    *generator_examples.EXAMPLES,
    *product_examples.EXAMPLES,
    *equation_examples.EXAMPLES,
    *matrix_function_examples.EXAMPLES,
    *schur_examples.EXAMPLES,
    *spectral_examples.EXAMPLES,
]


def by_family(family: str) -> list[Example]:
    """The examples of one family."""
    return [e for e in EXAMPLES if e.family == family]
