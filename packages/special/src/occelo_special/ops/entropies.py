"""Terms of entropies and divergences: `entr`, `rel_entr` and `kl_div`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from occelo_graph.ops.elemwise.arithmetic import eq, ge, isinf, lt, switch
from occelo_graph.ops.elemwise.op import Elemwise, elementwise
from occelo_graph.ops.elemwise.scalar import special_float
from occelo_graph.ops.elemwise.transcendental import log, log1p
from occelo_special.ops.defining import converted
from occelo_special.ops.special_functions import xlogy

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["entr", "kl_div", "rel_entr"]


def _entr(x: TensorVariable) -> TensorVariable:
    (x,) = converted(x)
    return switch(lt(x, 0), -math.inf, 0.0 - xlogy(x, switch(lt(x, 0), 1.0, x)))


entr: Elemwise = elementwise(
    "entr",
    1,
    special_float,
    None,
    [lambda ct, x, out: ct * switch(lt(x, 0), 0.0, -1 - log(switch(lt(x, 0), 1.0, x)))],
    "-x * log(x), 0 at 0, and minus infinity for negative x.",
    formula=_entr,
)


def _log_ratio(x: TensorVariable, y: TensorVariable) -> TensorVariable:
    """log(x / y), also where the quotient overflows or underflows, with the digits of x - y where it is near 1."""
    ratio = x / y
    extreme = eq(ratio, 0) | isinf(ratio)
    near = (ratio > 0.5) & (ratio < 2)
    excess = switch(near, x - y, 0.0) / switch(near, y, 1.0)
    other = switch(extreme, log(x) - log(y), log(switch(near, 1.0, ratio)))
    return switch(near, log1p(excess), other)


def _inside(x: TensorVariable, y: TensorVariable) -> TensorVariable:
    return ge(x, 0) & ge(y, 0)


def _nan_of(x: TensorVariable, y: TensorVariable, value: TensorVariable) -> TensorVariable:
    return switch(eq(x, x) & eq(y, y), value, math.nan)


def _rel_entr(x: TensorVariable, y: TensorVariable) -> TensorVariable:
    x, y = converted(x, y)
    inside = (x > 0) & (y > 0)
    a, b = switch(inside, x, 1.0), switch(inside, y, 1.0)
    outside = switch(eq(x, 0) & ge(y, 0), 0.0 * b, math.inf)
    return switch(inside, a * _log_ratio(a, b), _nan_of(x, y, outside))


def _kl_div(x: TensorVariable, y: TensorVariable) -> TensorVariable:
    x, y = converted(x, y)
    inside = (x > 0) & (y > 0)
    a, b = switch(inside, x, 1.0), switch(inside, y, 1.0)
    value = switch(isinf(a) | isinf(b), math.inf, a * _log_ratio(a, b) + (b - a))
    # two infinities have no ratio
    value = switch(isinf(a) & isinf(b), math.nan, value)
    outside = switch(eq(x, 0) & ge(y, 0), y, math.inf)
    return switch(inside, value, _nan_of(x, y, outside))


rel_entr: Elemwise = elementwise(
    "rel_entr",
    2,
    special_float,
    None,
    [
        lambda ct, x, y, out: ct * switch(_inside(x, y), _log_ratio(x, y) + 1, 0.0),
        lambda ct, x, y, out: ct * switch(_inside(x, y) & ~eq(x, 0), -x / y, 0.0),
    ],
    "x * log(x / y): 0 for x = 0 and y >= 0, and infinity for others that are not positive.",
    formula=_rel_entr,
)


def _kl_slope(x: TensorVariable, y: TensorVariable) -> TensorVariable:
    """1 - x / y."""
    inner = switch(isinf(y), 1.0, (y - x) / y)
    return switch(_inside(x, y), switch(eq(x, 0), 1.0, inner), 0.0)


kl_div: Elemwise = elementwise(
    "kl_div",
    2,
    special_float,
    None,
    [
        lambda ct, x, y, out: ct * switch(_inside(x, y), _log_ratio(x, y), 0.0),
        lambda ct, x, y, out: ct * _kl_slope(x, y),
    ],
    "x * log(x / y) - x + y: y for x = 0 and y >= 0, and infinity for other x or y that are not positive.",
    formula=_kl_div,
)
