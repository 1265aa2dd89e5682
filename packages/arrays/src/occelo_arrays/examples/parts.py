"""Example calls of ``x.at[key]`` with positions that occur several times, and of sliding windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_arrays import functions as arrays
from occelo_graph.examples.example import Example, draw

REAL = (-2.5, 2.5)
_windows: Any = np.lib.stride_tricks.sliding_window_view
A = draw(REAL, (2, 3))
V = draw(REAL, (3,), salt=2)
T = draw(REAL, (2, 3, 4), salt=3)
IDX = np.array([2, 0, 2, -1])


def _combined() -> list[Example]:
    """Examples of maxima, minima and products at repeated positions, with zeros among the factors."""

    def combined(ufunc: np.ufunc, x: Any, key: Any, y: Any) -> Any:
        x = x.copy()
        ufunc.at(x, key, np.broadcast_to(y, x[key].shape).copy())
        return x

    cases: list[tuple[str, np.ufunc]] = [
        ("max", np.maximum),
        ("min", np.minimum),
        ("mul", np.multiply),
    ]
    y = draw(REAL, (2, 4), salt=9)
    examples: list[Example] = []
    for name, ufunc in cases:

        def ours(x: Any, y: Any, i: Any, name: str = name) -> Any:
            return getattr(x.at[:, i], name)(y)

        def reference(x: Any, y: Any, i: Any, ufunc: np.ufunc = ufunc) -> Any:
            return combined(ufunc, x, (slice(None), i), y)

        def of_rows(x: Any, y: Any, i: Any, name: str = name) -> Any:
            return getattr(x.at[i], name)(y)

        def of_rows_reference(x: Any, y: Any, i: Any, ufunc: np.ufunc = ufunc) -> Any:
            return combined(ufunc, x, i, y)

        title = f"at.{name}"
        examples += [
            Example(title, "arrays", ours, reference, (A, y, IDX), (0, 1), 1e-12, (0, 1)),
            Example(
                title,
                "arrays",
                of_rows,
                of_rows_reference,
                (V, y[0], IDX),
                (0, 1),
                1e-12,
                (0, 1, 2),
            ),
        ]
    examples.append(
        Example(
            "at.mul",
            "arrays",
            lambda x, y, i: x.at[i].multiply(y),
            lambda x, y, i: combined(np.multiply, x, i, y),
            (np.array([2.0, 0.0, 3.0]), np.array([0.0, 3.0, 2.0, 1.5]), np.array([0, 0, 1, 2])),
            (0, 1),
            1e-12,
            (0, 1, 2),
        )
    )
    return examples


EXAMPLES: list[Example] = [
    *_combined(),
    Example(
        "sliding_window_view",
        "arrays",
        lambda x: arrays.sliding_window_view(x, (2, 3), (0, 2)),
        lambda x: _windows(x, (2, 3), (0, 2)),
        (T,),
        (0,),
        1e-12,
        (0,),
    ),
    Example(
        "sliding_window_view",
        "arrays",
        lambda x: arrays.sliding_window_view(x, (2, 2), (1, 1)),
        lambda x: _windows(x, (2, 2), (1, 1)),
        (A,),
        (0,),
        1e-12,
        (0,),
    ),
]
