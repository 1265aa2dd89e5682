"""The 22 posteriors with reference moments: real data, and priors as their literature has them.

``POSTERIORS`` maps the name of a posterior to the function that makes its model from the data. Variables have the names
of the reference; ``names`` says which element of a trace a name of the reference is.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt

FOLDER = os.environ.get("OCCELO_POSTERIORDB")
POSTERIORS: dict[str, Callable[[Any], Any]] = {}
Data = dict[str, Any]


def data_of(posterior: str) -> Data:
    """The data set of a posterior, with arrays for lists."""
    assert FOLDER is not None
    name = posterior.partition("-")[0]
    loaded = json.loads((Path(FOLDER) / "data" / f"{name}.json").read_text())
    return {k: np.asarray(v) if isinstance(v, list) else v for k, v in loaded.items()}


def reference() -> dict[str, Any]:
    """The reference moments of all posteriors: names, mean, mcse, sd."""
    assert FOLDER is not None
    return json.loads((Path(FOLDER) / "reference.json").read_text())


def make(posterior: str) -> Any:
    """The model of a posterior."""
    return POSTERIORS[posterior](data_of(posterior))


def element(name: str) -> tuple[str, tuple[int, ...]]:
    """The variable and the position of an element such as ``theta[1,2]``, which the reference counts from 1."""
    found = re.fullmatch(r"(\w+)(?:\[([\d,]+)\])?", name)
    assert found is not None, name
    return found[1], tuple(int(i) - 1 for i in found[2].split(",")) if found[2] else ()


def posterior(name: str) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Decorator that adds a posterior to the list. The function runs in the model's context."""

    def add(build: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def made(d: Data) -> Any:
            with pm.Model() as model:
                build(d)
            return model

        POSTERIORS[name] = made
        return made

    return add


def _regression(y: Any, columns: list[Any], sigma: Any) -> None:
    """A linear regression with flat coefficients."""
    x = np.column_stack(columns).astype(float)
    beta = pm.Flat("beta", shape=x.shape[1], initval=np.zeros(x.shape[1]))
    pm.Normal("y", x @ beta, sigma, observed=np.asarray(y, float))


@posterior("arK-arK")
def _(d: Data) -> None:
    k, y = d["K"], d["y"]
    alpha = pm.Normal("alpha", 0, 10)
    beta = pm.Normal("beta", 0, 10, shape=k)
    sigma = pm.HalfCauchy("sigma", 2.5)
    lags = np.column_stack([y[k - j - 1 : len(y) - j - 1] for j in range(k)])
    pm.Normal("y", alpha + lags @ beta, sigma, observed=y[k:])


@posterior("eight_schools-eight_schools_noncentered")
def _(d: Data) -> None:
    mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
    raw = pm.Normal("raw", 0, 1, shape=d["J"])
    theta = pm.Deterministic("theta", mu + tau * raw)
    pm.Normal("y", theta, d["sigma"].astype(float), observed=d["y"])


def _kernel(x: Any, alpha: Any, rho: Any) -> Any:
    return alpha**2 * pt.exp(-0.5 * ((x[:, None] - x) / rho) ** 2)


@posterior("gp_pois_regr-gp_pois_regr")
def _(d: Data) -> None:
    rho, alpha = pm.Gamma("rho", 25, 4), pm.HalfNormal("alpha", 2)
    raw = pm.Normal("raw", 0, 1, shape=d["N"])
    cov = _kernel(d["x"].astype(float), alpha, rho) + 1e-10 * np.eye(d["N"])
    f = pm.Deterministic("f", pt.linalg.cholesky(cov) @ raw)
    pm.Poisson("k", pt.exp(f), observed=d["k"])


@posterior("gp_pois_regr-gp_regr")
def _(d: Data) -> None:
    rho, alpha = pm.Gamma("rho", 25, 4), pm.HalfNormal("alpha", 2)
    sigma = pm.HalfNormal("sigma", 1)
    cov = _kernel(d["x"].astype(float), alpha, rho) + sigma * np.eye(d["N"])
    pm.MvNormal("y", np.zeros(d["N"]), cov=cov, observed=d["y"])


@posterior("hmm_example-hmm_example")
def _(d: Data) -> None:
    theta = [pm.Dirichlet(f"theta{k}", np.ones(2)) for k in (1, 2)]
    mu = pm.Flat("mu", shape=2, transform=pm.distributions.transforms.Chain(
        [pm.distributions.transforms.log, pm.distributions.transforms.ordered]
    ), initval=np.array([3.0, 10.0]))  # fmt: skip
    pm.Potential("prior", pm.logp(pm.Normal.dist(np.array([3.0, 10.0]), 1), mu).sum())
    emission = pm.logp(pm.Normal.dist(mu, 1), d["y"][:, None])
    logs = pt.log(pt.stack(theta))
    alpha = pytensor.scan(
        lambda now, before, logs: pm.math.logsumexp(before[:, None] + logs, axis=0).squeeze() + now,
        sequences=[emission[1:]],
        outputs_info=[emission[0]],
        non_sequences=[logs],
        return_updates=False,
    )
    pm.Potential("y", pm.math.logsumexp(alpha[-1]))


def _runge_kutta(slope: Any, start: Any, times: Any, parameters: Any, steps: int) -> Any:
    """States at equally spaced ``times``, by the classical method with ``steps`` steps between two."""
    h = float(times[1] - times[0]) / steps

    def step(t: Any, z: Any, *p: Any) -> Any:
        a = slope(t, z, *p)
        b = slope(t + h / 2, z + h / 2 * a, *p)
        c = slope(t + h / 2, z + h / 2 * b, *p)
        return z + h / 6 * (a + 2 * b + 2 * c + slope(t + h, z + h * c, *p))

    count = steps * len(times)
    grid = float(times[0]) - h * steps + h * np.arange(count)
    states = pytensor.scan(
        step, sequences=[pt.as_tensor(grid)], outputs_info=[start], non_sequences=parameters,
        return_updates=False,
    )  # fmt: skip
    return states[steps - 1 :: steps]


@posterior("hudson_lynx_hare-lotka_volterra")
def _(d: Data) -> None:
    theta = pm.TruncatedNormal(
        "theta", [1, 0.05, 1, 0.05], [0.5, 0.05, 0.5, 0.05], lower=0,
        initval=[0.6, 0.03, 0.8, 0.03],
    )  # fmt: skip
    start = pm.LogNormal("z_init", np.log(10), 1, shape=2, initval=[30.0, 5.0])
    sigma = pm.LogNormal("sigma", -1, 1, shape=2)

    def slope(t: Any, z: Any, theta: Any) -> Any:
        prey = (theta[0] - theta[1] * z[1]) * z[0]
        return pt.stack([prey, (-theta[2] + theta[3] * z[0]) * z[1]])

    z = _runge_kutta(slope, start, d["ts"].astype(float), [theta], 10)
    pm.LogNormal("y_init", pt.log(start), sigma, observed=d["y_init"].astype(float))
    pm.LogNormal("y", pt.log(z), sigma, observed=d["y"].astype(float))


def _kid(*columns: str) -> Callable[[Data], None]:
    def build(d: Data) -> None:
        one = np.ones(d["N"])
        every = {"1": one, "hs": d["mom_hs"], "iq": d["mom_iq"], "both": d["mom_hs"] * d["mom_iq"]}
        _regression(d["kid_score"], [every[c] for c in columns], pm.HalfCauchy("sigma", 2.5))

    return build


posterior("kidiq-kidscore_momhs")(_kid("1", "hs"))
posterior("kidiq-kidscore_momiq")(_kid("1", "iq"))
posterior("kidiq-kidscore_momhsiq")(_kid("1", "hs", "iq"))
posterior("kidiq-kidscore_interaction")(_kid("1", "hs", "iq", "both"))


@posterior("kilpisjarvi_mod-kilpisjarvi")
def _(d: Data) -> None:
    alpha = pm.Normal("alpha", d["pmualpha"], d["psalpha"])
    beta = pm.Normal("beta", d["pmubeta"], d["psbeta"])
    pm.Normal("y", alpha + beta * d["x"], pm.HalfFlat("sigma", initval=1.0), observed=d["y"])


@posterior("low_dim_gauss_mix-low_dim_gauss_mix")
def _(d: Data) -> None:
    mu = pm.Normal(
        "mu", 0, 2, shape=2, transform=pm.distributions.transforms.ordered, initval=[-1.0, 1.0]
    )
    sigma, theta = pm.HalfNormal("sigma", 2, shape=2), pm.Beta("theta", 5, 5)
    each = pt.stack([pt.log(theta), pt.log1p(-theta)]) + pm.logp(
        pm.Normal.dist(mu, sigma), d["y"][:, None]
    )
    pm.Potential("y", pm.math.logsumexp(each, axis=1).sum())


@posterior("mcycle_gp-accel_gp")
def _(d: Data) -> None:
    def process(suffix: str, count: int) -> tuple[Any, Any]:
        # PyTensor makes an int8 of 36, whose square overflows
        scale = pm.HalfStudentT(f"sdgp{suffix}_1", nu=3, sigma=36.0, initval=1.0)
        length = pm.InverseGamma(f"lscale{suffix}_1", alpha=1.124909, beta=0.0177)
        raw = pm.Normal(f"zgp{suffix}_1", 0, 1, shape=count)
        rate = d[f"slambda{suffix}_1"][:, 0]
        spectrum = scale**2 * np.sqrt(2 * np.pi) * length * pt.exp(-0.5 * (length * rate) ** 2)
        return d[f"Xgp{suffix}_1"] @ (pt.sqrt(spectrum) * raw), raw

    level = pm.StudentT("Intercept", nu=3, mu=-13, sigma=36.0)
    mean, _ = process("", d["NBgp_1"])
    level_of_sigma = pm.StudentT("Intercept_sigma", nu=3, mu=0, sigma=10.0)
    log_sigma, _ = process("_sigma", d["NBgp_sigma_1"])
    pm.Normal("y", level + mean, pt.exp(level_of_sigma + log_sigma), observed=d["Y"])


def _mesquite(*columns: str, logs: bool = True) -> Callable[[Data], None]:
    def build(d: Data) -> None:
        d = {k: v if k == "N" else v.astype(float) for k, v in d.items()}
        area = d["diam1"] * d["diam2"]
        d |= {"area": area, "volume": area * d["canopy_height"], "form": d["diam1"] / d["diam2"]}
        y = np.log(d["weight"]) if logs else d["weight"]
        given = [np.log(d[c]) if logs and c != "group" else d[c] for c in columns]
        _regression(y, [np.ones(d["N"]), *given], pm.HalfFlat("sigma", initval=1.0))

    return build


_SIZES = ("diam1", "diam2", "canopy_height", "total_height", "density", "group")
posterior("mesquite-mesquite")(_mesquite(*_SIZES, logs=False))
posterior("mesquite-logmesquite")(_mesquite(*_SIZES))
posterior("mesquite-logmesquite_logvolume")(_mesquite("volume"))
posterior("mesquite-logmesquite_logva")(_mesquite("volume", "area", "group"))
posterior("mesquite-logmesquite_logvas")(
    _mesquite("volume", "area", "form", "total_height", "density", "group")
)
posterior("mesquite-logmesquite_logvash")(
    _mesquite("volume", "area", "form", "total_height", "group")
)


@posterior("nes1980-nes")
def _(d: Data) -> None:
    ages = [d["age_discrete"] == k for k in (2, 3, 4)]
    columns = [np.ones(d["N"]), d["real_ideo"], d["race_adj"], *ages]
    columns += [d["educ1"], d["gender"], d["income"]]
    _regression(d["partyid7"], columns, pm.HalfFlat("sigma", initval=1.0))


@posterior("one_comp_mm_elim_abs-one_comp_mm_elim_abs")
def _(d: Data) -> None:
    k_a, k_m, v_m = (pm.HalfCauchy(n, 1) for n in ("k_a", "K_m", "V_m"))
    sigma = pm.HalfCauchy("sigma", 1)
    dose, volume = float(d["D"]), float(d["V"])

    def slope(t: Any, c: Any, k_a: Any, k_m: Any, v_m: Any) -> Any:
        return -(v_m / volume) * c / (k_m + c) + pt.exp(-k_a * t) * dose * k_a / volume

    c = _runge_kutta(slope, pt.zeros((), "float64"), d["times"], [k_a, k_m, v_m], 20)
    pm.LogNormal("C_hat", pt.log(c), sigma, observed=d["C_hat"])


@posterior("sblri-blr")
def _(d: Data) -> None:
    beta = pm.Normal("beta", 0, 10, shape=d["D"])
    pm.Normal("y", d["X"] @ beta, pm.HalfNormal("sigma", 10), observed=d["y"])
