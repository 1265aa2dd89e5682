"""The confluent hypergeometric function `hyp1f1`: SciPy's where it returns, and its asymptotic series beyond.

SciPy's function does not return, or ends the process, for some arguments above 1e10.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ops.elemwise.arithmetic import abs as abs_
from occelo_graph.ops.elemwise.arithmetic import floor, switch
from occelo_graph.ops.elemwise.transcendental import exp, log, pow
from occelo_special.ops.combinations import gammasgn
from occelo_special.ops.defining import in_float64, of_scipy, special, undefined
from occelo_special.ops.special_functions import gammaln, poch, poch_of_arrays

if TYPE_CHECKING:
    from occelo_graph.ops.elemwise.op import Elemwise
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["hyp1f1"]

_FAR = 1e8
"""The largest |x| that SciPy's function gets. Beyond it, exp(x) overflows by far."""
_LARGE = 1e6
"""The largest |a| and |b| that it gets; it takes as many steps."""
_TERMS = 12
_NOWHERE = undefined("it is only computed, not differentiated")

_by_scipy: Elemwise = special(
    "hyp1f1_by_scipy", [_NOWHERE] * 3, "hyp1f1 where SciPy's returns.", of_scipy("hyp1f1")
)
_IN_GRAPHS = SimpleNamespace(
    where=switch, abs=abs_, floor=floor, power=pow, log=log, exp=exp,
    gammasgn=gammasgn, gammaln=gammaln, poch=poch,
)  # fmt: skip
_IN_ARRAYS = SimpleNamespace(
    where=np.where, abs=np.abs, floor=np.floor, power=np.power, log=np.log, exp=np.exp,
    gammasgn=of_scipy("gammasgn"), gammaln=of_scipy("gammaln"), poch=poch_of_arrays,
)  # fmt: skip


def _confluent(xp: Any, other: Callable[..., Any]) -> Callable[[Any, Any, Any], Any]:
    """hyp1f1, by SciPy's (``other``) where that returns."""

    def function(a: Any, b: Any, x: Any) -> Any:
        few = (b > 0) & ((xp.abs(a) + 1) * xp.abs(x) < 0.9 * b) & (b < math.inf)
        near = (xp.abs(x) <= _FAR) & (xp.abs(a) <= _LARGE) & (xp.abs(b) <= _LARGE) | few
        inside = other(*(xp.where(near, v, 1.0) for v in (a, b, x)))
        fits = (xp.abs(x) > _FAR) & (xp.abs(a) <= _LARGE) & (xp.abs(b) <= _LARGE)
        # what is not used must not warn
        a, b, x = xp.where(fits, a, 1.0), xp.where(fits, b, 2.0), xp.where(fits, x, -2 * _FAR)
        return xp.where(fits, _beyond(xp, a, b, x), xp.where(near, inside, math.nan))

    return function


def _beyond(xp: Any, a: Any, b: Any, x: Any) -> Any:
    """hyp1f1 for |x| > 1e8 (DLMF 13.7.2); NaN where the parameters are too large for the series of powers."""

    def is_pole(v: Any) -> Any:
        return (v <= 0) & (xp.floor(v) >= v)

    # exp(x) is infinite or 0, and multiplies 1 / gamma(a)
    growing = (x > 0) & ~is_pole(a)
    grown = xp.where(xp.gammasgn(a) * xp.gammasgn(b) < 0, -math.inf, math.inf)
    vanishing = is_pole(b - a) & ~is_pole(a)
    powers = ~(growing | vanishing | is_pole(b))
    a, b, x = xp.where(powers, a, 1.0), xp.where(powers, b, 2.0), xp.where(powers, x, -2 * _FAR)
    term = total = 1.0
    for s in range(_TERMS):
        term = term * ((a + s) * (a - b + 1 + s) / ((s + 1) * -x))
        total = total + term
    # a product of factors would overflow for large a
    small = xp.abs(a) <= 20
    power = xp.poch(b - xp.where(small, a, 1.0), xp.where(small, a, 1.0)) * xp.power(
        -x, -xp.where(small, a, 1.0)
    )
    logarithm = xp.gammaln(b) - xp.gammaln(b - a) - a * xp.log(xp.abs(x))
    odd = (x > 0) & (xp.floor(a / 2) * 2 < a)
    sign = xp.gammasgn(b) * xp.gammasgn(b - a) * xp.where(odd, -1.0, 1.0)
    series = xp.where(small, power, sign * xp.exp(logarithm)) * total
    exact = xp.abs(a) * (xp.abs(a - b) + 1) <= 0.02 * xp.abs(x)
    algebraic = xp.where(exact, series, math.nan)
    limits = xp.where(vanishing, 0.0, algebraic)
    return xp.where(is_pole(b), math.inf, xp.where(growing, grown, limits))


def _slope(
    ct: TensorVariable, a: TensorVariable, b: TensorVariable, x: TensorVariable, out: TensorVariable
) -> TensorVariable:
    return ct * a / b * hyp1f1(a + 1, b + 1, x)


_PARAMETERS = "the derivative of hyp1f1 by its parameters"
hyp1f1: Elemwise = special(
    "hyp1f1",
    [undefined(_PARAMETERS), undefined(_PARAMETERS), _slope],
    "Confluent hypergeometric function 1F1(a; b; x). It is NaN where SciPy's may not return: for |a| or |b| above 1e6, and for "
    "finite x beyond 1e8 if |a| (|a - b| + 1) is above |x| / 50.",
    in_float64(_confluent(_IN_ARRAYS, of_scipy("hyp1f1"))),
    formula=in_float64(_confluent(_IN_GRAPHS, _by_scipy)),
)
