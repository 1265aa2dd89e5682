"""Methods for a minimum of a function of one number: Brent's in a bracket or an interval, golden sections, and the search for a bracket."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from occelo_graph.ops.elemwise.arithmetic import abs, le, maximum, minimum, switch
from occelo_optimize.ops.methods.iterating import Found, iterate, status_of

Function = Callable[[Any], Any]
GOLDEN = (3.0 - 5.0**0.5) / 2.0
"""The smaller part of an interval that is divided in the golden section."""
_GROWTH = (1.0 + 5.0**0.5) / 2.0
_LARGEST = 100


def bracket_of(f: Function, a: Any, b: Any) -> tuple[Any, Any, Any, Any, Any]:
    """Three points with f(b) <= f(a) and f(b) <= f(c), b between the others, from two points; whether they are that; and how many points there were.

    The search goes downhill, each time farther by the golden section, at most 100 times.
    """
    fa, fb = f(a), f(b)
    uphill = fa < fb
    a, b, fa, fb = (
        switch(uphill, b, a),
        switch(uphill, a, b),
        switch(uphill, fb, fa),
        minimum(fa, fb),
    )
    c = b + _GROWTH * (b - a)

    def step(state: Any) -> Any:
        _, b, _, c, fc = state
        after = c + _GROWTH * (c - b)
        return b, c, fc, after, f(after)

    (a, b, fb, c, fc), steps = iterate(
        step, lambda s: ~(s[4] < s[2]), (a, b, fb, c, f(c)), _LARGEST
    )
    return a, b, c, fc >= fb, steps + 3


def brent(f: Function, low: Any, x: Any, high: Any, *, xtol: Any, rtol: Any, maxiter: Any) -> Found:
    """Brent's method in an interval: steps to the minimum of a parabola, or by the golden section where it does not fit.

    x is the best point, w the second best, v the w of before; d is the last move, e the move before it. It ends where x
    is known to 2 (xtol + rtol |x|).
    """
    fx = f(x)

    def tolerance(x: Any) -> Any:
        return xtol + rtol * abs(x)

    def is_final(state: Any) -> Any:
        low, high, x = state[:3]
        return le(abs(x - 0.5 * (low + high)), 2.0 * tolerance(x) - 0.5 * (high - low))

    def step(state: Any) -> Any:
        low, high, x, fx, w, fw, v, fv, d, e = state
        near = tolerance(x)
        r, q = (x - w) * (fx - fv), (x - v) * (fx - fw)
        p, q = (x - v) * q - (x - w) * r, 2.0 * (q - r)
        p, q = switch(q > 0.0, -p, p), abs(q)
        fits = (
            (abs(e) > near)
            & (abs(p) < abs(0.5 * q * e))
            & (p > q * (low - x))
            & (p < q * (high - x))
        )
        middle = 0.5 * (low + high)
        parabola = p / q
        at = x + parabola
        edge = (at - low < 2.0 * near) | (high - at < 2.0 * near)
        parabola = switch(edge, switch(middle >= x, near, -near), parabola)
        rest = switch(x < middle, high - x, low - x)
        d, e = switch(fits, parabola, GOLDEN * rest), switch(fits, d, rest)
        u = x + switch(abs(d) >= near, d, switch(d >= 0.0, near, -near))
        fu = f(u)
        better = fu <= fx
        right = u >= x
        low = switch(better, switch(right, x, low), switch(right, low, u))
        high = switch(better, switch(right, high, x), switch(right, u, high))
        second = (fu <= fw) | le(abs(w - x), 0.0)
        third = (fu <= fv) | le(abs(v - x), 0.0) | le(abs(v - w), 0.0)
        v, fv = (
            switch(better | second, w, switch(third, u, v)),
            switch(better | second, fw, switch(third, fu, fv)),
        )
        w, fw = switch(better, x, switch(second, u, w)), switch(better, fx, switch(second, fu, fw))
        return low, high, switch(better, u, x), switch(better, fu, fx), w, fw, v, fv, d, e

    zero = 0.0 * x
    start = (low, high, x, fx, x, fx, x, fx, zero, zero)
    final, nit = iterate(step, is_final, start, maxiter)
    return _ended(final[2], is_final(final), nit, nit + 1)


def golden(f: Function, low: Any, x: Any, high: Any, *, xtol: Any, maxiter: Any) -> Found:
    """Golden sections of an interval with a point inside, until it is at most xtol (|x1| + |x2|) wide."""
    wide = high - x > x - low
    x1 = switch(wide, x, x - GOLDEN * (x - low))
    x2 = switch(wide, x + GOLDEN * (high - x), x)

    def is_final(state: Any) -> Any:
        low, x1, x2, high = state[:4]
        return high - low <= xtol * (abs(x1) + abs(x2))

    def step(state: Any) -> Any:
        low, x1, x2, high, f1, f2 = state
        right = f2 < f1
        # from the point that is kept, since a user's bracket need not be a golden section
        new = switch(right, x2 + GOLDEN * (high - x2), x1 - GOLDEN * (x1 - low))
        low, high = switch(right, x1, low), switch(right, high, x2)
        value = f(new)
        return (
            low,
            switch(right, x2, new),
            switch(right, new, x1),
            high,
            switch(right, f2, value),
            switch(right, value, f1),
        )

    final, nit = iterate(step, is_final, (low, x1, x2, high, f(x1), f(x2)), maxiter)
    _, x1, x2, _, f1, f2 = final
    return _ended(switch(f1 < f2, x1, x2), is_final(final), nit, nit + 2)


def _ended(x: Any, success: Any, nit: Any, nfev: Any) -> Found:
    return Found(x, success, nit, nfev, 0 * nfev, status_of(success, np.bool_(False)))


def ordered(a: Any, c: Any) -> tuple[Any, Any]:
    """The smaller and the larger one of the ends of an interval."""
    return minimum(a, c), maximum(a, c)
