"""Survival, censored, truncated and further laws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from models import model


@model
def weibull_survival() -> Any:
    rng = np.random.default_rng(90)
    t = rng.weibull(1.5, 60) * 3
    dead = t < 4
    with pm.Model() as made:
        a, b = pm.HalfNormal("a", 2), pm.HalfNormal("b", 5)
        z = np.minimum(t, 4)
        logp = pt.where(
            dead, pt.log(a) - a * pt.log(b) + (a - 1) * np.log(z) - (z / b) ** a, -((z / b) ** a)
        )
        pm.Potential("y", logp.sum())
    return made


@model
def censored_normal() -> Any:
    rng = np.random.default_rng(91)
    with pm.Model() as made:
        mu, s = pm.Normal("mu", 0, 3), pm.HalfNormal("s", 2)
        y = np.clip(rng.normal(1, 2, 50), -1, 3)
        pm.Censored("y", pm.Normal.dist(mu, s), lower=-1, upper=3, observed=y)
    return made


@model
def censored_exponential() -> Any:
    rng = np.random.default_rng(92)
    with pm.Model() as made:
        rate = pm.Gamma("rate", 2, 2)
        y = np.minimum(rng.exponential(2, 40), 3)
        pm.Censored("y", pm.Exponential.dist(rate), lower=None, upper=3, observed=y)
    return made


@model
def truncated_normal() -> Any:
    rng = np.random.default_rng(93)
    with pm.Model() as made:
        mu, s = pm.Normal("mu", 0, 3), pm.HalfNormal("s", 2)
        pm.TruncatedNormal("y", mu, s, lower=0, observed=np.abs(rng.normal(size=40)))
    return made


@model
def truncated_gamma() -> Any:
    rng = np.random.default_rng(94)
    with pm.Model() as made:
        a, b = pm.HalfNormal("a", 3), pm.HalfNormal("b", 3)
        y = np.clip(rng.gamma(2, 1, 30), 0.1, 3.9)
        pm.Truncated("y", pm.Gamma.dist(a, b), lower=None, upper=4, observed=y)
    return made


@model
def custom_law() -> Any:
    rng = np.random.default_rng(95)

    def logp(value: Any, mu: Any, s: Any) -> Any:
        return -pt.log(s) - pt.sqrt(1 + ((value - mu) / s) ** 2)

    with pm.Model() as made:
        mu, s = pm.Normal("mu"), pm.HalfNormal("s")
        pm.CustomDist("y", mu, s, logp=logp, observed=rng.normal(size=30))
    return made


@model
def custom_graph() -> Any:
    rng = np.random.default_rng(96)

    def dist(mu: Any, s: Any, size: Any) -> Any:
        return pt.exp(pm.Normal.dist(mu, s, size=size))

    with pm.Model() as made:
        mu, s = pm.Normal("mu"), pm.HalfNormal("s")
        pm.CustomDist("y", mu, s, dist=dist, observed=np.exp(rng.normal(size=30)))
    return made


def _law(name: str, seed: int, *parameters: str) -> Any:
    """A model with a prior on each parameter of a law of positive numbers."""

    def make() -> Any:
        rng = np.random.default_rng(seed)
        with pm.Model() as made:
            given = {p: pm.HalfNormal(p, 2) for p in parameters}
            getattr(pm, name)("y", **given, observed=rng.uniform(0.1, 0.9, 25))
        return made

    make.__name__ = f"law_of_{name.lower()}"
    return model(make)


for _seed, (_name, *_parameters) in enumerate(
    (
        ("Wald", "mu", "lam"),
        ("InverseGamma", "alpha", "beta"),
        ("Kumaraswamy", "a", "b"),
        ("VonMises", "mu", "kappa"),
        ("SkewNormal", "mu", "sigma", "alpha"),
        ("ExGaussian", "mu", "sigma", "nu"),
        ("Rice", "nu", "sigma"),
        ("AsymmetricLaplace", "kappa", "b", "mu"),
        ("Logistic", "mu", "s"),
        ("Gumbel", "mu", "beta"),
        ("Moyal", "mu", "sigma"),
        ("HalfStudentT", "nu", "sigma"),
        ("LogitNormal", "mu", "sigma"),
    )
):
    _law(_name, 100 + _seed, *_parameters)


@model
def discrete_weibull() -> Any:
    rng = np.random.default_rng(120)
    with pm.Model() as made:
        q, b = pm.Beta("q", 2, 2), pm.HalfNormal("b", 2)
        pm.DiscreteWeibull("y", q, b, observed=rng.poisson(2, 30))
    return made


@model
def geometric_and_hypergeometric() -> Any:
    rng = np.random.default_rng(121)
    with pm.Model() as made:
        p = pm.Beta("p", 2, 2)
        pm.Geometric("y", p, observed=rng.geometric(0.3, 20))
    return made


@model
def triangular() -> Any:
    rng = np.random.default_rng(122)
    with pm.Model() as made:
        c = pm.Uniform("c", 0, 1)
        pm.Triangular("y", lower=0, upper=1, c=c, observed=rng.triangular(0, 0.4, 1, 20))
    return made
