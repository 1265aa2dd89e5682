"""The regularized incomplete beta functions on JAX and PyTorch, to about 1e-13 wherever they are normal numbers.

JAX's own loses digits and has no complement; PyTorch has none. `functions` puts these into its table. Both functions
come from a continued fraction on that side of the mean where it converges fast (DLMF 8.17.22). If the value is near 1
there, since a is small, its complement is computed apart, by a power series (DLMF 8.17.7).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from occelo_link.traced.traced_values import Array
from occelo_special.ops.gamma_terms import LARGE, STIRLING, excess, log_gamma_1p, stirling_rest
from occelo_special.traced.incomplete_gamma import Library, ends_of_distribution

_SMALL = 0.1
"""For a below this number, the complement has a series of its own."""
_STEPS = 100_000
"""A bound of the steps, which grow with the root of the smaller parameter: about 200 at 1e4."""
_SHIFT = 10


class _Point(NamedTuple):
    """The arguments a, b and x, with y = 1 - x, and gap = (a + b) x - a, all to their last digits."""

    a: Array
    b: Array
    x: Array
    y: Array
    gap: Array


def _log_gamma_ratio(of: Library, a: Array, b: Array) -> Array:
    """log(gamma(a + b) / gamma(b)) for a < 10, to an error in proportion to a, by the differences of Stirling's series."""
    xp = of.xp
    low = b < LARGE
    # gamma(z) = gamma(z + 1) / z
    big = xp.where(low, b + _SHIFT, b)
    t = a / big
    growth = xp.log1p(t)
    ratio = a * xp.log(big) - big * excess(of, t, 1.0 + t) + (a - 0.5) * growth
    for n, c in enumerate(STIRLING):
        ratio = ratio + c * xp.expm1(-(2 * n + 1) * growth) / big ** (2 * n + 1)
    near = xp.where(low, b, LARGE)
    shifted: Any = 0.0
    for n in range(_SHIFT):
        shifted = shifted + xp.log1p(a / (near + n))
    return xp.where(low, ratio - shifted, ratio)


def _log_power(of: Library, p: _Point) -> Array:
    """The logarithm of x^a y^b / B(a, b)."""
    xp = of.xp
    small, big = xp.minimum(p.a, p.b), xp.maximum(p.a, p.b)
    large = small >= LARGE
    a, b = xp.where(large, p.a, LARGE), xp.where(large, p.b, LARGE)
    total = a + b
    spread = a * excess(of, p.gap / a, total / a * p.x) + b * excess(
        of, -p.gap / b, total / b * p.y
    )
    rest = stirling_rest(total) - stirling_rest(a) - stirling_rest(b)
    by_stirling = 0.5 * xp.log(a / total * b / (2 * math.pi)) - spread + rest

    small, big = xp.where(large, 1.0, small), xp.where(large, 1.0, big)
    log_x = xp.where(p.x <= p.y, xp.log(p.x), xp.log1p(-p.y))
    log_y = xp.where(p.x <= p.y, xp.log1p(-p.x), xp.log(p.y))
    factor = _log_gamma_ratio(of, small, big) - log_gamma_1p(of, small) + xp.log(small)
    return xp.where(large, by_stirling, p.a * log_x + p.b * log_y + factor)


def _fraction(of: Library, p: _Point) -> Array:
    """x^a y^b / B(a, b) divided by I_x(a, b), for x up to (a + 1) / (a + b + 2).

    This is the even part of the continued fraction, by Lentz's method.
    """
    xp, eps = of.xp, of.xp.finfo(p.x.dtype).eps
    a, b, x, y, gap = p
    near_zero = xp.abs(1.0 - gap) < eps
    rest = xp.where(near_zero, eps, 1.0 - gap)

    def more(state: Any) -> Any:
        return (state[0] < _STEPS) & xp.any(xp.abs(state[3] - 1.0) > eps)

    def step(state: Any) -> Any:
        n, c, d, _, value = state
        s = a + (2 * n - 1)
        ratio = n * (b - n) * x / s
        top = (a + (n - 1)) / s * (a + b + (n - 1)) * x * ratio
        below = n + ratio + (a + n) / (s + 2) * (rest + n * (1 + y))
        d = 1.0 / (below + top * d)
        c = below + top / c
        return n + 1, c, d, c * d, value * c * d

    first = a / (a + 1.0) * rest
    start = (1, first, xp.zeros_like(x), xp.zeros_like(x), first)
    return of.loop(more, step, start)[4]


