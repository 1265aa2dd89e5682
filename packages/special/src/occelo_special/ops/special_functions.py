"""Elementwise special functions, such as gamma, beta and Bessel functions.

Users call them from `occelo.tensor`. The formulas of distributions (`occelo_stats.functions`) contain many of them. The
interpreter computes most of them with SciPy, which is imported when a function is first evaluated.

Unless a comment says otherwise, the formulas of derivatives are from the NIST Digital Library of Mathematical Functions
(DLMF). Comments name the sections.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ops.elemwise.arithmetic import abs as abs_
from occelo_graph.ops.elemwise.arithmetic import (
    and_,
    eq,
    floor,
    gt,
    isinf,
    le,
    lt,
    minimum,
    round,
    sign,
    sqr,
    switch,
    trunc,
)
from occelo_graph.ops.elemwise.error_functions import erf, erfcx
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.transcendental import cos, exp, log, log1p
from occelo_graph.optional_scipy import special_function
from occelo_graph.tensors.type import is_discrete
from occelo_special.ops import gamma_terms, log_beta, series
from occelo_special.ops.defining import converted as _converted
from occelo_special.ops.defining import in_float64 as _in_float64
from occelo_special.ops.defining import of_scipy as _scipy
from occelo_special.ops.defining import reals as _reals
from occelo_special.ops.defining import special as _special
from occelo_special.ops.defining import undefined as _undefined

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "beta",
    "betainc",
    "betaincc",
    "betainccinv",
    "betaincinv",
    "betaln",
    "chi2sf",
    "digamma",
    "erfcinv",
    "erfinv",
    "factorial",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammainccinv",
    "gammaincinv",
    "gammal",
    "gammaln",
    "gammau",
    "hyp2f1",
    "i0",
    "i1",
    "iv",
    "ive",
    "j0",
    "j1",
    "jv",
    "kn",
    "kv",
    "kve",
    "log_ndtr",
    "logit",
    "ndtri_exp",
    "owens_t",
    "poch",
    "polygamma",
    "psi",
    "tri_gamma",
    "xlog1py",
    "xlogy",
]

_ROOT_PI = math.sqrt(math.pi)

_NOT_EXPORTED = "SciPy exports no function for it"
_SERIES = "a series whose number of terms depends on the data, in NumPy"


# inverse error functions, DLMF 7.17
erfinv: Elemwise = _special(
    "erfinv",
    [lambda ct, x, out: ct * (_ROOT_PI / 2) * exp(out * out)],
    "Inverse error function of x.",
)
erfcinv: Elemwise = _special(
    "erfcinv", [lambda ct, x, out: -ct * (_ROOT_PI / 2) * exp(out * out)], "Inverse of erfc, at x."
)

# gamma function, DLMF 5.2 and 5.15
gamma: Elemwise = _special("gamma", [lambda ct, x, out: ct * out * psi(x)], "Gamma function of x.")
gammaln: Elemwise = _special(
    "gammaln", [lambda ct, x, out: ct * psi(x)], "Logarithm of |gamma(x)|."
)
psi: Elemwise = _special(
    "psi", [lambda ct, x, out: ct * tri_gamma(x)], "Derivative of gammaln at x."
)
digamma = psi
polygamma: Elemwise = _special(
    "polygamma",
    [
        _undefined("polygamma is defined for whole orders only"),
        lambda ct, n, x, out: ct * polygamma(n + 1, x),
    ],
    "The n-th derivative of psi at x; n is a whole number.",
    python_only=_NOT_EXPORTED,
)
tri_gamma: Elemwise = _special(
    "tri_gamma",
    [lambda ct, x, out: ct * polygamma(2.0, x)],
    "Derivative of psi at x.",
    lambda x: _scipy("polygamma")(1, x),
    formula=lambda x: polygamma(1.0, x),
    python_only=_NOT_EXPORTED,
)


def is_pole(z: TensorVariable) -> TensorVariable:
    """Whether gamma has a pole at z."""
    return and_(le(z, 0), eq(z, floor(z)))


def reciprocal_slope(
    x: TensorVariable, scaled: TensorVariable, out: TensorVariable
) -> TensorVariable:
    """The derivative of out = c / gamma(x) by x at poles of gamma and near them; ``scaled`` is c gamma(1 - x).

    It is that of c gamma(1 - x) sin(pi x) / pi (DLMF 5.5.3), so its own derivatives are right there, too.
    """
    return scaled * cos(math.pi * (x - 2.0 * round(x / 2.0))) - psi(1 - x) * out


def _poch_slope(z: TensorVariable, m: TensorVariable, out: TensorVariable) -> TensorVariable:
    """The derivative of poch(z, m) by z. At poles of gamma(z), it is the limit for a fixed m."""
    above = z + m
    at_zero, both = and_(is_pole(z), eq(out, 0)), and_(is_pole(z), is_pole(above))
    pole = switch(at_zero, z, 0.0)
    slope = reciprocal_slope(pole, gamma(above) * gamma(1 - pole), out)
    slope = slope + out * psi(switch(at_zero, above, 1.0))
    # poles of both cancel; then the difference is that of the reflected arguments (DLMF 5.5.4)
    reflected = psi(1 - switch(both, above, 0.0)) - psi(1 - switch(both, z, 0.0))
    usual = -_psi_difference(switch(at_zero | both, 1.0, z), switch(at_zero | both, 1.0, m))
    value = switch(at_zero, slope, out * switch(both, reflected, usual))
    # for large z, poch(z, m) is z^m
    return switch(eq(z, math.inf), m * poch(z, m - 1.0), value)


_IN_GRAPHS = log_beta.functions_of_variables(gammaln)
_IN_ARRAYS = log_beta.functions_of_arrays(_scipy("gammaln"))


_NOWHERE = _undefined("it is only computed, not differentiated")
_poch_by_scipy: Elemwise = _special(
    "poch_by_scipy",
    [_NOWHERE, _NOWHERE],
    "poch where the first argument is not large.",
    _scipy("poch"),
)


def _rising(xp: Any, other: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """The rising factorial; SciPy's loses digits for large z."""

    def function(z: Any, m: Any) -> Any:
        far = (z > 100.0) & (xp.abs(m) <= 0.5 * z) & (z < math.inf)
        large, size = xp.where(far, z, 100.0), xp.where(far, m, 1.0)
        rise = log_beta.log_rise(xp, xp.minimum(large, large + size), xp.abs(size))
        ratio = xp.exp(xp.where(size < 0.0, -rise, rise))
        usual = xp.where(far, ratio, other(xp.where(far, 1.0, z), xp.where(far, 1.0, m)))
        # SciPy's is NaN at infinity
        limit = xp.where(m > 0, math.inf, xp.where(m < 0, 0.0, 1.0))
        return xp.where((z >= math.inf) & (xp.abs(m) < math.inf), limit, usual)

    return function


