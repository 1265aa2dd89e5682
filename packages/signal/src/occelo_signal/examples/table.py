"""The example calls of the family's ops, `EXAMPLES`."""

from __future__ import annotations

from occelo_graph.examples.example import Example
from occelo_signal.examples import fourier

EXAMPLES: list[Example] = [*fourier.EXAMPLES]
