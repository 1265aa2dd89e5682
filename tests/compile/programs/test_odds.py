"""Odds and probabilities of two exponentials, as models of counts write them: p = exp(a) / (exp(m) + exp(a))."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot

POINTS = [(1.0, 2.0), (-74.0, -26.0), (30.0, -3.0), (300.0, -264.0), (-740.0, -30.0), (-300.0, 0.5)]

# each is written with p, exp(a) and log; the gradient follows from the logarithm of its value
FORMULAS: dict[str, Callable[..., Any]] = {
    "log(p)": lambda p, a, log: log(p),
    "log(1 - p)": lambda p, a, log: log(1 - p),
    "log((1 - p) / p)": lambda p, a, log: log((1 - p) / p),
    "log(p / (1 - p))": lambda p, a, log: log(p / (1 - p)),
    "log(exp(a) (1 - p) / p)": lambda p, a, log: log(a * (1 - p) / p),
    "log(exp(a) (1 - p))": lambda p, a, log: log(a * (1 - p)),
    "(1 - p) / p": lambda p, a, log: (1 - p) / p,
    "exp(a) (1 - p) / p": lambda p, a, log: a * (1 - p) / p,
    "3 p / (1 - p)": lambda p, a, log: 3 * p / (1 - p),
}  # fmt: skip


def _exact(formula: Callable[..., Any], m: float, a: float) -> list[Any]:
    """The value and both derivatives with 800 digits."""
    with mpmath.workdps(800):

        def value(m: Any, a: Any) -> Any:
            one, other = mpmath.exp(a), mpmath.exp(m)
            return formula(one / (other + one), one, mpmath.log)

        step = mpmath.mpf(10) ** -200
        m, a = mpmath.mpf(m), mpmath.mpf(a)
        return [
            value(m, a),
            (value(m + step, a) - value(m - step, a)) / (2 * step),
            (value(m, a + step) - value(m, a - step)) / (2 * step),
        ]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", FORMULAS)
def test_value_and_gradient(name: str) -> None:
    formula = FORMULAS[name]
    m, a = ot.dvector("m"), ot.dvector("a")
    one, other = ot.exp(a), ot.exp(m)
    out = formula(one / (other + one), one, ot.log)
    found = oc.function([m, a], [out, *og.grad(out.sum(), [m, a])])(
        *map(list, zip(*POINTS, strict=True))
    )
    for i, point in enumerate(POINTS):
        for got, right in zip(found, _exact(formula, *point), strict=True):
            right = float(right)
            # the rounding of exp(x) grows with x
            assert np.isclose(got[i], right, rtol=4e-13, atol=1e-13), (point, got[i], right)
