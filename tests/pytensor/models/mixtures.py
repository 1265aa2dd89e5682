"""Mixtures, counts with many zeros, and hidden states that are summed out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt

from models import model


@model
def normal_mixture() -> Any:
    rng = np.random.default_rng(30)
    y = np.concatenate([rng.normal(-2, 1, 40), rng.normal(3, 0.5, 60)])
    with pm.Model() as made:
        w = pm.Dirichlet("w", np.ones(2))
        mu = pm.Normal(
            "mu", 0, 4, shape=2, transform=pm.distributions.transforms.ordered, initval=[-1, 1]
        )
        s = pm.HalfNormal("s", 2, shape=2)
        pm.NormalMixture("y", w, mu, s, observed=y)
    return made


@model
def poisson_mixture() -> Any:
    rng = np.random.default_rng(31)
    with pm.Model() as made:
        w = pm.Dirichlet("w", np.ones(3))
        rates = pm.Gamma("rates", 2, 0.5, shape=3)
        pm.Mixture("y", w, pm.Poisson.dist(rates, shape=3), observed=rng.poisson(5, 50))
    return made


@model
def zero_inflated_poisson() -> Any:
    rng = np.random.default_rng(32)
    y = rng.poisson(3, 60) * rng.integers(0, 2, 60)
    with pm.Model() as made:
        psi, mu = pm.Beta("psi", 1, 1), pm.Exponential("mu", 0.5)
        pm.ZeroInflatedPoisson("y", psi, mu, observed=y)
    return made


@model
def zero_inflated_negative_binomial() -> Any:
    rng = np.random.default_rng(33)
    y = rng.poisson(3, 60) * rng.integers(0, 2, 60)
    with pm.Model() as made:
        psi, mu, alpha = pm.Beta("psi", 1, 1), pm.Exponential("mu", 0.5), pm.HalfNormal("alpha", 3)
        pm.ZeroInflatedNegativeBinomial("y", psi=psi, mu=mu, alpha=alpha, observed=y)
    return made


@model
def hurdle_gamma() -> Any:
    rng = np.random.default_rng(34)
    y = rng.gamma(2, 2, 50) * rng.integers(0, 2, 50)
    with pm.Model() as made:
        psi, a, b = pm.Beta("psi", 1, 1), pm.HalfNormal("a", 3), pm.HalfNormal("b", 3)
        pm.HurdleGamma("y", psi=psi, alpha=a, beta=b, observed=y)
    return made


@model
def hurdle_poisson() -> Any:
    rng = np.random.default_rng(35)
    with pm.Model() as made:
        psi, mu = pm.Beta("psi", 1, 1), pm.HalfNormal("mu", 3)
        pm.HurdlePoisson("y", psi=psi, mu=mu, observed=rng.poisson(2, 50))
    return made


@model
def change_point_summed_out() -> Any:
    rng = np.random.default_rng(36)
    y = np.concatenate([rng.poisson(3, 30), rng.poisson(1, 30)])
    with pm.Model() as made:
        early, late = pm.Exponential("early", 1), pm.Exponential("late", 1)
        place = np.arange(60)
        before = place[:, None] < place
        rate = pt.where(before, early, late)
        each = (pm.logp(pm.Poisson.dist(rate), y[:, None])).sum(0) - np.log(60)
        pm.Potential("y", pm.math.logsumexp(each))
    return made


@model
def hidden_markov() -> Any:
    rng = np.random.default_rng(37)
    y = rng.normal(np.repeat([0.0, 3, 0], 20), 1)
    with pm.Model() as made:
        p = pm.Dirichlet("p", np.ones((2, 2)))
        mu = pm.Normal(
            "mu", 0, 3, shape=2, transform=pm.distributions.transforms.ordered, initval=[0, 2]
        )
        emission = pm.logp(pm.Normal.dist(mu, 1), y[:, None])

        def step(now: Any, before: Any, logs: Any) -> Any:
            return now + pm.math.logsumexp(before[:, None] + logs, axis=0).squeeze()

        alpha = pytensor.scan(
            step,
            sequences=[emission[1:]],
            outputs_info=[emission[0] - np.log(2.0)],
            non_sequences=[pt.log(p)],
            return_updates=False,
        )
        pm.Potential("y", pm.math.logsumexp(alpha[-1]))
    return made


@model
def dirichlet_multinomial() -> Any:
    rng = np.random.default_rng(38)
    with pm.Model() as made:
        frac = pm.Dirichlet("frac", np.ones(4))
        conc = pm.LogNormal("conc", 1, 1)
        pm.DirichletMultinomial(
            "y", n=50, a=frac * conc, observed=rng.multinomial(50, [0.1, 0.2, 0.3, 0.4], 12)
        )
    return made


@model
def multinomial() -> Any:
    rng = np.random.default_rng(39)
    with pm.Model() as made:
        p = pm.Dirichlet("p", np.ones(4))
        pm.Multinomial("y", n=30, p=p, observed=rng.multinomial(30, [0.1, 0.2, 0.3, 0.4], 10))
    return made


@model
def capture_recapture() -> Any:
    rng = np.random.default_rng(40)
    seen = rng.binomial(5, 0.4, 60)
    seen[40:] = 0
    with pm.Model() as made:
        omega, p = pm.Beta("omega", 1, 1), pm.Beta("p", 1, 1)
        here = pm.logp(pm.Binomial.dist(5, p), seen) + pt.log(omega)
        gone = pt.where(seen == 0, pt.log1p(-omega), -np.inf)
        pm.Potential("y", pt.logaddexp(here, gone).sum())
    return made


@model
def stick_breaking() -> Any:
    rng = np.random.default_rng(41)
    with pm.Model() as made:
        alpha = pm.Gamma("alpha", 1, 1)
        w = pm.StickBreakingWeights("w", alpha, K=5)
        mu = pm.Normal("mu", 0, 3, shape=6)
        pm.NormalMixture("y", w, mu, 1.0, observed=rng.normal(size=40))
    return made


@model
def beta_binomial() -> Any:
    rng = np.random.default_rng(42)
    with pm.Model() as made:
        a, b = pm.HalfNormal("a", 3), pm.HalfNormal("b", 3)
        pm.BetaBinomial("y", n=20, alpha=a, beta=b, observed=rng.binomial(20, 0.3, 30))
    return made
