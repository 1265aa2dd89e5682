"""The quantile of the normal distribution in machine code, beside SciPy's."""

from __future__ import annotations

import os

import numpy as np
import scipy.special

import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_random.ops.draws import normal_quantile
from occelo_testing.last_place import Points

between = Points(11, 100_000 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 400).between


def test_the_quantile_of_the_normal_distribution() -> None:
    tail = 0.5 * np.exp(-between(0, 36))
    points = np.concatenate([tail, 1 - tail, between(0, 1), [2.0**-53, 1 - 2.0**-53, 0.5]])
    u = ot.dvector("u")
    found = oc.function([u], normal_quantile(u), mode="native")(points)
    np.testing.assert_allclose(found, scipy.special.ndtri(points), rtol=2e-15, atol=1e-16)
