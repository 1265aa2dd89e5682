"""Models of PyMC as C functions for nutpie."""

from __future__ import annotations

import ctypes
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pymc as pm
import pytest

import occelo_pytensor as bridge

nutpie = pytest.importorskip("nutpie")
ROWS = 25


def _line() -> Any:
    rng = np.random.default_rng(0)
    x = rng.normal(size=ROWS)
    with pm.Model(coords={"row": range(ROWS), "term": ["a", "b"]}) as made:
        given = pm.Data("given", x, dims="row")
        y = pm.Data("measured", 1 + 2 * x + rng.normal(size=ROWS), dims="row")
        beta = pm.Normal("beta", 0, 3, dims="term")
        s = pm.HalfNormal("s", 2)
        pm.Deterministic("total", beta.sum())
        pm.Normal("y", beta[0] + beta[1] * given, s, observed=y, dims="row")
    return made


def _called(function: Any, point: Any) -> tuple[float, Any]:
    """The value and the gradient by a call of the C function."""
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, *[ctypes.c_void_p] * 4)
    value, gradient = np.zeros(()), np.zeros_like(point)
    arrays = (point, gradient, value)
    code = kind(function.address)(len(point), *(a.ctypes.data for a in arrays), function.data)
    assert code == 0
    return float(value), gradient


def test_the_c_function_is_the_log_density_and_takes_new_data() -> None:
    model = _line()
    compiled = bridge.nutpie_model(model)
    point = np.array([0.3, -0.2, 0.1])
    logp = model.compile_logp(mode="FAST_COMPILE")
    values = {"beta": point[:2], "s_log__": point[2]}
    value, gradient = _called(compiled.density, point)
    assert value == pytest.approx(float(logp(values)), rel=1e-12)
    wanted = model.compile_dlogp(mode="FAST_COMPILE")(values)
    np.testing.assert_allclose(gradient, wanted, rtol=1e-10)
    other = compiled.with_data(measured=np.zeros(ROWS))
    assert other.density.address == compiled.density.address
    with model:
        pm.set_data({"measured": np.zeros(ROWS)})
    assert _called(other.density, point)[0] == pytest.approx(float(logp(values)), rel=1e-12)
    assert _called(compiled.density, point)[0] == value
    with pytest.raises(KeyError, match="nothing"):
        compiled.with_data(nothing=1.0)


def test_nutpie_samples_the_posterior() -> None:
    compiled = bridge.nutpie_model(_line())
    trace = nutpie.sample(
        compiled, draws=400, tune=400, chains=2, seed=3, progress_bar=False
    ).posterior
    assert set(trace.data_vars) >= {"beta", "s", "total"}
    assert trace["beta"].dims == ("chain", "draw", "term")
    mean = trace["beta"].mean(("chain", "draw")).values
    np.testing.assert_allclose(mean, [1, 2], atol=0.6)
    total = trace["beta"].sum("term").values
    np.testing.assert_allclose(trace["total"].values, total, rtol=1e-12)


def test_initial_points_of_chains_are_made_one_after_the_other(monkeypatch: Any) -> None:
    # chains start in threads, and PyTensor's functions keep the values of a call in themselves
    running: list[int] = []

    def made(**_: Any) -> Any:
        def values(seed: int) -> dict[str, Any]:
            running.append(seed)
            time.sleep(0.002)
            alone = running == [seed]
            running.remove(seed)
            return {"beta": np.full(2, float(seed)), "s_log__": np.array(float(alone))}

        return values

    monkeypatch.setattr("occelo_pytensor.nutpie.make_initial_point_fn", made)
    start = bridge.nutpie_model(_line()).initial_point
    with ThreadPoolExecutor(4) as pool:
        for seed, point in enumerate(pool.map(start, range(12))):
            np.testing.assert_array_equal(point, [seed, seed, 1.0])


def test_discrete_parameters_are_refused() -> None:
    with pm.Model() as model:
        pm.Poisson("k", 2.0)
    with pytest.raises(TypeError, match="k"):
        bridge.nutpie_model(model)
