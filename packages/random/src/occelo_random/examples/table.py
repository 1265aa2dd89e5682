"""The example calls of the family's ops, `EXAMPLES`."""

from __future__ import annotations

from occelo_graph.examples.example import Example
from occelo_random.examples import distributions, generators, keys

EXAMPLES: list[Example] = [
    *keys.EXAMPLES,
    *distributions.EXAMPLES,
    *generators.EXAMPLES,
]
