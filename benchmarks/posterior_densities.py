"""Log densities of real posteriors, each one program for Occelo and JAX, of a vector of unconstrained parameters.

The data sets are files of posteriordb (stan-dev/posteriordb), in the folder that the variable OCCELO_POSTERIORDB names. The models
are written from their literature; each docstring lists the parameters in order, with the map from the real line where there is one,
whose log Jacobian is part of the density. Terms that no parameter changes are left out, as Stan leaves them out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from workloads import Library, Workload

__all__ = [
    "POSTERIORS",
    "POSTERIOR_WORKLOADS",
    "Functions",
    "Posterior",
    "folder",
    "of_jax",
    "of_occelo",
    "with_jax",
]

Data = dict[str, Any]


@dataclass(frozen=True)
class Functions:
    """What the programs call: a module of tensor functions, and functions that the two libraries have elsewhere."""

    tensor: Any
    loop: Callable[..., Any]
    """``loop(step, state, xs)`` gives the last state and the stacked outputs; ``step`` is a function of state and row."""
    log_sum_exp: Callable[..., Any]
    softplus: Callable[..., Any]
    cholesky: Callable[..., Any]
    solve_lower: Callable[..., Any]
    log_gamma: Callable[..., Any]


def of_occelo() -> Functions:
    """The functions of Occelo."""
    import occelo as oc
    import occelo.tensor as ot

    return Functions(
        ot,
        oc.loop,
        ot.logsumexp,
        ot.softplus,
        ot.linalg.cholesky,
        lambda a, b: ot.linalg.solve_triangular(a, b, lower=True),
        ot.gammaln,
    )


def of_jax() -> Functions:
    """The functions of JAX."""
    import jax

    return Functions(
        jax.numpy,
        jax.lax.scan,
        jax.nn.logsumexp,
        jax.nn.softplus,
        jax.numpy.linalg.cholesky,
        lambda a, b: jax.scipy.linalg.solve_triangular(a, b, lower=True),
        jax.scipy.special.gammaln,
    )


@dataclass(frozen=True)
class Posterior:
    """A log density: ``program(functions, x, data)``, with ``size(data)`` parameters, and the name of its data set."""

    name: str
    data_set: str
    program: Callable[[Functions, Any, Data], Any]
    size: Callable[[Data], int]

    def data(self) -> Data:
        """The data set, with arrays for lists."""
        loaded = json.loads((folder() / "data" / f"{self.data_set}.json").read_text())
        return {k: np.asarray(v) if isinstance(v, list) else v for k, v in loaded.items()}

    def point(self, data: Data) -> Any:
        """Where the density is evaluated, the same in every process."""
        return 0.1 * np.random.default_rng(3).standard_normal(self.size(data))


def folder() -> Path:
    """The folder of posteriordb's data; LookupError if the variable does not name it."""
    given = os.environ.get("OCCELO_POSTERIORDB")
    if not given:
        raise LookupError(
            "the variable OCCELO_POSTERIORDB does not name the folder of posteriordb's data"
        )
    return Path(given)


POSTERIORS: dict[str, Posterior] = {}


def _posterior(data_set: str, size: Callable[[Data], int]) -> Callable[[Any], Any]:
    def add(program: Any) -> Any:
        name = program.__name__
        POSTERIORS[name] = Posterior(name, data_set, program, size)
        return program

    return add


def _normal(m: Functions, x: Any, mean: Any, scale: Any) -> Any:
    """The density of a vector, its constant left out; ``scale`` is a number."""
    z = (x - mean) / scale
    return -0.5 * m.tensor.sum(z * z) - x.shape[0] * m.tensor.log(scale)


def _standard(m: Functions, x: Any, scale: float = 1.0) -> Any:
    return -0.5 * m.tensor.sum((x / scale) ** 2)


def _cauchy(m: Functions, x: Any, scale: float) -> Any:
    return -m.tensor.log1p((x / scale) ** 2)


def _bernoulli(m: Functions, y: Any, eta: Any) -> Any:
    return m.tensor.sum(y * eta - m.softplus(eta))


