"""Examples of draws by keys of laws beyond those in `random_examples`, beside SciPy's quantiles of the same uniform numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ops.random.inversion import (
    cauchy,
    gumbel,
    halfcauchy,
    halfnormal,
    laplace,
    logistic,
    lognormal,
    pareto,
    power,
    rayleigh,
    triangular,
    truncexpon,
    weibull,
)
from occelo_graph.optional_scipy import scipy_module
from occelo_graph.testing.random_examples import (
    KEY,
    LOC,
    SCALE,
    make,
    open_uniform,
    uniform_numbers,
)

if TYPE_CHECKING:
    from occelo_graph.testing.example import Example

__all__ = ["EXAMPLES"]


def _law(name: str, *args: Any, **options: Any) -> Any:
    """A law of SciPy."""
    return getattr(scipy_module("stats", name), name)(*args, **options)


def _u(key: Any) -> Any:
    return open_uniform(key, (3,))


_A = np.array([0.5, 1.0, 2.5])

EXAMPLES: list[Example] = [
    make("cauchy", cauchy, lambda k, m, s: _law("cauchy", m, s).ppf(_u(k)), KEY, LOC, SCALE, grad=(1, 2)),
    make("halfcauchy", halfcauchy, lambda k, m, s: _law("halfcauchy", m, s).ppf(_u(k)), KEY, LOC, SCALE, grad=(1, 2)),
    make("halfnormal", halfnormal, lambda k, m, s: m + s * abs(_law("norm").ppf(_u(k))), KEY, LOC, SCALE, grad=(1, 2)),
    make("laplace", laplace, lambda k, m, s: _law("laplace", m, s).ppf(_u(k)), KEY, LOC, SCALE, grad=(1, 2)),
    make("logistic", logistic, lambda k, m, s: _law("logistic", m, s).ppf(_u(k)), KEY, LOC, SCALE, grad=(1, 2)),
    make("gumbel", gumbel, lambda k, m, s: _law("gumbel_r", m, s).ppf(_u(k)), KEY, LOC, SCALE, grad=(1, 2)),
    make("lognormal", lognormal, lambda k, m, s: np.exp(m + s * _law("norm").ppf(_u(k))), KEY, LOC, SCALE, grad=(1, 2)),
    make("pareto", pareto, lambda k, b, s: _law("pareto", b, scale=s).isf(_u(k)), KEY, _A, SCALE, grad=(1, 2)),
    make("power", power, lambda k, a: _law("powerlaw", a).ppf(_u(k)), KEY, _A, grad=(1,)),
    make("rayleigh", rayleigh, lambda k, s: _law("rayleigh", scale=s).isf(_u(k)), KEY, SCALE, grad=(1,)),
    make(
        "triangular",
        lambda k, left, width: triangular(k, left, left + 0.25 * width, left + width),
        lambda k, left, width: _law("triang", 0.25, left, width).ppf(uniform_numbers(k, (3,))),
        KEY, LOC, SCALE, grad=(1, 2),
    ),
    make(
        "truncexpon",
        truncexpon,
        lambda k, b, m, s: _law("truncexpon", b, m, s).ppf(uniform_numbers(k, (3,))),
        KEY, _A, LOC, SCALE, grad=(1, 2, 3),
    ),
    make("weibull", weibull, lambda k, a, s: _law("weibull_min", a, scale=s).isf(_u(k)), KEY, _A, SCALE, grad=(1, 2)),
]  # fmt: skip
