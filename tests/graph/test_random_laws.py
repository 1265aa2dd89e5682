"""Draws by keys of all other laws, beside SciPy's laws: distribution, moments, dtypes, derivatives and errors."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
import scipy.stats

import occelo_graph as og
from occelo_graph import random
from occelo_graph import tensor as ot

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
COUNT = 1_000_000 if THOROUGH else 20_000
KEY = random.key(41)


def drawn(variable: Any, **given: Any) -> Any:
    return np.asarray(og.evaluate(variable, {}))


CONTINUOUS: list[tuple[str, tuple[float, ...], Any]] = [
    ("cauchy", (1.0, 2.0), scipy.stats.cauchy(1.0, 2.0)),
    ("halfcauchy", (1.0, 2.0), scipy.stats.halfcauchy(1.0, 2.0)),
    ("halfnormal", (1.0, 2.0), scipy.stats.halfnorm(1.0, 2.0)),
    ("laplace", (1.0, 2.0), scipy.stats.laplace(1.0, 2.0)),
    ("logistic", (1.0, 2.0), scipy.stats.logistic(1.0, 2.0)),
    ("gumbel", (1.0, 2.0), scipy.stats.gumbel_r(1.0, 2.0)),
    ("lognormal", (0.5, 0.75), scipy.stats.lognorm(0.75, scale=np.exp(0.5))),
    ("pareto", (5.0, 2.0), scipy.stats.pareto(5.0, scale=2.0)),
    ("power", (0.5,), scipy.stats.powerlaw(0.5)),
    ("rayleigh", (2.0,), scipy.stats.rayleigh(scale=2.0)),
    ("triangular", (-1.0, 0.5, 2.0), scipy.stats.triang(0.5, -1.0, 3.0)),
    ("truncexpon", (1.5, 1.0, 2.0), scipy.stats.truncexpon(1.5, 1.0, 2.0)),
    ("weibull", (1.5, 2.0), scipy.stats.weibull_min(1.5, scale=2.0)),
]
BY_NAME = {f"{name}{args}": (name, args, law) for name, args, law in CONTINUOUS}


def follows(values: Any, law: Any) -> None:
    assert scipy.stats.kstest(values, law.cdf).pvalue > 1e-3
    mean, variance, kurtosis = law.stats("mvk")
    if np.isfinite(variance):
        assert abs(values.mean() - mean) < 4.5 * np.sqrt(variance / len(values))
    if np.isfinite(kurtosis):
        assert abs(values.var() / variance - 1) < 4.5 * np.sqrt((kurtosis + 2) / len(values))
    # the tails have as many numbers as they should
    for tail in (1e-3, 1 - 1e-3):
        share = np.mean(values <= law.ppf(tail))
        assert abs(share - tail) < 5 * np.sqrt(1e-3 / len(values))


@pytest.mark.parametrize("case", BY_NAME)
def test_continuous_laws(case: str) -> None:
    name, args, law = BY_NAME[case]
    draw = getattr(random, name)
    follows(drawn(draw(KEY, *args, size=COUNT)), law)
    single = drawn(draw(KEY, *args, size=1000, dtype="float32"))
    assert single.dtype == "float32"
    assert scipy.stats.kstest(single, law.cdf).pvalue > 1e-3
    # parameters and keys by rows
    rows = [ot.constant(np.array([a, a])) for a in args]
    keys = random.split(KEY, 2)
    one = [drawn(draw(keys[i], *args)) for i in range(2)]
    np.testing.assert_array_equal(drawn(draw(keys, *rows)), one)


@pytest.mark.parametrize("case", BY_NAME)
def test_derivatives_of_draws(case: str) -> None:
    name, args, _ = BY_NAME[case]
    points = [np.array([a, 1.1 * a]) for a in args]
    og.verify_grad(lambda *p: getattr(random, name)(KEY, *p), points)


INVALID: list[tuple[str, tuple[float, ...], str]] = [
    ("normal", (0.0, -1.0), "scale < 0"),
    ("exponential", (-1.0,), "scale < 0"),
    ("bernoulli", (1.5,), "p < 0, p > 1 or p is NaN"),
    ("cauchy", (0.0, -1.0), "scale < 0"),
    ("lognormal", (0.0, -1.0), "sigma < 0"),
    ("pareto", (0.0,), "b <= 0"),
    ("weibull", (0.0,), "a <= 0"),
    ("triangular", (0.0, -1.0, 1.0), "left > mode"),
    ("triangular", (0.0, 2.0, 1.0), "mode > right"),
    ("triangular", (1.0, 1.0, 1.0), "left == right"),
    ("integers", (3, 3), "low >= high"),
]


@pytest.mark.parametrize(("name", "args", "message"), INVALID)
def test_invalid_parameters(name: str, args: tuple[float, ...], message: str) -> None:
    draw = getattr(random, name)
    with pytest.raises(ValueError, match=message):
        draw(KEY, *args)
    symbols = [ot.scalar(f"p{i}", dtype=np.asarray(a).dtype) for i, a in enumerate(args)]
    variable = draw(KEY, *symbols)
    with pytest.raises(ValueError, match=message):
        og.evaluate(variable, dict(zip(symbols, map(np.asarray, args), strict=True)))


def test_parameters_that_do_not_fit_the_size() -> None:
    with pytest.raises(ValueError, match=r"shape \(2,\), to which a parameter of shape \(3,\)"):
        random.normal(KEY, np.zeros(3), size=2)
    with pytest.raises(ValueError, match=r"shape \(1,\), to which a parameter of shape \(3,\)"):
        random.laplace(KEY, np.zeros(3), size=1)