def _regression(m: Functions, x: Any, y: Any, columns: list[Any]) -> tuple[Any, Any]:
    """A linear regression: the density of y, and the scale of the errors."""
    design = np.column_stack(columns).astype(float)
    k = design.shape[1]
    sigma = m.tensor.exp(x[k])
    return _normal(m, y.astype(float), m.tensor.dot(design, x[:k]), sigma) + x[k], sigma


@_posterior("eight_schools", lambda d: d["J"] + 2)
def eight_schools_noncentered(m: Functions, x: Any, d: Data) -> Any:
    """mu, tau = exp, J standardised effects (Rubin 1981)."""
    mu, tau, raw = x[0], m.tensor.exp(x[1]), x[2:]
    z = (d["y"] - (mu + tau * raw)) / d["sigma"].astype(float)
    priors = -0.5 * (mu / 5) ** 2 + _cauchy(m, tau, 5.0) + x[1] + _standard(m, raw)
    return priors - 0.5 * m.tensor.sum(z * z)


@_posterior("arK", lambda d: d["K"] + 2)
def arK(m: Functions, x: Any, d: Data) -> Any:
    """alpha, K coefficients, sigma = exp: an autoregression."""
    k, y = d["K"], d["y"]
    alpha, beta, sigma = x[0], x[1 : k + 1], m.tensor.exp(x[k + 1])
    lags = np.column_stack([y[k - j - 1 : len(y) - j - 1] for j in range(k)])
    priors = -0.5 * (alpha / 10) ** 2 + _standard(m, beta, 10.0) + _cauchy(m, sigma, 2.5)
    return priors + x[k + 1] + _normal(m, y[k:], alpha + m.tensor.dot(lags, beta), sigma)


@_posterior("radon_mn", lambda d: d["J"] + 5)
def radon_hierarchical(m: Functions, x: Any, d: Data) -> Any:
    """J intercepts, slopes by uranium and floor, mean and scale (exp) of the intercepts, sigma = exp (Gelman and Hill 2006)."""
    j = d["J"]
    alpha, by_uranium, by_floor, mu = x[:j], x[j], x[j + 1], x[j + 2]
    scale, sigma = m.tensor.exp(x[j + 3]), m.tensor.exp(x[j + 4])
    priors = _standard(m, x[j : j + 3], 10.0) - 0.5 * (scale**2 + sigma**2) + x[j + 3] + x[j + 4]
    mean = alpha[d["county_idx"] - 1] + d["log_uppm"] * by_uranium + d["floor_measure"] * by_floor
    return priors + _normal(m, alpha, mu, scale) + _normal(m, d["log_radon"], mean, sigma)


@_posterior("radon_mod", lambda d: d["J"] + 3)
def radon_county(m: Functions, x: Any, d: Data) -> Any:
    """J levels, their mean, two scales between 0 and 100 by the logistic function: 12,573 houses of all counties."""
    j = d["J"]
    a, mu = x[:j], x[j]
    scale, sigma = 100 / (1 + m.tensor.exp(-x[j + 1])), 100 / (1 + m.tensor.exp(-x[j + 2]))
    jacobian = -m.tensor.sum(m.softplus(x[j + 1 :]) + m.softplus(-x[j + 1 :]))
    likelihood = _normal(m, d["y"], a[d["county"] - 1], sigma)
    return jacobian - 0.5 * mu**2 + _normal(m, a, mu, scale) + likelihood


@_posterior("kidiq", lambda d: 5)
def kidscore_interaction(m: Functions, x: Any, d: Data) -> Any:
    """Four coefficients, sigma = exp: a regression on the mother's school and score (Gelman and Hill 2006)."""
    school, score = d["mom_hs"], d["mom_iq"]
    columns = [np.ones(d["N"]), school, score, school * score]
    value, sigma = _regression(m, x, d["kid_score"], columns)
    return value + _cauchy(m, sigma, 2.5)