poch_of_arrays = _rising(_IN_ARRAYS, _scipy("poch"))
poch: Elemwise = _special(
    "poch",
    [
        lambda ct, z, m, out: ct * _poch_slope(z, m, out),
        lambda ct, z, m, out: ct * out * psi(z + m),
    ],
    "Rising factorial gamma(z + m) / gamma(z).",
    _in_float64(poch_of_arrays),
    formula=_in_float64(_rising(_IN_GRAPHS, _poch_by_scipy)),
)


def factorial(n: Any) -> TensorVariable:
    """The factorial of n, ``gamma(n + 1)``, and 0 for n < 0. ``n`` need not be an integer."""
    (n,) = _reals("factorial", n)
    n = n.astype("float64") if is_discrete(n.dtype) else n
    return switch(lt(n, 0), 0.0, gamma(switch(lt(n, 0), 0, n) + 1))


# incomplete gamma functions, DLMF 8.2; the derivative of P with respect to k is a series


def _finite(x: TensorVariable) -> TensorVariable:
    """``x``, or the largest number of its dtype for infinity: terms that are both infinite do not cancel to NaN."""
    (x,) = _converted(x)
    return minimum(x, np.finfo(x.type.numpy_dtype).max.item())


def _terms(xp: Any) -> Any:
    """A namespace as `gamma_terms` needs it."""
    return SimpleNamespace(xp=xp, special=xp)


