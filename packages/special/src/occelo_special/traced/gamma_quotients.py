"""Quotients of gamma functions and derivatives of psi on JAX and PyTorch, where their own functions lose digits.

`functions` puts these into its table.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from occelo_link.traced.traced_values import Array
from occelo_special.ops.log_beta import log_rise

Library = Any
"""A namespace of JAX or PyTorch, as `functions` describes it: this module uses ``xp`` and ``special``."""

_LARGE = 10
"""The asymptotic series of the derivative of psi has all digits from here on."""
_BERNOULLI = (1/6, -1/30, 1/42, -1/30, 5/66, -691/2730, 7/6)  # fmt: skip
"""Coefficients of x^-3, x^-5, ... in this series (DLMF 5.15.8)."""


def log_beta_of_negative(of: Library, a: Array, b: Array) -> Array:
    """log(|beta(a, b)|) where an argument is negative."""
    gammaln = of.special.gammaln
    return gammaln(a) + gammaln(b) - gammaln(a + b)


def beta_of_small(gamma: Callable[..., Array]) -> Callable[..., Array]:
    """Return the beta function of arguments of which no gamma function overflows."""

    def function(of: Library, a: Array, b: Array) -> Array:
        xp = of.xp
        small, large = xp.minimum(a, b), xp.maximum(a, b)
        return gamma(of, small) * (gamma(of, large) / gamma(of, a + b))

    return function


def poch(of: Library, z: Array, m: Array) -> Array:
    """gamma(z + m) / gamma(z). JAX's is NaN from z = 171 on."""
    xp, above = of.xp, z + m
    # poles of both cancel, which is so for the reflected arguments (DLMF 5.5.3); one of gamma(z) alone gives 0
    pole, both = (z <= 0) & (z == xp.floor(z)), (above <= 0) & (above == xp.floor(above))
    both = both & pole
    z, above = xp.where(both, 1.0 - above, z), xp.where(both, 1.0 - z, above)
    regular = (z > 0) & (above > 0) & (xp.abs(m) < math.inf) & (z < math.inf)
    least, size = xp.where(regular, xp.minimum(z, above), 2.0), xp.where(regular, xp.abs(m), 1.0)
    near = size <= least
    rise = log_rise(
        SimpleNamespace(where=xp.where, log=xp.log, log1p=xp.log1p),
        xp.where(near, least, 2.0),
        xp.where(near, size, 1.0),
    )
    gammaln = of.special.gammaln
    far = gammaln(xp.where(near, 2.0, least + size)) - gammaln(xp.where(near, 2.0, least))
    quotient = xp.exp(xp.where(m < 0, -1.0, 1.0) * xp.where(near, rise, far))
    quotient = xp.where(
        regular, quotient, of.special.poch(xp.where(regular, 1.0, z), xp.where(regular, 1.0, m))
    )
    quotient = xp.where(both & (m % 2 != 0), -quotient, xp.where(pole & ~both, 0.0, quotient))
    grown = xp.where(m > 0, math.inf, xp.where(m < 0, 0.0, 1.0))
    return xp.where((z == math.inf) & (xp.abs(m) < math.inf), grown, quotient)


def tri_gamma(of: Library, x: Array) -> Array:
    """The derivative of psi. JAX's own is wrong for negative x, and PyTorch's has ten digits."""
    xp = of.xp
    negative, whole = x < 0, xp.round(x)
    sine = xp.sin(math.pi * xp.where(negative & (x != whole), x - whole, 0.5))
    at = xp.where(negative, 1.0 - x, x)
    small = at < _LARGE
    low = xp.where(small, at, 1.0)
    total: Any = 0.0
    for k in range(_LARGE):
        total = total + 1.0 / (low + k) ** 2
    u = 1.0 / xp.where(small, at + _LARGE, at)
    series: Any = 0.0
    for c in reversed(_BERNOULLI):
        series = (series + c) * u * u
    value = u * (1.0 + 0.5 * u + series) + xp.where(small, total, 0.0)
    value = xp.where(negative, (math.pi / sine) ** 2 - value, value)
    return xp.where(negative & (whole == x), math.inf, value)


def polygamma(of: Library, n: Array, x: Array) -> Array:
    """The n-th derivative of psi. JAX's own is wrong for negative x.

    The series of (x + k)^(-n - 1) (DLMF 5.15.1) consists of its positive and its negative terms, which are such series.
    """
    xp = of.xp
    order = n.astype("int64")
    inside = (x < 0) & (x != xp.floor(x))
    at = xp.where(inside, x, -0.5)
    above, below, rest = (
        of.special.polygamma(order, each)
        for each in (at - xp.floor(at), xp.ceil(at) - at, 1.0 - at)
    )
    value = above + xp.where(order % 2 == 0, rest - below, below - rest)
    value = xp.where(inside, value, of.special.polygamma(order, xp.where(x < 0, math.nan, x)))
    # JAX's is NaN at the ends
    end = (order > 0) & ((x == 0) | (x == math.inf))
    limit = xp.where(x == 0, xp.where(order % 2 == 0, -math.inf, math.inf), 0.0)
    return xp.where(end, limit, value)


def log_ndtr(of: Library, x: Array) -> Array:
    """The logarithm of the normal distribution function. JAX's own has eleven digits."""
    if not hasattr(of.special, "erfcx"):  # JAX before 0.10
        return of.special.log_ndtr(x)
    xp, low = of.xp, x < -1.0
    z = xp.where(low, -x, 1.0) / math.sqrt(2)
    tail = xp.log(of.special.erfcx(z) / 2) - z * z
    rest = xp.log1p(-of.special.erfc(xp.where(low, 0.0, x) / math.sqrt(2)) / 2)
    return xp.where(low, tail, rest)
