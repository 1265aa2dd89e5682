"""The table of example calls of all ops, `EXAMPLES`, which drives the tests of every layer.

Tests check the laws in `checks` and the conformance suite of linkers (`occelo_link.conform`) for every example. The
command ``occelo backends`` takes its list of ops and dtypes from the examples.
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
    """The examples of one family of ops, such as "linalg"."""
    return [e for e in EXAMPLES if e.family == family]
