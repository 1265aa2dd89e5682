"""The 22 posteriors with reference moments: densities by all, and the moments in a thorough run."""

from __future__ import annotations

import importlib
import os

import numpy as np
import pymc as pm
import pytest
from compare_densities import points
from models import posteriors
from pytensor.compile.mode import Mode

import occelo_pytensor as bridge

HEAVY_TAILED = ("K_m", "V_m")
"""Parameters without a variance in their posterior: the errors of their means are larger than estimated."""
THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
pytestmark = pytest.mark.skipif(
    posteriors.FOLDER is None, reason="OCCELO_POSTERIORDB does not name the folder of the data"
)


@pytest.mark.sampled(22)
@pytest.mark.parametrize("name", posteriors.POSTERIORS)
def test_densities_are_pytensors(name: str) -> None:
    model = posteriors.make(name)
    theirs = pm.pytensorf.compile(model.value_vars, model.logp(), mode=Mode("py", "fast_run"))
    density = bridge.log_density(model, variables=model.value_vars).function()
    for point in list(points(model, 20))[:8]:
        value, _ = density(np.concatenate([np.ravel(v) for v in point]))
        with np.errstate(all="ignore"):
            wanted = theirs(*point)
        if np.isfinite(wanted):
            np.testing.assert_allclose(value, wanted, rtol=1e-7)


@pytest.mark.skipif(not THOROUGH, reason="sampling takes minutes")
@pytest.mark.parametrize("sampler", ["pymc", "mode", "nutpie"])
@pytest.mark.parametrize("name", posteriors.POSTERIORS)
def test_moments_are_the_references(name: str, sampler: str) -> None:
    pytest.importorskip("nutpie")
    found = importlib.import_module("compare_posteriors").compare(name, sampler)
    assert found.mean <= 4 or found.of_mean in HEAVY_TAILED, found
    assert found.sd <= 5 or found.of_sd in HEAVY_TAILED, found
