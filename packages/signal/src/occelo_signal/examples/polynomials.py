"""Example calls of functions of polynomials, with NumPy's functions as references."""

from __future__ import annotations

import numpy as np

from occelo_graph.examples.example import Example, draw
from occelo_signal.ops.polynomials import polydiv, polyfit, roots

EXAMPLES: list[Example] = [
    Example(
        "polydiv",
        "signal",
        lambda u, v: polydiv(u, v)[0],
        lambda u, v: np.polydiv(u, v)[0],
        (draw((0.5, 1.5), (5,), salt=44), draw((0.5, 1.5), (2,), salt=45)),
        (0, 1),
        1e-8,
        (0, 1),
    ),
    Example(
        "polyfit",
        "signal",
        lambda x, y: polyfit(x, y, 2),
        lambda x, y: np.polyfit(x, y, 2),
        (draw((-1.0, 1.0), (6,), salt=41), draw((-1.0, 1.0), (6, 2), salt=42)),
        (0, 1),
        1e-8,
        (0, 1),
    ),
    Example(
        "roots",
        "signal",
        lambda p: (roots(p, strip_zeros=False) ** 3).sum().real,
        lambda p: (np.roots(p) ** 3).sum().real,
        (draw((0.5, 1.5), (4,), salt=43),),
        (0,),
        1e-8,
        (0,),
    ),
]
