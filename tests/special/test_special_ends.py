"""Special functions and their gradients at the ends of their domains, against one-sided limits by mpmath.

The tables are those of `occelo_testing.ends`.
"""

from __future__ import annotations

import inspect
import itertools
import math
from functools import partial
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_special import functions as sp
from occelo_testing.ends.elementary import ELEMENTARY
from occelo_testing.ends.further_functions import FURTHER_FUNCTIONS, NO_LIMITS
from occelo_testing.ends.limits import (
    INF,
    Row,
    compare_at_ends,
    named_parameter,
    parameters_with_slopes,
)
from occelo_testing.ends.special_functions import SPECIAL_FUNCTIONS

mp: Any = mpmath
ROWS = [*ELEMENTARY, *SPECIAL_FUNCTIONS, *FURTHER_FUNCTIONS]

PARAMETERS = {
    "betainc": "a b x",
    "betaincc": "a b x",
    "betainccinv": "a b x",
    "betaincinv": "a b x",
    "boxcox": "x lmbda",
    "boxcox1p": "x lmbda",
    "ellipeinc": "phi m",
    "ellipkinc": "phi m",
    "elliprd": "x y z",
    "elliprf": "x y z",
    "hyp1f1": "a b x",
    "hyp2f1": "a b c z",
    "inv_boxcox": "y lmbda",
    "inv_boxcox1p": "y lmbda",
    "multigammaln": "a",
    "owens_t": "h a",
    "poch": "z m",
    "pseudo_huber": "delta r",
    "sph_legendre_p": "n m theta",
    **dict.fromkeys(("beta", "betaln"), "a b"),
    **dict.fromkeys(("binom",), "n k"),
    **dict.fromkeys(("expn", "kn", "polygamma"), "n x"),
    **dict.fromkeys(("gammainc", "gammaincc", "gammaincinv", "gammainccinv", "gammau", "gammal"), "k x"),
    **dict.fromkeys(("iv", "ive", "jv", "kv", "kve", "yv"), "v x"),
    **dict.fromkeys(("kl_div", "rel_entr", "xlogy", "xlog1py"), "x y"),
    **dict.fromkeys(("spherical_in", "spherical_jn", "spherical_kn", "spherical_yn"), "n x"),
}  # fmt: skip
"""The parameters of functions of several numbers whose signatures do not name them."""

OTHERS: dict[str, dict[str, int]] = {"multigammaln": {"d": 2}, "bessel_jn": {"v": 1}}
"""Arguments that are no numbers of a graph."""


@pytest.fixture(autouse=True)
def digits() -> Any:
    with mp.workdps(160):
        yield


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore:jax has no:UserWarning")
@pytest.mark.parametrize("mode", ["native", "py", "jax"], indirect=True)
@pytest.mark.parametrize("row", ROWS, ids=[r[0] for r in ROWS])
def test_a_function_and_its_slope_at_the_ends_of_its_domain(row: Row, mode: str) -> None:
    name, build, exact, ends = row
    if (name, mode) == ("hyp2f1 in z (0.5, 0.5, 1.0)", "jax"):
        pytest.skip("hyp2f1 of JAX is NaN where it is infinite")
    if name.startswith("betainc") and scipy.__version__.startswith("1.13"):
        pytest.skip("incomplete beta functions of SciPy 1.13 are NaN where a parameter is 0")
    x = ot.dscalar("x")
    compare_at_ends(oc.function([x], [build(x), og.grad(build(x), x)], mode=mode), exact, ends)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("row", ROWS, ids=[r[0] for r in ROWS])
def test_slopes_at_the_ends_in_single_precision(row: Row) -> None:
    _, build, exact, ends = row
    x = ot.fscalar("x")
    slope = oc.function([x], [build(x), og.grad(build(x), x)], mode="py")
    held = [end for end in ends if end[0] in (0, INF, -INF) or 1e-20 < abs(end[0]) < 80]
    compare_at_ends(lambda point: slope(np.float32(point)), exact, held, rtol=1e-4, atol=1e-6)


