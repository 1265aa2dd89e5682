"""The example calls of the family's ops, `EXAMPLES`."""

from __future__ import annotations

from occelo_graph.examples.example import Example
from occelo_linalg.examples import (
    equations,
    factors,
    matrix_functions,
    options,
    products,
    schur,
    spectra,
)

EXAMPLES: list[Example] = [
    *factors.EXAMPLES,
    *equations.EXAMPLES,
    *matrix_functions.EXAMPLES,
    *products.EXAMPLES,
    *schur.EXAMPLES,
    *spectra.EXAMPLES,
    *options.EXAMPLES,
]
