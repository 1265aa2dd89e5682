"""Ends of the domains of Bessel functions of the second kind, integrals, elliptic functions, entropies and others."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from occelo_graph import tensor as ot
from occelo_special import functions as sp
from occelo_testing.ends.limits import BOTH, INF, NAN, VANISHING, Row, mp, row

FROM_0_TO_0 = [(0, 1), (INF, -1, 0.0, 0.0)]
POSITIVE = [(0, 1), (INF, -1)]


def _part(function: Callable[[Any], Any], position: int) -> Callable[[Any], Any]:
    """One result of a function with several."""
    return lambda x: function(x)[position]


def _spherical(kind: Any, n: int) -> Callable[[Any], Any]:
    return lambda x: mp.sqrt(mp.pi / (2 * x)) * kind(n + mp.mpf(1) / 2, x)


def _boxcox(x: Any, power: Any) -> Any:
    return mp.expm1(power * mp.log(x)) / power if power else mp.log(x)


def _inverse_boxcox(y: Any, power: Any) -> Any:
    return mp.exp(mp.log1p(power * y) / power) if power else mp.exp(y)


def _huber(delta: Any, r: Any) -> Any:
    return r * r / 2 if abs(r) <= delta else delta * (abs(r) - delta / 2)


def _pseudo_huber(delta: Any, r: Any) -> Any:
    return delta * delta * (mp.sqrt(1 + (r / delta) ** 2) - 1) if delta else mp.mpf(0)


BESSEL: list[Row] = [
    row("y0", sp.y0, lambda x: mp.bessely(0, x), FROM_0_TO_0),
    row("y1", sp.y1, lambda x: mp.bessely(1, x), FROM_0_TO_0),
    *[
        row(f"{name} {v}", lambda x, f=f, v=v: f(v, x), lambda x, k=kind, v=v: k(v, x), FROM_0_TO_0)
        for v in (0, 0.5, 1, 2.5)
        for name, f, kind in (
            ("yv", sp.yv, mp.bessely),
            ("yve", sp.yve, mp.bessely),
            ("yn", sp.yn, mp.bessely),
            ("jve", sp.jve, mp.besselj),
        )
        if v % 1 == 0 or name != "yn"
    ],
    row(
        "bessel_jn",
        lambda x: sp.bessel_jn(x, v=2)[2],
        lambda x: mp.besselj(2, x),
        [(0, 1), *VANISHING],
    ),
    row("k0", sp.k0, lambda x: mp.besselk(0, x), POSITIVE),
    row("k1", sp.k1, lambda x: mp.besselk(1, x), POSITIVE),
    row("k0e", sp.k0e, lambda x: mp.exp(x) * mp.besselk(0, x), FROM_0_TO_0),
    row("k1e", sp.k1e, lambda x: mp.exp(x) * mp.besselk(1, x), FROM_0_TO_0),
    # at 0 it has a kink, and the slope is 0, as for abs
    row("i0e", sp.i0e, None, [(0, 1, 1.0, 0.0), *VANISHING]),
    row("i1e", sp.i1e, lambda x: mp.exp(-abs(x)) * mp.besseli(1, x), [(0, 1), *VANISHING]),
    *[
        row(f"spherical_{name} {n}", lambda x, f=f, n=n: f(n, x), _spherical(kind, n), ends)
        for n in (0, 1, 2, 3)
        for name, f, kind, ends in (
            ("jn", sp.spherical_jn, mp.besselj, [(0, 1), *VANISHING]),
            ("yn", sp.spherical_yn, mp.bessely, FROM_0_TO_0),
            (
                "in",
                sp.spherical_in,
                mp.besseli,
                [(0, 1), (INF, -1, INF, INF), (-INF, 1, INF * (-1) ** n, -INF * (-1) ** n)],
            ),
            ("kn", sp.spherical_kn, mp.besselk, FROM_0_TO_0),
        )
    ],
    # towards minus infinity they oscillate, and the derivatives grow
    row("airy 0", _part(sp.airy, 0), None, [(INF, -1, 0.0, 0.0), (-INF, 1, 0.0, NAN)]),
    row("airy 1", _part(sp.airy, 1), None, [(INF, -1, 0.0, 0.0), (-INF, 1, NAN, NAN)]),
    row("airy 2", _part(sp.airy, 2), None, [(INF, -1, INF, INF), (-INF, 1, 0.0, NAN)]),
    row("airy 3", _part(sp.airy, 3), None, [(INF, -1, INF, INF), (-INF, 1, NAN, NAN)]),
]

INTEGRALS: list[Row] = [
    row("exp1", sp.exp1, mp.e1, [*FROM_0_TO_0, (700, 0), (-0.0, 1, INF, INF)]),
    row(
        "expi",
        sp.expi,
        mp.ei,
        [(0, 1), (-0.0, -1), (INF, -1), (-INF, 1, 0.0, 0.0), (700, 0), (-700, 0)],
    ),
    *[
        row(f"expn {n}", lambda x, n=n: sp.expn(n, x), lambda x, n=n: mp.expint(n, x), FROM_0_TO_0)
        for n in (0, 1, 2, 3, 5)
    ],
    row("dawsn", sp.dawsn, None, [(0, 1, 0.0, 1.0), *VANISHING, (1e200, 1, 0.0, 0.0)]),
    row("wofz 0", lambda x: ot.real(sp.wofz(x)), lambda x: mp.exp(-x * x), [(0, 1), *VANISHING, (1e200, 1, 0.0, 0.0)]),
    row("wofz 1", lambda x: ot.imag(sp.wofz(x)), None, [(0, 1, 0.0, 2 / math.sqrt(math.pi)), *VANISHING, (1e200, 1, 0.0, 0.0)]),
    *[
        row(
            f"sph_legendre_p {n} {m}",
            lambda x, n=n, m=m: sp.sph_legendre_p(n, m, x),
            lambda x, n=n, m=m: mp.re(mp.spherharm(n, m, x, 0)),
            [(0, 1), (1e-3, 1), (3.0, 1)],
        )
        for n, m in ((0, 0), (1, 1), (3, 0), (3, -2), (5, 3))
    ],
    row("erfi", sp.erfi, None, [(0, 1, 0.0, 2 / math.sqrt(math.pi)), (INF, -1, INF, INF), (-INF, 1, -INF, INF)]),
    row(
        "sici 0",
        _part(sp.sici, 0),
        mp.si,
        [(0, 1), (-0.0, -1), (INF, -1, math.pi / 2, 0.0), (-INF, 1, -math.pi / 2, 0.0)],
    ),
    row("sici 1", _part(sp.sici, 1), mp.ci, FROM_0_TO_0),
    row("shichi 0", _part(sp.shichi, 0), mp.shi, [(0, 1), (-0.0, -1), (INF, -1, INF, INF), (-INF, 1, -INF, INF)]),
    row(
        "shichi 1",
        _part(sp.shichi, 1),
        lambda x: mp.re(mp.chi(x)),
        [(0, 1), (-0.0, -1), (INF, -1, INF, INF), (-INF, 1, INF, -INF)],
    ),
    # their slopes oscillate
    row("fresnel 0", _part(sp.fresnel, 0), mp.fresnels, [(0, 1), (INF, -1, 0.5, NAN), (-INF, 1, -0.5, NAN)]),
    row("fresnel 1", _part(sp.fresnel, 1), mp.fresnelc, [(0, 1), (INF, -1, 0.5, NAN), (-INF, 1, -0.5, NAN)]),
    row(
        "spence",
        sp.spence,
        lambda x: mp.polylog(2, 1 - x),
        [(0, 1, math.pi**2 / 6, -INF), (1, 1), (INF, -1, -INF, 0.0), (1e300, 1, -(math.log(1e300) ** 2) / 2 - math.pi**2 / 6, 0.0)],
    ),
]  # fmt: skip

ELLIPTIC: list[Row] = [
    row("ellipk", sp.ellipk, mp.ellipk, [(0, 1), (1, -1, INF, INF), (-INF, 1, 0.0, 0.0)]),
    row("ellipe", sp.ellipe, mp.ellipe, [(0, 1), (1, -1, 1.0, -INF), (-INF, 1, INF, 0.0)]),
    row("ellipkm1", sp.ellipkm1, lambda p: mp.ellipk(1 - p), [(0, 1), (1, 1), (INF, -1, 0.0, 0.0)]),
    *[
        each
        for phi in (-1.5, 0.0, 0.5, 3.0)
        for each in (
            row(
                f"ellipkinc in m, phi={phi}",
                lambda m, phi=phi: sp.ellipkinc(phi, m),
                lambda m, phi=phi: mp.re(mp.ellipf(phi, m)),
                [(0, 1), (1, -1) if phi < 2 else (1, -1, INF, INF), (-INF, 1, 0.0, 0.0)],
            ),
            row(
                f"ellipeinc in m, phi={phi}",
                lambda m, phi=phi: sp.ellipeinc(phi, m),
                lambda m, phi=phi: mp.re(mp.ellipe(phi, m)),
                [(0, 1), (1, -1), *([(-INF, 1, INF, 0.0)] if phi > 0 else [])],
            ),
        )
    ],
    *[
        each
        for m in (-1.0, 0.0, 0.5, 1.0)
        for each in (
            row(
                f"ellipkinc in phi, m={m}",
                lambda phi, m=m: sp.ellipkinc(phi, m),
                lambda phi, m=m: mp.ellipf(phi, m),
                [(0, 1), (-0.0, -1), (1.5, 0)],
            ),
            row(
                f"ellipeinc in phi, m={m}",
                lambda phi, m=m: sp.ellipeinc(phi, m),
                lambda phi, m=m: mp.ellipe(phi, m),
                [(0, 1), (-0.0, -1), (math.pi / 2, 0)],
            ),
        )
    ],
    *[
        each
        for i, kind in enumerate(("sn", "cn", "dn"))
        for each in (
            *[
                row(
                    f"ellipj in m, {kind} of {u}",
                    lambda m, i=i, u=u: sp.ellipj(u, m)[i],
                    lambda m, kind=kind, u=u: mp.re(mp.ellipfun(kind, mp.mpf(u), m=m)),
                    [(0, 1), (1, -1)],
                )
                for u in (0.7, -3.0)
            ],
            *[
                row(
                    f"ellipj in u, {kind} for {m}",
                    lambda u, i=i, m=m: sp.ellipj(u, m)[i],
                    lambda u, kind=kind, m=m: mp.re(mp.ellipfun(kind, u, m=mp.mpf(m))),
                    [(0, 1)],
                )
                for m in (0.0, 0.5, 1.0)
            ],
        )
    ],
    row("ellipj in m, am", lambda m: sp.ellipj(0.7, m)[3], None, [(0, 1, 0.7, -(1.4 - math.sin(1.4)) / 8)]),
    row("elliprf in x", lambda x: sp.elliprf(x, 0.5, 2.0), lambda x: mp.elliprf(x, 0.5, 2), FROM_0_TO_0),
    row("elliprf in y", lambda x: sp.elliprf(0.5, x, 2.0), lambda x: mp.elliprf(x, 0.5, 2), FROM_0_TO_0),
    row("elliprf in z", lambda x: sp.elliprf(0.5, 2.0, x), lambda x: mp.elliprf(x, 0.5, 2), FROM_0_TO_0),
]  # fmt: skip

COMBINATIONS: list[Row] = [
    *[
        row(
            f"binom in k, n={n}",
            lambda k, n=n: sp.binom(n, k),
            lambda k, n=n: mp.binomial(n, k),
            [(0, 1), (-1, 1), (-2, 1), (n, 1), (n + 1, 1), (n + 2, -1), (n + 40, 1)],
        )
        for n in (5.0, 0.5, -0.5, 200.0)
    ],
    *[
        row(
            f"binom in n, k={k}",
            lambda n, k=k: sp.binom(n, k),
            lambda n, k=k: mp.binomial(n, k),
            ends,
        )
        for k, ends in (
            (0.0, [(0, 1), (2, 1), (INF, -1, 1.0, 0.0)]),
            (1.0, [(0, 1), (1, 1), (INF, -1)]),
            (2.0, [(0, 1), (1, 1), (2, 1), (INF, -1)]),
            (0.5, [(0, 1), (-0.5, 1), (-1.5, 1)]),
            (-1.0, [(0, 1), (3, 1), (0.5, 1)]),
            (40.0, [(0, 1), (12, 1), (39, -1)]),
        )
    ],
    row("comb in N, k=2", lambda n: sp.comb(n, 2.0), lambda n: mp.binomial(n, 2), [(2, 1), (INF, -1)]),
    row("comb in N, k=0", lambda n: sp.comb(n, 0.0), lambda n: mp.binomial(n, 0), [(0, 1), (INF, -1, 1.0, 0.0)]),
    row(
        "comb in k",
        lambda k: sp.comb(5.0, k),
        lambda k: mp.binomial(5, k),
        [(0, 1), (5, -1), (6, 1, 0.0, 0.0), (INF, -1, 0.0, 0.0), (-1, 1, 0.0, 0.0)],
    ),
    row("perm in N", lambda n: sp.perm(n, 2.0), lambda n: n * (n - 1), [(2, 1), (INF, -1)]),
    row(
        "perm in k",
        lambda k: sp.perm(5.0, k),
        lambda k: 120 * mp.rgamma(6 - k),
        [(0, 1), (5, -1), (6, 1, 0.0, 0.0), (INF, -1, 0.0, 0.0)],
    ),
    row("rgamma", sp.rgamma, mp.rgamma, [(0, 1), (-0.0, -1), (-1, 1), (-2, 1), (INF, -1, 0.0, 0.0)]),
    row("gammasgn", sp.gammasgn, None, [(0, 1, 1.0, 0.0), (-0.5, 1, -1.0, 0.0), (INF, -1, 1.0, 0.0)]),
    row("loggamma", sp.loggamma, mp.loggamma, POSITIVE),
    row("multigammaln in a, d=1", lambda a: sp.multigammaln(a, 1), mp.loggamma, POSITIVE),
    row(
        "multigammaln in a, d=3",
        lambda a: sp.multigammaln(a, 3),
        lambda a: 1.5 * mp.log(mp.pi) + sum(mp.loggamma(a - j / mp.mpf(2)) for j in range(3)),
        [(1, 1), (INF, -1)],
    ),
    *[
        row(
            f"zeta in q, x={x}",
            lambda q, x=x: sp.zeta(x, q),
            lambda q, x=x: mp.zeta(x, q),
            [(0, 1, INF, -INF), (1, 1), (INF, -1, 0.0, 0.0)],
        )
        for x in (1.5, 2.0)
    ],
    row("beta in b", lambda b: sp.beta(2.0, b), lambda b: mp.beta(2, b), POSITIVE),
    row("betaln in b", lambda b: sp.betaln(2.0, b), lambda b: mp.log(mp.beta(2, b)), POSITIVE),
    row("gamma at poles", sp.gamma, None, [(-1, 1, NAN, NAN), (-0.0, -1, -INF, -INF)]),
    row("gammaln at poles", sp.gammaln, None, [(-1, 1, INF, NAN)]),
    row("psi at poles", sp.psi, None, [(-1, 1, NAN, INF), (-0.0, -1, INF, INF)]),
    row(
        "chi2sf in k",
        lambda k: sp.chi2sf(3.0, k),
        lambda k: mp.gammainc(k / 2, 1.5, mp.inf, regularized=True),
        [(0, 1), (INF, -1, 1.0, 0.0)],
    ),
    *[
        row(
            f"hyp1f1 {a}, {b}",
            lambda x, a=a, b=b: sp.hyp1f1(a, b, x),
            lambda x, a=a, b=b: mp.hyp1f1(a, b, x),
            [(0, 1), (700, 0), (-700, 0), (-1e9, 0), (INF, -1, *above), (-INF, 1, *below)],
        )
        for a, b, above, below in (
            (1.0, 2.0, (INF, INF), (0.0, 0.0)),
            (0.5, 1.5, (INF, INF), (0.0, 0.0)),
            (0.5, -0.5, (-INF, -INF), (0.0, 0.0)),
            (-1.0, 2.0, (-INF, -0.5), (INF, -0.5)),
            (-0.5, 2.0, (-INF, -INF), (INF, 0.0)),
        )
    ],
    row("gammau in k", lambda k: sp.gammau(k, 2.0), lambda k: mp.gammainc(k, 2, mp.inf), [(1e-2, 0), (1, 1), (20, 0)]),
]  # fmt: skip

FORMULAS: list[Row] = [
    row("ndtri", sp.ndtri, None, [(0, 1, -INF, INF), (1, -1, INF, INF)]),
    row("ndtr", sp.ndtr, mp.ncdf, [(0, 1), (-INF, 1, 0.0, 0.0), (INF, -1, 1.0, 0.0)]),
    row("log_expit", sp.log_expit, lambda x: -mp.log1p(mp.exp(-x)), BOTH),
    row("entr", sp.entr, lambda x: -x * mp.log(x), [*POSITIVE, (1e307, 0), (1e-307, 0)]),
    row("entr below", sp.entr, None, [(-1, 1, -INF, 0.0), (-INF, 1, -INF, 0.0)]),
    *[
        each
        for c in (0.5, 2.0)
        for each in (
            row(
                f"rel_entr in x, y={c}",
                lambda x, y=c: sp.rel_entr(x, y),
                lambda x, y=c: x * mp.log(x / y),
                [*POSITIVE, (1e300, 0), (1e-100, 0)],
            ),
            row(
                f"rel_entr in y, x={c}",
                lambda y, x=c: sp.rel_entr(x, y),
                lambda y, x=c: x * mp.log(x / y),
                [*POSITIVE, (1e308, 0)],
            ),
            row(
                f"kl_div in x, y={c}",
                lambda x, y=c: sp.kl_div(x, y),
                lambda x, y=c: x * mp.log(x / y) - x + y,
                [*POSITIVE, (1e300, 0), (1e-100, 0)],
            ),
            row(
                f"kl_div in y, x={c}",
                lambda y, x=c: sp.kl_div(x, y),
                lambda y, x=c: x * mp.log(x / y) - x + y,
                [*POSITIVE, (1e308, 0)],
            ),
        )
    ],
    row("rel_entr in x, y=0", lambda x: sp.rel_entr(x, 0.0), None, [(1, 1, INF, INF)]),
    row("rel_entr in y, x=0", lambda y: sp.rel_entr(0.0, y), None, [(0, 1, 0.0, 0.0), (INF, -1, 0.0, 0.0)]),
    row("kl_div in x, y=0", lambda x: sp.kl_div(x, 0.0), None, [(1, 1, INF, INF)]),
    row("kl_div in y, x=0", lambda y: sp.kl_div(0.0, y), None, [(0, 1, 0.0, 1.0), (INF, -1, INF, 1.0)]),
    *[
        each
        for power in (-1.5, 0.0, 0.5, 1.0, 2.0)
        for each in (
            row(
                f"boxcox in x, lmbda={power}",
                lambda x, p=power: sp.boxcox(x, p),
                lambda x, p=power: _boxcox(x, p),
                POSITIVE,
            ),
            row(
                f"boxcox1p in x, lmbda={power}",
                lambda x, p=power: sp.boxcox1p(x, p),
                lambda x, p=power: _boxcox(1 + x, p),
                [(-1, 1), (0, 1), (INF, -1)],
            ),
            *[
                row(
                    f"{name} in y, lmbda={power}",
                    lambda y, p=power, f=f: f(y, p),
                    lambda y, p=power, less=less: _inverse_boxcox(y, p) - less,
                    [
                        (0, 1),
                        (INF if power >= 0 else -INF, -1 if power >= 0 else 1),
                        *([(-1 / power, 1)] if power > 0 else []),
                        *([(-INF, 1)] if power == 0 else []),
                    ],
                )
                for name, f, less in (("inv_boxcox", sp.inv_boxcox, 0), ("inv_boxcox1p", sp.inv_boxcox1p, 1))
            ],
        )
    ],
    *[
        each
        for x in (0.5, 1.0, 3.0)
        for each in (
            row(
                f"boxcox in lmbda, x={x}",
                lambda p, x=x: sp.boxcox(x, p),
                lambda p, x=x: _boxcox(x, p),
                [(0, 1), (-0.0, -1), (INF, -1), (-INF, 1), (1e-6, 0), (-1e-12, 0)],
            ),
            row(
                f"boxcox1p in lmbda, x={x - 1}",
                lambda p, x=x: sp.boxcox1p(x - 1, p),
                lambda p, x=x: _boxcox(x, p),
                [(0, 1), (INF, -1), (-INF, 1), (1e-6, 0)],
            ),
        )
    ],
    row("boxcox in lmbda, x=0", lambda p: sp.boxcox(0.0, p), lambda p: -1 / p, POSITIVE),
    *[
        each
        for y in (-0.3, 0.0, 0.3, 2.0)
        for each in (
            row(
                f"{name} in lmbda, y={y}",
                lambda p, y=y, f=f: f(y, p),
                lambda p, y=y, less=less: _inverse_boxcox(y, p) - less,
                [
                    (0, 1),
                    (-0.0, -1),
                    (1e-6, 0),
                    *([(INF, -1, 1.0 - less, 0.0)] if y >= 0 else []),
                    *([(-1 / y, 1)] if y == 2 else []),
                ],
            )
            for name, f, less in (("inv_boxcox", sp.inv_boxcox, 0), ("inv_boxcox1p", sp.inv_boxcox1p, 1))
        )
    ],
    *[
        each
        for delta in (0.0, 1.5)
        for each in (
            row(
                f"huber in r, delta={delta}",
                lambda r, d=delta: sp.huber(d, r),
                lambda r, d=delta: _huber(mp.mpf(d), r),
                [(0, 1), *BOTH],
            ),
            row(
                f"pseudo_huber in r, delta={delta}",
                lambda r, d=delta: sp.pseudo_huber(d, r),
                lambda r, d=delta: _pseudo_huber(mp.mpf(d), r),
                [(0, 1), *BOTH, (1e200, 0), (-1e200, 0)],
            ),
        )
    ],
    *[
        each
        for r in (0.0, 2.0, -3.0)
        for each in (
            row(
                f"huber in delta, r={r}",
                lambda d, r=r: sp.huber(d, r),
                lambda d, r=r: _huber(d, mp.mpf(r)),
                POSITIVE,
            ),
            row(
                f"pseudo_huber in delta, r={r}",
                lambda d, r=r: sp.pseudo_huber(d, r),
                lambda d, r=r: _pseudo_huber(d, mp.mpf(r)),
                [(0, 1), (1e-200, 0), (INF, -1, r * r / 2, 0.0)],
            ),
        )
    ],
    row("exprel", sp.exprel, lambda x: mp.expm1(x) / x, [(0, 1), (INF, -1), (-INF, 1, 0.0, 0.0), (700, 0)]),
    row("cosm1", sp.cosm1, None, [(0, 1, 0.0, 0.0), (5e-324, 1, 0.0, 0.0)]),
]  # fmt: skip

FURTHER_FUNCTIONS = [*BESSEL, *INTEGRALS, *ELLIPTIC, *COMBINATIONS, *FORMULAS]

NO_LIMITS = {
    "ive 0": "at 0, which is no end of its domain: the slope is that of a kink, 0 as for abs",
    "poch in m, z=-2": "at whole m, where it has other values than beside them",
    "gammaincinv in k": "at 0 and infinity, SciPy's value is NaN",
    "gammainccinv in k": "at 0 and infinity, SciPy's value is NaN",
    "betaincinv in a": "at 0 and infinity, SciPy's value is NaN",
    "betaincinv in b": "at 0 and infinity, SciPy's value is NaN",
    "betainccinv in a": "at 0 and infinity, SciPy's value is NaN",
    "betainccinv in b": "at 0 and infinity, SciPy's value is NaN",
    "gammau in k at 0": "it is a product of 0 and infinity, as in the definition",
    "gammal in k at infinity": "it is NaN above 171, where gamma(k) overflows and gammainc(k, x) underflows",
    "hyp2f1 in a": "an ordinary point at 0, no limit at infinity; at z = 1 and below -1 they have tests of their own",
    "hyp2f1 in b": "likewise",
    "hyp2f1 in c": "likewise",
    "exp1 at minus infinity": "outside of the domain; SciPy's is the real part there, and NaN",
    "ellipkinc in m at 1": "SciPy's has the wrong sign for angles below -pi / 2",
    "ellipeinc in m at minus infinity": "SciPy's has the wrong sign for negative angles, and is not 0 at 0",
    "ellipkinc in phi at infinity": "the slope oscillates",
    "ellipj in u at infinity": "it oscillates, but for m = 1, where SciPy's is NaN",
    "binom at infinity": "SciPy's value is NaN for an infinite k, and for an infinite n and k that is not whole",
    "binom in n at negative integers": "the value depends on which argument comes there first; SciPy's is NaN",
    "rel_entr at (0, 0)": "the slope depends on which argument comes there first",
    "cosm1 at infinity": "it oscillates",
}
"""What is not in the tables, and why."""
