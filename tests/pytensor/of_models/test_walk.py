"""The walk of a new user who fits a model from docs/pymc.md and docs/nutpie.md: its posterior is known exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytest

import occelo.pytensor

ROWS = 60


def _data() -> tuple[Any, Any]:
    rng = np.random.default_rng(7)
    x = np.stack([np.ones(ROWS), rng.normal(size=ROWS)], axis=1)
    return x, x @ [0.5, -1.5] + rng.normal(size=ROWS)


def _model(x: Any, y: Any) -> Any:
    with pm.Model() as model:
        rows = pm.Data("rows", x)
        measured = pm.Data("measured", y)
        beta = pm.Normal("beta", 0.0, 3.0, shape=2)
        pm.Normal("y", rows @ beta, 1.0, observed=measured)
    return model


def _exact(x: Any, y: Any) -> tuple[Any, Any]:
    """Mean and standard deviations of the posterior: a normal prior with a normal likelihood."""
    covariance = np.linalg.inv(x.T @ x + np.eye(2) / 9.0)
    return covariance @ (x.T @ y), np.sqrt(np.diag(covariance))


def _agrees(trace: Any, x: Any, y: Any) -> None:
    """With 800 draws of a walk without much correlation, means are within 0.2 deviations, deviations within a fifth."""
    mean, deviation = _exact(x, y)
    beta = trace.posterior["beta"].values.reshape(-1, 2)
    assert beta.shape == (800, 2)
    np.testing.assert_array_less(abs(beta.mean(axis=0) - mean) / deviation, 0.2)
    np.testing.assert_allclose(beta.std(axis=0), deviation, rtol=0.2)


@pytest.mark.filterwarnings("ignore:`find_MAP` will:FutureWarning")  # PyMC's own
def test_a_model_is_fitted_by_pymc() -> None:
    x, y = _data()
    model = _model(x, y)
    with occelo.pytensor.use(), model:
        trace = pm.sample(draws=400, tune=400, chains=2, cores=1, progressbar=False, random_seed=1)
        point = pm.find_MAP(progressbar=False)
    _agrees(trace, x, y)
    # of a normal posterior the largest density is at the mean
    np.testing.assert_allclose(point["beta"], _exact(x, y)[0], atol=1e-4)


def test_a_model_is_fitted_by_nutpie_and_again_with_other_data() -> None:
    nutpie = pytest.importorskip("nutpie")
    x, y = _data()
    compiled = occelo.pytensor.nutpie_model(_model(x, y))
    options: Any = {"draws": 400, "tune": 400, "chains": 2, "seed": 1, "progress_bar": False}
    _agrees(nutpie.sample(compiled, **options), x, y)
    _agrees(nutpie.sample(compiled.with_data(measured=-y), **options), x, -y)
    few = compiled.with_data(rows=x[:9], measured=y[:9])
    _agrees(nutpie.sample(few, **options), x[:9], y[:9])
