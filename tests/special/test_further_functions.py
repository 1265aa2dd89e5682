"""Bessel functions of the second kind, integrals, elliptic functions and others beside mpmath: values and derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_special import functions as sp

mp: Any = mpmath
SMALL_TO_LARGE = (1e-6, 0.02, 0.7, 3.1, 17.0, 130.0)
BOTH_SIDES = (-40.0, -9.0, -2.3, -0.3, -1e-7, 1e-7, 0.4, 1.9, 6.0, 21.0)
MODULI = (-30.0, -0.4, -1e-9, 1e-12, 1e-4, 0.3, 0.99, 1 - 1e-9)
Row = tuple[str, Callable[[Any], Any], Callable[[Any], Any], Sequence[float]]


def _second(function: Callable[[Any], Any], order: int = 1) -> Callable[[Any], Any]:
    """The result of a number of a function with several results."""
    return lambda x: function(x)[order]


def _spherical(kind: Any, factor: Any) -> Callable[[int], Callable[[Any], Any]]:
    def of_order(n: int) -> Callable[[Any], Any]:
        return lambda x: mp.sqrt(factor / (2 * x)) * kind(n + mp.mpf(1) / 2, x)

    return of_order


_JN, _YN = _spherical(mp.besselj, mp.pi), _spherical(mp.bessely, mp.pi)
_IN, _KN = _spherical(mp.besseli, mp.pi), _spherical(mp.besselk, mp.pi)
ROWS: list[Row] = [
    ("y0", sp.y0, lambda x: mp.bessely(0, x), SMALL_TO_LARGE),
    ("y1", sp.y1, lambda x: mp.bessely(1, x), SMALL_TO_LARGE),
    ("yv", lambda x: sp.yv(1.5, x), lambda x: mp.bessely(1.5, x), SMALL_TO_LARGE),
    ("yn", lambda x: sp.yn(3, x), lambda x: mp.bessely(3, x), SMALL_TO_LARGE),
    ("yve", lambda x: sp.yve(0.5, x), lambda x: mp.bessely(0.5, x), SMALL_TO_LARGE),
    ("jve", lambda x: sp.jve(0.5, x), lambda x: mp.besselj(0.5, x), SMALL_TO_LARGE),
    ("k0", sp.k0, lambda x: mp.besselk(0, x), SMALL_TO_LARGE),
    ("k1", sp.k1, lambda x: mp.besselk(1, x), SMALL_TO_LARGE),
    ("k0e", sp.k0e, lambda x: mp.exp(x) * mp.besselk(0, x), SMALL_TO_LARGE[:5]),
    ("k1e", sp.k1e, lambda x: mp.exp(x) * mp.besselk(1, x), SMALL_TO_LARGE[:5]),
    ("i0e", sp.i0e, lambda x: mp.exp(-abs(x)) * mp.besseli(0, x), BOTH_SIDES[1:9]),
    ("i1e", sp.i1e, lambda x: mp.exp(-abs(x)) * mp.besseli(1, x), BOTH_SIDES[1:9]),
    *[
        (f"spherical_{kind} {n}", lambda x, f=f, n=n: f(n, x), reference(n), SMALL_TO_LARGE[1:5])
        for n in (0, 1, 4)
        for kind, f, reference in (
            ("jn", sp.spherical_jn, _JN),
            ("yn", sp.spherical_yn, _YN),
            ("in", sp.spherical_in, _IN),
            ("kn", sp.spherical_kn, _KN),
        )
    ],
    *[
        (f"airy {i}", _second(sp.airy, i), f, (-20.0, -3.3, -0.2, 1e-8, 1.1, 6.0))
        for i, f in enumerate(
            (
                mp.airyai,
                lambda x: mp.airyai(x, derivative=1),
                mp.airybi,
                lambda x: mp.airybi(x, derivative=1),
            )
        )
    ],
    *[
        (
            f"hyp1f1 {a} {b}",
            lambda x, a=a, b=b: sp.hyp1f1(a, b, x),
            lambda x, a=a, b=b: mp.hyp1f1(a, b, x),
            (-20.0, -2.3, -1e-3, 0.0, 0.4, 1.9, 21.0),
        )
        for a, b in ((0.5, 1.5), (1.2, 2.7), (2.0, 1.0), (0.3, 4.1))
    ],
    ("exp1", sp.exp1, mp.e1, SMALL_TO_LARGE),
    ("expi", sp.expi, mp.ei, (-20.0, -1.2, -1e-5, 1e-5, 0.7, 3.0, 40.0)),
    *[
        (f"expn {n}", lambda x, n=n: sp.expn(n, x), lambda x, n=n: mp.expint(n, x), SMALL_TO_LARGE)
        for n in (0, 1, 2, 5)
    ],
    ("dawsn", sp.dawsn, lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x), BOTH_SIDES),
    ("erfi", sp.erfi, mp.erfi, BOTH_SIDES[1:9]),
    ("sici 0", _second(sp.sici, 0), mp.si, BOTH_SIDES),
    ("sici 1", _second(sp.sici), mp.ci, SMALL_TO_LARGE),
    ("shichi 0", _second(sp.shichi, 0), mp.shi, BOTH_SIDES[1:9]),
    ("shichi 1", _second(sp.shichi), mp.chi, SMALL_TO_LARGE),
    ("fresnel 0", _second(sp.fresnel, 0), mp.fresnels, BOTH_SIDES[2:9]),
    ("fresnel 1", _second(sp.fresnel), mp.fresnelc, BOTH_SIDES[2:9]),
    ("spence", sp.spence, lambda x: mp.polylog(2, 1 - x), (1e-4, 0.4, 1 - 1e-9, 1.0, 1.8, 30.0)),
    ("ellipk", sp.ellipk, mp.ellipk, MODULI),
    ("ellipe", sp.ellipe, mp.ellipe, MODULI),
    ("ellipkm1", sp.ellipkm1, lambda p: mp.ellipk(1 - p), (1e-12, 1e-3, 0.4, 1 - 1e-9, 1.5)),
    *[
        row
        for phi in (-5.0, 0.3, 1.4, 2.9, 20.0)
        for row in (
            (
                f"ellipkinc {phi}",
                lambda m, phi=phi: sp.ellipkinc(phi, m),
                lambda m, phi=phi: mp.ellipf(phi, m),
                MODULI[:-1],
            ),
            (
                f"ellipeinc {phi}",
                lambda m, phi=phi: sp.ellipeinc(phi, m),
                lambda m, phi=phi: mp.ellipe(phi, m),
                MODULI[:-1],
            ),
        )
    ],
    *[
        row
        for m in (-0.5, 0.0, 0.6)
        for row in (
            (
                f"ellipkinc to {m}",
                lambda phi, m=m: sp.ellipkinc(phi, m),
                lambda phi, m=m: mp.ellipf(phi, m),
                (-5.0, 0.3, 2.9),
            ),
            (
                f"ellipeinc to {m}",
                lambda phi, m=m: sp.ellipeinc(phi, m),
                lambda phi, m=m: mp.ellipe(phi, m),
                (-5.0, 0.3, 2.9),
            ),
        )
    ],
    *[
        row
        for i, kind in enumerate(("sn", "cn", "dn"))
        for row in (
            (
                f"{kind} of u",
                lambda u, i=i: sp.ellipj(u, 0.7)[i],
                lambda u, kind=kind: mp.ellipfun(kind, u, m=mp.mpf(0.7)),
                (-4.0, 1e-5, 0.8, 2.6, 11.0),
            ),
            (
                f"{kind} of m",
                lambda m, i=i: sp.ellipj(2.3, m)[i],
                lambda m, kind=kind: mp.ellipfun(kind, mp.mpf(2.3), m=m),
                (1e-9, 1e-3, 0.4, 0.95),
            ),
        )
    ],
    ("elliprf", lambda x: sp.elliprf(x, 0.5, 2.0), lambda x: mp.elliprf(x, 0.5, 2), (0.1, 1.0, 9.0)),
    *[
        (f"binom {k}", lambda n, k=k: sp.binom(n, k), lambda n, k=k: mp.binomial(n, k), (1.5, 4.0, 30.5))
        for k in (0.5, 2.0)
    ],
    ("rgamma", sp.rgamma, mp.rgamma, (-3.0, -2.5, -1e-9, 0.0, 0.2, 1.0, 7.7, 150.0)),
    ("multigammaln", lambda a: sp.multigammaln(a, 3), lambda a: 1.5 * mp.log(mp.pi) + sum(mp.loggamma(a - j / mp.mpf(2)) for j in range(3)), (1.1, 4.0, 90.0)),
    ("zeta in q", lambda q: sp.zeta(2.5, q), lambda q: mp.zeta(2.5, q), (0.1, 1.0, 40.0)),
    ("loggamma", sp.loggamma, mp.loggamma, (0.2, 1.5, 40.0)),
    ("ndtr", sp.ndtr, mp.ncdf, (-30.0, -3.0, 0.0, 0.5, 5.0)),
    ("log_expit", sp.log_expit, lambda x: -mp.log1p(mp.exp(-x)), (-800.0, -3.0, 0.0, 50.0)),
    ("entr", sp.entr, lambda x: -x * mp.log(x), (1e-6, 0.4, 1.0, 90.0)),
    ("rel_entr", lambda x: sp.rel_entr(x, 0.3), lambda x: x * mp.log(x / mp.mpf(0.3)), (1e-9, 0.2, 5.0)),
    ("kl_div", lambda y: sp.kl_div(0.3, y), lambda y: mp.mpf(0.3) * mp.log(mp.mpf(0.3) / y) - mp.mpf(0.3) + y, (1e-9, 5.0)),
    *[
        row
        for power in (-1.5, 0.0, 1e-30, 1e-9, 2.0)
        for row in (
            (
                f"boxcox {power}",
                lambda x, p=power: sp.boxcox(x, p),
                lambda x, p=power: mp.expm1(p * mp.log(x)) / p if p else mp.log(x),
                (1e-3, 0.9, 7.0),
            ),
            (
                f"inv_boxcox {power}",
                lambda y, p=power: sp.inv_boxcox(y, p),
                lambda y, p=power: mp.exp(mp.log1p(p * y) / p) if p else mp.exp(y),
                (-0.4, 0.1, 0.6),
            ),
            (
                f"boxcox1p {power}",
                lambda x, p=power: sp.boxcox1p(x, p),
                lambda x, p=power: mp.expm1(p * mp.log1p(x)) / p if p else mp.log1p(x),
                (-0.9, 1e-9, 7.0),
            ),
            (
                f"inv_boxcox1p {power}",
                lambda y, p=power: sp.inv_boxcox1p(y, p),
                lambda y, p=power: mp.expm1(mp.log1p(p * y) / p) if p else mp.expm1(y),
                (-0.4, 1e-9, 0.6),
            ),
        )
    ],
    ("huber", lambda r: sp.huber(1.5, r), lambda r: r * r / 2 if abs(r) <= 1.5 else 1.5 * (abs(r) - 0.75), (-4.0, 0.3, 1e9)),
    ("pseudo_huber", lambda r: sp.pseudo_huber(1.5, r), lambda r: mp.mpf(2.25) * (mp.sqrt(1 + (r / mp.mpf(1.5)) ** 2) - 1), (-4.0, 1e-9, 0.3, 1e7)),
    ("exprel", sp.exprel, lambda x: mp.expm1(x) / x, (-50.0, -1e-3, 1e-9, 0.4, 300.0)),
    ("cosm1", sp.cosm1, lambda x: mp.cos(x) - 1, (1e-9, 0.3, 4.0)),
]  # fmt: skip
LOOSE = {
    # where a function oscillates or grows, or an oscillating derivative vanishes, SciPy's own digits decide
    "airy": 1e-9,
    "yv": 1e-10,
    "y0": 1e-10,
    "y1": 1e-10,
    "yn": 1e-10,
    "sn": 1e-10,
    "cn": 1e-10,
    "dn": 1e-10,
    "ellipk": 1e-10,
    "ellipkm1": 1e-10,
    "ellipkinc": 1e-10,
    "kl_div": 1e-10,
}


@pytest.mark.parametrize(("name", "ours", "theirs", "points"), ROWS, ids=[row[0] for row in ROWS])
def test_values_and_derivatives_are_those_of_mpmath(
    name: str, ours: Any, theirs: Any, points: Sequence[float]
) -> None:
    x = ot.dvector("x")
    made = ours(x)
    f = oc.function([x], [made, og.grad(made.sum(), x)], mode="py")
    values, slopes = f(np.array(points))
    with mp.workdps(60):
        expected = [float(mp.re(theirs(mp.mpf(point)))) for point in points]
        derivatives = [
            float(mp.re(mp.diff(theirs, mp.mpf(point), h=mp.mpf(10) ** -25))) for point in points
        ]
    rtol = LOOSE.get(name.split()[0], 2e-12)
    np.testing.assert_allclose(values, expected, rtol=rtol, atol=1e-300)
    np.testing.assert_allclose(slopes, derivatives, rtol=rtol, atol=1e-13)


def test_dtypes_broadcasting_and_integers() -> None:
    n, x = ot.lvector("n"), ot.tensor("x", dtype="float32", shape=(None, 1))
    made = [
        sp.yn(n, x),
        sp.expn(n, x),
        sp.binom(x, n),
        sp.spherical_jn(n, x),
        sp.entr(n),
        sp.comb(n, 2),
    ]
    arrays = np.array([0, 1, 3]), np.array([[0.5], [2.5]], "float32")
    f = oc.function([n, x], made)
    results = f(*arrays)
    wide = np.broadcast_arrays(arrays[0], arrays[1].astype("float64"))
    references = [
        scipy.special.yn(*wide),
        scipy.special.expn(*wide),
        scipy.special.binom(wide[1], wide[0]),
        scipy.special.spherical_jn(*wide),
        scipy.special.entr(arrays[0]),
        scipy.special.comb(arrays[0], 2),
    ]
    for result, expected in zip(results, references, strict=True):
        np.testing.assert_allclose(
            result, expected, rtol=2e-5 if result.dtype == "float32" else 1e-12
        )


def test_integrals_of_fresnel_end_at_a_half() -> None:
    x = np.array([-np.inf, -1e300, 1e160, np.inf, np.nan])
    for dtype in ("float64", "float32"):
        v = ot.tensor(dtype=dtype, shape=(None,))
        with np.errstate(over="ignore"):
            found = oc.function([v], list(sp.fresnel(v)))(x.astype(dtype))
        for each in found:
            assert each.dtype == dtype
            np.testing.assert_array_equal(each, [-0.5, -0.5, 0.5, 0.5, np.nan])


def test_precision_stays() -> None:
    x, y = ot.fvector("x"), ot.fvector("y")
    for name in ("y0", "ndtr", "entr", "exprel", "cosm1", "loggamma", "dawsn", "zeta"):
        assert getattr(sp, name)(x).dtype == "float32", name
    for name in ("rel_entr", "kl_div", "boxcox", "inv_boxcox1p", "huber", "pseudo_huber", "comb"):
        assert getattr(sp, name)(x, y).dtype == "float32", name


def test_numbers_outside_of_domains_are_those_of_scipy() -> None:
    x, y = ot.dvector("x"), ot.dvector("y")
    points = np.array([-np.inf, -2.0, -1.0, -0.0, 0.0, 1.0, 2.5, np.inf, np.nan])
    first, second = (v.ravel() for v in np.meshgrid(points, points))
    for name in ("rel_entr", "kl_div", "huber", "comb", "perm"):
        # at infinity, some of SciPy's are NaN where there are limits
        inside = slice(None) if name == "rel_entr" else np.isfinite(first) & np.isfinite(second)
        a, b = first[inside], second[inside]
        with np.errstate(all="ignore"):
            expected = getattr(scipy.special, name)(a, b)
        made = oc.function([x, y], getattr(sp, name)(x, y))(a, b)
        np.testing.assert_allclose(made, expected, rtol=1e-12, err_msg=name)
    for name in (
        "entr",
        "ndtr",
        "ndtri",
        "exp1",
        "expi",
        "rgamma",
        "gammasgn",
        "ellipk",
        "ellipe",
        "spence",
        "i0e",
        "i1e",
        "k0",
        "k1",
        "y0",
        "zetac",
    ):
        given = points[points < np.inf] if name in ("spence", "y0") else points
        with np.errstate(all="ignore"):
            expected = getattr(scipy.special, name)(given)
        made = oc.function([x], getattr(sp, name)(x))(given)
        np.testing.assert_allclose(made, expected, rtol=1e-12, err_msg=name)
    losses = oc.function([x], [sp.pseudo_huber(1.5, x), sp.huber(1.5, x)])([1e200, -1e300])
    np.testing.assert_allclose(losses, [[1.5e200, 1.5e300]] * 2)


def test_derivatives_by_orders_are_errors_that_say_so() -> None:
    v = ot.dscalar("v")
    for made, told in (
        (sp.yv(v, 2.0), "Bessel function by its order"),
        (sp.zeta(v, 2.0), "zeta function by its exponent"),
        (sp.expn(v, 2.0), "a whole number of order"),
    ):
        with pytest.raises(Exception, match=told):
            og.grad(made, v)
    with pytest.raises(ValueError, match="positive number of dimensions, got 0"):
        sp.multigammaln(v, 0)


def test_numbers_of_bernoulli_and_bessel_functions_of_several_orders() -> None:
    for n in (0, 1, 2, 7, 40):
        np.testing.assert_allclose(
            sp.bernoulli(n).eval(), [float(mp.bernoulli(k)) for k in range(n + 1)], rtol=1e-13
        )
    for value in (np.array([0.0, 0.5, -3.0]), np.float32([[1.0, 20.0]])):
        made = sp.bessel_jn(value, v=3)
        assert made.dtype == value.dtype
        expected = [scipy.special.jv(k, value) for k in range(4)]
        np.testing.assert_allclose(made.eval(), expected, rtol=1e-5, atol=1e-9)
    for bad in (lambda: sp.bernoulli(-1), lambda: sp.bessel_jn(1.0, v=-1)):
        with pytest.raises(ValueError, match="negative"):
            bad()
