"""Functions made of gamma functions: numbers of combinations, reciprocals, signs, and the zeta functions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ops.elemwise.arithmetic import eq, ge, lt, switch
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.transcendental import pow
from occelo_graph.ops.shape.axes import static_integer
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_special.ops.defining import of_scipy, reals, special, undefined
from occelo_special.ops.special_functions import (
    beta,
    gamma,
    gammaln,
    is_pole,
    poch,
    psi,
    reciprocal_slope,
)

if TYPE_CHECKING:
    from fractions import Fraction

    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "bernoulli",
    "binom",
    "comb",
    "gammasgn",
    "loggamma",
    "multigammaln",
    "perm",
    "rgamma",
    "zeta",
    "zetac",
]


def _binom_by_n(n: TensorVariable, k: TensorVariable, out: TensorVariable) -> TensorVariable:
    """The derivative by n; where the coefficient is 0, since gamma(n - k + 1) is infinite, it is made of beta functions."""
    rest = n - k + 1
    zero, infinite = is_pole(rest) & eq(out, 0), eq(n, math.inf)
    usual = out * (psi(switch(infinite, 1.0, n) + 1) - psi(switch(zero | infinite, 1.0, rest)))
    # for large n, the coefficient is n**k / gamma(k + 1)
    usual = switch(infinite, pow(switch(infinite, n, 1.0), k - 1) * rgamma(k), usual)
    return switch(zero, _at_zero(n, switch(zero, -rest, 0.0), out) + out * psi(n + 1), usual)


def _binom_by_k(n: TensorVariable, k: TensorVariable, out: TensorVariable) -> TensorVariable:
    """The derivative by k, likewise."""
    rest = n - k + 1
    above, below = (is_pole(v) & eq(out, 0) for v in (rest, k + 1))
    by_rest, by_k = psi(switch(above, 1.0, rest)), psi(switch(below, 1.0, k + 1))
    at_above = -_at_zero(n, switch(above, -rest, 0.0), out) - out * by_k
    at_below = _at_zero(n, switch(below, -k - 1, 0.0), out) + out * by_rest
    return switch(above, at_above, switch(below, at_below, out * (by_rest - by_k)))


def _at_zero(n: TensorVariable, m: TensorVariable, out: TensorVariable) -> TensorVariable:
    """The derivative of out = gamma(n + 1) / (gamma(n + m + 2) gamma(x)) by x at the pole x = -m."""
    return reciprocal_slope(-m, beta(n + 1, m + 1), out)


binom: Elemwise = special(
    "binom",
    [
        lambda ct, n, k, out: ct * _binom_by_n(n, k, out),
        lambda ct, n, k, out: ct * _binom_by_k(n, k, out),
    ],
    "Binomial coefficient gamma(n + 1) / (gamma(k + 1) gamma(n - k + 1)) of real numbers.",
)


def bernoulli(n: int) -> TensorVariable:
    """The Bernoulli numbers B0 to Bn, of which B1 is -1/2: float64 of shape (n + 1,). ValueError if ``n`` is negative."""
    from fractions import Fraction  # which takes as long to import as all functions of this module

    last = static_integer(n, "n of bernoulli")
    if last < 0:
        raise ValueError(f"n of bernoulli must not be negative, got {n}")
    numbers = [Fraction(1)]
    for m in range(1, last + 1):
        if m > 1 and m % 2:
            numbers.append(Fraction(0))
        else:  # the sum of all m + 1 numbers, times binomial coefficients of m + 1, is 0
            terms = [math.comb(m + 1, k) * b for k, b in enumerate(numbers) if b]
            total = sum(terms, Fraction(0))
            numbers.append(-total / (m + 1))
    return as_tensor_variable(np.array([_rounded(b) for b in numbers]))


def _rounded(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def comb(N: Any, k: Any, repetition: bool = False) -> TensorVariable:
    """The number of ways to choose ``k`` of ``N`` things, as floats; with ``repetition``, each thing several times.

    As in SciPy, it is 0 for ``k > N`` and for negative numbers.
    """
    n, k = reals("comb", N, k)
    if repetition:
        return comb(n + k - 1, k)
    fits = (k <= n) & (n >= 0) & (k >= 0)
    return switch(fits, binom(switch(fits, n, 1), switch(fits, k, 1)), 0.0)


def perm(N: Any, k: Any) -> TensorVariable:
    """The number of ways to choose ``k`` of ``N`` things in an order, as floats: 0 for ``k > N`` and negative numbers."""
    n, k = reals("perm", N, k)
    fits = (k <= n) & (n >= 0) & (k >= 0)
    return switch(fits, poch(switch(fits, n - k + 1, 1), switch(fits, k, 1)), 0.0)


_REFLECTED = {"float16": -7.0, "float32": -33.0}
"""Above which x gamma(1 - x) does not overflow; for float64 it is -169."""


def _rgamma_slope(x: TensorVariable, out: TensorVariable) -> TensorVariable:
    """-psi(x) / gamma(x), and near poles of gamma the same by its reflection."""
    near = is_pole(x) | ((x < 0.5) & (x > _REFLECTED.get(out.dtype, -169.0)))
    inside = switch(near, x, 0.0)
    usual = -psi(switch(near | eq(x, math.inf), 1.0, x)) * out
    return switch(near, reciprocal_slope(inside, gamma(1 - inside), out), usual)


rgamma: Elemwise = special(
    "rgamma",
    [lambda ct, x, out: ct * _rgamma_slope(x, out)],
    "1 / gamma(x), which is 0 at the poles of gamma.",
)
gammasgn: Elemwise = special(
    "gammasgn",
    [lambda ct, x, out: ct * 0.0],
    "The sign of gamma(x): 1, -1, or NaN at a pole.",
)


def loggamma(z: Any) -> TensorVariable:
    """The logarithm of gamma(z) for real z: that of `gammaln` for z > 0, and NaN for z < 0, where it would be complex."""
    (x,) = reals("loggamma", z)
    return switch(lt(x, 0), math.nan, gammaln(x))


def multigammaln(a: Any, d: Any) -> TensorVariable:
    """The logarithm of the gamma function of ``d`` dimensions: DLMF 35.3.

    ``d`` is a positive integer, else ValueError. Infinity for ``a = (d - 1) / 2`` and NaN below, where SciPy raises exceptions.
    """
    if not isinstance(d, int) or d < 1:
        raise ValueError(f"multigammaln has a positive number of dimensions, got {d!r}")
    (a,) = reals("multigammaln", a)
    total = d * (d - 1) / 4 * math.log(math.pi)
    for j in range(d):
        total = total + gammaln(a - j / 2)
    return switch(ge(a, (d - 1) / 2), total, math.nan)


# zeta functions, DLMF 25.11
zeta_hurwitz: Elemwise = special(
    "zeta_hurwitz",
    [
        undefined("the derivative of the zeta function by its exponent"),
        lambda ct, x, q, out: -ct * x * zeta_hurwitz(x + 1, q),
    ],
    "Hurwitz' zeta function.",
    of_scipy("zeta"),
    python_only="SciPy exports no function of real numbers for it",
)


def zeta(x: Any, q: Any = 1.0) -> TensorVariable:
    """Hurwitz' zeta function: the sum of ``(k + q)**-x`` over k = 0, 1, ..., for x > 1. Riemann's by default.

    It has a derivative by ``q`` only.
    """
    reals("zeta", x, q)  # a check only: plain numbers do not decide about the dtype
    series: TensorVariable = zeta_hurwitz(x, q)
    return series


zetac: Elemwise = special(
    "zetac",
    [undefined("the derivative of the zeta function by its exponent")],
    "Riemann's zeta function of x, minus 1.",
)
