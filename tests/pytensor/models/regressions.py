"""Linear models, generalized linear models and hierarchies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from models import model


@model
def eight_schools_centered() -> Any:
    y = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
    sigma = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
    with pm.Model() as made:
        mu = pm.Normal("mu", 0, 5)
        tau = pm.HalfCauchy("tau", 5)
        theta = pm.Normal("theta", mu, tau, shape=8)
        pm.Normal("y", theta, sigma, observed=y)
    return made


@model
def radon_like_noncentered() -> Any:
    rng = np.random.default_rng(1)
    county = rng.integers(0, 12, 150)
    floor = rng.integers(0, 2, 150).astype(float)
    with pm.Model(coords={"county": range(12)}) as made:
        mu = pm.Normal("mu", 0, 2, shape=2)
        scale = pm.HalfNormal("scale", 1, shape=2)
        raw = pm.Normal("raw", 0, 1, shape=(2, 12))
        effects = pm.Deterministic("effects", mu[:, None] + scale[:, None] * raw)
        noise = pm.Exponential("noise", 1)
        mean = effects[0, county] + effects[1, county] * floor
        pm.Normal("y", mean, noise, observed=rng.normal(1, 1, 150))
    return made


@model
def logistic_regression() -> Any:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(200, 4))
    with pm.Model() as made:
        beta = pm.Normal("beta", 0, 2, shape=4)
        pm.Bernoulli("y", logit_p=x @ beta, observed=rng.integers(0, 2, 200))
    return made


@model
def poisson_regression() -> Any:
    rng = np.random.default_rng(3)
    x = rng.normal(size=100)
    with pm.Model() as made:
        a, b = pm.Normal("a"), pm.Normal("b")
        pm.Poisson("y", pt.exp(a + b * x), observed=rng.poisson(3, 100))
    return made


@model
def negative_binomial_regression() -> Any:
    rng = np.random.default_rng(4)
    x = rng.normal(size=80)
    with pm.Model() as made:
        beta = pm.Normal("beta", 0, 1, shape=2)
        alpha = pm.Exponential("alpha", 0.5)
        pm.NegativeBinomial(
            "y", mu=pt.exp(beta[0] + beta[1] * x), alpha=alpha, observed=rng.poisson(4, 80)
        )
    return made


@model
def robust_regression() -> Any:
    rng = np.random.default_rng(5)
    x = rng.normal(size=60)
    with pm.Model() as made:
        a, b = pm.Normal("a", 0, 10), pm.Normal("b", 0, 10)
        nu = pm.Gamma("nu", 2, 0.1)
        s = pm.HalfCauchy("s", 2)
        pm.StudentT("y", nu=nu, mu=a + b * x, sigma=s, observed=2 * x + rng.standard_t(3, 60))
    return made


@model
def ordered_logistic() -> Any:
    rng = np.random.default_rng(6)
    x = rng.normal(size=90)
    with pm.Model() as made:
        beta = pm.Normal("beta")
        cut = pm.Normal(
            "cut", 0, 2, shape=3, transform=pm.distributions.transforms.ordered, initval=[-1, 0, 1]
        )
        pm.OrderedLogistic("y", eta=beta * x, cutpoints=cut, observed=rng.integers(0, 4, 90))
    return made


@model
def ordered_probit() -> Any:
    rng = np.random.default_rng(7)
    x = rng.normal(size=50)
    with pm.Model() as made:
        beta = pm.Normal("beta")
        cut = pm.Normal(
            "cut", 0, 2, shape=2, transform=pm.distributions.transforms.ordered, initval=[-1, 1]
        )
        pm.OrderedProbit("y", eta=beta * x, cutpoints=cut, observed=rng.integers(0, 3, 50))
    return made


@model
def beta_regression() -> Any:
    rng = np.random.default_rng(8)
    x = rng.normal(size=70)
    with pm.Model() as made:
        beta = pm.Normal("beta", 0, 1, shape=2)
        kappa = pm.Gamma("kappa", 2, 0.1)
        mean = pm.math.sigmoid(beta[0] + beta[1] * x)
        pm.Beta("y", mean * kappa, (1 - mean) * kappa, observed=rng.beta(2, 3, 70))
    return made


@model
def gamma_regression() -> Any:
    rng = np.random.default_rng(9)
    x = rng.normal(size=70)
    with pm.Model() as made:
        beta = pm.Normal("beta", 0, 1, shape=2)
        shape = pm.HalfNormal("shape", 3)
        rate = shape / pt.exp(beta[0] + beta[1] * x)
        pm.Gamma("y", shape, rate, observed=rng.gamma(2, 2, 70))
    return made


@model
def horseshoe() -> Any:
    rng = np.random.default_rng(10)
    x = rng.normal(size=(60, 8))
    with pm.Model() as made:
        tau = pm.HalfCauchy("tau", 1)
        lam = pm.HalfCauchy("lam", 1, shape=8)
        z = pm.Normal("z", 0, 1, shape=8)
        s = pm.HalfNormal("s", 1)
        pm.Normal("y", x @ (z * lam * tau), s, observed=x[:, 0] + rng.normal(size=60))
    return made


@model
def multinomial_logit() -> Any:
    rng = np.random.default_rng(11)
    x = rng.normal(size=(60, 3))
    with pm.Model() as made:
        beta = pm.Normal("beta", 0, 1, shape=(3, 3))
        pm.Categorical("y", logit_p=x @ beta, observed=rng.integers(0, 3, 60))
    return made


@model
def item_response() -> Any:
    rng = np.random.default_rng(12)
    person, item = np.divmod(np.arange(200), 10)
    with pm.Model() as made:
        ability = pm.Normal("ability", 0, 1, shape=20)
        spread = pm.HalfNormal("spread", 1)
        difficulty = pm.Normal("difficulty", 0, spread, shape=10)
        slope = pm.LogNormal("slope", 0, 0.5, shape=10)
        logit = slope[item] * (ability[person] - difficulty[item])
        pm.Bernoulli("y", logit_p=logit, observed=rng.integers(0, 2, 200))
    return made


@model
def lkj_varying_slopes() -> Any:
    rng = np.random.default_rng(13)
    group = rng.integers(0, 8, 80)
    x = rng.normal(size=80)
    with pm.Model() as made:
        chol, _, _ = pm.LKJCholeskyCov("chol", n=2, eta=2, sd_dist=pm.Exponential.dist(1, shape=2))
        mean = pm.Normal("mean", 0, 2, shape=2)
        effects = pm.MvNormal("effects", mean, chol=chol, shape=(8, 2))
        s = pm.Exponential("s", 1)
        pm.Normal("y", effects[group, 0] + effects[group, 1] * x, s, observed=rng.normal(size=80))
    return made


@model
def splines() -> Any:
    rng = np.random.default_rng(14)
    x = np.linspace(0, 1, 50)
    basis = np.exp(-0.5 * ((x[:, None] - np.linspace(0, 1, 9)) / 0.12) ** 2)
    with pm.Model() as made:
        s = pm.HalfNormal("s", 1)
        step = pm.Normal("step", 0, s, shape=9)
        noise = pm.HalfNormal("noise", 1)
        pm.Normal("y", basis @ pt.cumsum(step), noise, observed=np.sin(6 * x) + rng.normal(size=50))
    return made


@model
def bayesian_network() -> Any:
    rng = np.random.default_rng(15)
    x = rng.normal(size=(80, 2))
    with pm.Model() as made:
        first = pm.Normal("first", 0, 1, shape=(2, 5))
        second = pm.Normal("second", 0, 1, shape=(5, 5))
        last = pm.Normal("last", 0, 1, shape=5)
        hidden = pt.tanh(pt.tanh(x @ first) @ second)
        pm.Bernoulli("y", logit_p=hidden @ last, observed=(x[:, 0] * x[:, 1] > 0).astype(int))
    return made


@model
def missing_data() -> Any:
    rng = np.random.default_rng(16)
    y = rng.normal(size=40)
    y[::7] = np.nan
    with pm.Model() as made:
        mu = pm.Normal("mu")
        s = pm.HalfNormal("s")
        pm.Normal("y", mu, s, observed=y)
    return made


@model
def mutable_data() -> Any:
    rng = np.random.default_rng(17)
    with pm.Model(coords={"row": range(30)}) as made:
        x = pm.Data("x", rng.normal(size=30), dims="row")
        y = pm.Data("y_data", rng.normal(size=30), dims="row")
        b = pm.Normal("b", 0, 1, shape=2)
        pm.Normal("y", b[0] + b[1] * x, 1, observed=y, dims="row")
    return made


@model
def minibatch() -> Any:
    rng = np.random.default_rng(18)
    x, y = pm.Minibatch(rng.normal(size=100), rng.normal(size=100), batch_size=100)
    with pm.Model() as made:
        b = pm.Normal("b")
        pm.Normal("y", b * x, 1, observed=y, total_size=1000)
    return made


@model
def potential() -> Any:
    with pm.Model() as made:
        x = pm.Normal("x", 0, 3, shape=4)
        pm.Potential("ring", -10 * (pt.sqrt((x**2).sum()) - 2) ** 2)
        pm.Potential("bound", pt.switch(x[0] > -50, 0.0, -np.inf))
    return made


@model
def probit_with_errors_in_variables() -> Any:
    rng = np.random.default_rng(19)
    with pm.Model() as made:
        truth = pm.Normal("truth", 0, 1, shape=30)
        pm.Normal("measured", truth, 0.3, observed=rng.normal(size=30))
        a, b = pm.Normal("a"), pm.Normal("b")
        pm.Bernoulli("y", pm.math.invprobit(a + b * truth), observed=rng.integers(0, 2, 30))
    return made
