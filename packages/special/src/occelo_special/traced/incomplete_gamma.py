"""The regularized incomplete gamma functions on JAX and PyTorch, to about 1e-13 wherever they are normal numbers.

Their own lose digits: for large k in proportion to k, and the upper one for small k. `functions` puts these into its
table. Where x is near a large k, Temme's uniform expansion is used (DLMF 8.12); below, the power series; above, the
continued fraction; and for small k and x, the series of the upper function.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from occelo_link.traced.traced_values import Array
from occelo_special.ops.gamma_terms import LARGE, NEAR, by_temme, log_gamma_1p, log_term

Library = Any
"""A namespace of JAX or PyTorch, as `functions` describes it: this module uses ``xp``, ``special`` and ``loop``."""

_STEPS = 1000
"""A bound of the steps of series and fractions, which need at most about 150."""


def _lower_series(of: Library, wanted: Array, k: Array, x: Array) -> Array:
    """P(k, x) k gamma(k) / (x^k exp(-x)) where it is wanted, for x up to about k + 1 (DLMF 8.11.4)."""
    xp, eps = of.xp, of.xp.finfo(x.dtype).eps

    def more(state: Any) -> Any:
        n, term, total = state
        return (n < _STEPS) & xp.any(wanted & (term > eps / 8 * total))

    def step(state: Any) -> Any:
        n, term, total = state
        term = term * x / (k + n)
        return n + 1, term, total + term

    one = xp.ones_like(k)
    return of.loop(more, step, (1, one, one))[2]


def _upper_fraction(of: Library, wanted: Array, k: Array, x: Array) -> Array:
    """Q(k, x) gamma(k) / (x^k exp(-x)) where it is wanted, for x above k (DLMF 8.9.2), by Lentz's method."""
    xp, eps = of.xp, of.xp.finfo(x.dtype).eps
    below = x + 1.0 - k

    def more(state: Any) -> Any:
        return (state[0] < _STEPS) & xp.any(wanted & (xp.abs(state[3] - 1.0) > eps))

    def step(state: Any) -> Any:
        n, c, d, _, value = state
        top, under = n * (k - n), below + 2.0 * n
        d = 1.0 / (under + top * d)
        c = under + top / c
        return n + 1, c, d, c * d, value * c * d

    first = 1.0 / below
    start = (1, xp.full_like(x, 1e30), first, xp.zeros_like(x), first)
    return of.loop(more, step, start)[4]


def _upper_series(of: Library, k: Array, x: Array) -> Array:
    """Q(k, x), for small k and x, by the series of 1 - P(k, x) (DLMF 8.7.1)."""
    xp = of.xp
    term, total = xp.ones_like(x), xp.zeros_like(x)
    for n in range(1, 26):
        term = -term * x / n
        total = total + term / (k + n)
    log_power = k * xp.log(x) - log_gamma_1p(of, k)
    return -xp.expm1(log_power) - k * xp.exp(log_power) * total


def _both(of: Library, k: Array, x: Array) -> tuple[Array, Array]:
    """P(k, x) and Q(k, x), for positive and finite k and x."""
    xp = of.xp
    near = (k >= LARGE) & (xp.abs(x - k) < NEAR * k)
    above = ~near & (x > 1.1) & (x > k)
    low = ~near & (x <= 1.1)
    edge = xp.where(x <= 0.5, -0.4 / xp.log(xp.where(x <= 0.5, x, 0.5)), 1.1 * x)
    small = low & (k <= edge)
    below = ~near & ~above
    scale = xp.exp(log_term(of, k, x))

    lower, upper = by_temme(of, xp.where(near, k, 20.0), xp.where(near, x, 20.0))
    fraction = _upper_fraction(of, above, xp.where(above, k, 1.0), xp.where(above, x, 3.0))
    series = _lower_series(of, below, xp.where(below, k, 1.0), xp.where(below, x, 0.5))
    apart = _upper_series(of, xp.where(small, k, 0.5), xp.where(small, x, 0.5))
    upper = xp.where(above, scale * fraction, upper)
    lower = xp.where(below, scale / k * series, lower)
    lower, upper = xp.where(above, 1.0 - upper, lower), xp.where(below, 1.0 - lower, upper)
    return lower, xp.where(small, apart, upper)


def both_incomplete_gammas(of: Library, k: Array, x: Array) -> tuple[Array, Array]:
    """P(k, x) and Q(k, x), for all numbers, with SciPy's values at the ends. The arrays have one shape and dtype."""
    xp = of.xp
    infinite_k, infinite_x = xp.isinf(k), xp.isinf(x)
    at_end = infinite_k | infinite_x | (k == 0) | (x == 0)
    undefined = (infinite_k & infinite_x) | ((k == 0) & (x == 0))
    undefined = undefined | xp.isnan(k + x) | (k < 0) | (x < 0)
    outside = at_end | undefined
    inside = _both(of, xp.where(outside, 1.0, k), xp.where(outside, 1.0, x))
    return ends_of_distribution(of, inside, infinite_k | (x == 0), at_end, undefined)


def ends_of_distribution(
    of: Library, inner: tuple[Array, Array], is_zero: Array, at_end: Array, undefined: Array
) -> tuple[Array, Array]:
    """A distribution function and its complement, with the first 0 or 1 where ``at_end`` is true, and NaN."""
    xp = of.xp
    values: list[Array] = []
    for inside, zero in zip(inner, (is_zero, ~is_zero), strict=True):
        limit = xp.where(zero, 0.0, xp.ones_like(inside))
        values.append(xp.where(undefined, math.nan, xp.where(at_end, limit, inside)))
    return values[0], values[1]


def incomplete_gamma_slopes(
    of: Library, needs: Sequence[bool], k: Array, x: Array
) -> list[Array | None]:
    """The derivatives of P(k, x) by k, if the library has it, and by x. None in place of those that are not needed."""
    by_k = of.igamma_grad_a(k, x) if needs[0] and of.igamma_grad_a else None
    return [by_k, of.xp.exp(log_term(of, k, x) - of.xp.log(x)) if needs[1] else None]