@_posterior("wells_data", lambda d: 4)
def wells_interaction(m: Functions, x: Any, d: Data) -> Any:
    """Four coefficients: whether a household switched its well (Gelman and Hill 2006)."""
    distance = (d["dist"] - d["dist"].mean()) / 100
    arsenic = d["arsenic"] - d["arsenic"].mean()
    design = np.column_stack([np.ones(d["N"]), distance, arsenic, distance * arsenic])
    return _bernoulli(m, d["switched"], m.tensor.dot(design, x))


@_posterior("nes1980", lambda d: 10)
def nes(m: Functions, x: Any, d: Data) -> Any:
    """Nine coefficients, sigma = exp: party identification of 701 voters (Gelman and Hill 2006)."""
    ages = [d["age_discrete"] == k for k in (2, 3, 4)]
    columns = [np.ones(d["N"]), d["real_ideo"], d["race_adj"], *ages]
    columns += [d["educ1"], d["gender"], d["income"]]
    return _regression(m, x, d["partyid7"], columns)[0]


@_posterior("mesquite", lambda d: 8)
def logmesquite(m: Functions, x: Any, d: Data) -> Any:
    """Seven coefficients, sigma = exp: the weight of 46 bushes by logarithms of their sizes (Gelman and Hill 2006)."""
    sizes = [np.log(d[c]) for c in ("diam1", "diam2", "canopy_height", "total_height", "density")]
    columns = [np.ones(d["N"]), *sizes, d["group"]]
    return _regression(m, x, np.log(d["weight"]), columns)[0]


def _kernel(m: Functions, d: Data, rho: Any, alpha: Any) -> Any:
    squares = (d["x"][:, None] - d["x"]) ** 2
    return alpha**2 * m.tensor.exp(-0.5 * squares.astype(float) / rho**2)


@_posterior("gp_pois_regr", lambda d: 3)
def gp_regression(m: Functions, x: Any, d: Data) -> Any:
    """rho, alpha, sigma, each exp: a Gaussian process with its values integrated out."""
    rho, alpha, sigma = m.tensor.exp(x[0]), m.tensor.exp(x[1]), m.tensor.exp(x[2])
    priors = 24 * x[0] - 4 * rho - 0.5 * (alpha / 2) ** 2 - 0.5 * sigma**2 + m.tensor.sum(x)
    factor = m.cholesky(_kernel(m, d, rho, alpha) + sigma * np.eye(d["N"]))
    z = m.solve_lower(factor, d["y"].astype(float))
    return (
        priors - 0.5 * m.tensor.sum(z * z) - m.tensor.sum(m.tensor.log(m.tensor.diagonal(factor)))
    )


@_posterior("gp_pois_regr", lambda d: d["N"] + 2)
def gp_of_counts(m: Functions, x: Any, d: Data) -> Any:
    """rho, alpha, each exp, N standardised values of the process: counts."""
    rho, alpha, raw = m.tensor.exp(x[0]), m.tensor.exp(x[1]), x[2:]
    priors = 24 * x[0] - 4 * rho - 0.5 * (alpha / 2) ** 2 + x[0] + x[1] + _standard(m, raw)
    factor = m.cholesky(_kernel(m, d, rho, alpha) + 1e-10 * np.eye(d["N"]))
    log_rate = m.tensor.dot(factor, raw)
    return priors + m.tensor.sum(d["k"] * log_rate - m.tensor.exp(log_rate))


@_posterior("hmm_example", lambda d: 4)
def hidden_markov(m: Functions, x: Any, d: Data) -> Any:
    """Two probabilities of staying (logistic), means exp(x2) and exp(x2) + exp(x3): states summed out forward."""
    stays = -m.softplus(-x[:2])
    leaves = -m.softplus(x[:2])
    first = m.tensor.exp(x[2])
    mu = m.tensor.stack([first, first + m.tensor.exp(x[3])])
    logs = m.tensor.stack(
        [m.tensor.stack([stays[0], leaves[0]]), m.tensor.stack([leaves[1], stays[1]])]
    )
    emission = -0.5 * (d["y"][:, None] - mu) ** 2

    def step(alpha: Any, now: Any) -> Any:
        moved = m.log_sum_exp(alpha[:, None] + logs, axis=0) + now
        return moved, None

    last = m.loop(step, emission[0], emission[1:])[0]
    priors = m.tensor.sum(stays + leaves) - 0.5 * ((mu[0] - 3) ** 2 + (mu[1] - 10) ** 2)
    return priors + x[2] + x[3] + m.log_sum_exp(last)