def public_functions() -> dict[str, Any]:
    """All functions of real numbers, but for other names of the same ones."""
    named = {name: f for name, f in vars(sp).items() if name[0] != "_" and callable(f)}
    del named["bernoulli"]  # a function of a whole number, with many results
    del named["sph_harm_y"]  # sph_legendre_p times a wave
    return {
        name: f for name, f in named.items() if f is not named.get(f.__name__) or name == f.__name__
    }


def parameters_of(name: str, function: Any) -> list[str]:
    """The parameters that are numbers."""
    if name in PARAMETERS or isinstance(function, Elemwise):
        return PARAMETERS.get(name, "x").split()
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.default in (p.empty, 1.0) and p.kind != p.KEYWORD_ONLY]


def test_every_special_function_has_rows_for_every_parameter() -> None:
    told = {named_parameter(row) for row in (*NO_LIMITS, *(row[0] for row in ROWS))}
    for name, function in public_functions().items():
        names = parameters_of(name, function)
        function = partial(function, **OTHERS[name]) if name in OTHERS else function
        for parameter in parameters_with_slopes(function, names):
            last = (name, None) if parameter == names[-1] else (name, parameter)
            assert {(name, parameter), last} & told, f"{name} has no row in {parameter}"


def test_slopes_do_not_cancel_near_the_ends() -> None:
    x = ot.dvector("x")
    functions: list[tuple[Any, Any, list[float]]] = [
        (ot.erfcx, lambda x: mp.exp(x * x) * mp.erfc(x), [3.0, 24.9, 25.1, 1e3, 1e8]),
        (ot.log1mexp, lambda x: mp.log(-mp.expm1(x)), [-1e-300, -1e-9, -1.0, -30.0]),
    ]
    for ours, exact, points in functions:
        slope = oc.function([x], og.grad(ours(x).sum(), x), mode="py")
        expected = [float(mp.diff(exact, mp.mpf(p), h=abs(p) * mp.mpf(10) ** -50)) for p in points]
        np.testing.assert_allclose(slope(points), expected, rtol=1e-12)
    # the slope of ndtri_exp is the distribution function divided by the density
    slope = oc.function([x], og.grad(sp.ndtri_exp(x).sum(), x), mode="py")
    y = np.array([-1e10, -1e4, -30.0, -1.0, -1e-3])
    z = [mp.mpf(float(v)) for v in og.evaluate([sp.ndtri_exp(x)], {x: y})[0]]
    expected = [
        float(mp.ncdf(v) * mp.sqrt(2 * mp.pi) * mp.exp(v * v / 2))
        if v > -1e4
        else float(-1 / v + 1 / v**3)
        for v in z
    ]
    np.testing.assert_allclose(slope(y), expected, rtol=1e-10)


def _hyp2f1_slope(parameters: tuple[float, ...], which: int, at: float = 1.0) -> float:
    given = [mp.mpf(p) for p in parameters]

    def slope(z: Any) -> Any:
        step = mp.mpf(10) ** -25
        above, below = ([p + s * (i == which) for i, p in enumerate(given)] for s in (step, -step))
        return (mp.hyp2f1(*above, z) - mp.hyp2f1(*below, z)) / (2 * step)

    a, b, c = given
    if c - a - b > 0 or at < 1:
        return float(slope(mp.mpf(at)))
    first, last = (slope(1 - mp.mpf(10) ** -k) for k in (12, 18))
    return float(mp.sign(last)) * INF if abs(last) > 1.3 * abs(first) else float(last)


