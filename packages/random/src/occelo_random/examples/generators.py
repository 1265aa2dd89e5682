"""Examples of draws with generators of NumPy, for the table in `examples`.

The expected results are draws by NumPy itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.examples.example import Example
from occelo_graph.optional_scipy import scipy_module
from occelo_random.examples.keys import LOC, SCALE
from occelo_random.ops.generators import default_rng

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array, ArrayFunction, TensorFunction


def _made(name: str, function: TensorFunction, reference: ArrayFunction, *args: Array) -> Example:
    return Example(name, "random", function, reference, args)


def _choice_and_order(p: Any) -> Any:
    following, chosen = default_rng(6).choice(4, 5, p=p)
    return chosen + 10 * following.permutation(5)[1]


def _choice_and_order_by_numpy(p: Any) -> Array:
    rng = np.random.default_rng(6)
    return rng.choice(4, 5, p=p) + 10 * rng.permutation(5)


def _bounded_and_skewed(a: Any, loc: Any) -> Any:
    following, bounded = default_rng(6).truncnorm(a, 1.0, loc, 2.0, size=(2, 3))
    return bounded + 10.0 * following.skewnorm(a, loc)[1]


def _bounded_and_skewed_by_scipy(a: Any, loc: Any) -> Array:
    stats, rng = scipy_module("stats", "an example"), np.random.default_rng(6)
    bounded = stats.truncnorm.rvs(a, 1.0, loc, 2.0, size=(2, 3), random_state=rng)
    return bounded + 10.0 * stats.skewnorm.rvs(a, loc, size=3, random_state=rng)


def _matrices(scale: Any, eta: Any) -> Any:
    following, covariances = default_rng(6).wishart(4.5, scale, size=2)
    following, shuffled = following.shuffle(covariances, axis=2)
    following, correlations = following.lkj(2, eta)
    return shuffled + 10.0 * correlations


def _matrices_by_scipy(scale: Any, eta: Any) -> Array:
    stats, rng = scipy_module("stats", "an example"), np.random.default_rng(6)
    covariances = stats.wishart.rvs(4.5, scale, size=2, random_state=rng)
    rng.shuffle(covariances, axis=2)
    z, x = rng.normal(size=2), rng.gamma(0.5, size=2)
    other: Array = rng.gamma(eta, size=2)
    sine = np.sign(z) * np.sqrt(x / (x + other))
    return covariances + 10.0 * (np.eye(2) + sine[:, None, None] * np.eye(2)[::-1])


EXAMPLES: list[Example] = [
    _made(
        "default_rng",
        lambda loc, scale: default_rng(5).normal(loc, scale, size=(2, 3))[1],
        lambda loc, scale: np.random.default_rng(5).normal(loc, scale, (2, 3)),
        LOC, SCALE,
    ),
    _made(
        "default_rng",
        lambda seed, mean, cov: default_rng(seed).multivariate_normal(mean, cov)[1],
        lambda seed, mean, cov: np.random.default_rng(seed).multivariate_normal(mean, cov),
        np.array([1, 2]), LOC, np.diag(SCALE),
    ),
    _made(
        "default_rng",
        _choice_and_order,
        _choice_and_order_by_numpy,
        np.array([0.1, 0.2, 0.3, 0.4]),
    ),
    _made(
        "default_rng",
        _bounded_and_skewed,
        _bounded_and_skewed_by_scipy,
        np.array([-2.0, 0.0, 0.5]), LOC[:1],
    ),
    _made(
        "default_rng",
        _matrices,
        _matrices_by_scipy,
        np.array([[2.0, 0.5], [0.5, 1.0]]), SCALE[:2],
    ),
]  # fmt: skip