@_posterior("low_dim_gauss_mix", lambda d: 5)
def gauss_mixture(m: Functions, x: Any, d: Data) -> Any:
    """Means x0 and x0 + exp(x1), two scales exp, the share of the first component by the logistic function."""
    means = (x[0], x[0] + m.tensor.exp(x[1]))
    share, rest = -m.softplus(-x[4]), -m.softplus(x[4])
    parts = []
    for mean, log_scale, log_share in zip(means, (x[2], x[3]), (share, rest), strict=True):
        z = (d["y"] - mean) * m.tensor.exp(-log_scale)
        parts.append(log_share - log_scale - 0.5 * z * z)
    priors = -0.5 * ((means[0] / 2) ** 2 + (means[1] / 2) ** 2)
    priors = priors - 0.125 * m.tensor.sum(m.tensor.exp(2 * x[2:4])) + 5 * (share + rest)
    return priors + x[1] + x[2] + x[3] + m.tensor.sum(m.tensor.logaddexp(*parts))


@_posterior("hudson_lynx_hare", lambda d: 8)
def lynx_and_hare(m: Functions, x: Any, d: Data) -> Any:
    """Four rates, two first populations, two scales of logarithms, each exp: 20 years in 200 steps of Runge and Kutta."""
    theta, log_start, sigma = m.tensor.exp(x[:4] - 1), x[4:6] + np.log(10.0), m.tensor.exp(x[6:8])

    def slope(z: Any) -> Any:
        prey = (theta[0] - 0.05 * theta[1] * z[1]) * z[0]
        return m.tensor.stack([prey, (-theta[2] + 0.05 * theta[3] * z[0]) * z[1]])

    h = 0.1

    def step(z: Any, _: Any) -> Any:
        a = slope(z)
        b = slope(z + h / 2 * a)
        c = slope(z + h / 2 * b)
        after = z + h / 6 * (a + 2 * b + 2 * c + slope(z + h * c))
        return after, after

    steps = np.arange(10 * d["N"])
    states = m.loop(step, m.tensor.exp(log_start), steps)[1][9::10]
    z = (np.log(d["y"]) - m.tensor.log(states)) / sigma
    first = (np.log(d["y_init"]) - log_start) / sigma
    priors = _standard(m, x[:6]) - 0.5 * m.tensor.sum((x[6:8] + 1) ** 2)
    errors = -0.5 * (m.tensor.sum(z * z) + m.tensor.sum(first * first))
    return priors + errors - (d["N"] + 1) * m.tensor.sum(x[6:8])


@_posterior("irt_2pl", lambda d: d["J"] + 2 * d["I"] + 4)
def item_response(m: Functions, x: Any, d: Data) -> Any:
    """Scale (exp) and J abilities, scale (exp) and I discriminations (exp), mean, scale (exp) and I difficulties."""
    i, j = d["I"], d["J"]
    theta, log_a, b = x[1 : j + 1], x[j + 2 : j + i + 2], x[j + i + 4 :]
    mu = x[j + i + 2]
    scales = [m.tensor.exp(x[k]) for k in (0, j + 1, j + i + 3)]
    priors = sum(_cauchy(m, s, 2.0) for s in scales) + x[0] + x[j + 1] + x[j + i + 3]
    priors = priors - 0.5 * (mu / 5) ** 2 + _normal(m, theta, 0.0, scales[0])
    priors = priors + _normal(m, log_a, 0.0, scales[1]) + _normal(m, b, mu, scales[2])
    eta = m.tensor.exp(log_a)[:, None] * (theta[None, :] - b[:, None])
    return priors + _bernoulli(m, d["y"], eta)


