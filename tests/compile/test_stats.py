"""Laws in compiled functions: the same values on every linker."""

from __future__ import annotations

import os

import numpy as np
import pytest
import scipy.stats

import occelo_compile as oc
from occelo_graph import stats
from occelo_graph import tensor as ot
from occelo_graph.config import config

POINTS = np.array([-1.0, 0.0, 0.3, 0.8, 1.0, 7.0])
THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
LINKERS = ("native", "jax", "pytorch")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.filterwarnings("ignore:Shapes in the graph depend on values")
@pytest.mark.filterwarnings("ignore:.* runs in Python, called from the compiled code")
def test_linkers_agree_with_scipy(linker: str) -> None:
    from occelo_link.capabilities import is_installed

    if not is_installed(linker):
        pytest.skip(f"{linker} is not installed")
    x = ot.dvector("x")
    made, expected = [], []
    laws = [("norm", ()), ("gamma", (2.5,)), ("beta", (2.0, 3.0))]
    if linker == "pytorch" and not THOROUGH:
        laws = laws[:1]  # its graphs take long to trace
    for name, shapes in laws:
        law, reference = getattr(stats, name), getattr(scipy.stats, name)
        for method in ("logpdf", "cdf", "logsf"):
            made.append(getattr(law, method)(x, *shapes, scale=1.5))
            expected.append(getattr(reference, method)(POINTS, *shapes, scale=1.5))
    with config.change_flags(pytorch__compile=False):
        values = oc.function([x], made, mode=linker)(POINTS)
    for found, wanted in zip(values, expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
