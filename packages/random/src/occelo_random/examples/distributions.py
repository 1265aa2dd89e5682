"""Examples of draws by keys from further distributions, such as gamma and Poisson, for the table in `examples`.

The expected results are computed by NumPy code in this module, from the random bits that the draws use. For about half
of the distributions, the code calls a quantile function of SciPy with uniform numbers. For others it follows the algorithm of
the distribution, such as rejection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ops.shape.asserting import specify_shape
from occelo_graph.optional_scipy import scipy_module
from occelo_random.examples.keys import (
    KEY,
    LOC,
    SCALE,
    SPLIT,
    WORD,
    bits_of,
    make,
    open_uniform,
    philox_block,
    uniform_numbers,
)
from occelo_random.ops.choosing import categorical, choice, permutation, shuffle
from occelo_random.ops.counts import (
    betabinom,
    binomial,
    dirichlet_multinomial,
    geometric,
    hypergeometric,
    multinomial,
    negative_binomial,
    poisson,
)
from occelo_random.ops.further import skewnorm, truncnorm, vonmises, wald
from occelo_random.ops.gamma import (
    beta,
    chisquare,
    dirichlet,
    f,
    gamma,
    gengamma,
    invgamma,
    t,
)
from occelo_random.ops.inversion import (
    cauchy,
    gumbel,
    gumbel_l,
    halfcauchy,
    halfnormal,
    laplace,
    logistic,
    lognormal,
    lomax,
    pareto,
    power,
    rayleigh,
    triangular,
    truncexpon,
    weibull,
)
from occelo_random.ops.matrices import lkj, multivariate_normal, wishart

if TYPE_CHECKING:
    from occelo_graph.examples.example import Example


def _distribution(name: str, *args: Any, **options: Any) -> Any:
    """A distribution of ``scipy.stats``, by its name."""
    return getattr(scipy_module("stats", name), name)(*args, **options)


def _u(key: Any) -> Any:
    return open_uniform(key, (3,))


_A = np.array([0.5, 1.0, 2.5])


def _words(key: Any, index: int, number: int) -> float:
    """A uniform number: the random word ``number`` of element ``index``, scaled to the interval from 0 to 1.

    Each element of a draw has a sequence of random words.
    """
    bits = philox_block((int(key) + number * WORD) % WORD**2, index)
    return (2 * (bits >> 12) + 1) * 2.0**-53


def _gamma_from_one(key: Any, a: Any) -> Any:
    """Gamma numbers by Marsaglia and Tsang's algorithm, in a loop over elements."""
    normal = _distribution("norm").ppf
    draws: list[float] = []
    for i, each in enumerate(np.asarray(a, "float64")):
        d, number = each - 1 / 3, 0
        while True:
            x, u = normal(_words(key, i, number)), _words(key, i, number + 1)
            v = (1 + x / np.sqrt(9 * d)) ** 3
            if v > 0 and np.log(u) < x * x / 2 + d - d * v + d * np.log(v):
                break
            number += 2
        draws.append(d * v)
    return np.array(draws)


def _log_gamma(key: Any, a: Any) -> Any:
    """Logarithms of gamma numbers.

    If the parameter ``a`` is below 1, the result is made from a gamma number with the parameter ``a + 1``, which is
    multiplied by ``u ** (1 / a)`` for a uniform number u.
    """
    a = np.asarray(a, "float64")
    power = np.log(open_uniform(key ^ np.uint64(0x452821E638D01377), a.shape)) / a
    return np.log(_gamma_from_one(key, np.where(a < 1, a + 1, a))) + np.where(a < 1, power, 0.0)


def _keys(key: Any) -> Any:
    return bits_of(key ^ SPLIT, (2,))


def _quotient(key: Any, a: Any, b: Any) -> Any:
    one, other = _keys(key)
    return np.exp(_log_gamma(one, a) - _log_gamma(other, b))


def _shares(key: Any, alpha: Any) -> Any:
    parts = np.exp(_log_gamma(key, alpha))
    return parts / parts.sum()


def _t(key: Any, df: Any, loc: Any, scale: Any) -> Any:
    one, other = _keys(key)
    z = _distribution("norm").ppf(_u(one))
    return loc + scale * z / np.sqrt(np.exp(_log_gamma(other, df / 2)) * 2 / df)


_B = np.array([1.5, 0.75, 4.0])
_N = np.array([3, 0, 7])
_P = np.array([0.2, 0.5, 0.3])


def _first(key: Any, distribution: Any) -> Any:
    """Integers of a discrete distribution. Each is the quantile of a uniform number, made from the first word of its element."""
    return np.asarray(distribution.ppf(_u(key)), "int64")


