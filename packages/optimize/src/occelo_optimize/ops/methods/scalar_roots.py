"""Methods for a root of a function of one number: of Newton and Halley, secants, bisection, and of Brent (and Dekker)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.elemwise.arithmetic import (
    abs,
    and_,
    eq,
    isnan,
    le,
    lt,
    maximum,
    minimum,
    neq,
    or_,
    sign,
    switch,
)
from occelo_optimize.ops.methods.iterating import Found, derivative, iterate, status_of

Function = Callable[[Any], Any]


def newton(f: Function, x: Any, *, xtol: Any, rtol: Any, maxiter: Any, order: int = 1) -> Found:
    """Newton's method; with ``order=2`` Halley's. It ends where a step is at most xtol + rtol |x|."""

    def step(state: Any) -> Any:
        x, _, _ = state
        value = f(x)
        slope = derivative(value, x)
        move = value / slope
        if order == 2:
            curvature = derivative(slope, x, disconnected_inputs="ignore")
            correction = 1.0 - 0.5 * move * curvature / slope
            # far away the correction may point elsewhere: then the step is Newton's
            move = switch(correction > 0.0, move / correction, move)
        # a flat function has no next point, unless this one is a root
        flat = eq(slope, 0.0)
        move = switch(flat, 0.0 * x, move)
        stuck = and_(flat, neq(value, 0.0)) | isnan(move)
        after = x - move
        return after, and_(~stuck, le(abs(move), xtol + rtol * abs(after))), stuck

    no = np.bool_(False)
    (x, success, stuck), nit = iterate(step, lambda s: s[1] | s[2], (x, no, no), maxiter)
    return Found(x, success, nit, nit, nit, status_of(success, stuck))


def secant(f: Function, x0: Any, x1: Any, *, xtol: Any, rtol: Any, maxiter: Any) -> Found:
    """The method of secants, from two points. It ends where a step is at most xtol + rtol |x|."""

    def step(state: Any) -> Any:
        before, f_before, x, value, _, _ = state
        flat = eq(value, f_before)
        move = switch(flat, 0.0 * x, value * (x - before) / (value - f_before))
        stuck = and_(flat, neq(value, 0.0)) | isnan(move)
        after = x - move
        done = and_(~stuck, le(abs(move), xtol + rtol * abs(after)))
        return x, value, after, f(after), done, stuck

    no = np.bool_(False)
    start = (x0, f(x0), x1, f(x1), no, no)
    final, nit = iterate(step, lambda s: s[4] | s[5], start, maxiter)
    return Found(final[2], final[4], nit, nit + 2, 0 * nit, status_of(*final[4:]))


def _checked(a: Any, fa: Any, fb: Any) -> Any:
    """The end ``a`` of a bracket, with a check that the function changes its sign in it."""
    check = CheckAndRaise(ValueError, "root_scalar: f(a) and f(b) must have different signs")
    return check(a, ~(sign(fa) * sign(fb) > 0.0))


def bisect(f: Function, a: Any, b: Any, *, xtol: Any, rtol: Any, maxiter: Any) -> Found:
    """Bisection of a bracket."""
    fa, fb = f(a), f(b)
    a = _checked(a, fa, fb)

    def step(state: Any) -> Any:
        low, width, _, _ = state
        width = 0.5 * width
        middle = low + width
        value = f(middle)
        low = switch(value * sign(fa) >= 0.0, middle, low)
        done = or_(eq(value, 0.0), lt(abs(width), xtol + rtol * abs(middle)))
        return low, width, done, isnan(value)

    at_end = eq(fa, 0.0) | eq(fb, 0.0)
    start = (a, b - a, at_end, isnan(fa) | isnan(fb))
    (low, _, done, stuck), nit = iterate(step, lambda s: s[2] | s[3], start, maxiter)
    x = switch(at_end, switch(eq(fa, 0.0), a, b), low)
    success = done & ~stuck
    return Found(x, success, nit, nit + 2, 0 * nit, status_of(success, stuck))


def brentq(f: Function, a: Any, b: Any, *, xtol: Any, rtol: Any, maxiter: Any) -> Found:
    """Brent's method: inverse quadratic interpolation and secants inside of a bracket, and bisection where they are slow.

    The root lies between b and c, and b is the better one of them; a is the best point before. d is the last move, e the
    move before it.
    """
    fa, fb = f(a), f(b)
    a = _checked(a, fa, fb)

    def step(state: Any) -> Any:
        a, fa, b, fb, c, fc, d, e, _, _ = state
        same = sign(fb) * sign(fc) > 0.0  # the root is not between b and c: it is between b and a
        c, fc = switch(same, a, c), switch(same, fa, fc)
        d, e = switch(same, b - a, d), switch(same, b - a, e)
        worse = abs(fc) < abs(fb)
        a, b, c = switch(worse, b, a), switch(worse, c, b), switch(worse, b, c)
        fa, fb, fc = switch(worse, fb, fa), switch(worse, fc, fb), switch(worse, fb, fc)
        tolerance = 0.5 * (xtol + rtol * abs(b))
        half = 0.5 * (c - b)
        done = or_(le(abs(half), tolerance), eq(fb, 0.0))
        s, q0, r = fb / fa, fa / fc, fb / fc
        linear = eq(a, c)
        p = switch(linear, 2.0 * half * s, s * (2.0 * half * q0 * (q0 - r) - (b - a) * (r - 1.0)))
        q = switch(linear, 1.0 - s, (q0 - 1.0) * (r - 1.0) * (s - 1.0))
        q, p = switch(p > 0.0, -q, q), abs(p)
        fits = 2.0 * p < minimum(3.0 * half * q - abs(tolerance * q), abs(e * q))
        use = (abs(e) >= tolerance) & (abs(fa) > abs(fb)) & fits
        d, e = switch(use, p / q, half), switch(use, d, half)
        move = switch(abs(d) > tolerance, d, sign(half) * tolerance)
        after = switch(done, b, b + move)
        value = switch(done, fb, f(after))
        # in the last step the state is as before, so b stays the result
        stuck = isnan(value)
        return switch(done, a, b), switch(done, fa, fb), after, value, c, fc, d, e, done, stuck

    unknown = isnan(fa) | isnan(fb)
    start = (a, fa, b, fb, a, fa, b - a, b - a, np.bool_(False), unknown)
    final, nit = iterate(step, lambda s: s[8] | s[9], start, maxiter)
    success, steps = final[8] & ~final[9], maximum(nit - 1, 0)
    return Found(final[2], success, steps, steps + 2, 0 * steps, status_of(success, final[9]))
