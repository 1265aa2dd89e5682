"""Time series, differential equations and state spaces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt

from models import model


@model
def stochastic_volatility() -> Any:
    rng = np.random.default_rng(50)
    with pm.Model() as made:
        step = pm.Exponential("step", 10)
        nu = pm.Exponential("nu", 0.1)
        vol = pm.GaussianRandomWalk("vol", sigma=step, init_dist=pm.Normal.dist(0, 1), shape=60)
        pm.StudentT("y", nu=nu, lam=pt.exp(-2 * vol), observed=rng.standard_t(4, 60))
    return made


@model
def autoregression() -> Any:
    rng = np.random.default_rng(51)
    with pm.Model() as made:
        rho = pm.Normal("rho", 0, 0.5, shape=3)
        s = pm.HalfNormal("s", 1)
        pm.AR(
            "y", rho, sigma=s, constant=True, init_dist=pm.Normal.dist(0, 5, shape=2),
            observed=np.cumsum(rng.normal(size=50)) * 0.2,
        )  # fmt: skip
    return made


@model
def latent_autoregression() -> Any:
    rng = np.random.default_rng(52)
    with pm.Model() as made:
        rho = pm.Uniform("rho", -1, 1)
        s = pm.HalfNormal("s", 1)
        x = pm.AR("x", [rho], sigma=s, init_dist=pm.Normal.dist(0, 1), shape=40)
        pm.Normal("y", x, 0.5, observed=rng.normal(size=40))
    return made


@model
def moving_average() -> Any:
    rng = np.random.default_rng(53)
    y = rng.normal(size=50)
    with pm.Model() as made:
        phi, theta = pm.Normal("phi", 0, 0.5), pm.Normal("theta", 0, 0.5)
        s = pm.HalfNormal("s", 1)

        def step(now: Any, past: Any, error: Any, phi: Any, theta: Any) -> Any:
            return now - phi * past - theta * error

        errors = pytensor.scan(
            step,
            sequences=[pt.as_tensor(y[1:]), pt.as_tensor(y[:-1])],
            outputs_info=[pt.as_tensor(y[0])],
            non_sequences=[phi, theta],
            return_updates=False,
        )
        pm.Potential("y", pm.logp(pm.Normal.dist(0, s), errors).sum())
    return made


@model
def garch() -> Any:
    rng = np.random.default_rng(54)
    with pm.Model() as made:
        omega = pm.HalfNormal("omega", 1)
        a = pm.Beta("a", 2, 5)
        b = pm.Beta("b", 2, 5)
        pm.GARCH11("y", omega=omega, alpha_1=a, beta_1=b * (1 - a), initial_vol=1.0,
                   observed=rng.normal(size=60))  # fmt: skip
    return made


@model
def lotka_volterra_by_scan() -> Any:
    rng = np.random.default_rng(55)
    with pm.Model() as made:
        theta = pm.LogNormal("theta", [-0.6, -3.6, -0.2, -3.7], 0.3, shape=4)
        start = pm.LogNormal("start", np.log(10), 0.5, shape=2)
        s = pm.LogNormal("s", -1, 0.5)

        def slope(z: Any, theta: Any) -> Any:
            prey, predators = z[0], z[1]
            return pt.stack(
                [
                    (theta[0] - theta[1] * predators) * prey,
                    (-theta[2] + theta[3] * prey) * predators,
                ]
            )

        def step(z: Any, theta: Any) -> Any:
            half = z + 0.05 * slope(z, theta)
            return z + 0.1 * slope(half, theta)

        states = pytensor.scan(
            step, outputs_info=[start], non_sequences=[theta], n_steps=40, return_updates=False
        )
        pm.LogNormal("y", pt.log(states[9::10]), s, observed=np.exp(rng.normal(2, 0.3, (4, 2))))
    return made


@model
def local_level_kalman() -> Any:
    rng = np.random.default_rng(56)
    y = np.cumsum(rng.normal(size=40))
    with pm.Model() as made:
        q, r = pm.HalfNormal("q", 1), pm.HalfNormal("r", 1)

        def step(now: Any, mean: Any, variance: Any, q: Any, r: Any) -> Any:
            before = variance + q**2
            total = before + r**2
            gain = before / total
            error = now - mean
            logp = -0.5 * (pt.log(2 * np.pi * total) + error**2 / total)
            return mean + gain * error, (1 - gain) * before, logp

        _, _, logps = pytensor.scan(
            step,
            sequences=[pt.as_tensor(y)],
            outputs_info=[np.float64(0.0), np.float64(10.0), None],
            non_sequences=[q, r],
            return_updates=False,
        )
        pm.Potential("y", logps.sum())
    return made


@model
def multivariate_state_space() -> Any:
    rng = np.random.default_rng(57)
    y = rng.normal(size=(20, 2))
    with pm.Model() as made:
        f = pm.Normal("f", 0, 0.4, shape=(2, 2))
        q = pm.HalfNormal("q", 1, shape=2)

        def step(now: Any, mean: Any, cov: Any, f: Any, q: Any) -> Any:
            mean, cov = f @ mean, f @ cov @ f.T + pt.diag(q**2)
            total = cov + np.eye(2)
            error = now - mean
            gain = pt.linalg.solve(total, cov, assume_a="pos").T
            chol = pt.linalg.cholesky(total)
            z = pt.linalg.solve_triangular(chol, error, lower=True, b_ndim=1)
            logp = -0.5 * (z**2).sum() - pt.log(pt.diag(chol)).sum()
            return mean + gain @ error, cov - gain @ total @ gain.T, logp

        _, _, logps = pytensor.scan(
            step,
            sequences=[pt.as_tensor(y)],
            outputs_info=[pt.zeros(2), pt.eye(2), None],
            non_sequences=[f, q],
            return_updates=False,
        )
        pm.Potential("y", logps.sum())
    return made


@model
def random_walk_drift() -> Any:
    rng = np.random.default_rng(58)
    with pm.Model() as made:
        drift, s = pm.Normal("drift"), pm.HalfNormal("s")
        pm.GaussianRandomWalk(
            "y", mu=drift, sigma=s, init_dist=pm.Normal.dist(0, 10),
            observed=np.cumsum(rng.normal(size=40)),
        )  # fmt: skip
    return made


@model
def euler_maruyama() -> Any:
    rng = np.random.default_rng(59)
    with pm.Model() as made:
        lam = pm.HalfNormal("lam", 1)

        def sde(x: Any, lam: Any) -> Any:
            return -lam * x, 0.3 + 0.0 * x

        x = pm.EulerMaruyama("x", 0.1, sde, (lam,), init_dist=pm.Normal.dist(0, 1), shape=30)
        pm.Normal("y", x, 0.3, observed=rng.normal(size=30))
    return made


@model
def sir_by_scan() -> Any:
    rng = np.random.default_rng(60)
    with pm.Model() as made:
        beta, gamma = pm.LogNormal("beta", 0, 0.5), pm.LogNormal("gamma", -1, 0.5)

        def step(s: Any, i: Any, beta: Any, gamma: Any) -> Any:
            new = beta * s * i
            return s - new * 0.1, i + 0.1 * (new - gamma * i)

        _, infected = pytensor.scan(
            step,
            outputs_info=[np.float64(0.99), np.float64(0.01)],
            non_sequences=[beta, gamma],
            n_steps=50,
            return_updates=False,
        )
        pm.Poisson("y", 100 * infected[::10], observed=rng.poisson(20, 5))
    return made
