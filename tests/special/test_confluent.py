"""`hyp1f1` beside mpmath where SciPy's function does not return."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath
import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_special import functions as sp

A = (-300.0, -20.0, -2.5, -2.0, -1.0, 0.0, 0.5, 1.0, 1.5, 20.0, 150.0)
B = (-20.5, -2.5, 0.5, 1.0, 2.0, 22.0, 600.0)
X = (-1e308, -1e20, -1.1e8, 1.1e8, 1e20, 1e308)


def computed(mode: str, *arguments: Any) -> Any:
    a, b, x = (ot.dvector(name) for name in "abx")
    return oc.function([a, b, x], sp.hyp1f1(a, b, x), mode=mode)(*arguments)


@pytest.mark.parametrize("mode", ["py", "native"])
def test_far_arguments(mode: str) -> None:
    arguments = np.array([*itertools.product(A, B, X)]).T
    exact: Any = mpmath.hyp1f1
    expected = [float(exact(*row, maxprec=100_000)) for row in arguments.T]
    np.testing.assert_allclose(computed(mode, *arguments), expected, rtol=1e-12)


@pytest.mark.parametrize("mode", ["py", "native"])
def test_what_is_not_defined_or_not_computed_is_nan(mode: str) -> None:
    ends = (math.inf, -math.inf, math.nan)
    rows = [
        *((a, 1.5, 1.0) for a in (*ends, 1e300)),
        *((1.5, b, 1.0) for b in ends),
        (1.5, 2.5, math.nan),
        (1e6, 1.5, -1e9),
        (-1e6, -1e308, -1e308),
    ]
    assert np.isnan(computed(mode, *np.array(rows).T)).all()
    # the series of a large b is short
    np.testing.assert_allclose(computed(mode, [2.0], [1e300], [3.0]), [1.0])
    # an integer b that is not positive has no value
    assert np.isinf(computed(mode, [1.5, 1.5], [-2.0, -2.0], [math.inf, 1e20])).all()
