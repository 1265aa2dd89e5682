"""Continuous laws on positive numbers: exponential, gamma, and what derives from them."""

from __future__ import annotations

from occelo_graph.ops.elemwise.special import (
    gammainc,
    gammaincc,
    gammainccinv,
    gammaincinv,
    gammaln,
    psi,
    xlogy,
)
from occelo_graph.stats.continuous import ContinuousLaw
from occelo_graph.stats.law import Row, positive

__all__ = ["expon", "gamma"]

_HALF_LINE = (0.0, float("inf"))

expon = ContinuousLaw(
    Row(
        "expon",
        "The exponential law with mean ``scale``.",
        lambda z: -z,
        support=_HALF_LINE,
        logsf=lambda z: -z,
        from_logsf=lambda logp: -logp,
        mean=lambda: 1.0,
        var=lambda: 1.0,
        entropy=lambda: 1.0,
    )
)
gamma = ContinuousLaw(
    Row(
        "gamma",
        "The gamma law of shape ``a`` and rate ``1 / scale``.",
        lambda z, a: xlogy(a - 1.0, z) - z - gammaln(a),
        {"a": positive},
        support=_HALF_LINE,
        cdf=lambda z, a: gammainc(a, z),
        sf=lambda z, a: gammaincc(a, z),
        ppf=lambda q, a: gammaincinv(a, q),
        isf=lambda q, a: gammainccinv(a, q),
        mean=lambda a: a,
        var=lambda a: a,
        entropy=lambda a: a + gammaln(a) + (1.0 - a) * psi(a),
    )
)
