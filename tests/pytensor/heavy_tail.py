"""The posterior `one_comp_mm_elim_abs` by quadrature in NumPy, beside draws: its tail has no variance.

``OCCELO_POSTERIORDB=FOLDER python tests/pytensor/heavy_tail.py`` prints the slope of the density of `K_m` in its tail, moments up to some
limits, and quantiles of `K_m`, those of ``pm.sample`` and nutpie with their distance from quadrature in Monte Carlo standard errors. Where
`K_m` is large, the data know only the quotient of `V_m` and `K_m`, so with half-Cauchy priors of both the density falls as ``K_m ** -3``.
"""

from __future__ import annotations

import warnings
from typing import Any

import arviz
import numpy as np
from compare_posteriors import sampled
from models import posteriors

NAME = "one_comp_mm_elim_abs-one_comp_mm_elim_abs"
K_M = np.geomspace(1e-2, 1e7, 130)
QUOTIENT = np.geomspace(0.015, 0.16, 70)
"""`V_m` over `K_m` + 12: about 12 is the concentration at which most data lie."""
K_A = np.geomspace(0.4, 1.5, 30)
SIGMA = np.geomspace(0.055, 0.4, 36)
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
STEPS = 8
"""Steps of the classical Runge-Kutta method between two measurements."""


def concentrations(data: Any, k_a: Any, k_m: Any, v_m: Any) -> Any:
    """The solution at the measured times, by these parameters; the times are the first axis."""
    volume, dose = float(data["V"]), float(data["D"])

    def slope(t: float, c: Any) -> Any:
        return np.exp(-k_a * t) * dose * k_a / volume - v_m / volume * c / (k_m + c)

    c, now, found = np.zeros(np.broadcast_shapes(k_a.shape, k_m.shape, v_m.shape)), 0.0, []
    for time in data["times"]:
        h = (time - now) / STEPS
        for t in now + h * np.arange(STEPS):
            one = slope(t, c)
            two = slope(t + h / 2, c + h / 2 * one)
            three = slope(t + h / 2, c + h / 2 * two)
            c = c + h / 6 * (one + 2 * two + 2 * three + slope(t + h, c + h * three))
        found.append(c)
        now = time
    return np.stack(found)


def posterior(data: Any) -> Any:
    """The probabilities of the points of the grid `K_M` x `QUOTIENT` x `K_A` x `SIGMA`, which sum to 1."""
    k_m, quotient, k_a = np.ix_(K_M, QUOTIENT, K_A)
    v_m = quotient * (k_m + 12)
    c = concentrations(data, k_a, k_m, v_m)
    off = np.log(data["C_hat"])[:, None, None, None] - np.log(np.maximum(c, 1e-9))
    squares = (off**2).sum(0)[..., None]
    # half-Cauchy priors, and what the logarithms of the grid and the quotient stretch
    prior = (v_m * k_m * k_a / ((1 + k_m**2) * (1 + v_m**2) * (1 + k_a**2)))[..., None]
    logs = (
        np.log(prior * SIGMA / (1 + SIGMA**2)) - len(off) * np.log(SIGMA) - squares / (2 * SIGMA**2)
    )
    chances = np.exp(logs - logs.max())
    return chances / chances.sum()


def quantiles(chances: Any) -> Any:
    """Those of `K_m` at `LEVELS`, by its probabilities on the grid."""
    half = np.sqrt(K_M[1] / K_M[0])
    return np.exp(np.interp(LEVELS, chances.cumsum(), np.log(K_M * half)))


def main() -> None:
    """Print the tail, the moments and the quantiles."""
    data = posteriors.data_of(NAME)
    assert np.isclose(float(data["t0"]), 0)
    chances = posterior(data)
    for axis in (1, 2, 3):
        edges = chances.sum(tuple(a for a in range(4) if a != axis))[[0, -1]]
        assert edges.max() < 1e-4 * chances.sum(), "the grid is too small"
    of_k_m = chances.sum((1, 2, 3))
    density = np.log(of_k_m / K_M)
    at = np.searchsorted(K_M, [1e2, 1e3, 1e4, 1e5, 1e6])
    slopes = (density[at + 1] - density[at]) / np.log(K_M[1] / K_M[0])
    print("slope of the log density of K_m by log K_m at 1e2 to 1e6:", *np.round(slopes, 3))
    for most in (1e2, 1e3, 1e4, 1e6):
        kept = np.where(most >= K_M, of_k_m, 0)
        kept /= kept.sum()
        mean = kept @ K_M
        print(
            f"K_m up to {most:.0e}: mean {mean:.3f}, deviation {np.sqrt(kept @ (K_M - mean) ** 2):.2f}"
        )
    v_m = QUOTIENT * (K_M[:, None] + 12)
    means = [chances.sum((0, 1, 3)) @ K_A, of_k_m @ K_M, (chances.sum((2, 3)) * v_m).sum()]
    means.append(chances.sum((0, 1, 2)) @ SIGMA)
    known = posteriors.reference()[NAME]
    for name, mean, wanted, error in zip(
        known["names"], means, known["mean"], known["mcse"], strict=True
    ):
        print(
            f"{name}: mean {mean:.4f}, {abs(mean - wanted) / error:.1f} errors of the reference from it"
        )
    exact = quantiles(of_k_m)
    print("levels", *LEVELS)
    print("K_m by quadrature", *np.round(exact, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sampler in ("pymc", "nutpie"):
            draws = sampled(posteriors.make(NAME), sampler, 1000, 1).posterior["K_m"].values
            own = np.quantile(draws, LEVELS)
            errors = [float(arviz.mcse(draws, method="quantile", prob=level)) for level in LEVELS]
            off = np.abs(own - exact) / errors
            print(
                f"K_m by {sampler}", *(f"{q:.3f} ({z:.1f})" for q, z in zip(own, off, strict=True))
            )


if __name__ == "__main__":
    main()
