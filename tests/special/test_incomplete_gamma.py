"""The incomplete gamma and beta functions on JAX and PyTorch: digits against mpmath, and values at the ends."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_graph.gradient.reverse import grad
from occelo_special import functions as sp

mpmath = pytest.importorskip("mpmath")
special = pytest.importorskip("scipy.special")

K = (1e-8, 1e-3, 0.39, 0.41, 2.5, 9.99, 10.0, 150.0, 999.0)
RATIOS = (1e-6, 0.1, 0.5, 0.64, 0.66, 0.8, 0.99, 1.0, 1.01, 1.2, 1.34, 1.36, 2.0, 5.0)
PLACES = (1e-10, 0.3, 1.0, 1.2, 3.0, 30.0)
A = (1e-8, 0.09, 0.11, 1.0, 2.5, 9.9, 10.0, 30.0, 150.0)
BLOCK = 256
EVERY = 1 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 3
"""One in so many points is computed. It divides no number of places, so all of them occur."""
Both = Callable[..., list[Any]]


def _in_blocks(function: Any) -> Both:
    """The function, called with blocks of one length, as JAX compiles for each length anew."""

    def called(*given: Any) -> list[Any]:
        count = len(given[0])
        padded = [np.append(x, np.full(-count % BLOCK, x[-1])) for x in given]
        found = [
            function(*(x[i : i + BLOCK] for x in padded)) for i in range(0, len(padded[0]), BLOCK)
        ]
        return [np.concatenate(each)[:count] for each in zip(*found, strict=True)]

    return called


@pytest.fixture(scope="module", params=["jax", "pytorch"])
def mode(request: pytest.FixtureRequest) -> Iterator[str]:
    pytest.importorskip({"pytorch": "torch"}.get(request.param, request.param))
    # the expansions are opaque to Inductor, which takes seconds
    with config.change_flags(pytorch__compile=False):
        yield request.param


@pytest.fixture(scope="module")
def gammas(mode: str) -> Both:
    k, x = ot.dvectors("k", "x")
    return _in_blocks(oc.function([k, x], [sp.gammainc(k, x), sp.gammaincc(k, x)], mode=mode))


@pytest.fixture(scope="module")
def betas(mode: str) -> Both:
    a, b, x = ot.dvectors("a", "b", "x")
    outputs = [sp.betainc(a, b, x), sp.betaincc(a, b, x)]
    return _in_blocks(oc.function([a, b, x], outputs, mode=mode))


def _exact_lower(a: Any, z: Any) -> Any:
    """P by its power series, whose terms are positive."""
    term = mpmath.exp(a * mpmath.log(z) - z - mpmath.loggamma(a + 1))
    total, n = term, 0
    while n < z - a or term > mpmath.mpf(10) ** -mpmath.mp.dps * total:
        n += 1
        term = term * z / (a + n)
        total += term
    return total


@functools.cache
def _exact(k: float, x: float, digits: int = 330) -> tuple[float, float]:
    """P and Q, with so many digits that Q is the complement of P."""
    with mpmath.workdps(digits):
        lower = _exact_lower(mpmath.mpf(k), mpmath.mpf(x))
        return float(lower), float(1 - lower)


def _exact_slopes(k: float, x: float) -> tuple[float, float]:
    """The derivatives of P by k, a quotient of differences, and by x. The first is positive here, though P falls with k."""
    with mpmath.workdps(400):
        a, z, h = mpmath.mpf(k), mpmath.mpf(x), mpmath.mpf(10) ** -40
        by_k = (_exact_lower(a - h * a, z) - _exact_lower(a + h * a, z)) / (2 * h * a)
        by_x = mpmath.exp((a - 1) * mpmath.log(z) - z - mpmath.loggamma(a))
        return float(by_k), float(by_x)


@functools.cache
def _exact_beta(a: Any, b: Any, x: Any) -> tuple[float, float]:
    """I_x(a, b) by a power series, whose terms are positive, on the side of the mean where it is the smaller one.

    The number of terms is in inverse proportion to 1 - x. So near 0 and 1, the side decides alone.
    """
    with mpmath.workdps(60):
        a, b, x = map(mpmath.mpf, (a, b, x))
        if x > min(max((a + 1) / (a + b + 2), 0.01), 0.99):
            lower, upper = _series(b, a, 1 - x)
            return upper, lower
        return _series(a, b, x)


def _series(a: Any, b: Any, x: Any) -> tuple[float, float]:
    term = total = mpmath.mpf(1)
    n = 0
    while term > mpmath.mpf(10) ** -60 * total:
        term = term * (a + b + n) / (a + 1 + n) * x
        total, n = total + term, n + 1
    lower = total * mpmath.exp(a * mpmath.log(x) + b * mpmath.log(1 - x)) / a
    lower *= mpmath.exp(mpmath.loggamma(a + b) - mpmath.loggamma(a) - mpmath.loggamma(b))
    return float(lower), float(1 - lower)


def _beta_points() -> list[tuple[float, float, float]]:
    points: list[tuple[float, float, float]] = []
    for a, b in itertools.product(A, A):
        mean = a / (a + b)
        wide = (mean * (1 - mean) / (a + b + 1)) ** 0.5
        near = (mean + z * wide for z in (-2, 0, 1.5))
        points += [(a, b, x) for x in (1e-10, 0.3, 0.7, *near, (a + 1) / (a + b + 2)) if 0 < x < 1]
    return points[:: 3 * EVERY]


def _assert_digits(
    function: Both, points: Sequence[Any], exact: Sequence[Any], rtol: float = 1.5e-13
) -> None:
    found = function(*np.array(points).T)
    for values, wanted in zip(found, zip(*exact, strict=True), strict=True):
        expected = np.array(wanted)
        normal = expected > 1e-290
        np.testing.assert_allclose(values[normal], expected[normal], rtol=rtol)
        np.testing.assert_allclose(values[~normal], 0, atol=2e-290)


def test_digits_at_all_sizes(gammas: Both) -> None:
    points = [(k, x) for k in K for x in (*(k * r for r in RATIOS), *PLACES) if x < 1500][::EVERY]
    _assert_digits(gammas, points, [_exact(*p) for p in points])


@pytest.fixture(scope="module")
def in_loops() -> Both:
    k, x = ot.dvectors("k", "x")
    lower, upper = sp.gammainc(k, x), sp.gammaincc(k, x)
    by_k, by_x = grad(lower.sum(), [k, x])
    return oc.function([k, x], [lower, upper, -by_k, by_x])


def test_digits_in_loops(in_loops: Both) -> None:
    points = [(k, x) for k in K for x in (*(k * r for r in RATIOS), *PLACES) if x < 1500]
    _assert_digits(
        in_loops, points[::EVERY], [(*_exact(*p), *_exact_slopes(*p)) for p in points[::EVERY]]
    )
    large = [(1e6, 1e6 + z * 1e3) for z in (-8.0, -3.0, 0.0, 8.0)]
    _assert_digits(lambda k, x: in_loops(k, x)[:2], large, [_exact(*p, 60) for p in large])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_ends_of_the_domain_in_loops(in_loops: Both) -> None:
    ends = np.array([-1.0, -0.0, 0.0, 1e-300, 1.0, 1e300, np.inf, np.nan])
    k, x = (grid.ravel() for grid in np.meshgrid(ends, ends))
    lower, upper, by_k, by_x = in_loops(k, x)
    np.testing.assert_allclose(lower, special.gammainc(k, x), rtol=1e-12)
    np.testing.assert_allclose(upper, special.gammaincc(k, x), rtol=1e-12)
    inside = (k >= 0) & (x >= 0)
    assert np.isnan(by_x[~inside]).all()
    assert np.isnan(by_k[np.isnan(k + x)]).all()
    at_zero = inside & (x == 0)
    expected = np.where(k < 1, np.inf, np.where(k == 1, 1, 0))
    np.testing.assert_array_equal(by_x[at_zero], expected[at_zero])
    np.testing.assert_array_equal(by_x[inside & np.isinf(x)], 0)
    np.testing.assert_array_equal(by_k[inside & (np.isinf(x) | np.isinf(k) | at_zero)], 0)


def test_single_precision_in_loops() -> None:
    k, x = ot.fvectors("k", "x")
    f = oc.function([k, x], [sp.gammainc(k, x), sp.gammaincc(k, x)])
    points = [(0.5, 0.25), (3.0, 9.0), (20.0, 21.0), (2e3, 1.9e3), (1e-3, 1e-3)]
    lower, upper = f(*np.array(points, "float32").T)
    assert lower.dtype == "float32"
    exact = np.array([_exact(*np.float32(p).astype("float64").tolist()) for p in points])
    np.testing.assert_allclose(np.stack([lower, upper], 1), exact, rtol=1e-7)


def test_digits_of_beta_functions_at_all_sizes(betas: Both) -> None:
    points = _beta_points()
    _assert_digits(betas, points, [_exact_beta(*p) for p in points], rtol=2e-13)


def test_digits_at_large_parameters(gammas: Both, betas: Both) -> None:
    points = [(1e6, 1e6 + z * 1e3) for z in (-8.0, -3.0, 0.0, 8.0)]
    _assert_digits(gammas, points, [_exact(*p, 60) for p in points], rtol=2e-13)
    # SciPy's lower function is wrong for z = -8
    z = np.array([-3.0, -1.0, -0.1, 0.0, 0.1, 1.0, 3.0, 8.0])
    k = np.repeat([1e8, 1e10], len(z))
    x = k + np.tile(z, 2) * np.sqrt(k)
    np.testing.assert_allclose(gammas(k, x)[0], special.gammainc(k, x), rtol=2e-13)
    np.testing.assert_allclose(gammas(k, x)[1], special.gammaincc(k, x), rtol=2e-13)
    large = [
        (a, b, a / (a + b) + z * (a * b / (a + b)) ** 0.5 / (a + b))
        for a, b in ((3e3, 3e3), (30.0, 1e6), (1e6, 3.0))
        for z in (-3.0, 0.5)
        if a / (a + b) + z * (a * b / (a + b)) ** 0.5 / (a + b) < 1
    ]
    _assert_digits(betas, large, [_exact_beta(*p) for p in large], rtol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_ends_of_the_domain(gammas: Both, betas: Both) -> None:
    ends = np.array([-1.0, -0.0, 0.0, 1e-300, 1.0, 1e300, np.inf, np.nan])
    k, x = (grid.ravel() for grid in np.meshgrid(ends, ends))
    expected = special.gammainc(k, x), special.gammaincc(k, x)
    for values, wanted in zip(gammas(k, x), expected, strict=True):
        np.testing.assert_allclose(values, wanted, rtol=1e-12)
    ends = np.array([-1.0, -0.0, 0.0, 0.5, 2.0, 1e3, np.inf, np.nan])
    places = np.array([-1.0, -0.0, 0.0, 1e-300, 0.3, 1.0, 1.0 + 1e-15, np.inf, -np.inf, np.nan])
    a, b, x = (grid.ravel() for grid in np.meshgrid(ends, ends, places))
    expected = special.betainc(a, b, x), special.betaincc(a, b, x)
    for values, wanted in zip(betas(a, b, x), expected, strict=True):
        np.testing.assert_allclose(values, wanted, rtol=1e-12)


def test_single_precision(mode: str) -> None:
    k, x = ot.fvectors("k", "x")
    points = np.array([(0.5, 0.2), (3.0, 9.0), (20.0, 21.0), (2e3, 1.9e3)], "float32").T
    outputs = [sp.gammaincc(k, x), sp.betaincc(k, x, 0.5)]
    gamma, beta = oc.function([k, x], outputs, mode=mode)(*points)
    wide = points.astype("float64")
    assert gamma.dtype == beta.dtype == "float32"
    np.testing.assert_allclose(gamma, special.gammaincc(*wide), rtol=2e-5)
    np.testing.assert_allclose(beta, special.betaincc(*wide, 0.5), rtol=1e-4)


def test_derivatives_and_batches(mode: str) -> None:
    a, b, x = ot.dvectors("a", "b", "x")
    outputs = sp.gammaincc(a, x) + 3.0 * sp.betaincc(a, b, x)
    points = np.array([(0.5, 2.0, 0.2), (3.0, 9.0, 0.9), (20.0, 30.0, 0.3)]).T
    function = oc.function([a, b, x], outputs, mode=mode)
    expected = np.exp((points[0] - 1) * np.log(points[2]) - points[2])
    expected = -expected / special.gamma(points[0])
    density = points[2] ** (points[0] - 1) * (1 - points[2]) ** (points[1] - 1)
    expected -= 3.0 * density / special.beta(*points[:2])
    for found in SLOPES[mode](function, points):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def _jax_slopes(function: Any, points: Any) -> list[Any]:
    import jax

    from occelo_link import as_jax

    traced = as_jax(function)
    by_x = jax.grad(lambda *p: traced(*p).sum(), 2)
    batch = jax.vmap(lambda *p: by_x(*p))
    with jax.enable_x64(True):
        with pytest.raises(NotImplementedError, match="no derivative by its parameters"):
            jax.grad(lambda *p: traced(*p).sum(), 1)(*points)
        return list(jax.jit(lambda *p: (by_x(*p), batch(*(x[:, None] for x in p))[:, 0]))(*points))


def _torch_slopes(function: Any, points: Any) -> list[Any]:
    import torch

    from occelo_link import as_torch

    traced = as_torch(function)
    tensors = [torch.tensor(p) for p in points]
    tensors[2].requires_grad_()
    traced(*tensors).sum().backward()
    tensors[1].requires_grad_()
    with pytest.raises(NotImplementedError, match="no derivative by its parameters"):
        traced(*tensors).sum().backward()
    slope = torch.func.grad(lambda x, *p: traced(*p, x).sum())
    whole = torch.func.vmap(slope)(*(torch.tensor(points[i])[:, None] for i in (2, 0, 1)))[:, 0]
    return [tensors[2].grad, whole]


SLOPES = {"jax": _jax_slopes, "pytorch": _torch_slopes}
