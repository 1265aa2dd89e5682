"""Example calls of interpolation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from occelo_graph.examples.example import Example, draw
from occelo_sorting import functions as sorting

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable
    from occelo_sorting.ops.interpolation import InterpolationMethod

PLACES = np.array([-1.0, 0.25, 0.5, 2.0])
VALUES = draw((-1.0, 1.0), (4,), salt=51)
X = draw((-0.9, 1.9), (2, 3), salt=52)


def _by(method: InterpolationMethod, name: str) -> Example:
    def ours(x: TensorVariable, at: TensorVariable, y: TensorVariable) -> TensorVariable:
        return sorting.interpolate1d(at[::-1], y[::-1], method, -2.0, 2.0, False)(x)

    def theirs(x: np.ndarray, at: np.ndarray, y: np.ndarray) -> np.ndarray:
        right = np.clip(np.searchsorted(at, x), 1, len(at) - 1)
        left = y[right - 1]
        value = {"first": left, "last": y[right], "mean": (left + y[right]) / 2}[name]
        return np.where(x <= at[0], -2.0, np.where(x > at[-1], 2.0, value))

    outside = np.concatenate([X.ravel(), [-3.0, 5.0]])
    return Example("interpolate1d", "sorting", ours, theirs, (outside, PLACES, VALUES))


EXAMPLES: list[Example] = [
    Example(
        "interp", "sorting", sorting.interp, np.interp, (X, PLACES, VALUES), (0, 1, 2), batched=(0,)
    ),
    Example(
        "interp",
        "sorting",
        lambda x, at, y: sorting.interp(x, at, y, period=1.7),
        lambda x, at, y: np.interp(x, at, y, period=1.7),
        (X * 3, PLACES, VALUES),
    ),
    _by("first", "first"),
    _by("last", "last"),
    _by("mean", "mean"),
]
