"""Special functions that are formulas of simpler ones: losses, `ndtr` and others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from occelo_graph.ops.elemwise.arithmetic import abs as abs_
from occelo_graph.ops.elemwise.arithmetic import eq, isinf, le, lt, sign, sqr, sqrt, switch
from occelo_graph.ops.elemwise.error_functions import erfc
from occelo_graph.ops.elemwise.op import Elemwise, elementwise
from occelo_graph.ops.elemwise.scalar import special_float
from occelo_graph.ops.elemwise.transcendental import exp, sin, softplus
from occelo_special.ops.defining import converted, floats, special

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "cosm1",
    "huber",
    "log_expit",
    "ndtr",
    "ndtri",
    "pseudo_huber",
]


ndtri: Elemwise = special(
    "ndtri",
    [lambda ct, p, out: ct * math.sqrt(2 * math.pi) * exp(sqr(out) / 2)],
    "The number below which a standard normal number lies with the probability p.",
)


def ndtr(x: Any) -> TensorVariable:
    """The normal distribution function: the probability of a standard normal number below ``x``."""
    (x,) = floats("ndtr", x)
    return 0.5 * erfc(x * -math.sqrt(0.5))


def log_expit(x: Any) -> TensorVariable:
    """The logarithm of the logistic sigmoid of ``x``, precise in both tails."""
    (x,) = floats("log_expit", x)
    return -softplus(-x)


def huber(delta: Any, r: Any) -> TensorVariable:
    """Huber's loss: ``r**2 / 2`` for ``|r| <= delta``, else ``delta * (|r| - delta / 2)``. Infinity for negative ``delta``."""
    delta, r = floats("huber", delta, r)
    size = abs_(r)
    loss = switch(le(size, delta), 0.5 * sqr(r), delta * (size - 0.5 * delta))
    return switch(lt(delta, 0), math.inf, loss)


def _ratios(delta: TensorVariable, r: TensorVariable) -> list[TensorVariable]:
    """Whether |r| < delta; then |r| / delta, else 0; the square root of 1 plus its square; and the inverse elsewhere, likewise."""
    size = abs_(r)
    near = lt(size, delta)
    ratio = switch(near, size, 0.0) / switch(near, delta, 1.0)
    inverse = switch(near, 0.0, delta) / switch(near | eq(size, 0), 1.0, size)
    return [near, ratio, sqrt(1 + sqr(ratio)), inverse, sqrt(1 + sqr(inverse))]


def _pseudo_huber(delta: TensorVariable, r: TensorVariable) -> TensorVariable:
    delta, r = converted(delta, r)
    near, _, root, inverse, steep = _ratios(delta, r)
    small = switch(near, r, 0.0)
    far = switch(near | eq(delta, 0), 0.0, abs_(r))
    loss = switch(near, small * (small / (1 + root)), delta * far / (inverse + steep))
    return switch(lt(delta, 0), math.inf, loss)


def _by_delta(delta: TensorVariable, r: TensorVariable) -> TensorVariable:
    """delta (root - 1)**2 / root, where the root is that of 1 + (r / delta)**2."""
    near, ratio, root, inverse, steep = _ratios(delta, r)
    excess = sqr(ratio) / (1 + root)
    small = switch(isinf(delta), 0.0, delta) * sqr(excess) / root
    slope = switch(near, small, abs_(r) / sqr(inverse + steep) / steep)
    return switch(lt(delta, 0), 0.0, slope)


def _by_r(delta: TensorVariable, r: TensorVariable) -> TensorVariable:
    """r / root."""
    near, _, root, _, steep = _ratios(delta, r)
    slope = switch(near, r / root, delta * sign(r) / steep)
    return switch(lt(delta, 0), 0.0, slope)


pseudo_huber: Elemwise = elementwise(
    "pseudo_huber",
    2,
    special_float,
    None,
    [
        lambda ct, delta, r, out: ct * _by_delta(delta, r),
        lambda ct, delta, r, out: ct * _by_r(delta, r),
    ],
    """delta**2 * (sqrt(1 + (r / delta)**2) - 1), without cancellation. Infinity for negative delta.

    The arguments are delta and r.
    """,
    formula=_pseudo_huber,
)


def cosm1(x: Any) -> TensorVariable:
    """``cos(x) - 1``, precise near 0."""
    (x,) = floats("cosm1", x)
    return -2.0 * sqr(sin(0.5 * x))
