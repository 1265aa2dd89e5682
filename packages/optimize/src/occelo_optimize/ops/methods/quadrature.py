"""Methods for integrals over an interval: adaptive bisection by the rule of Gauss and Kronrod with 21 points, and tanh-sinh.

The integrand returns a vector for one point. A method returns the integral, an estimate of its error, and whether it is good.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from occelo_graph.ops import reduce
from occelo_graph.ops.create import alloc
from occelo_graph.ops.elemwise.arithmetic import abs, eq, isfinite, maximum, minimum, switch
from occelo_graph.ops.elemwise.transcendental import cosh, sigmoid, sinh
from occelo_graph.vectorize import vectorize_graph
from occelo_loops.ops.building.loops import fori_loop
from occelo_optimize.ops.methods.iterating import iterate

Integrand = Callable[[Any], Any]

_HALF_NODES = np.array([
    0.995657163025808080735527280689003, 0.973906528517171720077964012084452, 0.930157491355708226001207180059508,
    0.865063366688984510732096688423493, 0.780817726586416897063717578345042, 0.679409568299024406234327365114874,
    0.562757134668604683339000099272694, 0.433395394129247190799265943165784, 0.294392862701460198131126603103866,
    0.148874338981631210884826001129720,
])  # fmt: skip
_HALF_WEIGHTS = np.array([
    0.011694638867371874278064396062192, 0.032558162307964727478818972459390, 0.054755896574351996031381300244580,
    0.075039674810919952767043140916190, 0.093125454583697605535065465083366, 0.109387158802297641899210590325805,
    0.123491976262065851077958109585166, 0.134709217311473325928054001771707, 0.142775938577060080797094273138717,
    0.147739104901338491374841515972068,
])  # fmt: skip
_GAUSS = np.array([
    0.066671344308688137593568809893332, 0.149451349150580593145863396957658, 0.219086362515982043995534934228163,
    0.269266719309996355091226921569469, 0.295524224714752870173815619188769,
])  # fmt: skip
NODES = np.concatenate([-_HALF_NODES, [0.0], _HALF_NODES[::-1]])
WEIGHTS = np.concatenate(
    [_HALF_WEIGHTS, [0.149445554002916905664936468389821], _HALF_WEIGHTS[::-1]]
)
GAUSS_WEIGHTS = np.zeros(21)
GAUSS_WEIGHTS[1:10:2], GAUSS_WEIGHTS[11:20:2] = _GAUSS, _GAUSS[::-1]


def _rule(f: Integrand, low: Any, high: Any) -> tuple[Any, Any]:
    """The integral over one interval, and an estimate of its error, a scalar, after Piessens and others."""
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    dtype = low.dtype
    x = low.type.make_variable()
    points = middle + half * NODES.astype(dtype)
    values = vectorize_graph(f(x) + 0.0 * x, {x: points})
    total = half * (WEIGHTS.astype(dtype) @ values)
    error = abs(total - half * (GAUSS_WEIGHTS.astype(dtype) @ values))
    spread = abs(half) * (WEIGHTS.astype(dtype) @ abs(values - 0.5 * (total / half)[None, :]))
    reliable = (spread > 0.0) & (error > 0.0)
    ratio = 200.0 * error / switch(reliable, spread, 1.0)
    error = switch(reliable, spread * minimum(1.0, ratio**1.5), error)
    return total, reduce.max(error, initial=0.0)


def gauss_kronrod(
    f: Integrand, low: Any, high: Any, *, epsabs: Any, epsrel: Any, limit: int
) -> tuple[Any, Any, Any]:
    """Adaptive bisection: the interval with the largest error is halved, until the sum of errors is small."""
    total, error = _rule(f, low, high)
    places = np.arange(limit)
    first = eq(places, 0)

    def spread(value: Any) -> Any:
        return switch(first, value, 0.0)

    sums = alloc(np.zeros((), total.dtype), limit, total.shape[0])
    sums = switch(first[:, None], total[None, :], sums)

    def is_final(state: Any) -> Any:
        _, _, sums, errors, _ = state
        size = reduce.max(abs(sums.sum(0)), initial=0.0)
        return errors.sum() <= maximum(epsabs, epsrel * size)

    def step(state: Any) -> Any:
        lows, highs, sums, errors, count = state
        worst = errors.argmax()
        a, b = lows[worst], highs[worst]
        middle = 0.5 * (a + b)
        left, left_error = _rule(f, a, middle)
        right, right_error = _rule(f, middle, b)
        here, new = eq(places, worst), eq(places, count)

        def put(old: Any, one: Any, other: Any) -> Any:
            return switch(here, one, switch(new, other, old))

        parts = switch(here[:, None], left, switch(new[:, None], right, sums))
        return (
            put(lows, a, middle),
            put(highs, middle, b),
            parts,
            put(errors, left_error, right_error),
            count + 1,
        )

    start = (spread(low), spread(high), sums, spread(error), np.int64(1))
    final, _ = iterate(step, is_final, start, limit - 1)
    return final[2].sum(0), final[3].sum(), is_final(final)


_LONGEST = 6.1
_LEVELS = 10


def tanh_sinh(
    f: Integrand, low: Any, high: Any, *, epsabs: Any, epsrel: Any, limit: int
) -> tuple[Any, Any, Any]:
    """The rule of trapezoids after a change of variables that makes the integrand vanish doubly exponentially at both ends.

    Each level halves the distance of points. Values that are not finite count as 0 next to an end.
    """
    del limit
    width = high - low
    close = np.finfo(low.dtype).eps

    def at(t: Any) -> Any:
        p = np.pi * sinh(t)
        near = width * sigmoid(-abs(p))
        x = switch(p < 0.0, low + near, high - near)
        weight = width * sigmoid(p) * sigmoid(-p) * np.pi * cosh(t)
        value = f(x) * weight
        return switch(isfinite(value) | ~(abs(near) < close * abs(width)), value, 0.0)

    def step(state: Any) -> Any:
        sums, before, level, distance, _ = state

        def add(k: Any, sums: Any) -> Any:
            t = (2.0 * k.astype(low.dtype) + 1.0) * distance
            return sums + at(t) + at(-t)

        count = (_LONGEST / (2.0 * distance)).astype("int64")
        sums = fori_loop(0, count, add, sums)
        total = sums * distance
        change = reduce.max(abs(total - before), initial=0.0)
        return sums, total, level + 1, 0.5 * distance, change

    def is_final(state: Any) -> Any:
        _, total, level, _, change = state
        size = reduce.max(abs(total), initial=0.0)
        return (level > 3) & (change <= maximum(epsabs, epsrel * size))

    one = 1.0 + 0.0 * width
    sums = at(0.0 * width)
    start = (sums, sums, np.int64(0), 0.5 * one, np.inf * one)
    # the first level has the even multiples of its distance, too
    start = (
        fori_loop(
            1,
            7,
            lambda k, s: s + at(k.astype(low.dtype) * one) + at(-k.astype(low.dtype) * one),
            sums,
        ),
        *start[1:],
    )
    final, _ = iterate(step, is_final, start, _LEVELS)
    return final[1], final[4], is_final(final)


METHODS = {"quad": gauss_kronrod, "tanhsinh": tanh_sinh}
