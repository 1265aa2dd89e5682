"""Values of small graphs, and gradients of their sums beside central differences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import occelo_graph as og
from occelo_graph import tensor as ot


def check_value_and_slopes(output: Any, expected: Any, given: Mapping[Any, Any]) -> None:
    """The value is as expected, and the gradient of its sum by each float64 input is that of steps of one half.

    So it fits functions of at most the second degree.
    """
    (value,) = og.evaluate([output], given)
    np.testing.assert_array_equal(value, expected)
    assert np.shape(value) == np.shape(expected)
    total: Any = ot.sum(output)
    for x, point in given.items():
        if x.dtype != "float64":
            continue
        slope = _slope(total, x, given)
        differences = np.zeros_like(point)
        for place in np.ndindex(*point.shape):
            step = np.zeros_like(point)
            step[place] = 0.5
            above, below = (
                np.asarray(og.evaluate(total, {**given, x: point + h})) for h in (step, -step)
            )
            differences[place] = above - below
        np.testing.assert_allclose(slope, differences, atol=1e-12)


def _slope(total: og.Variable, x: og.Variable, given: Mapping[Any, Any]) -> Any:
    return og.evaluate(og.grad(total, x), given)
