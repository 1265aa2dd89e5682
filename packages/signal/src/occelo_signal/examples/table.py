"""The example calls of the family's ops, `EXAMPLES`."""

from __future__ import annotations

from occelo_graph.examples.example import Example
from occelo_signal.examples import convolutions, fourier, networks, polynomials, windows

EXAMPLES: list[Example] = [
    *fourier.EXAMPLES,
    *convolutions.EXAMPLES,
    *networks.EXAMPLES,
    *windows.EXAMPLES,
    *polynomials.EXAMPLES,
]