gammainc_dx: Elemwise = _special(
    "gammainc_dx",
    [
        lambda ct, k, x, out: ct * out * (log(x) - psi(k)),
        lambda ct, k, x, out: ct * out * ((k - 1) / x - 1),
    ],
    "Derivative of gammainc(k, x) by x.",
    function=_in_float64(partial(gamma_terms.gamma_density, _terms(_IN_ARRAYS))),
    formula=_in_float64(partial(gamma_terms.gamma_density, _terms(_IN_GRAPHS))),
)
_gammainc_dk: Elemwise = _special(
    "gammainc_dk",
    [_undefined("the second derivative of gammainc by k")] * 2,
    "Derivative of gammainc(k, x) by k.",
    series.gammainc_dk,
)
gammainc: Elemwise = _special(
    "gammainc",
    [
        lambda ct, k, x, out: ct * _gammainc_dk(k, x),
        lambda ct, k, x, out: ct * gammainc_dx(k, x),
    ],
    "Regularized lower incomplete gamma function P(k, x).",
)
gammaincc: Elemwise = _special(
    "gammaincc",
    [
        lambda ct, k, x, out: -ct * _gammainc_dk(k, x),
        lambda ct, k, x, out: -ct * gammainc_dx(k, x),
    ],
    "Regularized upper incomplete gamma function Q(k, x).",
)
gammaincinv: Elemwise = _special(
    "gammaincinv",
    [
        lambda ct, k, p, out: -ct * _gammainc_dk(k, out) / gammainc_dx(k, out),
        lambda ct, k, p, out: ct / gammainc_dx(k, out),
    ],
    "The x for which gammainc(k, x) = p.",
)
gammainccinv: Elemwise = _special(
    "gammainccinv",
    [
        lambda ct, k, q, out: -ct * _gammainc_dk(k, out) / gammainc_dx(k, out),
        lambda ct, k, q, out: -ct / gammainc_dx(k, out),
    ],
    "The x for which gammaincc(k, x) = q.",
)


def gammau(k: Any, x: Any) -> TensorVariable:
    """The upper incomplete gamma function, not regularized: ``gammaincc(k, x) * gamma(k)``."""
    k, x = _reals("gammau", k, x)
    return gammaincc(k, x) * gamma(k)


def gammal(k: Any, x: Any) -> TensorVariable:
    """The lower incomplete gamma function, not regularized: ``gammainc(k, x) * gamma(k)``."""
    k, x = _reals("gammal", k, x)
    return gammainc(k, x) * gamma(k)


def chi2sf(x: Any, k: Any) -> TensorVariable:
    """The survival function at ``x`` of the chi-square distribution with ``k`` degrees of freedom."""
    x, k = _reals("chi2sf", x, k)
    return gammaincc(k / 2.0, x / 2.0)


# beta functions, DLMF 5.12 and 8.17


psi_rise: Elemwise = _special(
    "psi_rise",
    [
        lambda ct, z, m, out: ct * (tri_gamma(z + m) - tri_gamma(z)),
        lambda ct, z, m, out: ct * tri_gamma(z + m),
    ],
    "psi(z + m) - psi(z) for positive z and m.",
    function=_in_float64(partial(log_beta.psi_rise, _IN_ARRAYS)),
    formula=_in_float64(partial(log_beta.psi_rise, _IN_GRAPHS)),
)


def _psi_difference(a: TensorVariable, b: TensorVariable) -> TensorVariable:
    """psi(a) - psi(a + b), which is 0 for infinite a."""
    a, b = _converted(a, b)
    positive, falls = and_(gt(a, 0), gt(a + b, 0)), lt(b, 0)
    # by switches, whose derivatives are right at b = 0, unlike those of a minimum and a magnitude
    least = _finite(switch(positive, switch(falls, a + b, a), 1.0))
    size = _finite(switch(positive, switch(falls, -b, b), 1.0))
    near = switch(falls, 1.0, -1.0) * psi_rise(least, size)
    difference = switch(positive, near, psi(a) - psi(a + b))
    return switch(and_(eq(b, math.inf), lt(a, math.inf)), -math.inf, difference)


