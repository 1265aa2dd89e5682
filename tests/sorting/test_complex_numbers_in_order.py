"""`sort_complex` beside NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_sorting import functions as sorting


@pytest.mark.parametrize("static", [True, False])
def test_complex_numbers_in_order(static: bool) -> None:
    for value in (np.array([3, 1, 2]), np.int8([3, -1]), np.array([2.0, -1]), np.array([1 + 2j, 1 - 1j, 0]), np.zeros(0), np.float32([3, 1])):  # fmt: skip
        x = ot.tensor("x", dtype=value.dtype.name, shape=value.shape if static else (None,))
        expected = np.sort_complex(value)
        made = og.evaluate(sorting.sort_complex(x), {x: value})
        assert made.dtype == expected.dtype
        np.testing.assert_array_equal(made, expected)
