"""Gaussian processes, areal models and laws of vectors and matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from models import model


def _line(count: int) -> Any:
    return np.linspace(0, 1, count)[:, None]


@model
def gp_marginal() -> Any:
    rng = np.random.default_rng(70)
    x = _line(20)
    with pm.Model() as made:
        length, height = pm.Gamma("length", 2, 2), pm.HalfNormal("height", 2)
        noise = pm.HalfNormal("noise", 1)
        gp = pm.gp.Marginal(cov_func=height**2 * pm.gp.cov.Matern52(1, length))
        gp.marginal_likelihood("y", x, np.sin(6 * x[:, 0]) + rng.normal(size=20), noise)
    return made


@model
def gp_latent() -> Any:
    rng = np.random.default_rng(71)
    with pm.Model() as made:
        length = pm.Gamma("length", 2, 2)
        f = pm.gp.Latent(cov_func=pm.gp.cov.ExpQuad(1, length)).prior("f", _line(12))
        pm.Poisson("y", pt.exp(f), observed=rng.poisson(2, 12))
    return made


@model
def gp_hsgp() -> Any:
    rng = np.random.default_rng(72)
    with pm.Model() as made:
        length, height = pm.Gamma("length", 2, 2), pm.HalfNormal("height", 1)
        gp = pm.gp.HSGP(m=[8], c=1.5, cov_func=height**2 * pm.gp.cov.ExpQuad(1, length))
        f = gp.prior("f", _line(40))
        pm.Normal("y", f, 0.5, observed=rng.normal(size=40))
    return made


@model
def gp_kronecker() -> Any:
    rng = np.random.default_rng(73)
    with pm.Model() as made:
        lengths = pm.Gamma("lengths", 2, 2, shape=2)
        covs = [pm.gp.cov.ExpQuad(1, lengths[i]) for i in range(2)]
        gp = pm.gp.MarginalKron(cov_funcs=covs)
        gp.marginal_likelihood("y", [_line(4), _line(5)], rng.normal(size=20), sigma=0.5)
    return made


@model
def gp_sparse() -> Any:
    rng = np.random.default_rng(74)
    with pm.Model() as made:
        length, noise = pm.Gamma("length", 2, 2), pm.HalfNormal("noise", 1)
        gp = pm.gp.MarginalApprox(cov_func=pm.gp.cov.ExpQuad(1, length), approx="FITC")
        gp.marginal_likelihood("y", _line(25), _line(5), rng.normal(size=25), sigma=noise)
    return made


def _grid() -> Any:
    adjacency = np.zeros((9, 9))
    for i in range(9):
        for j in range(9):
            if abs(i // 3 - j // 3) + abs(i % 3 - j % 3) == 1:
                adjacency[i, j] = 1
    return adjacency


@model
def conditional_autoregression() -> Any:
    rng = np.random.default_rng(75)
    with pm.Model() as made:
        alpha, tau = pm.Beta("alpha", 2, 2), pm.Gamma("tau", 2, 2)
        phi = pm.CAR("phi", mu=np.zeros(9), tau=tau, alpha=alpha, W=_grid())
        pm.Poisson("y", pt.exp(1 + phi), observed=rng.poisson(3, 9))
    return made


@model
def intrinsic_autoregression() -> Any:
    rng = np.random.default_rng(76)
    with pm.Model() as made:
        s = pm.HalfNormal("s", 1)
        phi = pm.ICAR("phi", W=_grid(), sigma=s)
        pm.Poisson("y", pt.exp(1 + phi), observed=rng.poisson(3, 9))
    return made


@model
def multivariate_normal() -> Any:
    rng = np.random.default_rng(77)
    with pm.Model() as made:
        mu = pm.Normal("mu", 0, 2, shape=3)
        packed = pm.LKJCholeskyCov(
            "chol", n=3, eta=2, sd_dist=pm.HalfNormal.dist(1, shape=3), compute_corr=False
        )
        chol = pm.expand_packed_triangular(3, packed)
        pm.MvNormal("y", mu, chol=chol, observed=rng.normal(size=(30, 3)))
    return made


@model
def correlation_matrix() -> Any:
    rng = np.random.default_rng(78)
    with pm.Model() as made:
        corr = pm.LKJCorr("corr", n=3, eta=2)
        pm.MvNormal("y", np.zeros(3), cov=corr, observed=rng.normal(size=(10, 3)))
    return made


@model
def zero_sum_effects() -> Any:
    rng = np.random.default_rng(79)
    group = rng.integers(0, 5, 40)
    with pm.Model() as made:
        effect = pm.ZeroSumNormal("effect", 1, shape=5)
        mu = pm.Normal("mu")
        pm.Normal("y", mu + effect[group], 1, observed=rng.normal(size=40))
    return made


@model
def matrix_normal() -> Any:
    rng = np.random.default_rng(80)
    with pm.Model() as made:
        rows = pm.HalfNormal("rows", 1, shape=3)
        pm.MatrixNormal(
            "y", mu=np.zeros((3, 2)), rowcov=pt.diag(rows), colcov=np.eye(2),
            observed=rng.normal(size=(3, 2)),
        )  # fmt: skip
    return made


@model
def multivariate_student() -> Any:
    rng = np.random.default_rng(81)
    with pm.Model() as made:
        nu, mu = pm.Gamma("nu", 3, 0.3), pm.Normal("mu", 0, 1, shape=2)
        pm.MvStudentT("y", nu=nu, mu=mu, scale=np.eye(2), observed=rng.normal(size=(12, 2)))
    return made
