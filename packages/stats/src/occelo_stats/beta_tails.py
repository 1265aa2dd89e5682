"""`log_beta`: the logarithm of the incomplete beta function.

Where the incomplete beta function itself underflows, a continued fraction computes the logarithm. The logarithms of the
distribution functions of `beta`, `f`, `t`, `binom` and `nbinom` are computed by `log_beta`.
"""

from __future__ import annotations

import math
from typing import Any

from occelo_graph.ops.elemwise.arithmetic import and_, gt, lt, switch
from occelo_graph.ops.elemwise.transcendental import log
from occelo_stats.gamma_tails import TINY, log_of_smaller
from occelo_stats.stirling import log_beta_term

_TERMS = 10


def _fraction(a: Any, b: Any, x: Any, y: Any) -> Any:
    """The continued fraction F with betainc(a, b, x) = x^a y^b / beta(a, b) / F: the even part of DLMF 8.17.22.

    The terms are written as in A. R. Didonato and A. H. Morris, "Algorithm 708", 1992. In this form nothing cancels for
    y near 0.
    """
    excess = 1.0 + (a * y - b * x)

    def ratio(n: int) -> Any:
        return (n * (b - n) * x) / (a + (2.0 * n - 1.0))

    def numerator(n: int) -> Any:
        step = a + (n - 1.0)
        return step / (a + (2.0 * n - 1.0)) * ((step + b) * x) * ratio(n)

    def denominator(n: int) -> Any:
        value = (a + n) / (a + (2.0 * n + 1.0)) * (excess + n * (1.0 + y))
        return value + n + ratio(n) if n else value

    below = denominator(_TERMS)
    for n in range(_TERMS, 0, -1):
        below = denominator(n - 1) + numerator(n) / below
    return below


def log_beta(value: Any, other: Any, a: Any, b: Any, x: Any, y: Any, log_x: Any, log_y: Any) -> Any:
    """The logarithm of ``value``, which is betainc(a, b, x). The result is precise even where ``value`` underflows.

    ``other`` is 1 - ``value``, and ``y`` is 1 - x. ``log_x`` and ``log_y`` are the logarithms of x and y. They may be
    finite even if x or y underflows to 0.
    """
    far = and_(lt(value, TINY.get(value.dtype, 0.0)), gt(log_x, -math.inf))
    far = and_(far, lt(b * x, a * y))
    far_a, far_b = switch(far, a, 1.0), switch(far, b, 1.0)
    far_x, far_y = switch(far, x, 0.25), switch(far, y, 0.75)
    far_log_x, far_log_y = switch(far, log_x, -1.0), switch(far, log_y, -0.3)
    term = log_beta_term(far_a, far_b, far_x, far_y, far_log_x, far_log_y)
    tail = term - log(_fraction(far_a, far_b, far_x, far_y))
    return switch(far, tail, log_of_smaller(switch(far, 0.25, value), other))
