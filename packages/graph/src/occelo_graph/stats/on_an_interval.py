"""Continuous laws on an interval: uniform, beta."""

from __future__ import annotations

import math
from typing import Any

from occelo_graph.ops.elemwise.arithmetic import isnan, switch
from occelo_graph.ops.elemwise.special import (
    betainc,
    betaincc,
    betainccinv,
    betaincinv,
    betaln,
    psi,
    xlog1py,
    xlogy,
)
from occelo_graph.stats.continuous import ContinuousLaw
from occelo_graph.stats.law import Row, positive

__all__ = ["beta", "uniform"]

uniform = ContinuousLaw(
    Row(
        "uniform",
        "The uniform law on the interval from ``loc`` to ``loc + scale``.",
        lambda z: switch(isnan(z), math.nan, 0.0),
        support=(0.0, 1.0),
        cdf=lambda z: z,
        sf=lambda z: 1.0 - z,
        ppf=lambda q: q,
        isf=lambda q: 1.0 - q,
        mean=lambda: 0.5,
        var=lambda: 1.0 / 12.0,
        entropy=lambda: 0.0,
    )
)


def _beta_entropy(a: Any, b: Any) -> Any:
    return betaln(a, b) - (a - 1.0) * psi(a) - (b - 1.0) * psi(b) + (a + b - 2.0) * psi(a + b)


beta = ContinuousLaw(
    Row(
        "beta",
        "The beta law on the interval from ``loc`` to ``loc + scale``.",
        lambda z, a, b: xlogy(a - 1.0, z) + xlog1py(b - 1.0, -z) - betaln(a, b),
        {"a": positive, "b": positive},
        support=(0.0, 1.0),
        cdf=lambda z, a, b: betainc(a, b, z),
        sf=lambda z, a, b: betaincc(a, b, z),
        ppf=lambda q, a, b: betaincinv(a, b, q),
        isf=lambda q, a, b: betainccinv(a, b, q),
        mean=lambda a, b: a / (a + b),
        var=lambda a, b: a / (a + b) * (b / (a + b)) / (a + b + 1.0),
        entropy=_beta_entropy,
    )
)
