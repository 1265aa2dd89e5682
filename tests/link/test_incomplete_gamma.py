"""The incomplete gamma functions on JAX: digits against mpmath and SciPy, and values at the ends of their domain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import tensor as ot

jax = pytest.importorskip("jax")
mpmath = pytest.importorskip("mpmath")
special = pytest.importorskip("scipy.special")

K = (1e-8, 1e-3, 0.39, 0.41, 2.5, 9.99, 10.0, 150.0, 999.0)
RATIOS = (1e-6, 0.1, 0.5, 0.64, 0.66, 0.8, 0.99, 1.0, 1.01, 1.2, 1.34, 1.36, 2.0, 5.0)
PLACES = (1e-10, 0.3, 1.0, 1.2, 3.0, 30.0)


@pytest.fixture(scope="module")
def compiled() -> Any:
    k, x = ot.dvectors("k", "x")
    return oc.function([k, x], [ot.gammainc(k, x), ot.gammaincc(k, x)], mode="jax")


def _exact(k: float, x: float, digits: int = 330) -> tuple[float, float]:
    """P by its power series, whose terms are positive, in so many digits that its complement is Q."""
    with mpmath.workdps(digits):
        a, z = mpmath.mpf(k), mpmath.mpf(x)
        term = mpmath.exp(a * mpmath.log(z) - z - mpmath.loggamma(a + 1))
        total, n = term, 0
        while n < z - a or term > mpmath.mpf(10) ** -digits * total:
            n += 1
            term = term * z / (a + n)
            total += term
        return float(total), float(1 - total)


def test_digits_at_all_sizes(compiled: Any) -> None:
    points = [(k, x) for k in K for x in (*(k * r for r in RATIOS), *PLACES) if x < 1500]
    found = compiled(*np.array(points).T)
    for values, exact in zip(found, zip(*(_exact(*p) for p in points), strict=True), strict=True):
        expected = np.array(exact)
        normal = expected > 1e-290
        np.testing.assert_allclose(values[normal], expected[normal], rtol=1.5e-13)
        np.testing.assert_allclose(values[~normal], 0, atol=2e-290)


def test_digits_at_large_parameters(compiled: Any) -> None:
    exact = [(1e6, 1e6 + z * 1e3) for z in (-8.0, -3.0, 0.0, 8.0)]
    for values, wanted in zip(
        compiled(*np.array(exact).T),
        zip(*(_exact(*p, 60) for p in exact), strict=True),
        strict=True,
    ):
        np.testing.assert_allclose(values, wanted, rtol=2e-13)
    # SciPy's lower function is wrong for z = -8
    z = np.array([-3.0, -1.0, -0.1, 0.0, 0.1, 1.0, 3.0, 8.0])
    k = np.repeat([1e8, 1e10], len(z))
    x = k + np.tile(z, 2) * np.sqrt(k)
    np.testing.assert_allclose(compiled(k, x)[0], special.gammainc(k, x), rtol=2e-13)
    np.testing.assert_allclose(compiled(k, x)[1], special.gammaincc(k, x), rtol=2e-13)


def test_the_ends_of_the_domain(compiled: Any) -> None:
    ends = np.array([-1.0, -0.0, 0.0, 1e-300, 1.0, 1e300, np.inf, np.nan])
    k, x = (grid.ravel() for grid in np.meshgrid(ends, ends))
    with np.errstate(all="ignore"):
        expected = special.gammainc(k, x), special.gammaincc(k, x)
    for values, wanted in zip(compiled(k, x), expected, strict=True):
        np.testing.assert_array_equal(np.isnan(values), np.isnan(wanted))
        np.testing.assert_allclose(values, wanted, rtol=1e-12)


def test_float32_and_derivatives() -> None:
    k, x = ot.TensorType("float32", (None,)).make_variable(), ot.fvector("x")
    points = np.array([(0.5, 0.2), (3.0, 9.0), (20.0, 21.0), (2e3, 1.9e3)], "float32").T
    found = oc.function([k, x], ot.gammaincc(k, x), mode="jax")(*points)
    np.testing.assert_allclose(found, special.gammaincc(*points.astype("float64")), rtol=2e-5)
    both = oc.as_jax(ot.gammainc(k, x), [k, x]) if hasattr(oc, "as_jax") else None
    if both is not None:
        by_x = jax.grad(lambda v: both(points[0], v).sum())(points[1])
        a, z = points.astype("float64")
        density = np.exp((a - 1) * np.log(z) - z - special.gammaln(a))
        np.testing.assert_allclose(by_x, density, rtol=1e-3)