@_posterior("sat", lambda d: d["J"] + 2 * d["I"] + 5)
def hierarchical_items(m: Functions, x: Any, d: Data) -> Any:
    """J abilities, I log discriminations, I difficulties, their means, scales (exp) and correlation (tanh): 19,200 answers."""
    i, j = d["I"], d["J"]
    theta, log_a, b, rest = x[:j], x[j : j + i], x[j + i : j + 2 * i], x[j + 2 * i :]
    tau, correlation = m.tensor.exp(rest[2:4]), m.tensor.tanh(rest[4])
    first = (log_a - rest[0]) / tau[0]
    free = 1 - correlation**2
    second = ((b - rest[1]) / tau[1] - correlation * first) / m.tensor.sqrt(free)
    items = -0.5 * m.tensor.sum(first * first + second * second)
    items = items - i * (rest[2] + rest[3] + 0.5 * m.tensor.log(free))
    priors = _standard(m, theta) - 0.5 * (rest[0] ** 2 + 0.25 * rest[1] ** 2)
    priors = priors - 0.1 * (tau[0] + tau[1]) + rest[2] + rest[3] + 4 * m.tensor.log(free)
    item, person = d["ii"] - 1, d["jj"] - 1
    eta = m.tensor.exp(log_a)[item] * (theta[person] - b[item])
    return priors + items + _bernoulli(m, d["y"], eta)


@_posterior("seeds_data", lambda d: d["I"] + 5)
def seeds(m: Functions, x: Any, d: Data) -> Any:
    """Four coefficients, scale (exp) and I effects of plates: germinated seeds (Crowder 1978)."""
    beta, sigma, effects = x[:4], m.tensor.exp(x[4]), x[5:]
    design = np.column_stack([np.ones(d["I"]), d["x1"], d["x2"], d["x1"] * d["x2"]])
    eta = m.tensor.dot(design.astype(float), beta) + effects
    likelihood = m.tensor.sum(d["n"] * eta - d["N"] * m.softplus(eta))
    priors = _standard(m, beta, 10.0) + _cauchy(m, sigma, 1.0) + x[4]
    return priors + _normal(m, effects, 0.0, sigma) + likelihood


@_posterior("sblri", lambda d: d["D"] + 1)
def linear_regression(m: Functions, x: Any, d: Data) -> Any:
    """D coefficients, sigma = exp."""
    value, sigma = _regression(m, x, d["y"], [d["X"]])
    return value + _standard(m, x[: d["D"]], 10.0) - 0.5 * (sigma / 10) ** 2


@_posterior("GLM_Poisson_Data", lambda d: 4)
def falcons(m: Functions, x: Any, d: Data) -> Any:
    """A cubic in the year for the logarithm of the number of pairs of falcons (Kery and Schaub 2012)."""
    year = d["year"]
    design = np.column_stack([year**k for k in range(4)]).astype(float)
    log_rate = m.tensor.dot(design, x)
    return m.tensor.sum(d["C"] * log_rate - m.tensor.exp(log_rate))


def with_jax(posterior: Posterior, data: Data) -> Callable[[Any], Any]:
    """Value and gradient by JAX, in float64."""
    import jax

    jax.config.update("jax_enable_x64", True)
    return jax.value_and_grad(lambda x: posterior.program(of_jax(), x, data))


def _workload(posterior: Posterior) -> Workload:
    """A row of `run` and `against`: a call from Python."""
    data = posterior.data()
    point = posterior.point(data)

    def build(lib: Library) -> Any:
        x = lib.tensor.tensor(dtype="float64", shape=point.shape)
        value = posterior.program(of_occelo(), x, data)
        return [x], [value, lib.grad(value, x)], []

    return Workload(
        f"posterior {posterior.name}, {len(point)} parameters",
        build,
        (point,),
        jax=lambda jax: with_jax(posterior, data),
        goal=1.0,
        pytensor=False,
    )


POSTERIOR_WORKLOADS: list[Callable[[], Workload]] = (
    [lambda p=p: _workload(p) for p in POSTERIORS.values()]
    if os.environ.get("OCCELO_POSTERIORDB")
    else []
)
