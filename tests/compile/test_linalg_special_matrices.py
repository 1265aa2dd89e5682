"""`cond` of zero, infinite and NaN matrices, of known and unknown lengths, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import linalg as ol
from occelo_graph import tensor as ot

SHAPES = ((1, 1), (1, 3), (3, 1), (2, 2))


@pytest.mark.parametrize("mode", ["native", "py"])
@pytest.mark.parametrize("p", [None, 2, -2, 1, -1, "fro", np.inf])
def test_cond_where_nothing_can_be_divided(p: Any, mode: str) -> None:
    for shape in SHAPES:
        if p not in (None, 2, -2) and shape[0] != shape[1]:
            continue
        for static in {shape, (None, None), (shape[0], None)}:
            x = ot.TensorType("float64", static).make_variable("x")
            cond = oc.function([x], ol.cond(x, p), mode=mode)
            for number in (0.0, np.inf, 2.0):
                value = np.full(shape, number) if shape != (2, 2) else np.diag([number, 3.0])
                np.testing.assert_allclose(
                    cond(value), np.linalg.cond(value, p), err_msg=f"{value}"
                )
            # NumPy raises or returns NaN, as its version decides
            assert np.isnan(cond(np.full(shape, np.nan)))
