"""The example calls of the family's functions, `EXAMPLES`; SciPy computes the expected results."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.examples.example import Domain, Example, draw
from occelo_graph.examples.functions import (
    ABOVE_ONE,
    INSIDE,
    NEGATIVE,
    POSITIVE,
    REAL,
    UNIT,
    every_argument,
    examples_of_functions,
    of_scipy,
)
from occelo_special import functions
from occelo_special.ops.special_functions import gammainc_dx, psi_rise

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import ArrayFunction

_SHAPE = (0.6, 3.0)

# Each row: name, reference, domains of the arguments. Functions are differentiated with respect to every argument
_TABLE: list[tuple[str, ArrayFunction, Sequence[Domain]]] = [
    *((name, of_scipy(name), [REAL]) for name in ("j0", "j1", "i0", "i1", "log_ndtr")),
    *((name, of_scipy(name), [POSITIVE]) for name in ("gamma", "gammaln", "psi")),
    ("erfinv", of_scipy("erfinv"), [INSIDE]),
    *((name, of_scipy(name), [UNIT]) for name in ("erfcinv", "logit")),
    ("tri_gamma", lambda x: of_scipy("polygamma")(1, x).astype(x.dtype), [POSITIVE]),
    *(
        (name, of_scipy(name), [POSITIVE, POSITIVE])
        for name in ("poch", "gammainc", "gammaincc", "beta", "betaln")
    ),
    *((name, of_scipy(name), [_SHAPE, UNIT]) for name in ("gammaincinv", "gammainccinv")),
    *(
        (name, of_scipy(name), [_SHAPE, _SHAPE, UNIT])
        for name in ("betainc", "betaincc", "betaincinv", "betainccinv")
    ),
    ("gammau", lambda k, x: of_scipy("gammaincc")(k, x) * of_scipy("gamma")(k), [POSITIVE] * 2),
    ("gammal", lambda k, x: of_scipy("gammainc")(k, x) * of_scipy("gamma")(k), [POSITIVE] * 2),
    ("chi2sf", lambda x, k: of_scipy("gammaincc")(k / 2, x / 2), [POSITIVE, ABOVE_ONE]),
    ("factorial", lambda n: of_scipy("gamma")(n + 1), [POSITIVE]),
    ("hyp2f1", of_scipy("hyp2f1"), [POSITIVE, POSITIVE, ABOVE_ONE, (-0.7, 0.7)]),
    ("owens_t", of_scipy("owens_t"), [REAL, REAL]),
    ("ndtri_exp", of_scipy("ndtri_exp"), [NEGATIVE]),
    *(
        (name, of_scipy(name), [POSITIVE])
        for name in ("y0", "y1", "k0", "k1", "k0e", "k1e", "exp1")
    ),
    *(
        (name, of_scipy(name), [REAL])
        for name in ("i0e", "i1e", "dawsn", "erfi", "rgamma", "exprel")
    ),
    *((name, of_scipy(name), [REAL]) for name in ("ndtr", "log_expit", "cosm1")),
    *((name, of_scipy(name), [POSITIVE]) for name in ("expi", "spence", "entr", "loggamma")),
    *((name, of_scipy(name), [UNIT]) for name in ("ellipk", "ellipe", "ellipkm1", "ndtri")),
    *((name, of_scipy(name), [REAL, UNIT]) for name in ("ellipkinc", "ellipeinc")),
    *((name, of_scipy(name), [POSITIVE, POSITIVE]) for name in ("rel_entr", "kl_div", "boxcox")),
    *((name, of_scipy(name), [POSITIVE, POSITIVE]) for name in ("boxcox1p", "inv_boxcox")),
    *((name, of_scipy(name), [POSITIVE, REAL]) for name in ("pseudo_huber", "huber")),
    ("inv_boxcox1p", of_scipy("inv_boxcox1p"), [POSITIVE, POSITIVE]),
    ("binom", of_scipy("binom"), [ABOVE_ONE, UNIT]),
    ("elliprf", of_scipy("elliprf"), [POSITIVE] * 3),
    ("xlogy", of_scipy("xlogy"), [REAL, POSITIVE]),
    ("xlog1py", of_scipy("xlog1py"), [REAL, INSIDE]),
]
# differentiated with respect to the last argument
_OF_ORDERS: list[tuple[str, ArrayFunction, Sequence[Domain]]] = [
    *(
        (name, of_scipy(name), [(0.5, 2.5), POSITIVE])
        for name in ("jv", "iv", "ive", "kv", "kve", "yv", "jve", "yve")
    ),
    ("zeta", of_scipy("zeta"), [ABOVE_ONE, POSITIVE]),
    ("hyp1f1", of_scipy("hyp1f1"), [POSITIVE, ABOVE_ONE, REAL]),
]


def _result(function: Any, position: int) -> Any:
    def one(*arguments: Any) -> Any:
        return function(*arguments)[position]

    return one


def _parts(z: Any) -> Any:
    return z.real + 2.0 * z.imag


def _spherical_harmonic(n: Any, m: Any, theta: Any, phi: Any) -> Any:
    size = np.minimum(np.abs(m), n)
    quotient = of_scipy("gamma")(n - size + 1) / of_scipy("gamma")(n + size + 1)
    value: Any = np.sqrt((2 * n + 1) / (4 * np.pi) * quotient) * of_scipy("lpmv")(
        size, n, np.cos(theta)
    )
    sign: Any = np.where((m < 0) & (size % 2 == 1), -1.0, 1.0)
    return np.where(np.abs(m) > n, 0.0, sign) * value * np.exp(1j * m * phi)


def _last(nin: int) -> tuple[int, ...]:
    return (nin - 1,)


EXAMPLES: list[Example] = [
    *examples_of_functions(functions, "special", _TABLE, ["float64", "float32"], every_argument),
    *examples_of_functions(functions, "special", _OF_ORDERS, ["float64"], _last),
    *(
        Example(
            f"{name}_{i}",
            "special",
            _result(function, i),
            _result(of_scipy(name), i),
            tuple(draw(d, (3,), salt=k) for k, d in enumerate(domains)),
            tuple(range(len(domains))),
        )
        for name, function, domains, count in (
            ("airy", functions.airy, [REAL], 4),
            ("sici", functions.sici, [POSITIVE], 2),
            ("shichi", functions.shichi, [POSITIVE], 2),
            ("fresnel", functions.fresnel, [REAL], 2),
            ("ellipj", functions.ellipj, [REAL, UNIT], 4),
        )
        for i in range(count)
    ),
    *(
        Example(
            f"{name}_of_2",
            "special",
            partial(function, np.int64(2)),
            partial(of_scipy(name), 2),
            (draw(POSITIVE, (3,)),),
            (0,),
        )
        for function, name in (
            (functions.expn, "expn"),
            (functions.yn, "yn"),
            (functions.spherical_jn, "spherical_jn"),
            (functions.spherical_yn, "spherical_yn"),
            (functions.spherical_in, "spherical_in"),
            (functions.spherical_kn, "spherical_kn"),
        )
    ),
    *(
        Example(
            name,
            "special",
            function,
            of_scipy(name),
            tuple(draw(ABOVE_ONE, (3,), salt=k) for k in range(n)),
        )
        for name, function, n in (
            ("comb", functions.comb, 2),
            ("perm", functions.perm, 2),
            ("gammasgn", functions.gammasgn, 1),
            ("zetac", functions.zetac, 1),
            ("elliprd", functions.elliprd, 3),
        )
    ),
    Example(
        "multigammaln",
        "special",
        lambda a: functions.multigammaln(a, 3),
        lambda a: np.array([of_scipy("multigammaln")(each, 3) for each in a]),
        (draw(ABOVE_ONE, (3,)),),
        (0,),
    ),
    Example(
        "bessel_jn",
        "special",
        partial(functions.bessel_jn, v=2),
        lambda x: of_scipy("jv")(np.arange(3.0)[:, None], x),
        (draw(POSITIVE, (3,)),),
        (0,),
    ),
    Example(
        "polygamma",
        "special",
        lambda x: functions.polygamma(2.0, x),
        lambda x: of_scipy("polygamma")(2, x),
        (draw(POSITIVE, (3,)),),
        (0,),
    ),
    Example(
        "psi_rise",
        "special",
        psi_rise,
        lambda z, m: of_scipy("psi")(z + m) - of_scipy("psi")(z),
        (draw(POSITIVE, (3,)), draw(POSITIVE, (3,))),
        (0, 1),
    ),
    Example(
        "gammainc_dx",
        "special",
        gammainc_dx,
        lambda k, x: x ** (k - 1) * np.exp(-x) / of_scipy("gamma")(k),
        (draw(POSITIVE, (3,)), draw(POSITIVE, (3,))),
        (0, 1),
    ),
    *(
        Example(
            "wofz",
            "special",
            functions.wofz,
            of_scipy("wofz"),
            (numbers,),
            (),
            1e-9 if small else 1e-4,
            (0,),
        )
        for dtype, small in (("complex128", True), ("complex64", False))
        for numbers in (draw((-4.0, 4.0), (2, 3), dtype),)
    ),
    Example(
        "wofz",
        "special",
        lambda x, y: _parts(functions.wofz(x + 1j * y)),
        lambda x, y: _parts(of_scipy("wofz")(x + 1j * y)),
        (draw(REAL, (3,)), draw(REAL, (3,), salt=1)),
        (0, 1),
    ),
    Example(
        "sph_harm_y",
        "special",
        lambda m, theta, phi: _parts(functions.sph_harm_y(2, m, theta, phi)),
        lambda m, theta, phi: _parts(_spherical_harmonic(2, m, theta, phi)),
        (np.array([-1, 0, 2, 3]), draw(UNIT, (4,)), draw(REAL, (4,), salt=1)),
        (1, 2),
    ),
    Example(
        "sph_legendre_p",
        "special",
        lambda n, theta: functions.sph_legendre_p(n, 1, theta),
        lambda n, theta: _spherical_harmonic(n, 1, theta, 0.0 * theta).real,
        (np.array([0, 1, 4]), draw(UNIT, (3,))),
        (1,),
    ),
    Example(
        "kn",
        "special",
        lambda x: functions.kn(2.0, x),
        lambda x: of_scipy("kn")(2, x),
        (draw(POSITIVE, (3,)),),
        (0,),
    ),
]
