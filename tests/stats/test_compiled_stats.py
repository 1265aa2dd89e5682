"""Distributions in compiled functions: the same values on every linker."""

from __future__ import annotations

import os

import numpy as np
import pytest
import scipy.stats

import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_stats import functions as stats

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
    distributions = [("norm", ()), ("gamma", (2.5,)), ("beta", (2.0, 3.0))]
    if linker == "pytorch" and not THOROUGH:
        distributions = distributions[:1]  # its graphs take long to trace
    for name, shapes in distributions:
        distribution, reference = getattr(stats, name), getattr(scipy.stats, name)
        for method in ("logpdf", "cdf", "logsf"):
            made.append(getattr(distribution, method)(x, *shapes, scale=1.5))
            expected.append(getattr(reference, method)(POINTS, *shapes, scale=1.5))
    with config.change_flags(pytorch__compile=False):
        values = oc.function([x], made, mode=linker)(POINTS)
    for found, wanted in zip(values, expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_sums_of_probabilities_of_nan_are_nan() -> None:
    """A product with 0 is 0 to rules, so it must not carry NaN."""
    k = ot.dvector("k")
    counts = np.array([np.nan, 1.0])
    methods = ("cdf", "sf", "logcdf", "logsf")
    for name, shapes in (("betabinom", (4, 2.0, 3.0)), ("hypergeom", (9, 4, 3))):
        made = [getattr(getattr(stats, name), method)(k, *shapes) for method in methods]
        for found, method in zip(oc.function([k], made, mode="vm")(counts), methods, strict=True):
            expected = getattr(getattr(scipy.stats, name), method)(1.0, *shapes)
            np.testing.assert_allclose(found, [np.nan, expected], rtol=1e-12)
