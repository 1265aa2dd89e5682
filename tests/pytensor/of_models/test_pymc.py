"""The entries of PyMC run on Occelo: by their mode, and by `use`."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import arviz as az
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from pymc.model.core import ValueGradFunction
from pytensor.compile.ops import wrap_py

import occelo_pytensor as bridge

pytestmark = pytest.mark.filterwarnings("ignore")
QUIET = {"progressbar": False, "random_seed": 1}


def _line() -> Any:
    rng = np.random.default_rng(3)
    x = rng.normal(size=40)
    with pm.Model() as model:
        b = pm.Normal("b", 0, 5)
        s = pm.HalfNormal("s", 2)
        pm.Normal("y", b * x, s, observed=3 * x + rng.normal(size=40))
    return model


@pytest.mark.parametrize("what", ["compile_logp", "compile_dlogp", "compile_d2logp"])
def test_densities_and_derivatives_in_the_mode(what: str) -> None:
    model = _line()
    point = {"b": np.array(0.7), "s_log__": np.array(-0.3)}
    ours = getattr(model, what)(mode="OCCELO")(point)
    np.testing.assert_allclose(ours, getattr(model, what)(mode="FAST_COMPILE")(point), rtol=1e-9)


def test_draws_are_those_of_pytensors_modes() -> None:
    model = _line()
    ours = pm.draw(model["y"], 3, random_seed=4, mode="OCCELO")
    np.testing.assert_array_equal(ours, pm.draw(model["y"], 3, random_seed=4, mode="FAST_COMPILE"))


def test_value_and_gradient_are_differentiated_here() -> None:
    model = _line()
    start = np.array([0.7, -0.3])
    with bridge.use():
        f = model.logp_dlogp_function(ravel_inputs=True)
        f.set_extra_values({})
        value, gradient = f._pytensor_function(start)
        other = f.copy()
        other.set_extra_values({})
        np.testing.assert_array_equal(other._pytensor_function(start)[1], gradient)
    point = {"b": start[0], "s_log__": start[1]}
    assert value == pytest.approx(float(model.compile_logp(mode="FAST_COMPILE")(point)))
    np.testing.assert_allclose(gradient, model.compile_dlogp(mode="FAST_COMPILE")(point), rtol=1e-9)


def test_use_ends() -> None:
    before = (pytensor.config.mode, pm.model.core.ValueGradFunction)
    with bridge.use():
        assert pm.model.core.ValueGradFunction is not ValueGradFunction
    assert (pytensor.config.mode, pm.model.core.ValueGradFunction) == before


def test_uses_that_overlap_end_in_any_order() -> None:
    before = (pytensor.config.mode, pm.model.core.ValueGradFunction)
    one, two = bridge.use(), bridge.use()
    one.stop()
    assert pm.model.core.ValueGradFunction is not ValueGradFunction
    two.stop()
    two.stop()
    assert (pytensor.config.mode, pm.model.core.ValueGradFunction) == before


def test_sampling_and_what_follows_it() -> None:
    with bridge.use(), _line():
        trace = pm.sample(
            draws=100, tune=150, chains=2, cores=1, compute_convergence_checks=False, **QUIET
        )
        assert float(trace.posterior["b"].mean()) == pytest.approx(3, abs=0.7)
        found = pm.find_MAP(progressbar=False)
        assert float(found["b"]) == pytest.approx(3, abs=0.7)
        pm.compute_log_likelihood(trace, progressbar=False)
        drawn = pm.sample_posterior_predictive(trace, **QUIET)
        assert drawn.posterior_predictive["y"].shape == (2, 100, 40)
        assert pm.sample_prior_predictive(5, random_seed=1).prior["b"].shape == (1, 5)
        assert np.isfinite(pm.fit(100, **QUIET).hist).all()


@pytest.mark.parametrize("step", [pm.NUTS, pm.Metropolis, pm.Slice])
def test_steps_in_processes(step: Any) -> None:
    with bridge.use(), _line():
        trace = pm.sample(
            draws=30, tune=30, chains=2, cores=2, step=step(), compute_convergence_checks=False,
            **QUIET,
        )  # fmt: skip
    assert trace.posterior["b"].shape == (2, 30)


def _largest(options: Any) -> Any:
    if "compile_kwargs" in inspect.signature(pm.find_MAP).parameters:
        return pm.find_MAP(progressbar=False, **options)
    with pytensor.config.change_flags(**options["compile_kwargs"]):  # PyMC 6.3 has no other way
        return pm.find_MAP(progressbar=False)


COMPILED: dict[str, Callable[[Any, Any], Any]] = {
    "find_MAP": lambda trace, options: _largest(options)["b"],
    "sample_prior_predictive": lambda trace, options: pm.sample_prior_predictive(
        4, random_seed=1, **options
    ).prior["b"],
    "sample_posterior_predictive": lambda trace, options: pm.sample_posterior_predictive(
        trace, **QUIET, **options
    ).posterior_predictive["y"],
    "compute_log_likelihood": lambda trace, options: pm.compute_log_likelihood(
        trace, extend_inferencedata=False, progressbar=False, **options
    )["y"],
    "compute_deterministics": lambda trace, options: pm.compute_deterministics(
        trace.posterior, progressbar=False, **options
    )["twice"],
    "sample": lambda trace, options: pm.sample(
        draws=4, tune=2, chains=1, step=pm.Metropolis(**options), compute_convergence_checks=False,
        **QUIET, **options,
    ).posterior["b"],
    "sample_smc": lambda trace, options: pm.sample_smc(
        20, chains=1, compute_convergence_checks=False, **QUIET, **options
    ).posterior["b"],
    "compile_fn": lambda trace, options: pm.modelcontext(None).compile_fn(
        [2 * v for v in pm.modelcontext(None).value_vars], mode=options["compile_kwargs"]["mode"]
    )({"b": np.array(0.25), "s_log__": np.array(0.5)}),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("entry", COMPILED)
def test_entries_take_the_mode(entry: str) -> None:
    """Each gives the numbers that PyTensor's own mode gives for the same seed."""
    with _line() as model:
        pm.Deterministic("twice", 2 * model["b"])
        trace = az.from_dict({"posterior": {"b": np.full((1, 2), 2.9), "s": np.full((1, 2), 1.1)}})

        def run(mode: str) -> Any:
            return np.asarray(COMPILED[entry](trace, {"compile_kwargs": {"mode": mode}}))

        np.testing.assert_allclose(run("OCCELO"), run("FAST_COMPILE"), rtol=1e-6)