def _complement_series(of: Library, wanted: Array, a: Array, b: Array, x: Array) -> Array:
    """1 - I_x(a, b) where it is wanted, for small a and x up to (a + 1) / (a + b + 2)."""
    xp, eps = of.xp, of.xp.finfo(x.dtype).eps

    def more(state: Any) -> Any:
        n, term, total = state
        return (n < _STEPS) & xp.any(wanted & (xp.abs(term) > eps / 8 * xp.abs(total)))

    def step(state: Any) -> Any:
        n, term, total = state
        term = term * (n - b) / n * x
        return n + 1, term, total + term / (a + n)

    start = (1, xp.ones_like(x), xp.zeros_like(x))
    total = of.loop(more, step, start)[2]
    log_power = a * xp.log(x) + _log_gamma_ratio(of, a, b) - log_gamma_1p(of, a)
    return -xp.expm1(log_power) - a * xp.exp(log_power) * total


def _both(of: Library, a: Array, b: Array, x: Array) -> tuple[Array, Array]:
    """I_x(a, b) and 1 - I_x(a, b), for positive and finite a and b, and x between 0 and 1."""
    xp = of.xp
    turned = x > (a + 1.0) / (a + b + 2.0)
    p = _point(of, a, b, x)
    p = _Point(
        xp.where(turned, b, a),
        xp.where(turned, a, b),
        xp.where(turned, p.y, p.x),
        xp.where(turned, p.x, p.y),
        xp.where(turned, -p.gap, p.gap),
    )
    lower = xp.exp(_log_power(of, p)) / _fraction(of, p)
    small = p.a < _SMALL
    safe = [xp.where(small, v, other) for v, other in ((p.a, 0.05), (p.b, 1.0), (p.x, 0.3))]
    upper = xp.where(small, _complement_series(of, small, *safe), 1.0 - lower)
    return xp.where(turned, upper, lower), xp.where(turned, lower, upper)


def _point(of: Library, a: Array, b: Array, x: Array) -> _Point:
    y = 1.0 - x
    # of x and y, the smaller one has no error of rounding
    gap = of.xp.where(x <= 0.5, (a + b) * x - a, b - (a + b) * y)
    return _Point(a, b, x, y, gap)


def both_incomplete_betas(of: Library, a: Array, b: Array, x: Array) -> tuple[Array, Array]:
    """I_x(a, b) and 1 - I_x(a, b), for all numbers, with SciPy's values at the ends. The arrays have one shape and dtype."""
    xp = of.xp
    # at an end of a and b, all is at 0 or at 1
    at_zero, at_one = (a == 0) | xp.isinf(b), (b == 0) | xp.isinf(a)
    undefined = (at_zero & at_one) | xp.isnan(a + b + x)
    undefined = undefined | (a < 0) | (b < 0) | (x < 0) | (x > 1)
    at_end = at_zero | at_one | (x == 0) | (x == 1)
    outside = at_end | undefined
    inside = _both(
        of, *(xp.where(outside, other, v) for v, other in ((a, 1.0), (b, 1.0), (x, 0.5)))
    )
    return ends_of_distribution(of, inside, (x == 0) | (at_one & (x < 1)), at_end, undefined)


def incomplete_beta_slopes(
    of: Library, needs: Sequence[bool], a: Array, b: Array, x: Array
) -> list[Array | None]:
    """The derivative of I_x(a, b) by x, and None for those by a and b, which neither library has."""
    p = _point(of, a, b, x)
    density = of.xp.exp(_log_power(of, p) - of.xp.log(p.x) - of.xp.log(p.y)) if needs[2] else None
    return [None, None, density]
