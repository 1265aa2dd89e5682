"""Logarithms of the incomplete gamma functions.

Where the incomplete gamma functions themselves underflow, continued fractions compute the logarithms. Distributions in `gammas`
and `counts` use these logarithms, for instance the gamma and Poisson distributions. `beta_tails`, `on_an_interval` and `vectors`
use `log_of_smaller`.
"""

from __future__ import annotations

import math
from typing import Any

from occelo_graph.ops.elemwise.arithmetic import and_, gt, lt, switch
from occelo_graph.ops.elemwise.transcendental import log, log1p
from occelo_special.functions import gammainc, gammaincc
from occelo_stats.stirling import log_gamma_term

_TERMS = 6
TINY = {"float64": 1e-290, "float32": 1e-30}
"""For each dtype, the bound below which the incomplete functions lose digits, since they are near underflow."""


def _upper_fraction(a: Any, x: Any) -> Any:
    """The continued fraction F with gammaincc(a, x) = x^a exp(-x) / gamma(a) / F (DLMF 8.9.2)."""
    below = x + (1.0 + 2.0 * _TERMS) - a
    for k in range(_TERMS, 0, -1):
        below = x + (2.0 * k - 1.0) - a - k * (k - a) / below
    return below


def _lower_fraction(a: Any, x: Any) -> Any:
    """The continued fraction F with gammainc(a, x) = x^a exp(-x) / gamma(a + 1) / F (DLMF 8.9.1)."""
    below = a + (2.0 * _TERMS + 1.0)
    for k in range(_TERMS, 0, -1):
        below = a + (2.0 * k - 1.0) + k * x / (a + 2.0 * k - (a + k) * x / below)
    return 1.0 - x / below


def log_of_smaller(value: Any, other: Any) -> Any:
    """Logarithm of the probability ``value``, computed from the smaller of ``value`` and its complement ``other``."""
    direct = lt(value, 0.5)
    return switch(direct, log(switch(direct, value, 0.5)), log1p(-switch(direct, 0.5, other)))


def log_upper(a: Any, x: Any) -> Any:
    """Logarithm of gammaincc(a, x)."""
    upper = gammaincc(a, x)
    far = and_(lt(upper, TINY.get(upper.dtype, 0.0)), gt(x, a + 1.0))
    far = and_(far, lt(x, math.inf))
    far_a, far_x = switch(far, a, 1.0), switch(far, x, 4.0)
    tail = log_gamma_term(far_a, far_x, log(far_x)) - log(_upper_fraction(far_a, far_x))
    return switch(far, tail, log_of_smaller(switch(far, 0.25, upper), gammainc(a, x)))


def log_lower(a: Any, x: Any, log_x: Any = None) -> Any:
    """Logarithm of gammainc(a, x).

    Callers may pass the logarithm ``log_x`` of x, which is finite even if x underflows to 0.
    """
    lower = gammainc(a, x)
    log_x = log(x) if log_x is None else log_x
    far = and_(lt(lower, TINY.get(lower.dtype, 0.0)), and_(lt(x, a), gt(log_x, -math.inf)))
    far_a, far_x = switch(far, a, 4.0), switch(far, x, 1.0)
    term = log_gamma_term(far_a, far_x, switch(far, log_x, 0.0))
    tail = term - log(far_a) - log(_lower_fraction(far_a, far_x))
    return switch(far, tail, log_of_smaller(switch(far, 0.25, lower), gammaincc(a, x)))