def test_the_doctor_names_every_line_and_functions_of_scipy() -> None:
    @wrap_py([pt.dscalar], [pt.dscalar])
    def seen(x: Any) -> Any:
        return np.asarray(x)

    with pm.Model() as model:
        x = pm.Gamma("x", 2, 1)
        fixed = pt.as_tensor_variable(np.float64(1.5)) * pytensor.shared(2.0)
        first = seen(fixed).sum()
        second = seen(fixed + 1).sum()
        pm.Potential("p", first * second * x)
        pm.Potential("q", pt.erfcinv(pm.math.sigmoid(x)))
    report = bridge.doctor(model)
    assert list(report.unknown.values()) == [2]
    ((name, lines),) = report.python.items()
    assert "seen" in name
    assert len(lines.split(", ")) == 2, lines
    assert report.scipy == ["erfcinv"]
    for part in ("PyTensor's own code", "erfcinv", "seconds to convert"):
        assert part in str(report)


def test_the_doctor_says_what_it_cannot_report_on() -> None:
    with pm.Model() as discrete:
        pm.Normal("y", pm.Poisson("k", 3), 1, observed=1.0)
    with pytest.raises(TypeError, match="these parameters are discrete: k"):
        bridge.doctor(discrete)
    with pytest.raises(ValueError, match="no parameters"):
        bridge.doctor(pm.Model())
    with pytest.raises(TypeError, match="a model of PyMC, got int 3"):
        bridge.doctor(3)


IN_ITS_PROCESS = """
import sys
from pathlib import Path

import numpy as np
import pymc as pm

import occelo.pytensor
from models import MODELS, fields, mixtures, regressions
from occelo_link.cache.store import counters

for name in ("minibatch", "missing_data", "hidden_markov", "gp_marginal"):
    model = MODELS[name]()
    start = model.initial_point()
    for compiled in (model.compile_logp(mode="OCCELO"), model.compile_dlogp(mode="OCCELO")):
        compiled(start)
    with occelo.pytensor.use(), model:
        density = model.logp_dlogp_function(ravel_inputs=True)
        density.set_extra_values({})
        density._pytensor_function(np.concatenate([np.ravel(start[v.name]) for v in model.continuous_value_vars]))
        pm.sample_prior_predictive(2, random_seed=1)
print(*(counters[each] for each in ("function hits", "function misses", "rewriting", "code generation")))
"""


def test_another_process_rewrites_nothing_and_makes_no_code(tmp_path: Path) -> None:
    options = {"OCCELO_FLAGS": f"base_compiledir={tmp_path}"}
    paths = {"PYTHONPATH": str(Path(__file__).parents[1])}
    results = [
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", IN_ITS_PROCESS],
            env=os.environ | options | paths, capture_output=True, check=True, text=True,
        ).stdout
        for _ in range(2)
    ]  # fmt: skip
    first, again = (list(map(int, each.splitlines()[-1].split())) for each in results)
    assert first[1:3] == [16, 16]  # four functions of each model
    assert again == [16, 0, 0, 0]
