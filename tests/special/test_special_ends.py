"""Special functions and their gradients at the ends of their domains, against one-sided limits by mpmath.

Each row has a function, the same function in mpmath, and ends. An end is a point and the side from which it is reached:
1 from above, -1 from below. Where mpmath has no such function, or the function oscillates, the end also has the value
and the slope. `NO_LIMITS` says what has no limits.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_special import functions as sp
from occelo_special.ops import special_functions

mp: Any = mpmath
INF = math.inf
Row = tuple[str, Callable[[Any], Any], Any, list[tuple[Any, ...]]]

ROWS: list[Row] = [
    # name, our, mp, [(end, side)]
    ("exp", ot.exp, mp.exp, [(-INF, 1), (INF, -1)]),
    ("exp2", ot.exp2, lambda x: mp.power(2, x), [(-INF, 1), (INF, -1)]),
    ("expm1", ot.expm1, mp.expm1, [(-INF, 1), (INF, -1), (0, 1)]),
    ("log", ot.log, mp.log, [(0, 1), (INF, -1)]),
    ("log2", ot.log2, lambda x: mp.log(x, 2), [(0, 1), (INF, -1)]),
    ("log10", ot.log10, mp.log10, [(0, 1), (INF, -1)]),
    ("log1p", ot.log1p, mp.log1p, [(-1, 1), (INF, -1), (0, 1)]),
    ("sqrt", ot.sqrt, mp.sqrt, [(0, 1), (INF, -1)]),
    ("sqr", ot.sqr, lambda x: x * x, [(0, 1), (INF, -1), (-INF, 1)]),
    ("reciprocal", ot.reciprocal, lambda x: 1 / x, [(0, 1), (INF, -1), (-INF, 1)]),
    ("arcsin", ot.arcsin, mp.asin, [(1, -1), (-1, 1), (0, 1)]),
    ("arccos", ot.arccos, mp.acos, [(1, -1), (-1, 1)]),
    ("arctan", ot.arctan, mp.atan, [(-INF, 1), (INF, -1)]),
    ("sinh", ot.sinh, mp.sinh, [(-INF, 1), (INF, -1)]),
    ("cosh", ot.cosh, mp.cosh, [(-INF, 1), (INF, -1)]),
    ("tanh", ot.tanh, mp.tanh, [(-INF, 1), (INF, -1)]),
    ("arcsinh", ot.arcsinh, mp.asinh, [(-INF, 1), (INF, -1), (0, 1)]),
    ("arccosh", ot.arccosh, mp.acosh, [(1, 1), (INF, -1)]),
    ("arctanh", ot.arctanh, mp.atanh, [(1, -1), (-1, 1), (0, 1)]),
    ("sigmoid", ot.sigmoid, lambda x: 1 / (1 + mp.exp(-x)), [(-INF, 1), (INF, -1)]),
    ("softplus", ot.softplus, lambda x: mp.log1p(mp.exp(x)), [(-INF, 1), (INF, -1)]),
    ("log1pexp", ot.log1pexp, lambda x: mp.log1p(mp.exp(x)), [(-INF, 1), (INF, -1)]),
    ("log1mexp", ot.log1mexp, lambda x: mp.log(-mp.expm1(x)), [(0, -1), (-INF, 1)]),
    ("erf", ot.erf, mp.erf, [(-INF, 1), (INF, -1)]),
    ("erfc", ot.erfc, mp.erfc, [(-INF, 1), (INF, -1)]),
    ("erfcx", ot.erfcx, lambda x: mp.exp(x * x) * mp.erfc(x), [(-INF, 1), (INF, -1)]),
    ("erfinv", sp.erfinv, None, [(1, -1, INF, INF), (-1, 1, -INF, INF)]),
    ("erfcinv", sp.erfcinv, None, [(0, 1, INF, -INF), (2, -1, -INF, -INF)]),
    ("gamma", sp.gamma, mp.gamma, [(0, 1), (INF, -1)]),
    (
        "gammaln",
        sp.gammaln,
        lambda x: mp.log(abs(mp.gamma(x))) if x < 1e3 else mp.loggamma(x),
        [(0, 1), (INF, -1)],
    ),
    ("psi", sp.psi, lambda x: mp.psi(0, x), [(0, 1), (INF, -1)]),
    ("tri_gamma", sp.tri_gamma, lambda x: mp.psi(1, x), [(0, 1), (INF, -1)]),
    ("polygamma 2", lambda x: sp.polygamma(2.0, x), lambda x: mp.psi(2, x), [(0, 1), (INF, -1)]),
    ("logit", sp.logit, lambda x: mp.log(x / (1 - x)), [(0, 1), (1, -1)]),
    (
        "log_ndtr",
        sp.log_ndtr,
        lambda x: mp.log(mp.ncdf(x)) if x < 50 else -mp.exp(-x * x / 2) / x,
        [(-INF, 1), (INF, -1)],
    ),
    ("ndtri_exp", sp.ndtri_exp, None, [(0, -1, INF, INF), (-INF, 1, -INF, 0)]),
    ("j1", sp.j1, mp.j1, [(0, 1)]),
    ("j0", sp.j0, mp.j0, [(0, 1)]),
    ("i0", sp.i0, lambda x: mp.besseli(0, x), [(0, 1)]),
    ("i1", sp.i1, lambda x: mp.besseli(1, x), [(0, 1)]),
    *[
        (f"jv {v}", lambda x, v=v: sp.jv(v, x), lambda x, v=v: mp.besselj(v, x), [(0, 1)])
        for v in (0.0, 0.5, 1.0, 1.5, 2.0)
    ],
    *[
        (f"iv {v}", lambda x, v=v: sp.iv(v, x), lambda x, v=v: mp.besseli(v, x), [(0, 1)])
        for v in (0.0, 0.5, 1.0, 1.5, 2.0)
    ],
    *[
        (
            f"ive {v}",
            lambda x, v=v: sp.ive(v, x),
            lambda x, v=v: mp.besseli(v, x) * mp.exp(-abs(x)),
            [(0, 1)],
        )
        for v in (1.0, 1.5, 2.0)
    ],
    *[
        (
            f"kv {v}",
            lambda x, v=v: sp.kv(v, x),
            lambda x, v=v: mp.besselk(v, x),
            [(0, 1), (INF, -1)],
        )
        for v in (0.0, 0.5, 1.0, 1.5, 2.0)
    ],
    *[
        (
            f"kn {v}",
            lambda x, v=v: sp.kn(v, x),
            lambda x, v=v: mp.besselk(v, x),
            [(0, 1), (INF, -1)],
        )
        for v in (0.0, 1.0, 2.0)
    ],
    *[
        (
            f"kve {v}",
            lambda x, v=v: sp.kve(v, x),
            lambda x, v=v: mp.besselk(v, x) * mp.exp(x),
            [(0, 1)],
        )
        for v in (0.0, 0.5, 1.0, 2.0)
    ],
    *[
        (
            f"gammainc k={v}",
            lambda x, v=v: sp.gammainc(v, x),
            lambda x, v=v: mp.gammainc(v, 0, x, regularized=True),
            [(0, 1), (INF, -1)],
        )
        for v in (0.5, 1.0, 1.5, 2.0, 3.0)
    ],
    *[
        (
            f"gammaincc k={v}",
            lambda x, v=v: sp.gammaincc(v, x),
            lambda x, v=v: mp.gammainc(v, x, mp.inf, regularized=True),
            [(0, 1), (INF, -1)],
        )
        for v in (0.5, 1.0, 1.5, 2.0, 3.0)
    ],
    *[
        (
            f"gammainc in k, x={v}",
            lambda k, v=v: sp.gammainc(k, v),
            lambda k, v=v: mp.gammainc(k, 0, v, regularized=True),
            [(0, 1), (INF, -1)],
        )
        for v in (0.5, 3.0)
    ],
    *[
        (
            f"gammaincc in k, x={v}",
            lambda k, v=v: sp.gammaincc(k, v),
            lambda k, v=v: mp.gammainc(k, v, mp.inf, regularized=True),
            [(0, 1)],
        )
        for v in (0.5, 3.0)
    ],
    *[
        (
            f"betainc {a},{b}",
            lambda x, a=a, b=b: sp.betainc(a, b, x),
            lambda x, a=a, b=b: mp.betainc(a, b, 0, x, regularized=True),
            [(0, 1), (1, -1)],
        )
        for a in (0.5, 1.0, 2.0, 3.0)
        for b in (0.5, 1.0, 2.0)
    ],
    *[
        (
            f"betaincc {a},{b}",
            lambda x, a=a, b=b: sp.betaincc(a, b, x),
            lambda x, a=a, b=b: mp.betainc(a, b, x, 1, regularized=True),
            [(0, 1), (1, -1)],
        )
        for a in (0.5, 1.0, 2.0)
        for b in (0.5, 1.0, 2.0)
    ],
    *[
        (
            f"gammaincinv k={v}",
            lambda x, v=v: sp.gammaincinv(v, x),
            None,
            [(0, 1, 0.0, d), (1, -1, INF, INF)],
        )
        for v, d in ((0.5, 0.0), (1.0, 1.0), (2.0, INF))
    ],
    *[
        (
            f"gammainccinv k={v}",
            lambda x, v=v: sp.gammainccinv(v, x),
            None,
            [(1, -1, 0.0, d), (0, 1, INF, -INF)],
        )
        for v, d in ((0.5, 0.0), (1.0, -1.0), (2.0, -INF))
    ],
    *[
        (
            f"betaincinv {a},{b}",
            lambda x, a=a, b=b: sp.betaincinv(a, b, x),
            None,
            [
                (0, 1, 0.0, INF if a > 1 else (1 / b if a == 1 else 0.0)),
                (1, -1, 1.0, INF if b > 1 else (1 / a if b == 1 else 0.0)),
            ],
        )
        for a in (0.5, 1.0, 2.0)
        for b in (0.5, 1.0, 2.0)
    ],
    *[
        (
            f"beta a, b={b}",
            lambda a, b=b: sp.beta(a, b),
            lambda a, b=b: mp.beta(a, b),
            [(0, 1), (INF, -1)],
        )
        for b in (0.5, 2.0)
    ],
    *[
        (
            f"betaln a, b={b}",
            lambda a, b=b: sp.betaln(a, b),
            lambda a, b=b: mp.log(mp.beta(a, b)),
            [(0, 1), (INF, -1)],
        )
        for b in (0.5, 2.0)
    ],
    *[
        (f"poch m z={b}", lambda a, b=b: sp.poch(b, a), lambda a, b=b: mp.rf(b, a), [(0, 1)])
        for b in (0.5, 2.0)
    ],
    *[
        (
            f"xlogy in x, y={y}",
            lambda x, y=y: sp.xlogy(x, y),
            lambda x, y=y: x * mp.log(y),
            [(0, 1)],
        )
        for y in (0.5, 2.0)
    ],
    ("xlogy in x, y=0", lambda x: sp.xlogy(x, 0.0), None, [(0, 1, 0.0, -INF)]),
    ("xlog1py in x, y=-1", lambda x: sp.xlog1py(x, -1.0), None, [(0, 1, 0.0, -INF)]),
    *[
        (
            f"xlogy in y, x={y}",
            lambda x, y=y: sp.xlogy(y, x),
            lambda x, y=y: y * mp.log(x),
            [(0, 1), (INF, -1)],
        )
        for y in (-1.0, 0.0, 2.0)
    ],
    *[
        (
            f"xlog1py in y, x={y}",
            lambda x, y=y: sp.xlog1py(y, x),
            lambda x, y=y: y * mp.log1p(x),
            [(-1, 1), (INF, -1)],
        )
        for y in (-1.0, 0.0, 2.0)
    ],
    *[
        (
            f"owens_t in h, a={y}",
            lambda x, y=y: sp.owens_t(x, y),
            lambda h, a=y: (
                mp.quad(lambda t: mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t), [0, a])
                / (2 * mp.pi)
            ),
            [(0, 1)],
        )
        for y in (0.5, 1.0, 2.0)
    ],
    *[
        (
            f"pow {y}",
            lambda x, y=y: ot.pow(x, y),
            lambda x, y=y: mp.power(x, y),
            [(0, 1), (INF, -1)],
        )
        for y in (-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
    ],
    *[
        (
            f"pow base {y}",
            lambda x, y=y: ot.pow(y, x),
            lambda x, y=y: mp.power(y, x),
            [(0, 1), (INF, -1), (-INF, 1)],
        )
        for y in (0.5, 1.0, 2.0)
    ],
    ("pow base 0 at 1", lambda x: ot.pow(0.0, x), None, [(1, 1, 0.0, 0.0)]),
    *[
        (
            f"logaddexp {y}",
            lambda x, y=y: ot.logaddexp(x, y),
            lambda x, y=y: mp.log(mp.exp(x) + mp.exp(y)),
            [(INF, -1), (-INF, 1)],
        )
        for y in (-1.0, 2.0)
    ],
    *[
        (
            f"arctan2 y at 0, x={y}",
            lambda x, y=y: ot.arctan2(x, y),
            lambda x, y=y: mp.atan2(x, y),
            [(0, 1), (INF, -1)],
        )
        for y in (1.0, -1.0)
    ],
    *[
        (
            f"hyp2f1 z {p}",
            lambda z, p=p: sp.hyp2f1(*p, z),
            lambda z, p=p: mp.hyp2f1(*p, z),
            [(1, -1), (0, 1)],
        )
        for p in ((0.5, 0.25, 2.0), (0.5, 0.5, 1.0), (1.0, -2.0, 2.5), (0.5, 0.25, 1.0))
    ],
    *[
        (f"{name} at infinity", f, None, [(INF, -1, 0.0, 0.0), (-INF, 1, 0.0, 0.0)])
        for name, f in (
            ("j0", sp.j0),
            ("j1", sp.j1),
            *((f"jv {v}", lambda x, v=v: sp.jv(v, x)) for v in (0.0, 1.0, 2.0, -3.0)),
            *((f"ive {v}", lambda x, v=v: sp.ive(v, x)) for v in (0.0, 1.0, 2.0, -3.0)),
        )
    ],
    *[
        (f"{name} 0.5 at infinity", lambda x, f=f: f(0.5, x), None, [(INF, -1, 0.0, 0.0)])
        for name, f in (("jv", sp.jv), ("ive", sp.ive), ("kve", sp.kve))
    ],
    *[
        (
            f"{name} at infinity",
            f,
            lambda x, v=v: mp.besseli(abs(v), x),
            [(INF, -1)] if v % 1 else [(INF, -1), (-INF, 1)],
        )
        for name, v, f in (
            ("i0", 0, sp.i0),
            ("i1", 1, sp.i1),
            *((f"iv {v}", v, lambda x, v=v: sp.iv(v, x)) for v in (0.0, 0.5, 1.0, 2.0, -1.0)),
        )
    ],
    *[
        (f"{name} {v} at 0", lambda x, f=f, v=v: f(v, x), lambda x, v=v: mp.besseli(v, x), [(0, 1)])
        for name, f in (("iv", sp.iv), ("ive", sp.ive))
        for v in (0.3, 0.5, -0.5, -1.5, -2.5)
    ],
    *[
        (f"kve {v} at infinity", lambda x, v=v: sp.kve(v, x), None, [(INF, -1, 0.0, 0.0)])
        for v in (0.0, 1.0, 2.5)
    ],
    *[
        (
            f"{name} in a, b={b}",
            lambda a, f=f, b=b: f(a, b, 0.3),
            lambda a, b=b, lower=lower: _betainc(a, b, 0.3, lower),
            [(0, 1), (INF, -1)],
        )
        for name, f, lower in (("betainc", sp.betainc, True), ("betaincc", sp.betaincc, False))
        for b in (0.5, 2.0)
    ],
    *[
        (
            f"{name} in b, a={a}",
            lambda b, f=f, a=a: f(a, b, 0.3),
            lambda b, a=a, lower=lower: _betainc(a, b, 0.3, lower),
            [(0, 1), (INF, -1)],
        )
        for name, f, lower in (("betainc", sp.betainc, True), ("betaincc", sp.betaincc, False))
        for a in (0.5, 2.0)
    ],
    *[
        (
            f"betainccinv {a},{b}",
            lambda x, a=a, b=b: sp.betainccinv(a, b, x),
            None,
            [
                (1, -1, 0.0, -INF if a > 1 else (-1 / b if a == 1 else 0.0)),
                (0, 1, 1.0, -INF if b > 1 else (-1 / a if b == 1 else 0.0)),
            ],
        )
        for a in (0.5, 1.0, 2.0)
        for b in (0.5, 1.0, 2.0)
    ],
    ("gammaincc in k", lambda k: sp.gammaincc(k, 3.0), None, [(INF, -1, 1.0, 0.0)]),
    *[
        (
            f"owens_t in a, h={h}",
            lambda a, h=h: sp.owens_t(h, a),
            lambda a, h=h: (
                mp.quad(lambda t: mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t), [0, a])
                / (2 * mp.pi)
            ),
            [(0, 1)],
        )
        for h in (0.5, 2.0)
    ],
    ("owens_t in a", lambda a: sp.owens_t(1.0, a), None, [(INF, -1, 0.07932762696572854, 0.0)]),
    ("owens_t in h", lambda h: sp.owens_t(h, 0.5), None, [(INF, -1, 0.0, 0.0)]),
    *[
        (
            f"poch in z, m={m}",
            lambda z, m=m: sp.poch(z, m),
            lambda z, m=m: mp.rf(z, m),
            [(0, 1), (-1, 1), (-2, -1), *([(INF, -1)] if m <= 2 else [])],
        )
        for m in (0.5, 1.0, 2.0, 2.5, 3.0)
    ],
    *[
        (f"poch in m, z={z}", lambda m, z=z: sp.poch(z, m), None, [(0.5, 1, 0.0, 0.0)])
        for z in (0.0, -1.0, -2.0)
    ],
    ("poch in m at infinity", lambda m: sp.poch(2.0, m), None, [(INF, -1, INF, INF)]),
    *[
        (
            f"{name} in {which}, {other} infinite",
            lambda v, f=f, w=which: f(v, INF) if w == "a" else f(INF, v),
            None,
            [(1, 1, value, slope), (1e5, 1, value, slope)],
        )
        for name, f, value, slope in (
            ("beta", sp.beta, 0.0, 0.0),
            ("betaln", sp.betaln, -INF, -INF),
        )
        for which, other in (("a", "b"), ("b", "a"))
    ],
    ("factorial", sp.factorial, lambda n: mp.gamma(n + 1), [(0, 1), (INF, -1)]),
    (
        "chi2sf",
        lambda x: sp.chi2sf(x, 3.0),
        lambda x: mp.gammainc(mp.mpf(1.5), x / 2, mp.inf, regularized=True),
        [(0, 1), (INF, -1)],
    ),
    *[
        (
            f"gammau k={k}",
            lambda x, k=k: sp.gammau(k, x),
            lambda x, k=k: mp.gammainc(k, x, mp.inf),
            [(0, 1), (INF, -1)],
        )
        for k in (0.5, 1.0, 3.0)
    ],
    *[
        (
            f"gammal k={k}",
            lambda x, k=k: sp.gammal(k, x),
            lambda x, k=k: mp.gammainc(k, 0, x),
            [(0, 1), (INF, -1)],
        )
        for k in (0.5, 1.0, 3.0)
    ],
    (
        "gammal in k",
        lambda k: sp.gammal(k, 2.0),
        lambda k: mp.gammainc(k, 0, 2),
        [(0, 1)],
    ),
    ("polygamma 3", lambda x: sp.polygamma(3.0, x), lambda x: mp.psi(3, x), [(0, 1), (INF, -1)]),
    (
        "arctan2 in x",
        lambda x: ot.arctan2(1.0, x),
        None,
        [(INF, -1, 0.0, 0.0), (-INF, 1, math.pi, 0.0)],
    ),
]

NO_LIMITS = {
    "digamma": "another name of psi",
    "ive 0": "at 0, which is no end of its domain: the slope is that of a kink, 0 as for abs",
    "poch in z at infinity": "for m above 2, where it is NaN in SciPy",
    "poch in m, z=-2": "at whole m, where it has other values than beside them",
    "jv in v": "and those of other Bessel functions: there are no derivatives by orders",
    "gammaincinv in k": "and those of the other inverses by their parameters at 0 and infinity: SciPy's are NaN",
}
"""What is not in the table, and why."""


def _betainc(a: Any, b: Any, x: float, lower: bool) -> Any:
    if max(a, b) > 1000:  # mpmath needs long for them
        # the tails vanish as powers of x or 1 - x
        rate = mp.mpf(x) ** a if a > b else (1 - mp.mpf(x)) ** b
        return rate if (a > b) == lower else 1 - rate
    value = mp.betainc(a, b, 0, x, regularized=True)
    return value if lower else 1 - value


@pytest.fixture(autouse=True)
def digits() -> Any:
    with mp.workdps(160):
        yield


def _limit(f: Callable[[Any], Any], end: float, side: int) -> float:
    """The limit of f: two numbers near the end show whether f grows without bound, vanishes, or comes to rest."""
    if math.isinf(end):
        near = [f(mp.sign(end) * mp.mpf(10) ** k) for k in (5, 10)]
    else:
        near = [f(end + side * mp.mpf(10) ** k) for k in (-30, -60)]
    first, last = near
    if abs(last) > 1.15 * abs(first):
        return float(mp.sign(last)) * INF
    return 0.0 if abs(last) < 0.87 * abs(first) else float(last)


def _slope(f: Callable[[Any], Any], end: float) -> Callable[[Any], Any]:
    def slope(x: Any) -> Any:
        step = mp.mpf(10) ** -45 * (1 if math.isinf(end) else abs(x - end))
        return (f(x + step) - f(x - step)) / (2 * step)

    return slope


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("mode", ["native", "py"])
@pytest.mark.parametrize("row", ROWS, ids=[r[0] for r in ROWS])
def test_a_function_and_its_slope_at_the_ends_of_its_domain(row: Row, mode: str) -> None:
    _, build, exact, ends = row
    x = ot.dscalar("x")
    compiled = oc.function([x], [build(x), og.grad(build(x), x)], mode=mode)
    for end, side, *given in ends:
        expected = given or [_limit(exact, end, side), _limit(_slope(exact, end), end, side)]
        rtol = 1e-4 if math.isinf(end) else 1e-9
        np.testing.assert_allclose(compiled(float(end)), expected, rtol=rtol, atol=1e-9)


def test_every_special_function_has_a_row() -> None:
    rows = {row[0].split()[0] for row in ROWS} | set(NO_LIMITS)
    assert set(special_functions.__all__) <= rows


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
        expected = getattr(scipy.special, name)(k, x)
        np.testing.assert_allclose(each, expected, rtol=1e-10)
