"""Logarithms of the incomplete beta function, also where the function itself underflows: there by a continued fraction.

`beta`, `f`, `t`, `binom` and `nbinom` use it.
"""

from __future__ import annotations

import math
from typing import Any

from occelo_graph.ops.elemwise.arithmetic import and_, gt, lt, switch
from occelo_graph.ops.elemwise.transcendental import log
from occelo_graph.stats.gamma_tails import TINY, log_of_smaller
from occelo_graph.stats.stirling import log_beta_term

__all__ = ["log_beta"]

_TERMS = 10


def _fraction(a: Any, b: Any, x: Any) -> Any:
    """The fraction by which x^a y^b / (a beta(a, b)) is divided (DLMF 8.17.22)."""
    below: Any = 1.0
    for m in range(_TERMS, -1, -1):
        odd = (a + m) / (a + 2.0 * m) * ((a + b + m) / (a + (2.0 * m + 1.0))) * x
        below = 1.0 - odd / below
        if m:
            even = (m * (b - m) * x) / ((a + (2.0 * m - 1.0)) * (a + 2.0 * m))
            below = 1.0 + even / below
    return below


def log_beta(value: Any, other: Any, a: Any, b: Any, x: Any, y: Any, log_x: Any, log_y: Any) -> Any:
    """Logarithm of betainc(a, b, x), which is ``value``, and 1 less ``other``; ``y`` is 1 - x.

    The logarithms of x and y may be given where x or y underflows.
    """
    far = and_(lt(value, TINY.get(value.dtype, 0.0)), gt(log_x, -math.inf))
    far = and_(far, lt((a + b) * x, a))
    far_a, far_b = switch(far, a, 1.0), switch(far, b, 1.0)
    far_x, far_y = switch(far, x, 0.25), switch(far, y, 0.75)
    far_log_x, far_log_y = switch(far, log_x, -1.0), switch(far, log_y, -0.3)
    term = log_beta_term(far_a, far_b, far_x, far_y, far_log_x, far_log_y)
    tail = term - log(far_a) - log(_fraction(far_a, far_b, far_x))
    return switch(far, tail, log_of_smaller(switch(far, 0.25, value), other))