def _negative_binomial(key: Any, n: Any, p: Any) -> Any:
    one, other = _keys(key)
    return _first(other, _distribution("poisson", np.exp(_log_gamma(one, n)) * (1 - p) / p))


def _betabinom(key: Any, n: Any, a: Any, b: Any) -> Any:
    one, other, last = bits_of(key ^ SPLIT, (3,))
    p = 1 / (1 + np.exp(_log_gamma(other, b) - _log_gamma(one, a)))
    few = _first(last, _distribution("binom", n, np.minimum(p, 1 - p)))
    return few + (p > 0.5) * (n - 2 * few)


def _angles(key: Any, mu: Any, kappa: Any) -> Any:
    """Angles of the von Mises distribution by Best and Fisher's algorithm, in a loop over elements."""
    one, other = _keys(key)
    arcs: list[float] = []
    for i, k in enumerate(kappa):
        tau = 1 + np.sqrt(1 + 4 * k * k)
        rho = (tau - np.sqrt(2 * tau)) / (2 * k)
        r, number = (1 + rho * rho) / (2 * rho), 0
        while True:
            z = np.cos(np.pi * _words(one, i, number))
            cosine = (1 + r * z) / (r + z)
            c = k * (r - cosine)
            if np.log(c / _words(one, i, number + 1)) + 1 - c >= 0:
                break
            number += 2
        arcs.append(np.arccos(cosine))
    side = np.where(uniform_numbers(other, (3,)) < 0.5, -1, 1)
    angles: Any = np.mod(mu + side * np.array(arcs) + np.pi, 2 * np.pi) - np.pi
    return angles


def _wald(key: Any, mean: Any, scale: Any) -> Any:
    one, other = _keys(key)
    y = _distribution("norm").ppf(_u(one)) ** 2 * mean / scale
    x = mean * 2 / (2 + y + np.sqrt(y * (y + 4)))
    return x + (uniform_numbers(other, (3,)) > mean / (mean + x)) * (mean**2 / x - x)


def _skewed(key: Any, a: Any, loc: Any, scale: Any) -> Any:
    one, other = (_distribution("norm").ppf(_u(k)) for k in _keys(key))
    return loc + scale * (a * abs(one) + other) / np.sqrt(1 + a * a)


def _wishart(key: Any, df: Any, scale: Any) -> Any:
    return 2 * np.exp(_log_gamma(_keys(key)[1], df / 2))[:, None, None] * scale


def _order(key: Any, n: int) -> Any:
    order: Any = bits_of(key, (n,)).argsort()
    return order.astype("int64")


def _found(key: Any, p: Any, n: int) -> Any:
    return np.searchsorted(np.cumsum(p), uniform_numbers(key, (n,)), side="right")