def test_slopes_of_betaln_do_not_cancel_or_overflow() -> None:
    a, b = ot.dvectors("a", "b")
    slopes = oc.function([a, b], og.grad(sp.betaln(a, b).sum(), [a, b]), mode="py")
    sizes = [1e-3, 0.5, 3.0, 9999.0, 10001.0, 1e8, 1e154, 1e308]
    points = np.array(list(itertools.product(sizes, sizes)))
    with mp.workdps(700):
        expected = [
            [float(mp.psi(0, p[i]) - mp.psi(0, p[0] + p[1])) for i in (0, 1)]
            for p in [[mp.mpf(float(v)) for v in row] for row in points]
        ]
    found = np.transpose(slopes(*points.T))
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-300)


@pytest.mark.parametrize("mode", ["py", "native"])
def test_modified_bessel_functions_of_the_smallest_numbers(mode: str) -> None:
    """Compared with the first term of their series in |x|, and its slope."""
    x = ot.dvector("x")
    y = np.array([5e-324, 1e-310, 2.2e-308, 1e-307, 1e-151, 1e-149, -5e-324, -1e-310, -1e-200])
    functions: list[tuple[float, Any]] = [(1.0, sp.i1(x))]
    functions += [(v, sp.iv(v, x)) for v in (0.0, 1.0, 2.0, 0.5, -1.0, -0.5, -1.5, 2.5)]
    functions += [(v, sp.ive(v, x)) for v in (1.0, 2.0, 0.5, -1.0, -0.5, 2.5)]
    for order, value in functions:
        whole = order.is_integer()
        given = y if whole else y[y > 0]
        v = mp.mpf(abs(order) if whole else order)
        term = mp.rgamma(v + 1) / 2**v
        points = [mp.mpf(float(n)) for n in given]
        expected = [
            [float(term * n**v) for n in points],
            [float(v * term * n ** (v - 1)) for n in points],
        ]
        found = oc.function([x], [value, og.grad(value.sum(), x)], mode=mode)(given)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-140)


@pytest.mark.parametrize("z", [-0.95, -1.0, -1.5, -7.0, -300.0])
def test_derivatives_of_hyp2f1_by_its_parameters_below_minus_1(z: float) -> None:
    points = list(itertools.product((-2.0, -0.5, 0.3), (-3.0, 0.4, 1.5), (0.5, 1.0, 2.0)))
    a, b, c = ot.dvectors("a", "b", "c")
    slopes = og.grad(sp.hyp2f1(a, b, c, z).sum(), [a, b, c])
    found = oc.function([a, b, c], slopes, mode="py")(*np.array(points).T)
    with mp.workdps(60):
        expected = [[_hyp2f1_slope(p, which, z) for p in points] for which in range(3)]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_derivatives_of_hyp2f1_by_its_parameters_at_1() -> None:
    a, b, c = ot.dvectors("a", "b", "c")
    slopes = og.grad(sp.hyp2f1(a, b, c, 1.0).sum(), [a, b, c])
    points = list(itertools.product((-2.0, -0.5, 0.5, 1.0), (-3.0, 0.25, 1.5), (0.5, 1.0, 2.5)))
    found = oc.function([a, b, c], slopes, mode="py")(*np.array(points).T)
    with mp.workdps(60):
        for which, each in enumerate(found):
            expected = [_hyp2f1_slope(p, which) for p in points]
            np.testing.assert_allclose(each, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("mode", ["native", "jax"])
def test_incomplete_gamma_functions_at_ends_of_both_arguments(mode: str) -> None:
    ends = [0.0, 0.5, 2.0, 30.0, INF, math.nan, -1.0]
    k, x = np.array(list(itertools.product(ends, ends))).T
    k_, x_ = ot.dvectors("k", "x")
    found = oc.function([k_, x_], [sp.gammainc(k_, x_), sp.gammaincc(k_, x_)], mode=mode)(k, x)
    for each, name in zip(found, ("gammainc", "gammaincc"), strict=True):
        # SciPy 1.13 forgets a NaN beside an infinite number
        expected = np.where(np.isnan(k + x), np.nan, getattr(scipy.special, name)(k, x))
        np.testing.assert_allclose(each, expected, rtol=1e-10)
