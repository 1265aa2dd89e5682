"""Logarithms of x^a exp(-x) / gamma(a) and x^a y^b / beta(a, b), precise for large a and b.

The large terms of Stirling's series cancel analytically, as in C. Loader, "Fast and accurate computation of binomial
probabilities", 2000. `gamma_tails` and `beta_tails` use these functions.
"""

from __future__ import annotations

import math
from typing import Any

from occelo_graph.ops.elemwise.arithmetic import abs, ge, lt, switch
from occelo_graph.ops.elemwise.transcendental import log, log1p
from occelo_special.functions import gammaln

_LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)
_LARGE = 10.0
_STIRLING = (1/12, -1/360, 1/1260, -1/1680, 1/1188, -691/360360, 1/156)  # fmt: skip
"""Coefficients of 1/a, 1/a^3, ... in Stirling's series (DLMF 5.11.1)."""


def _stirling_rest(a: Any) -> Any:
    """The error of Stirling's formula: gammaln(a) minus ((a - 1/2) log(a) - a + log(2 pi) / 2)."""
    large = ge(a, _LARGE)
    inverse = 1.0 / switch(large, a, _LARGE)
    square = inverse * inverse
    series: Any = 0.0
    for factor in reversed(_STIRLING):
        series = series * square + factor
    small = switch(large, 1.0, a)
    direct = gammaln(small) - (small - 0.5) * log(small) + small - _LOG_ROOT_TWO_PI
    return switch(large, series * inverse, direct)


def _log_ratio_less(w: Any, log_ratio: Any) -> Any:
    """log(1 + w) - w; for small ``w`` this is about -w^2 / 2.

    ``log_ratio`` is log(1 + w), which is used only if ``w`` is not small.
    """
    near = lt(abs(w), 0.3)
    small = switch(near, w, 0.0)
    # log(1 + w) = 2 arctanh(r) (DLMF 4.6.4)
    r = small / (2.0 + small)
    square = r * r
    series: Any = 0.0
    for k in range(11, 0, -1):
        series = (series + 1.0 / (2.0 * k + 1.0)) * square
    return switch(near, r * (2.0 * series - small), log_ratio - w)


def log_gamma_term(a: Any, x: Any, log_x: Any) -> Any:
    """Logarithm of x^a exp(-x) / gamma(a)."""
    large = ge(a, _LARGE)
    big = switch(large, a, _LARGE)
    rest = _log_ratio_less((x - big) / big, log_x - log(big))
    value = big * rest + 0.5 * log(big) - _LOG_ROOT_TWO_PI - _stirling_rest(big)
    small = switch(large, 1.0, a)
    return switch(large, value, small * log_x - x - gammaln(small))


def log_beta_term(a: Any, b: Any, x: Any, y: Any, log_x: Any, log_y: Any) -> Any:
    """Logarithm of x^a y^b / beta(a, b), where x + y = 1."""
    both = a + b
    excess = a * y - b * x
    by_x = _log_ratio_less(-excess / a, log_x + log1p(b / a))
    by_y = _log_ratio_less(excess / b, log_y + log1p(a / b))
    corrections = _stirling_rest(both) - _stirling_rest(a) - _stirling_rest(b)
    # half the logarithm of a b / (a + b), by logarithms that do not overflow
    scale = 0.5 * (log(a) + log(b) - log(both)) - _LOG_ROOT_TWO_PI
    return a * by_x + b * by_y + (scale + corrections)
