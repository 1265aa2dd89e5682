"""The example calls of the family's ops, `EXAMPLES`."""

from __future__ import annotations

from occelo_graph.examples.example import Example
from occelo_sorting.examples import orders, quantiles, searching

EXAMPLES: list[Example] = [
    *orders.EXAMPLES,
    *searching.EXAMPLES,
    *quantiles.EXAMPLES,
]