EXAMPLES: list[Example] = [
    make("cauchy", cauchy, lambda k, m, s: _distribution("cauchy", m, s).ppf(_u(k)), KEY, LOC, SCALE, grad=(1, 2)),
    make("halfcauchy", halfcauchy, lambda k, m, s: _distribution("halfcauchy", m, s).ppf(_u(k)), KEY, LOC, SCALE, grad=(1, 2)),
    make("halfnormal", halfnormal, lambda k, m, s: m + s * abs(_distribution("norm").ppf(_u(k))), KEY, LOC, SCALE, grad=(1, 2)),
    make("laplace", laplace, lambda k, m, s: _distribution("laplace", m, s).ppf(_u(k)), KEY, LOC, SCALE, grad=(1, 2)),
    make("logistic", logistic, lambda k, m, s: _distribution("logistic", m, s).ppf(_u(k)), KEY, LOC, SCALE, grad=(1, 2)),
    make("gumbel", gumbel, lambda k, m, s: _distribution("gumbel_r", m, s).ppf(_u(k)), KEY, LOC, SCALE, grad=(1, 2)),
    make("gumbel_l", gumbel_l, lambda k, m, s: _distribution("gumbel_l", m, s).isf(_u(k)), KEY, LOC, SCALE, grad=(1, 2)),
    make("lognormal", lognormal, lambda k, m, s: np.exp(m + s * _distribution("norm").ppf(_u(k))), KEY, LOC, SCALE, grad=(1, 2)),
    make("pareto", pareto, lambda k, b, s: _distribution("pareto", b, scale=s).isf(_u(k)), KEY, _A, SCALE, grad=(1, 2)),
    make("lomax", lomax, lambda k, b, m, s: _distribution("lomax", b, m, s).isf(_u(k)), KEY, _A, LOC, SCALE, grad=(1, 2, 3)),
    make("power", power, lambda k, a: _distribution("powerlaw", a).ppf(_u(k)), KEY, _A, grad=(1,)),
    make("rayleigh", rayleigh, lambda k, s: _distribution("rayleigh", scale=s).isf(_u(k)), KEY, SCALE, grad=(1,)),
    make(
        "triangular",
        lambda k, left, width: triangular(k, left, left + 0.25 * width, left + width),
        lambda k, left, width: _distribution("triang", 0.25, left, width).ppf(uniform_numbers(k, (3,))),
        KEY, LOC, SCALE, grad=(1, 2),
    ),
    make(
        "truncexpon",
        truncexpon,
        lambda k, b, m, s: _distribution("truncexpon", b, m, s).ppf(uniform_numbers(k, (3,))),
        KEY, _A, LOC, SCALE, grad=(1, 2, 3),
    ),
    make("weibull", weibull, lambda k, a, s: _distribution("weibull_min", a, scale=s).isf(_u(k)), KEY, _A, SCALE, grad=(1, 2)),
    make("gamma", gamma, lambda k, a, s: s * np.exp(_log_gamma(k, a)), KEY, _A, SCALE),
    make("gamma", lambda k: gamma(k, 1.0, size=(0,)), lambda k: np.zeros(0), KEY),
    make("invgamma", invgamma, lambda k, a, s: s / np.exp(_log_gamma(k, a)), KEY, _A, SCALE),
    make("gengamma", gengamma, lambda k, a, p: np.exp(_log_gamma(k, a / p) / p), KEY, _A, _B),
    make("chisquare", chisquare, lambda k, df: 2 * np.exp(_log_gamma(k, df / 2)), KEY, _A),
    make("beta", beta, lambda k, a, b: 1 / (1 + 1 / _quotient(k, a, b)), KEY, _A, _B),
    make("f", f, lambda k, m, n: _quotient(k, m / 2, n / 2) * n / m, KEY, _A, _B),
    make("t", t, _t, KEY, _A, LOC, SCALE),
    make("dirichlet", dirichlet, _shares, KEY, _A),
    make("poisson", poisson, lambda k, m: _first(k, _distribution("poisson", m)), KEY, _A),
    make("binomial", binomial, lambda k, n, p: _first(k, _distribution("binom", n, p)), KEY, _N, _P),
    make("negative_binomial", negative_binomial, _negative_binomial, KEY, _A, _P),
    make("betabinom", betabinom, _betabinom, KEY, _N, _A, _B),
    make("geometric", geometric, lambda k, p: np.ceil(np.log(_u(k)) / np.log1p(-p)).astype("int64"), KEY, _P),
    make("hypergeometric", hypergeometric, lambda k, a, b, n: a, KEY, _N, _N + 1, 2 * _N + 1),
    make(
        "multinomial",
        lambda k, p: multinomial(k, 0, specify_shape(p, (3,)), size=2),
        lambda k, p: np.zeros((2, 3), "int64"),
        KEY, _P,
    ),
    make(
        "dirichlet_multinomial",
        lambda k, a: dirichlet_multinomial(k, specify_shape(a, (3,)), 0, size=2),
        lambda k, a: np.zeros((2, 3), "int64"),
        KEY, _A,
    ),
    make("vonmises", vonmises, _angles, KEY, LOC, _A),
    make("wald", wald, _wald, KEY, _A, _B),
    make("skewnorm", skewnorm, _skewed, KEY, LOC, LOC, SCALE, grad=(1, 2, 3)),
    make(
        "truncnorm",
        lambda k, a, b: truncnorm(k, a, b),
        lambda k, a, b: _distribution("truncnorm", a, b).ppf(_u(k)),
        KEY, LOC - 1, LOC + SCALE, grad=(1, 2),
    ),
    make(
        "multivariate_normal",
        lambda k, m, s: multivariate_normal(k, m, s * np.eye(3)),
        lambda k, m, s: m + np.sqrt(s) * _distribution("norm").ppf(_u(k)),
        KEY, LOC, SCALE, grad=(1, 2),
    ),
    make("wishart", wishart, _wishart, KEY, _A, _B[:, None, None]),
    make("lkj", lambda k, eta: lkj(k, 1, eta), lambda k, eta: np.ones((3, 1, 1)), KEY, _A),
    make("permutation", lambda k: permutation(k, 5), lambda k: _order(k, 5), KEY),
    make("shuffle", shuffle, lambda k, x: x[_order(k, 3)], KEY, LOC),
    make("categorical", lambda k, p: categorical(k, p, 4), lambda k, p: _found(k, p, 4), KEY, _P),
    make("choice", lambda k, x: choice(k, x, 2, replace=False), lambda k, x: x[_order(k, 3)[:2]], KEY, LOC),
]  # fmt: skip
