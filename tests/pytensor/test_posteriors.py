"""The 22 posteriors with reference moments: densities by all, and the moments by nutpie in a thorough run."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pymc as pm
import pytest
from compare_densities import points
from models import posteriors
from pytensor.compile.mode import Mode

import occelo_pytensor as bridge

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
@pytest.mark.parametrize("name", posteriors.POSTERIORS)
def test_moments_are_the_references(name: str) -> None:
    nutpie: Any = pytest.importorskip("nutpie")
    arviz: Any = pytest.importorskip("arviz")
    compiled = bridge.nutpie_model(posteriors.make(name))
    trace = nutpie.sample(
        compiled, draws=1500, tune=1500, chains=4, seed=1, progress_bar=False, target_accept=0.9
    ).posterior
    known = posteriors.reference()[name]
    for element, mean, mcse in zip(known["names"], known["mean"], known["mcse"], strict=True):
        variable, at = posteriors.element(element)
        draws = trace[variable].values[(slice(None), slice(None), *at)]
        error = np.sqrt(draws.var() / float(arviz.ess(draws)) + mcse**2)
        assert abs(draws.mean() - mean) <= 4 * error, (element, draws.mean(), mean, error)
