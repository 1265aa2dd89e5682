"""Examples of draws with generators of NumPy, beside NumPy's own draws; `examples` collects them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ops.random.generators import default_rng
from occelo_graph.testing.example import Example
from occelo_graph.testing.random_examples import LOC, SCALE

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array, ArrayFunction, TensorFunction

__all__ = ["EXAMPLES"]


def _made(name: str, function: TensorFunction, reference: ArrayFunction, *args: Array) -> Example:
    return Example(name, "random", function, reference, args)


def _choice_and_order(p: Any) -> Any:
    following, chosen = default_rng(6).choice(4, 5, p=p)
    return chosen + 10 * following.permutation(5)[1]


def _choice_and_order_by_numpy(p: Any) -> Array:
    rng = np.random.default_rng(6)
    return rng.choice(4, 5, p=p) + 10 * rng.permutation(5)


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
]  # fmt: skip
