"""Special functions and their derivatives against mpmath, where libraries' own lose digits or are wrong, on all backends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import occelo.tensor as ot
import occelo_graph as og
from occelo_compile import function

mp: Any = mpmath
LIBRARIES = {"jax": "jax", "pytorch": "torch"}
SMALL = (1e-20, 1e-8, 1e-4, 0.01, 0.3)
WIDE = (*SMALL, 0.9, 1.3, 2.2, 6.1, 11.3, 20.7, 80.1, 200.3, 700.4, 1e4, 1e6, 1e10)
BOTH = (*WIDE, *(-x for x in WIDE))
NORMAL = (*SMALL, 1.3, 2.5, 6.1, *(-x for x in (*SMALL, 0.9, 1.1, 6.1, 20.7, 37.0)))


def log_beta(a: float) -> Callable[[Any], Any]:
    return lambda x: mp.loggamma(a) + mp.loggamma(x) - mp.loggamma(a + x)


def rise(m: float) -> Callable[[Any], Any]:
    return lambda x: mp.exp(mp.loggamma(x + m) - mp.loggamma(x))


ROWS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], tuple[float, ...]]] = {
    "expm1": (ot.expm1, mp.expm1, tuple(x for x in BOTH if abs(x) < 700)),
    "psi": (ot.psi, lambda x: mp.psi(0, x), (*WIDE, -0.01, -0.3, -1.3, -11.3, -200.3)),
    "polygamma 2": (
        lambda x: ot.polygamma(2.0, x),
        lambda x: mp.psi(2, x),
        (1.3, 0.1, -0.3, -1.3, -11.3, -12000.3),
    ),
    "log_ndtr": (ot.log_ndtr, lambda x: mp.log(mp.erfc(-x / mp.sqrt(2)) / 2), NORMAL),
    "j1": (ot.j1, mp.j1, tuple(x for x in BOTH if 1e-8 < abs(x) < 100)),
    "i0": (ot.i0, lambda x: mp.besseli(0, x), tuple(x for x in BOTH if abs(x) < 701)),
    "i1": (ot.i1, lambda x: mp.besseli(1, x), tuple(x for x in BOTH if abs(x) < 701)),
    **{
        f"betaln {a}": (lambda x, a=a: ot.betaln(a, x), log_beta(a), WIDE)
        for a in (1e-10, 0.3, 1.0, 5.5, 1e6)
    },
    **{
        f"beta {a}": (lambda x, a=a: ot.beta(a, x), lambda x, a=a: mp.exp(log_beta(a)(x)), WIDE)
        for a in (0.3, 5.5, 1e6)
    },
    **{
        f"poch {m}": (lambda x, m=m: ot.poch(x, m), rise(m), WIDE[1:])
        for m in (0.3, 2.0, 5.5, 30.0)
    },
}


def exactly(function: Callable[[Any], Any], x: float) -> tuple[Any, Any, Any]:
    """The value and two derivatives."""
    at, h = mp.mpf(x), abs(mp.mpf(x)) * mp.mpf(10) ** -30
    below, value, above = (function(at + k * h) for k in (-1, 0, 1))
    return value, (above - below) / (2 * h), (above - 2 * value + below) / h**2


@pytest.mark.filterwarnings("ignore:.* has no j1:UserWarning")
@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", ["py", "native", "jax", "pytorch"])
@pytest.mark.parametrize("name", ROWS)
def test_values_and_slopes_have_their_digits(name: str, mode: str) -> None:
    """Errors are relative, in units of the rounding that the argument's own rounding makes."""
    if mode in LIBRARIES:
        pytest.importorskip(LIBRARIES[mode])
    ours, exact, points = ROWS[name]
    x = ot.dvector("x")
    with np.errstate(all="ignore"):
        value, slope = function([x], [ours(x), og.grad(ours(x).sum(), x)], mode=mode)(
            np.array(points)
        )
    for i, point in enumerate(points):
        with mp.workdps(200):
            wanted = exactly(exact, point)
            for n, found in enumerate((value[i], slope[i])):
                right = wanted[n]
                if not 1e-290 < abs(right) < 1e300:
                    continue
                condition = 1 + abs(point * wanted[n + 1] / right)
                size = abs(right) + (1 if name.startswith("betaln") and not n else 0)
                assert np.isfinite(found), (point, n)
                error = float(abs(mp.mpf(float(found)) - right) / (size * condition))
                assert error < 4e-13, (point, n, found, mp.nstr(right, 17))


@pytest.mark.parametrize("mode", ["py", "native", "jax", "pytorch"])
def test_betaln_at_the_ends(mode: str) -> None:
    if mode in LIBRARIES:
        pytest.importorskip(LIBRARIES[mode])
    a, b = ot.dvectors("a", "b")
    call = function([a, b], [ot.betaln(a, b), ot.beta(a, b)], mode=mode)
    inf, nan = np.inf, np.nan
    log, value = call(
        np.array([inf, 0.3, inf, 0.0, 1e302, nan, 1e-300, -2.5]),
        np.array([0.3, inf, inf, 1.0, 1e302, 1.0, 1e-300, 0.7]),
    )
    wanted = [-inf, -inf, -inf, inf, -2e302 * np.log(2), nan, 300 * np.log(10) + np.log(2)]
    np.testing.assert_allclose(log[:7], wanted, rtol=1e-14)
    np.testing.assert_allclose(value, [0, 0, 0, inf, 0, nan, 2e300, value[7]], rtol=1e-13)
    right = float(mp.beta(-2.5, 0.7))
    np.testing.assert_allclose([log[7], value[7]], [np.log(-right), right], rtol=1e-13)
