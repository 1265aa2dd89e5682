"""Maxima, minima and products at constant positions that repeat one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import tensor as ot

function: Callable[..., Any] = oc.function

REDUCTIONS: dict[str, Any] = {"max": np.maximum, "min": np.minimum, "multiply": np.multiply}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_of_runs_are_numpys(name: str) -> None:
    at = np.array([-1] * 20 + [8] * 20 + [0] * 20 + [-9] * 7 + [3])
    x, y = ot.dvector(), ot.dvector()
    f = function([x, y], getattr(x.at[ot.constant(at)], name)(y))
    rng = np.random.default_rng(0)
    start, given = rng.normal(size=9), rng.normal(size=len(at))
    expected = start.copy()
    REDUCTIONS[name].at(expected, at, given)
    np.testing.assert_array_equal(f(start, given), expected)
