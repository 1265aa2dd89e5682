"""Logarithms of the incomplete gamma functions, also where the functions themselves underflow: there by continued fractions.

`gammas` and `counts` use them.
"""

from __future__ import annotations

from typing import Any

from occelo_graph.ops.elemwise.arithmetic import and_, gt, lt, switch
from occelo_graph.ops.elemwise.special import gammainc, gammaincc, gammaln
from occelo_graph.ops.elemwise.transcendental import log, log1p

__all__ = ["log_lower", "log_upper"]

_TERMS = 6
_TINY = {"float64": 1e-290, "float32": 1e-30}


def _upper_fraction(a: Any, x: Any) -> Any:
    """The fraction by which x^a exp(-x) / gamma(a) is divided (DLMF 8.9.2)."""
    below = x + (1.0 + 2.0 * _TERMS) - a
    for k in range(_TERMS, 0, -1):
        below = x + (2.0 * k - 1.0) - a - k * (k - a) / below
    return below


def _lower_fraction(a: Any, x: Any) -> Any:
    """The fraction by which x^a exp(-x) / gamma(a + 1) is divided (DLMF 8.9.1)."""
    below = a + (2.0 * _TERMS + 1.0)
    for k in range(_TERMS, 0, -1):
        below = a + (2.0 * k - 1.0) + k * x / (a + 2.0 * k - (a + k) * x / below)
    return 1.0 - x / below


def _logarithm(small: Any, other: Any) -> Any:
    direct = lt(small, 0.5)
    return switch(direct, log(switch(direct, small, 0.5)), log1p(-switch(direct, 0.5, other)))


def log_upper(a: Any, x: Any) -> Any:
    """Logarithm of gammaincc(a, x)."""
    upper = gammaincc(a, x)
    far = and_(lt(upper, _TINY.get(upper.dtype, 0.0)), gt(x, a + 1.0))
    far_a, far_x = switch(far, a, 1.0), switch(far, x, 4.0)
    tail = far_a * log(far_x) - far_x - gammaln(far_a) - log(_upper_fraction(far_a, far_x))
    return switch(far, tail, _logarithm(switch(far, 0.25, upper), gammainc(a, x)))


def log_lower(a: Any, x: Any) -> Any:
    """Logarithm of gammainc(a, x)."""
    lower = gammainc(a, x)
    far = and_(lt(lower, _TINY.get(lower.dtype, 0.0)), and_(lt(x, a), gt(x, 0.0)))
    far_a, far_x = switch(far, a, 4.0), switch(far, x, 1.0)
    tail = far_a * log(far_x) - far_x - gammaln(far_a + 1.0) - log(_lower_fraction(far_a, far_x))
    return switch(far, tail, _logarithm(switch(far, 0.25, lower), gammaincc(a, x)))
