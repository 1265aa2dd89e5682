"""Methods for a root of a system: Newton's with a shorter step where a full one does not help, and Levenberg and Marquardt's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from occelo_graph.gradient.jacobians import jacobian
from occelo_graph.ops import reduce
from occelo_graph.ops.create import eye
from occelo_graph.ops.elemwise.arithmetic import abs, eq, isfinite, maximum, switch
from occelo_linalg.ops.equations.solve import solve
from occelo_optimize.ops.methods.iterating import Found, iterate, status_of

Function = Callable[[Any], Any]
_SHORTEST = 1e-10


def largest(x: Any) -> Any:
    """The largest magnitude in a vector; 0 for none."""
    return reduce.max(abs(x), initial=0.0)


def newton(f: Function, x: Any, *, xtol: Any, maxiter: Any) -> Found:
    """Newton's method. A step is halved until the sum of squares decreases.

    It ends where a full step is at most xtol (1 + |x|), or where f is 0.
    """

    def step(state: Any) -> Any:
        x, value, norm, _, _, points = state
        move = solve(jacobian(f(x), x), value, on_error="nan")

        def attempt(tried: Any) -> Any:
            after = x - 0.5 * tried[0] * move
            at = f(after)
            return 0.5 * tried[0], after, at, (at**2).sum()

        def is_good(tried: Any) -> Any:
            size, _, _, squares = tried
            return (squares <= (1.0 - 1e-4 * size) * norm) | (size < _SHORTEST)

        two = 2.0 + 0.0 * norm
        first = attempt((two, x, value, norm))
        (size, after, at, squares), more = iterate(attempt, is_good, first, 60)
        small = largest(move) <= xtol * (1.0 + largest(after))
        done = (small & (size > 0.9)) | ~(squares > 0.0)
        stuck = (size < _SHORTEST) | ~isfinite(squares)
        # roundoff keeps the last steps from making f smaller: the step before was good
        done = (done | (stuck & small)) & isfinite(squares)
        better = squares <= norm
        return (
            switch(better, after, x),
            switch(better, at, value),
            switch(better, squares, norm),
            done,
            stuck & ~done,
            points + more + 1,
        )

    value = f(x)
    norm = (value**2).sum()
    start = (x, value, norm, ~(norm > 0.0) & isfinite(norm), np.bool_(False), np.int64(1))
    (x, _, _, done, stuck, points), nit = iterate(step, lambda s: s[3] | s[4], start, maxiter)
    return Found(x, done, nit, points, nit, status_of(done, stuck))


def levenberg_marquardt(
    f: Function, x: Any, *, xtol: Any, ftol: Any, gtol: Any, maxiter: Any
) -> Found:
    """The method of Levenberg and Marquardt for the least sum of squares of f.

    Each step solves (J'J + w D) d = -J'f, where D is the largest diagonal of J'J so far. A step that makes the sum
    smaller is taken, and w becomes smaller; otherwise w becomes larger. It ends where the gradient is at most gtol
    relative to the columns of J and f, where the sum decreases by at most its ftol-th part, as predicted and as observed, or where a
    step is at most xtol (xtol + |x|): these are the statuses 1, 2 and 3.
    """

    def step(state: Any) -> Any:
        x, value, cost, scale, weight, growth, _, _ = state
        matrix = jacobian(f(x), x)
        normal, gradient = matrix.T @ matrix, matrix.T @ value
        diagonal = normal.diagonal()
        scale = maximum(scale, diagonal)
        damping = weight * switch(scale > 0.0, scale, 1.0)
        damped = normal + eye(x.shape[0], dtype=x.dtype) * damping
        move = -solve(damped, gradient, assume_a="pos", on_error="nan")
        after = x + move
        at = f(after)
        reached = 0.5 * (at**2).sum()
        predicted = 0.5 * (move * (damping * move - gradient)).sum()
        gain = (cost - reached) / predicted
        good = (gain > 0.0) & isfinite(reached)
        slope = largest(
            gradient / (abs(scale) ** 0.5 * (2.0 * cost) ** 0.5 + np.finfo(x.dtype).tiny)
        )
        flat = (slope <= gtol) | eq(cost, 0.0)
        little = good & (cost - reached <= ftol * cost) & (predicted <= ftol * cost)
        short = (move**2).sum() ** 0.5 <= xtol * (xtol + (x**2).sum() ** 0.5)
        stuck = ~(weight < 1e30)
        lower = weight * maximum(1.0 / 3.0, 1.0 - (2.0 * gain - 1.0) ** 3)
        return (
            switch(good, after, x),
            switch(good, at, value),
            switch(good, reached, cost),
            scale,
            switch(good, lower, weight * growth),
            switch(good, 2.0 + 0.0 * growth, 2.0 * growth),
            switch(
                flat,
                np.int64(1),
                switch(little, np.int64(2), switch(short, np.int64(3), np.int64(0))),
            ),
            stuck,
        )

    value = f(x)
    cost = 0.5 * (value**2).sum()
    no = np.bool_(False)
    start = (x, value, cost, 0.0 * x, 1e-3 + 0.0 * cost, 2.0 + 0.0 * cost, np.int64(0), no)
    final, nit = iterate(step, lambda s: (s[6] > 0) | s[7], start, maxiter)
    return Found(final[0], final[6] > 0, nit, nit + 1, nit, final[6])
