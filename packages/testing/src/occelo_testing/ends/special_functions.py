"""Ends of the domains of gamma, beta and Bessel functions, and functions of the normal distribution."""

from __future__ import annotations

from typing import Any

from occelo_special import functions as sp
from occelo_testing.ends.limits import INF, VANISHING, Row, mp, row


def _betainc(a: Any, b: Any, x: float, lower: bool) -> Any:
    if max(a, b) > 1000:  # mpmath needs long for them
        # the tails vanish as powers of x or 1 - x
        rate = mp.mpf(x) ** a if a > b else (1 - mp.mpf(x)) ** b
        return rate if (a > b) == lower else 1 - rate
    value = mp.betainc(a, b, 0, x, regularized=True)
    return value if lower else 1 - value


def _owens_t(h: Any, a: Any) -> Any:
    def integrand(t: Any) -> Any:
        return mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t)

    return mp.quad(integrand, [0, a]) / (2 * mp.pi)


SPECIAL_FUNCTIONS: list[Row] = [
    row("erfinv", sp.erfinv, None, [(1, -1, INF, INF), (-1, 1, -INF, INF)]),
    row("erfcinv", sp.erfcinv, None, [(0, 1, INF, -INF), (2, -1, -INF, -INF)]),
    row("gamma", sp.gamma, mp.gamma, [(0, 1), (INF, -1)]),
    row(
        "gammaln",
        sp.gammaln,
        lambda x: mp.log(abs(mp.gamma(x))) if x < 1e3 else mp.loggamma(x),
        [(0, 1), (INF, -1)],
    ),
    row("psi", sp.psi, lambda x: mp.psi(0, x), [(0, 1), (INF, -1)]),
    row("tri_gamma", sp.tri_gamma, lambda x: mp.psi(1, x), [(0, 1), (INF, -1)]),
    row("polygamma 2", lambda x: sp.polygamma(2.0, x), lambda x: mp.psi(2, x), [(0, 1), (INF, -1)]),
    row("logit", sp.logit, lambda x: mp.log(x / (1 - x)), [(0, 1), (1, -1)]),
    row(
        "log_ndtr",
        sp.log_ndtr,
        lambda x: mp.log(mp.ncdf(x)) if x < 50 else -mp.exp(-x * x / 2) / x,
        [(-INF, 1), (INF, -1)],
    ),
    row("ndtri_exp", sp.ndtri_exp, None, [(0, -1, INF, INF), (-INF, 1, -INF, 0)]),
    row("j1", sp.j1, mp.j1, [(0, 1)]),
    row("j0", sp.j0, mp.j0, [(0, 1)]),
    row("i0", sp.i0, lambda x: mp.besseli(0, x), [(0, 1)]),
    row("i1", sp.i1, lambda x: mp.besseli(1, x), [(0, 1)]),
    *[
        row(f"jv {v}", lambda x, v=v: sp.jv(v, x), lambda x, v=v: mp.besselj(v, x), [(0, 1)])
        for v in (0.0, 0.5, 1.0, 1.5, 2.0)
    ],
    *[
        row(f"iv {v}", lambda x, v=v: sp.iv(v, x), lambda x, v=v: mp.besseli(v, x), [(0, 1)])
        for v in (0.0, 0.5, 1.0, 1.5, 2.0)
    ],
    *[
        row(
            f"ive {v}",
            lambda x, v=v: sp.ive(v, x),
            lambda x, v=v: mp.besseli(v, x) * mp.exp(-abs(x)),
            [(0, 1)],
        )
        for v in (1.0, 1.5, 2.0)
    ],
    *[
        row(
            f"kv {v}",
            lambda x, v=v: sp.kv(v, x),
            lambda x, v=v: mp.besselk(v, x),
            [(0, 1), (INF, -1)],
        )
        for v in (0.0, 0.5, 1.0, 1.5, 2.0)
    ],
    *[
        row(
            f"kn {v}",
            lambda x, v=v: sp.kn(v, x),
            lambda x, v=v: mp.besselk(v, x),
            [(0, 1), (INF, -1)],
        )
        for v in (0.0, 1.0, 2.0)
    ],
    *[
        row(
            f"kve {v}",
            lambda x, v=v: sp.kve(v, x),
            lambda x, v=v: mp.besselk(v, x) * mp.exp(x),
            [(0, 1)],
        )
        for v in (0.0, 0.5, 1.0, 2.0)
    ],
    *[
        row(
            f"gammainc k={v}",
            lambda x, v=v: sp.gammainc(v, x),
            lambda x, v=v: mp.gammainc(v, 0, x, regularized=True),
            [(0, 1), (INF, -1)],
        )
        for v in (0.5, 1.0, 1.5, 2.0, 3.0)
    ],
    *[
        row(
            f"gammaincc k={v}",
            lambda x, v=v: sp.gammaincc(v, x),
            lambda x, v=v: mp.gammainc(v, x, mp.inf, regularized=True),
            [(0, 1), (INF, -1)],
        )
        for v in (0.5, 1.0, 1.5, 2.0, 3.0)
    ],
    *[
        row(
            f"gammainc in k, x={v}",
            lambda k, v=v: sp.gammainc(k, v),
            lambda k, v=v: mp.gammainc(k, 0, v, regularized=True),
            [(0, 1), (INF, -1)],
        )
        for v in (0.5, 3.0)
    ],
    *[
        row(
            f"gammaincc in k, x={v}",
            lambda k, v=v: sp.gammaincc(k, v),
            lambda k, v=v: mp.gammainc(k, v, mp.inf, regularized=True),
            [(0, 1)],
        )
        for v in (0.5, 3.0)
    ],
    *[
        row(
            f"betainc {a},{b}",
            lambda x, a=a, b=b: sp.betainc(a, b, x),
            lambda x, a=a, b=b: mp.betainc(a, b, 0, x, regularized=True),
            [(0, 1), (1, -1)],
        )
        for a in (0.5, 1.0, 2.0, 3.0)
        for b in (0.5, 1.0, 2.0)
    ],
    *[
        row(
            f"betaincc {a},{b}",
            lambda x, a=a, b=b: sp.betaincc(a, b, x),
            lambda x, a=a, b=b: mp.betainc(a, b, x, 1, regularized=True),
            [(0, 1), (1, -1)],
        )
        for a in (0.5, 1.0, 2.0)
        for b in (0.5, 1.0, 2.0)
    ],
    *[
        row(
            f"gammaincinv k={v}",
            lambda x, v=v: sp.gammaincinv(v, x),
            None,
            [(0, 1, 0.0, d), (1, -1, INF, INF)],
        )
        for v, d in ((0.5, 0.0), (1.0, 1.0), (2.0, INF))
    ],
    *[
        row(
            f"gammainccinv k={v}",
            lambda x, v=v: sp.gammainccinv(v, x),
            None,
            [(1, -1, 0.0, d), (0, 1, INF, -INF)],
        )
        for v, d in ((0.5, 0.0), (1.0, -1.0), (2.0, -INF))
    ],
    *[
        row(
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
        row(
            f"beta in a, b={b}",
            lambda a, b=b: sp.beta(a, b),
            lambda a, b=b: mp.beta(a, b),
            [(0, 1), (INF, -1)],
        )
        for b in (0.5, 2.0)
    ],
    *[
        row(
            f"betaln in a, b={b}",
            lambda a, b=b: sp.betaln(a, b),
            lambda a, b=b: mp.log(mp.beta(a, b)),
            [(0, 1), (INF, -1)],
        )
        for b in (0.5, 2.0)
    ],
    *[
        row(f"poch in m, z={b}", lambda a, b=b: sp.poch(b, a), lambda a, b=b: mp.rf(b, a), [(0, 1)])
        for b in (0.5, 2.0)
    ],
    *[
        row(
            f"xlogy in x, y={y}",
            lambda x, y=y: sp.xlogy(x, y),
            lambda x, y=y: x * mp.log(y),
            [(0, 1)],
        )
        for y in (0.5, 2.0)
    ],
    row("xlogy in x, y=0", lambda x: sp.xlogy(x, 0.0), None, [(0, 1, 0.0, -INF)]),
    row("xlog1py in x, y=-1", lambda x: sp.xlog1py(x, -1.0), None, [(0, 1, 0.0, -INF)]),
    *[
        row(
            f"xlogy in y, x={y}",
            lambda x, y=y: sp.xlogy(y, x),
            lambda x, y=y: y * mp.log(x),
            [(0, 1), (INF, -1)],
        )
        for y in (-1.0, 0.0, 2.0)
    ],
    *[
        row(
            f"xlog1py in y, x={y}",
            lambda x, y=y: sp.xlog1py(y, x),
            lambda x, y=y: y * mp.log1p(x),
            [(-1, 1), (INF, -1)],
        )
        for y in (-1.0, 0.0, 2.0)
    ],
    *[
        row(
            f"owens_t in h, a={y}",
            lambda x, y=y: sp.owens_t(x, y),
            lambda h, a=y: _owens_t(h, a),
            [(0, 1)],
        )
        for y in (0.5, 1.0, 2.0)
    ],
    *[
        row(
            f"hyp2f1 in z {p}",
            lambda z, p=p: sp.hyp2f1(*p, z),
            lambda z, p=p: mp.hyp2f1(*p, z),
            [(1, -1), (0, 1)],
        )
        for p in ((0.5, 0.25, 2.0), (0.5, 0.5, 1.0), (1.0, -2.0, 2.5), (0.5, 0.25, 1.0))
    ],
    *[
        row(f"{name} {v} at infinity", lambda x, f=f, v=v: f(v, x), None, VANISHING)
        for name, f in (("jv", sp.jv), ("ive", sp.ive))
        for v in (0.0, 1.0, 2.0, -3.0)
    ],
    row("j0 at infinity", sp.j0, None, VANISHING),
    row("j1 at infinity", sp.j1, None, VANISHING),
    *[
        row(f"{name} 0.5 at infinity", lambda x, f=f: f(0.5, x), None, [(INF, -1, 0.0, 0.0)])
        for name, f in (("jv", sp.jv), ("ive", sp.ive), ("kve", sp.kve))
    ],
    *[
        row(
            f"iv {v} at infinity",
            lambda x, v=v: sp.iv(v, x),
            lambda x, v=v: mp.besseli(abs(v), x),
            [(INF, -1)] if v % 1 else [(INF, -1), (-INF, 1)],
        )
        for v in (0.0, 0.5, 1.0, 2.0, -1.0)
    ],
    row("i0 at infinity", sp.i0, lambda x: mp.besseli(0, x), [(INF, -1), (-INF, 1)]),
    row("i1 at infinity", sp.i1, lambda x: mp.besseli(1, x), [(INF, -1), (-INF, 1)]),
    *[
        row(
            f"{name} {v} at 0",
            lambda x, f=f, v=v: f(v, x),
            lambda x, v=v: mp.besseli(v, x),
            [(0, 1)],
        )
        for name, f in (("iv", sp.iv), ("ive", sp.ive))
        for v in (0.3, 0.5, -0.5, -1.5, -2.5)
    ],
    *[
        row(f"kve {v} at infinity", lambda x, v=v: sp.kve(v, x), None, [(INF, -1, 0.0, 0.0)])
        for v in (0.0, 1.0, 2.5)
    ],
    *[
        row(
            f"{name} in a, b={b}",
            lambda a, f=f, b=b: f(a, b, 0.3),
            lambda a, b=b, lower=lower: _betainc(a, b, 0.3, lower),
            [(0, 1), (INF, -1)],
        )
        for name, f, lower in (("betainc", sp.betainc, True), ("betaincc", sp.betaincc, False))
        for b in (0.5, 2.0)
    ],
    *[
        row(
            f"{name} in b, a={a}",
            lambda b, f=f, a=a: f(a, b, 0.3),
            lambda b, a=a, lower=lower: _betainc(a, b, 0.3, lower),
            [(0, 1), (INF, -1)],
        )
        for name, f, lower in (("betainc", sp.betainc, True), ("betaincc", sp.betaincc, False))
        for a in (0.5, 2.0)
    ],
    *[
        row(
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
    row("gammaincc in k", lambda k: sp.gammaincc(k, 3.0), None, [(INF, -1, 1.0, 0.0)]),
    *[
        row(
            f"owens_t in a, h={h}",
            lambda a, h=h: sp.owens_t(h, a),
            lambda a, h=h: _owens_t(h, a),
            [(0, 1)],
        )
        for h in (0.5, 2.0)
    ],
    row("owens_t in a", lambda a: sp.owens_t(1.0, a), None, [(INF, -1, 0.07932762696572854, 0.0)]),
    row("owens_t in h", lambda h: sp.owens_t(h, 0.5), None, [(INF, -1, 0.0, 0.0)]),
    *[
        row(
            f"poch in z, m={m}",
            lambda z, m=m: sp.poch(z, m),
            lambda z, m=m: mp.rf(z, m),
            [(0, 1), (-1, 1), (-2, -1), (INF, -1)],
        )
        for m in (0.5, 1.0, 2.0, 2.5, 3.0)
    ],
    *[
        row(f"poch in m, z={z}", lambda m, z=z: sp.poch(z, m), None, [(0.5, 1, 0.0, 0.0)])
        for z in (0.0, -1.0, -2.0)
    ],
    row("poch in m at infinity", lambda m: sp.poch(2.0, m), None, [(INF, -1, INF, INF)]),
    *[
        row(
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
    row("factorial", sp.factorial, lambda n: mp.gamma(n + 1), [(0, 1), (INF, -1)]),
    row(
        "chi2sf in x",
        lambda x: sp.chi2sf(x, 3.0),
        lambda x: mp.gammainc(mp.mpf(1.5), x / 2, mp.inf, regularized=True),
        [(0, 1), (INF, -1)],
    ),
    *[
        row(
            f"gammau k={k}",
            lambda x, k=k: sp.gammau(k, x),
            lambda x, k=k: mp.gammainc(k, x, mp.inf),
            [(0, 1), (INF, -1)],
        )
        for k in (0.5, 1.0, 3.0)
    ],
    *[
        row(
            f"gammal k={k}",
            lambda x, k=k: sp.gammal(k, x),
            lambda x, k=k: mp.gammainc(k, 0, x),
            [(0, 1), (INF, -1)],
        )
        for k in (0.5, 1.0, 3.0)
    ],
    row(
        "gammal in k",
        lambda k: sp.gammal(k, 2.0),
        lambda k: mp.gammainc(k, 0, 2),
        [(0, 1)],
    ),
    row("polygamma 3", lambda x: sp.polygamma(3.0, x), lambda x: mp.psi(3, x), [(0, 1), (INF, -1)]),
]