def _beta_slope(
    ct: TensorVariable, a: TensorVariable, b: TensorVariable, out: TensorVariable
) -> TensorVariable:
    whole = a + b
    at_zero = and_(is_pole(whole), eq(out, 0))
    pole = switch(at_zero, whole, 0.0)
    slope = reciprocal_slope(pole, gamma(a) * gamma(b) * gamma(1 - pole), out)
    slope = slope + out * psi(switch(at_zero, a, 1.0))
    usual = _psi_difference(switch(at_zero, 1.0, a), switch(at_zero, 1.0, b))
    # where the function vanishes at infinity, so does its slope, which is 0 times an infinity
    return ct * switch(at_zero, slope, out * -_finite(-usual))


_betaln_by_scipy: Elemwise = _special(
    "betaln_by_scipy",
    [_NOWHERE, _NOWHERE],
    "betaln where an argument is negative.",
    _scipy("betaln"),
)
_beta_by_scipy: Elemwise = _special(
    "beta_by_scipy", [_NOWHERE, _NOWHERE], "beta where a + b is small.", _scipy("beta")
)


def _log_beta(xp: Any, other: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """betaln, by SciPy's where an argument is negative."""

    def function(a: Any, b: Any) -> Any:
        fits = (a >= 0) & (b >= 0)
        inside = log_beta.log_beta(xp, xp.where(fits, a, 1.0), xp.where(fits, b, 1.0))
        return xp.where(fits, inside, other(xp.where(fits, 1.0, a), xp.where(fits, 1.0, b)))

    return function


def _beta_function(xp: Any, other: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """The beta function; SciPy's loses digits where one argument is large."""

    def function(a: Any, b: Any) -> Any:
        far = (a >= 0) & (b >= 0) & (a + b > 100.0)
        one = xp.where(far, 1.0, a), xp.where(far, 1.0, b)
        logarithm = log_beta.log_beta(xp, xp.where(far, a, 1.0), xp.where(far, b, 1.0))
        return xp.where(far, xp.exp(logarithm), other(*one))

    return function


beta: Elemwise = _special(
    "beta",
    [_beta_slope, lambda ct, a, b, out: _beta_slope(ct, b, a, out)],
    "Beta function gamma(a) gamma(b) / gamma(a + b).",
    _in_float64(_beta_function(_IN_ARRAYS, _scipy("beta"))),
    formula=_in_float64(_beta_function(_IN_GRAPHS, _beta_by_scipy)),
)
betaln: Elemwise = _special(
    "betaln",
    [
        lambda ct, a, b, out: ct * _psi_difference(a, b),
        lambda ct, a, b, out: ct * _psi_difference(b, a),
    ],
    "Logarithm of |beta(a, b)|.",
    _in_float64(_log_beta(_IN_ARRAYS, _scipy("betaln"))),
    formula=_in_float64(_log_beta(_IN_GRAPHS, _betaln_by_scipy)),
)


def _beta_density(a: TensorVariable, b: TensorVariable, x: TensorVariable) -> TensorVariable:
    return exp(xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b))


_betainc_da: Elemwise = _special(
    "betainc_da",
    [_undefined("the second derivative of betainc by its parameters")] * 3,
    "Derivative of betainc(a, b, x) by a.",
    series.betainc_da,
    python_only=_SERIES,
)


_betainc_db: Elemwise = _special(
    "betainc_db",
    [_undefined("the second derivative of betainc by its parameters")] * 3,
    "Derivative of betainc(a, b, x) by b.",
    series.betainc_db,
    python_only=_SERIES,
)
betainc: Elemwise = _special(
    "betainc",
    [
        lambda ct, a, b, x, out: ct * _betainc_da(a, b, x),
        lambda ct, a, b, x, out: ct * _betainc_db(a, b, x),
        lambda ct, a, b, x, out: ct * _beta_density(a, b, x),
    ],
    "Regularized incomplete beta function of a and b, from 0 to x.",
)
betaincc: Elemwise = _special(
    "betaincc",
    [
        lambda ct, a, b, x, out: -ct * _betainc_da(a, b, x),
        lambda ct, a, b, x, out: -ct * _betainc_db(a, b, x),
        lambda ct, a, b, x, out: -ct * _beta_density(a, b, x),
    ],
    "1 - betainc(a, b, x), precise where it is small.",
)
betaincinv: Elemwise = _special(
    "betaincinv",
    [
        lambda ct, a, b, p, out: -ct * _betainc_da(a, b, out) / _beta_density(a, b, out),
        lambda ct, a, b, p, out: -ct * _betainc_db(a, b, out) / _beta_density(a, b, out),
        lambda ct, a, b, p, out: ct / _beta_density(a, b, out),
    ],
    "The x for which betainc(a, b, x) = p.",
)
betainccinv: Elemwise = _special(
    "betainccinv",
    [
        lambda ct, a, b, q, out: -ct * _betainc_da(a, b, out) / _beta_density(a, b, out),
        lambda ct, a, b, q, out: -ct * _betainc_db(a, b, out) / _beta_density(a, b, out),
        lambda ct, a, b, q, out: -ct / _beta_density(a, b, out),
    ],
    "The x for which betaincc(a, b, x) = q.",
)

# Bessel functions, DLMF 10.6 and 10.29

AT_INFINITY = {
    **dict.fromkeys(("j0", "j1", "jv", "ive", "kve", "y0", "y1", "yv"), 0.0),
    **dict.fromkeys(("i0", "i1", "iv"), math.inf),
    "spence": -math.inf,
}
"""The limits of Bessel functions and `spence` at infinity, where SciPy's are NaN. At minus infinity, those of whole orders but for
`OF_POSITIVE` have the same limit, or minus that for odd orders. Linkers read the table, too.
"""
OF_POSITIVE = ("kve", "spence", "y0", "y1", "yv")
"""The functions of that table which are defined for positive numbers only."""
NEAR_ZERO = 1e-150
"""Below it, `iv` and `ive` of order v are proportional to |x|^v (DLMF 10.30.1), or |x|^|v| for whole v. SciPy's are NaN
for the smallest numbers. Linkers read it, too.
"""
_WHOLE_ORDERS = {"j0": 0, "j1": 1, "i0": 0, "i1": 1}


def with_limits(name: str) -> Callable[..., Any]:
    """SciPy's function, with its limits at infinity, and at 0 for `iv` and `ive` of negative orders that are not whole."""

    def computing(*arrays: Array) -> Array:
        *orders, x = arrays
        order = orders[0] if orders else np.asarray(_WHOLE_ORDERS.get(name, 0), x.dtype)
        below = np.floor(order)
        near = (np.abs(x) < NEAR_ZERO) & (x != 0) & (name in ("iv", "ive"))
        clamped = np.where(near, np.copysign(NEAR_ZERO, x), x)
        value: Array = np.asarray(special_function(name)(*orders, clamped))
        if np.any(near):
            power = np.where(order == below, np.abs(order), order)
            value = np.where(near, value * np.abs(x / NEAR_ZERO) ** power, value)
        if name in ("iv", "ive"):
            # the limit from above, with the sign of gamma(order + 1) (DLMF 10.30.1)
            pole = (x == 0) & (order < 0) & (order != below)
            value = np.where(pole, np.where(below % 2 == 0, -np.inf, np.inf), value)
        end = np.isinf(x) & np.isfinite(order) & ((x > 0) | (order == below))
        if name in OF_POSITIVE:
            end &= x > 0
        if not end.any():
            return value
        limit = np.where((x < 0) & (order % 2 == 1), -1.0, 1.0) * AT_INFINITY[name]
        return np.where(end, limit, value)

    return computing


_ORDER = "the derivative of a Bessel function by its order"
jv: Elemwise = _special(
    "jv",
    [_undefined(_ORDER), lambda ct, v, x, out: ct * 0.5 * (jv(v - 1, x) - jv(v + 1, x))],
    "Bessel function of the first kind and order v, at x.",
    with_limits("jv"),
)
j1: Elemwise = _special(
    "j1",
    [lambda ct, x, out: ct * 0.5 * (j0(x) - jv(2.0, x))],
    "Bessel function of the first kind, order 1, at x.",
    with_limits("j1"),
)
j0: Elemwise = _special(
    "j0",
    [lambda ct, x, out: -ct * j1(x)],
    "Bessel function of the first kind, order 0, at x.",
    with_limits("j0"),
)
iv: Elemwise = _special(
    "iv",
    [_undefined(_ORDER), lambda ct, v, x, out: ct * 0.5 * (iv(v - 1, x) + iv(v + 1, x))],
    "Modified Bessel function of the first kind and order v, at x.",
    with_limits("iv"),
)


def _i1_slope(x: TensorVariable, out: TensorVariable) -> TensorVariable:
    """I0(x) - I1(x) / x, and its series near 0 (DLMF 10.29.2 and 10.25.2)."""
    near = lt(abs_(x), 1e-2)
    square = sqr(switch(near, x, 0.0))
    ratio = out / switch(near, 1.0, x)
    far = switch(isinf(out), abs_(out), i0(x) - ratio)
    series = 0.5 + square * (3 / 16 + square * (5 / 384 + square * (7 / 18432)))
    return switch(near, series, far)


i1: Elemwise = _special(
    "i1",
    [lambda ct, x, out: ct * _i1_slope(x, out)],
    "Modified Bessel function of the first kind, order 1, at x.",
    with_limits("i1"),
    monotone="increasing",
)
i0: Elemwise = _special(
    "i0",
    [lambda ct, x, out: ct * i1(x)],
    "Modified Bessel function of the first kind, order 0, at x.",
    with_limits("i0"),
)
ive: Elemwise = _special(
    "ive",
    [
        _undefined(_ORDER),
        lambda ct, v, x, out: (
            ct * (0.5 * (ive(v - 1, x) + ive(v + 1, x)) - switch(eq(x, 0), 0.0, sign(x) * out))
        ),
    ],
    "exp(-|x|) * iv(v, x).",
    with_limits("ive"),
)
kv: Elemwise = _special(
    "kv",
    [_undefined(_ORDER), lambda ct, v, x, out: ct * -0.5 * (kv(v - 1, x) + kv(v + 1, x))],
    "Modified Bessel function of the second kind and order v, at x.",
)
kn: Elemwise = _special(
    "kn",
    [_undefined(_ORDER), lambda ct, n, x, out: ct * -0.5 * (kv(n - 1, x) + kv(n + 1, x))],
    "Modified Bessel function of the second kind and whole order n, at x.",
    lambda n, x: _scipy("kn")(n.astype("int32"), x),
    formula=lambda n, x: kv(trunc(n), x),
)
kve: Elemwise = _special(
    "kve",
    [
        _undefined(_ORDER),
        # near 0 the other terms exceed the value, which is infinite there, too
        lambda ct, v, x, out: (
            ct * (switch(eq(x, 0), 0.0, out) - 0.5 * (kve(v - 1, x) + kve(v + 1, x)))
        ),
    ],
    "exp(x) * kv(v, x).",
    with_limits("kve"),
)

# hypergeometric function, DLMF 15.5
_hyp2f1_da: Elemwise = _special(
    "hyp2f1_da",
    [_undefined("the second derivative of hyp2f1 by its parameters")] * 4,
    "Derivative of hyp2f1 by a, for -2000 <= z <= 1.",
    series.hyp2f1_da,
    python_only=_SERIES,
)
_hyp2f1_dc: Elemwise = _special(
    "hyp2f1_dc",
    [_undefined("the second derivative of hyp2f1 by its parameters")] * 4,
    "Derivative of hyp2f1 by c, for -2000 <= z <= 1.",
    series.hyp2f1_dc,
    python_only=_SERIES,
)
hyp2f1: Elemwise = _special(
    "hyp2f1",
    [
        lambda ct, a, b, c, z, out: ct * _hyp2f1_da(a, b, c, z),
        lambda ct, a, b, c, z, out: ct * _hyp2f1_da(b, a, c, z),
        lambda ct, a, b, c, z, out: ct * _hyp2f1_dc(a, b, c, z),
        lambda ct, a, b, c, z, out: ct * (a * b / c) * hyp2f1(a + 1, b + 1, c + 1, z),
    ],
    "Gauss' hypergeometric function F(a, b; c; z). Derivatives by its parameters need -2000 <= z <= 1.",
)

# functions of the normal distribution
owens_t: Elemwise = _special(
    "owens_t",
    [
        # Owen, "Tables for computing bivariate normal probabilities", 1956
        lambda ct, h, a, out: (
            -ct * exp(-0.5 * h * h) * erf(a * h / math.sqrt(2)) / (2 * math.sqrt(2 * math.pi))
        ),
        lambda ct, h, a, out: ct * exp(-0.5 * h * h * (1 + a * a)) / (2 * math.pi * (1 + a * a)),
    ],
    "Owen's T function of h and a: the probability that X > h and 0 < Y < a X, for standard normal X and Y.",
)
log_ndtr: Elemwise = _special(
    "log_ndtr",
    [
        # the density divided by the distribution function, both without their common factor exp(-x^2 / 2)
        lambda ct, x, out: ct * math.sqrt(2 / math.pi) / erfcx(x * -math.sqrt(0.5))
    ],
    "Logarithm of the normal distribution function of x, precise in both tails.",
    monotone="increasing",
)
ndtri_exp: Elemwise = _special(
    "ndtri_exp",
    # the distribution function divided by the density, both without their common factor
    [lambda ct, y, out: ct * math.sqrt(math.pi / 2) * erfcx(out * -math.sqrt(0.5))],
    "The number below which a standard normal number lies with the probability exp(y).",
)


def _logit_formula(x: TensorVariable) -> TensorVariable:
    (x,) = _converted(x)
    # for x near 1/2, x / (1 - x) is near 1, and its logarithm loses digits
    twice = 2 * (x - 0.5)
    near = and_(lt(0.3, x), lt(x, 0.65))
    return switch(near, log1p(twice) - log1p(-twice), log(x / (1 - x)))


logit: Elemwise = _special(
    "logit",
    [lambda ct, x, out: ct / (x * (1 - x))],
    "log(x / (1 - x)).",
    formula=_logit_formula,
)


def _xlogy(x: Array, y: Array) -> Array:
    zero = (x == 0) & ~np.isnan(y)
    return np.where(zero, 0, x * np.log(np.where(zero, 1, y)))


def _xlog1py(x: Array, y: Array) -> Array:
    zero = (x == 0) & ~np.isnan(y)
    return np.where(zero, 0, x * np.log1p(np.where(zero, 0, y)))


def _where_not_zero(
    x: TensorVariable, y: TensorVariable, otherwise: float
) -> tuple[TensorVariable, TensorVariable, TensorVariable]:
    """Prepare the formula of a function that is 0 where x is 0, unless y is NaN.

    Returns three tensors: a mask of the elements where x is 0 and y is not NaN, x, and y. In y, the elements under the
    mask are replaced by ``otherwise``.
    """
    x, y = _converted(x, y)
    zero = and_(eq(x, 0), eq(y, y))
    return zero, x, switch(zero, otherwise, y)


def _xlogy_formula(x: TensorVariable, y: TensorVariable) -> TensorVariable:
    zero, x, y = _where_not_zero(x, y, 1.0)
    return switch(zero, 0, x * log(y))


def _xlog1py_formula(x: TensorVariable, y: TensorVariable) -> TensorVariable:
    zero, x, y = _where_not_zero(x, y, 0.0)
    return switch(zero, 0, x * log1p(y))


def _over(x: TensorVariable, y: TensorVariable) -> TensorVariable:
    """x / y, and 0 for 0 / 0. Elsewhere it depends on x, also at 0."""
    both = and_(eq(x, 0), eq(y, 0))
    return switch(both, 0.0, x / switch(both, 1.0, y))


xlogy: Elemwise = _special(
    "xlogy",
    [
        lambda ct, x, y, out: ct * log(y),
        lambda ct, x, y, out: ct * _over(x, y),
    ],
    "x * log(y), and 0 where x is 0.",
    _xlogy,
    formula=_xlogy_formula,
)
xlog1py: Elemwise = _special(
    "xlog1py",
    [
        lambda ct, x, y, out: ct * log1p(y),
        lambda ct, x, y, out: ct * _over(x, 1 + y),
    ],
    "x * log(1 + y), and 0 where x is 0.",
    _xlog1py,
    formula=_xlog1py_formula,
)
