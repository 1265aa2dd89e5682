"""`overwrite_input=` of medians and quantiles: NumPy's results, and the input as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_graph as og
import occelo_sorting as sorting
from occelo_graph import tensor as ot

FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "median": (),
    "nanmedian": (),
    "quantile": (0.3,),
    "percentile": (30,),
    "nanquantile": (0.3,),
    "nanpercentile": (30,),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_option_changes_nothing(name: str) -> None:
    values = np.array([[3.0, 1.0, 2.0], [9.0, 7.0, 8.0]])
    x = ot.dmatrix("x")
    function, numpy = getattr(sorting, name), getattr(np, name)
    for options in ({"overwrite_input": True}, {"overwrite_input": True, "axis": 1}):
        expected = numpy(values.copy(), *FUNCTIONS[name], **options)
        given = values.copy()
        for each in (function, numpy):  # NumPy's function builds a graph, too
            result = og.evaluate(each(x, *FUNCTIONS[name], **options), {x: given})
            np.testing.assert_allclose(result, expected)
        np.testing.assert_array_equal(given, values)
