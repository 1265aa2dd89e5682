"""`pad` in the mode "median", for which the family of arrays asks this one by NumPy's function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_arrays import functions as arrays
from occelo_graph import tensor as ot


@pytest.mark.parametrize(("length", "width"), [(3, 0), (3, 5), (1, 2)])
def test_medians_pad_with_widths_that_are_variables(length: int, width: int) -> None:
    x, before = ot.dvector("x"), ot.lscalar("before")
    value: Any = np.random.default_rng(4).normal(size=length)
    made = arrays.pad(x, [(before, 2)], "median")
    expected = np.pad(value, [(width, 2)], "median")
    np.testing.assert_allclose(og.evaluate(made, {x: value, before: width}), expected)


def test_an_empty_axis_has_no_median() -> None:
    x, width = ot.dvector("x"), ot.lscalar("width")
    made, empty = arrays.pad(x, (width, 0), "median"), np.zeros(0)
    assert og.evaluate(made, {x: empty, width: np.int64(0)}).shape == (0,)
    with pytest.raises(ValueError, match="cannot extend an empty axis"):
        og.evaluate(made, {x: empty, width: np.int64(1)})
