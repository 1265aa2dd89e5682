"""Draws by keys from the gamma distribution, and from distributions computed from gamma numbers: beta, chi-square, Dirichlet, t and F.

Users call the functions from `occelo.tensor.random`. `counts` and `matrices` call `standard_gamma`. The algorithm is
from Marsaglia and Tsang ("A simple method for generating gamma variables", 2000). Each attempt computes a proposal from
a normal number, and a test accepts at least 95 of 100 proposals. Gamma numbers are computed in float64, and then cast
to the dtype of the draw. Draws have derivatives with respect to all parameters (`draw_derivatives`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ir.nodes import Constant
from occelo_graph.ir.taken_constants import taken
from occelo_graph.ops.cast import cast
from occelo_graph.ops.elemwise.arithmetic import (
    add,
    and_,
    gt,
    le,
    lt,
    maximum,
    minimum,
    mul,
    or_,
    reciprocal,
    sqrt,
    sub,
    switch,
    true_div,
)
from occelo_graph.ops.elemwise.op import Elemwise, elementwise
from occelo_graph.ops.elemwise.transcendental import exp, log, sigmoid
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_random.ops.draw_derivatives import SLOPES, with_derivative
from occelo_random.ops.draws import normal_numbers
from occelo_random.ops.either_way import either_way
from occelo_random.ops.parameters import NOT_NEGATIVE, POSITIVE, begin, standard_uniform
from occelo_random.ops.rejection import Words, rejection

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "beta",
    "chisquare",
    "dirichlet",
    "f",
    "gamma",
    "gengamma",
    "invgamma",
    "t",
]


def _proposed(words: Words, a: Any) -> tuple[Any, ...]:
    """One proposal of Marsaglia and Tsang's algorithm, for a >= 1.

    The proposal is d v. Returns d = a - 1/3, root = v**(1/3), (root - 1)**2, the uniform number u, and a boolean. The
    boolean is False if the quick test (squeeze) accepts the proposal, and True if the full test must decide.
    """
    # Let y be root - 1, x be 3 sqrt(d) y, and h be x**2 / 2 + d (1 - v + log(v)). The proposal is accepted if log(u) <
    # h. The derivative of h / d + 3/4 y**4 is 3 y**4 / (1 + y). So h is at least -d y**4 (3/4 + 3/5 m / root), where m
    # is max(-y, 0). If u is below 1 plus this bound, u is below exp(h).
    d = sub(a, 1.0 / 3.0)
    root = add(1.0, mul(words.normal(0), reciprocal(sqrt(mul(d, 9.0)))))
    u, y = words.uniform(1), sub(root, 1.0)
    square = mul(y, y)
    slope = add(mul(root, 0.75), mul(maximum(sub(1.0, root), 0.0), 0.6))
    far = le(mul(sub(1.0, u), root), mul(d, square, square, slope))
    return d, root, square, u, or_(le(root, 0.0), far)


def _surely(words: Words, a: Any) -> Any:
    """The proposal of an attempt if the quick test accepts it; -1 if the full test is needed."""
    d, root, _, _, undecided = _proposed(words, a)
    return switch(undecided, -1.0, mul(d, mul(root, root, root)))


def _attempt(words: Words, a: Any) -> Any:
    """The proposal of an attempt if a test accepts it; -1 if the full test rejects it."""
    d, root, square, u, undecided = _proposed(words, a)
    v = mul(root, root, root)
    bound = add(mul(4.5, d, square), mul(d, add(sub(1.0, v), log(maximum(v, 1e-300)))))
    # NaN must be accepted; else the attempts for a parameter that is NaN would never end
    rejected = or_(le(root, 0.0), gt(log(u), bound))
    return switch(and_(undecided, rejected), -1.0, mul(d, v))


_from_one = rejection("gamma", 1, 2, _attempt, _surely)


_SERIES = 1e5
_MOST_TERMS = 1_000_000


def _gamma_slope(z: Array, a: Array) -> Array:
    """The derivative of gamma numbers z by their parameter a.

    It is computed by a series, or by an asymptotic expansion if a is above `_SERIES`.
    """
    z, a = np.broadcast_arrays(np.asarray(z, "float64"), np.asarray(a, "float64"))
    large = a > _SERIES
    if not large.any():
        return _slope_by_series(z, a)
    slope = np.empty(z.shape)
    slope[large] = _slope_by_expansion(z[large], a[large])
    slope[~large] = _slope_by_series(z[~large], a[~large])
    return slope


def _slope_by_series(z: Array, a: Array) -> Array:
    """The derivative of gamma numbers z by a, computed by a power series in z.

    The derivative is -dF/da / p, where F is the distribution function and p is the density. By DLMF 8.7.1, it is z
    times the sum over n of t_n (psi(a + n + 1) - log z), where t_n is z**n Gamma(a) / Gamma(a + n + 1). About 8 sqrt(a)
    terms are not negligible.
    """
    with np.errstate(all="ignore"):
        logarithm = np.log(np.maximum(z, 1e-300))
        term = 1 / a
        psi = _digamma(a + 1)
        total, size = term * (psi - logarithm), term.copy()
        for n in range(1, _MOST_TERMS):
            term = term * (z / (a + n))
            psi = psi + 1 / (a + n)
            total += term * (psi - logarithm)
            size += term
            if not np.any(term > 1e-17 * size):
                break
    return z * total


def _slope_by_expansion(z: Array, a: Array) -> Array:
    """The derivative of gamma numbers z by a, computed by expanding the quantile in powers of r = 1 / sqrt(a).

    The expansion is z = a + sqrt(a) (x + r (x**2 - 1) / 3 + r**2 (x**3 - 7 x) / 36 - ...), where x is the quantile
    of the normal distribution for the probability for which z is the quantile of the gamma distribution (Fisher and Cornish, "The
    percentile points of distributions having known cumulants", 1960). Newton's method solves this equation for x. Then
    the right side is differentiated by a, with x held constant.
    """
    r = 1 / np.sqrt(a)
    w = (z - a) * r
    x = w
    for _ in range(3):
        x2 = x * x
        second, third = (x2 - 1) / 3, x * (x2 - 7) / 36
        fourth = (16 - x2 * (7 + 3 * x2)) / 810
        excess = x + r * (second + r * (third + r * fourth)) - w
        x = x - excess / (1 + r * (x / 1.5 + r * (x2 / 12 - 7 / 36)))
    x2 = x * x
    third, fourth = x * (x2 - 7) / 36, (16 - x2 * (7 + 3 * x2)) / 810
    return 1 + r * (x / 2 - r * r * (third / 2 + r * fourth))


def _digamma(x: Array) -> Array:
    """psi(x) for x >= 1, computed by its recurrence and its asymptotic series."""
    shift = np.zeros_like(x)
    for k in range(10):
        shift += 1 / (x + k)
    y = x + 10
    square = 1 / (y * y)
    series = square * (
        1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square / 132)))
    )
    return np.log(y) - 0.5 / y - series - shift


gamma_slope: Elemwise = elementwise(
    "gamma_slope",
    2,
    lambda dtypes: "float64",
    _gamma_slope,
    doc="The derivative of draws from the standard gamma distribution with respect to its parameter, from the draws and the parameter.",
)


def _slopes(value: Any, a: Any) -> list[Any]:
    return [gamma_slope(value, a)]


SLOPES["gamma"] = _slopes


def _at_least_one(a: Any) -> bool:
    return isinstance(a, Constant) and bool(np.all(taken(a) >= 1.0))


def standard_gamma(key: Any, shape: Any, a: Any, logarithm: bool = False) -> TensorVariable:
    """Gamma numbers with mean and variance ``a``, as float64. If ``logarithm`` is True, their logarithms are returned.

    If ``a`` is below 1, the result is g * u**(1/a), where g is a gamma number with the parameter ``a + 1``, and u is
    uniform in (0, 1). The logarithm is correct even if this product underflows to 0.
    """
    a = cast(a, "float64")
    boosted = not _at_least_one(a)
    larger = switch(lt(a, 1.0), add(a, 1.0), a) if boosted else a
    value: Any = with_derivative("gamma", _from_one(key, shape, larger), larger)
    if not boosted:
        return log(value) if logarithm else value
    other = key ^ _SECOND
    power = true_div(log(standard_uniform(other, shape, "float64", half=True)), a)
    factor = switch(lt(a, 1.0), power, 0.0)
    return add(log(value), factor) if logarithm else mul(value, exp(factor))


_SECOND = np.uint64(0x452821E638D01377)


@either_way
def gamma(
    key: Any, shape: Any, scale: Any = 1.0, size: Any = None, dtype: str | None = None
) -> TensorVariable:
    """Gamma numbers with mean ``shape * scale`` and variance ``shape * scale**2``."""
    distribution = begin(key, size, dtype, shape=(shape, POSITIVE), scale=(scale, NOT_NEGATIVE))
    a, scale = distribution.values
    return mul(
        cast(standard_gamma(distribution.key, distribution.shape, a), distribution.dtype), scale
    )


@either_way
def invgamma(
    key: Any, a: Any, scale: Any = 1.0, size: Any = None, dtype: str | None = None
) -> TensorVariable:
    """Inverse gamma numbers: ``scale`` divided by gamma numbers with mean and variance ``a``, as in SciPy."""
    distribution = begin(key, size, dtype, a=(a, POSITIVE), scale=(scale, NOT_NEGATIVE))
    a, scale = distribution.values
    return mul(
        cast(
            exp(-standard_gamma(distribution.key, distribution.shape, a, True)), distribution.dtype
        ),
        scale,
    )


@either_way
def gengamma(
    key: Any, alpha: Any, p: Any, lambd: Any = 1.0, size: Any = None, dtype: str | None = None
) -> TensorVariable:
    """Generalized gamma numbers: ``lambd * g**(1 / p)`` for gamma numbers g with mean and variance ``alpha / p``."""
    distribution = begin(
        key, size, dtype, alpha=(alpha, POSITIVE), p=(p, POSITIVE), lambd=(lambd, NOT_NEGATIVE)
    )
    alpha, p, lambd = distribution.values
    logarithm = cast(
        standard_gamma(distribution.key, distribution.shape, true_div(alpha, p), True),
        distribution.dtype,
    )
    return mul(exp(true_div(logarithm, p)), lambd)


@either_way
def chisquare(key: Any, df: Any, size: Any = None, dtype: str | None = None) -> TensorVariable:
    """Chi-square numbers with ``df`` degrees of freedom: sums of ``df`` squares of standard normal numbers.

    ``df`` need not be an integer.
    """
    distribution = begin(key, size, dtype, df=(df, POSITIVE))
    (df,) = distribution.values
    return mul(
        cast(
            standard_gamma(distribution.key, distribution.shape, mul(df, 0.5)), distribution.dtype
        ),
        2.0,
    )


@either_way
def beta(key: Any, a: Any, b: Any, size: Any = None, dtype: str | None = None) -> TensorVariable:
    """Beta numbers in [0, 1], with a density proportional to ``x**(a - 1) (1 - x)**(b - 1)``.

    They are g / (g + h), where g and h are gamma numbers with the parameters ``a`` and ``b``.
    """
    distribution = begin(key, size, dtype, a=(a, POSITIVE), b=(b, POSITIVE))
    a, b = distribution.values
    one, other = distribution.split(2)
    mine = standard_gamma(one, distribution.shape, a, True)
    return cast(
        sigmoid(sub(mine, standard_gamma(other, distribution.shape, b, True))), distribution.dtype
    )


@either_way
def f(
    key: Any, dfnum: Any, dfden: Any, size: Any = None, dtype: str | None = None
) -> TensorVariable:
    """Numbers of Fisher's F distribution: quotients of two chi-square numbers, over ``dfnum`` and ``dfden``, their degrees of freedom."""
    distribution = begin(key, size, dtype, dfnum=(dfnum, POSITIVE), dfden=(dfden, POSITIVE))
    m, n = distribution.values
    one, other = distribution.split(2)
    above = standard_gamma(one, distribution.shape, mul(m, 0.5), True)
    below = standard_gamma(other, distribution.shape, mul(n, 0.5), True)
    return mul(cast(exp(sub(above, below)), distribution.dtype), true_div(n, m))


@either_way
def t(
    key: Any,
    df: Any,
    loc: Any = 0.0,
    scale: Any = 1.0,
    size: Any = None,
    dtype: str | None = None,
) -> TensorVariable:
    """Numbers of Student's t distribution with ``df`` degrees of freedom, times ``scale``, plus ``loc``.

    A number of Student's distribution is a normal number, divided by the root mean square of ``df`` other normal numbers.
    """
    distribution = begin(key, size, dtype, df=(df, POSITIVE), loc=loc, scale=(scale, NOT_NEGATIVE))
    df, loc, scale = distribution.values
    # for larger df, numbers are normal to the last digit
    df = minimum(df, 1e30)
    one, other = distribution.split(2)
    z = normal_numbers(one, distribution.shape, distribution.dtype)
    half = cast(mul(df, 0.5), "float64")
    logarithm = sub(standard_gamma(other, distribution.shape, half, True), log(half))
    return add(loc, mul(scale, z, cast(exp(mul(logarithm, -0.5)), distribution.dtype)))


@either_way
def dirichlet(key: Any, alpha: Any, size: Any = None, dtype: str | None = None) -> TensorVariable:
    """Dirichlet vectors: K positive numbers with sum 1.

    They are gamma numbers with the parameters ``alpha`` (..., K), divided by their sum. The shape of the draw is
    ``size`` followed by K.
    """
    distribution = begin(key, size, dtype, core=1, alpha=(alpha, POSITIVE))
    (alpha,) = distribution.values
    if not alpha.type.ndim:
        raise ValueError("alpha must have a last axis of concentrations, got a scalar")
    shape = (*distribution.shape, lengths_by_variables(alpha)[-1])
    logarithms = standard_gamma(distribution.key, shape, alpha, True)
    parts = exp(sub(logarithms, logarithms.max(axis=-1, keepdims=True)))
    return cast(true_div(parts, parts.sum(axis=-1, keepdims=True)), distribution.dtype)
