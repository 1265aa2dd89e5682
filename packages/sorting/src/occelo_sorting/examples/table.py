"""The example calls of the family's ops, `EXAMPLES`."""

from __future__ import annotations

from occelo_graph.examples.example import Example
from occelo_sorting.examples import (
    interpolation,
    nan_reductions,
    options,
    orders,
    quantiles,
    searching,
    sets,
)

EXAMPLES: list[Example] = [
    *orders.EXAMPLES,
    *searching.EXAMPLES,
    *quantiles.EXAMPLES,
    *sets.EXAMPLES,
    *interpolation.EXAMPLES,
    *nan_reductions.EXAMPLES,
    *options.EXAMPLES,
]
