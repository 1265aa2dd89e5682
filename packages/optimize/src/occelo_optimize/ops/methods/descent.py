"""Methods for a minimum of a function of a vector: Newton's, BFGS, and BFGS with limited memory.

Each goes along a direction until the conditions of Wolfe hold: the function has decreased enough, and so has its slope.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from occelo_graph.gradient.jacobians import jacobian
from occelo_graph.ops.create import eye
from occelo_graph.ops.elemwise.arithmetic import abs, isfinite, maximum, switch
from occelo_graph.ops.join import concatenate
from occelo_linalg.ops.factorizations.eigh import eigh
from occelo_loops.ops.building.loops import loop
from occelo_optimize.ops.methods.iterating import Found, derivative, iterate, status_of
from occelo_optimize.ops.methods.systems import largest

Function = Callable[[Any], Any]
_DECREASE, _SLOPE = 1e-4, 0.9
_EVALUATIONS = 40


def _value_and_grad(f: Function, x: Any) -> tuple[Any, Any]:
    value = f(x)
    return value, derivative(value, x)


def _search(
    f: Function, x: Any, value: Any, gradient: Any, direction: Any, first: Any
) -> tuple[Any, Any, Any, Any, Any]:
    """A point along ``direction`` at which the conditions of Wolfe hold; its value and gradient; whether they hold; and the number of points.

    The interval of steps is doubled until it contains such a point, and then halved. A value may exceed the one before by
    its roundoff.
    """
    slope = (gradient * direction).sum()
    slack = 4.0 * np.finfo(x.dtype).eps * abs(value)

    def judged(low: Any, high: Any, size: Any) -> Any:
        after = x + size * direction
        at, at_gradient = _value_and_grad(f, after)
        far = ~(at <= value + _DECREASE * size * slope + slack)
        near = ~((at_gradient * direction).sum() >= _SLOPE * slope)
        low, high = switch(far, low, size), switch(far, size, high)
        good = ~far & (~near | ~isfinite(size))
        size = switch(isfinite(high), 0.5 * (low + high), 2.0 * size)
        return low, high, switch(good, 0.0 * size, size), after, at, at_gradient, good

    zero = 0.0 * slope
    state, points = iterate(
        lambda s: judged(*s[:3]),
        lambda s: s[6],
        judged(zero, zero + np.inf, first + zero),
        _EVALUATIONS,
    )
    return state[3], state[4], state[5], state[6], points + 1


def _product(matrix: Any, vector: Any) -> Any:
    """A product that a loop computes for a whole batch; BLAS would be called for each small matrix of it."""
    return (matrix * vector[None, :]).sum(1)


def bfgs(f: Function, x: Any, *, gtol: Any, maxiter: Any) -> Found:
    """The method of Broyden, Fletcher, Goldfarb and Shanno: directions by an inverse Hessian from differences of gradients.

    It ends where no derivative exceeds gtol.
    """

    def step(state: Any) -> Any:
        x, value, gradient, inverse, is_first, *_ = state
        direction = -_product(inverse, gradient)
        downhill = (direction * gradient).sum() < 0.0
        direction = switch(downhill, direction, -gradient)
        length = (direction**2).sum() ** 0.5
        first = switch(is_first, 1.0 / maximum(length, 1.0), 1.0 + 0.0 * length)
        reached = _search(f, x, value, gradient, direction, first)
        after, _, at_gradient, good, _ = reached
        s, y = after - x, at_gradient - gradient
        product = (s * y).sum()
        # the first matrix has the size of the curvature along the first step
        scaled = switch(is_first, product / (y**2).sum(), 1.0) * inverse
        moved = _product(scaled, y) / product
        size = (1.0 + (y * moved).sum()) / product
        both = moved[:, None] * s[None, :] + s[:, None] * moved[None, :]
        updated = scaled - both + size * s[:, None] * s[None, :]
        usable = good & (product > 0.0) & isfinite(product)
        return _taken(state, reached, gtol, switch(usable, updated, inverse))

    def rest(state: Any) -> dict[str, Any]:
        return {"hess_inv": state[3]}

    value, gradient = _value_and_grad(f, x)
    start = (
        x,
        value,
        gradient,
        eye(x.shape[0], dtype=x.dtype),
        np.bool_(True),
        largest(gradient) <= gtol,
        np.bool_(False),
        np.int64(1),
    )
    return _run(step, start, maxiter, rest)


def _taken(state: Any, reached: Any, gtol: Any, *memory: Any) -> Any:
    """The state after a search: the new point if the search was good, else the one before, which is the last.

    A state ends with whether the search is done, whether it is stuck, and the number of points.
    """
    x, value, gradient = state[:3]
    after, at, at_gradient, good, points = reached
    better = good | (at < value)
    gradient = switch(better, at_gradient, gradient)
    done = largest(gradient) <= gtol
    return (
        switch(better, after, x),
        switch(better, at, value),
        gradient,
        *memory,
        np.bool_(False),
        done,
        ~good & ~done,
        state[-1] + points,
    )


def _run(
    step: Callable[[Any], Any],
    start: Any,
    maxiter: Any,
    rest: Callable[[Any], dict[str, Any]] = lambda _: {},
) -> Found:
    state, nit = iterate(step, lambda s: s[-3] | s[-2], start, maxiter)
    x, *_, done, stuck, points = state
    return Found(x, done, nit, points, points, status_of(done, stuck), rest(state))


def lbfgs(f: Function, x: Any, *, gtol: Any, maxiter: Any, maxcor: int) -> Found:
    """BFGS that keeps the last ``maxcor`` steps and differences of gradients in place of a matrix."""

    def direction_of(gradient: Any, steps: Any, differences: Any) -> Any:
        products = (steps * differences).sum(1)
        weights = switch(products > 0.0, 1.0 / products, 0.0)

        def backward(q: Any, at: Any) -> Any:
            s, y, weight = at
            alpha = weight * (s * q).sum()
            return q - alpha * y, alpha

        def forward(r: Any, at: Any) -> Any:
            s, y, weight, alpha = at
            return r + s * (alpha - weight * (y * r).sum()), None

        q, alphas = loop(backward, gradient, (steps, differences, weights), reverse=True)
        last = (differences[-1] ** 2).sum()
        q = q * switch(last > 0.0, products[-1] / last, 1.0)
        return -loop(forward, q, (steps, differences, weights, alphas))[0]

    def step(state: Any) -> Any:
        x, value, gradient, steps, differences, is_first, *_ = state
        direction = direction_of(gradient, steps, differences)
        length = (direction**2).sum() ** 0.5
        first = switch(is_first, 1.0 / maximum(length, 1.0), 1.0 + 0.0 * length)
        reached = _search(f, x, value, gradient, direction, first)
        after, _, at_gradient, good, _ = reached
        s, y = after - x, at_gradient - gradient
        usable = good & ((s * y).sum() > 0.0)
        history = [
            switch(usable, concatenate([rows[1:], new[None, :]]), rows)
            for rows, new in ((steps, s), (differences, y))
        ]
        return _taken(state, reached, gtol, *history)

    def rest(state: Any) -> dict[str, Any]:
        return {"sk": state[3], "yk": state[4]}

    value, gradient = _value_and_grad(f, x)
    memory = np.zeros((maxcor, 1), x.dtype) * x[None, :]
    start = (
        x,
        value,
        gradient,
        memory,
        memory,
        np.bool_(True),
        largest(gradient) <= gtol,
        np.bool_(False),
        np.int64(1),
    )
    return _run(step, start, maxiter, rest)


def newton(f: Function, x: Any, *, gtol: Any, maxiter: Any) -> Found:
    """Newton's method, with the magnitudes of the eigenvalues of the Hessian, so that directions go downhill."""

    def step(state: Any) -> Any:
        x, value, gradient, *_ = state
        values, vectors = eigh(jacobian(_value_and_grad(f, x)[1], x), on_error="nan")
        sizes = abs(values)
        least = np.finfo(x.dtype).eps * largest(sizes)
        sizes = switch(sizes > least, sizes, 1.0)
        direction = -(vectors @ ((vectors.T @ gradient) / sizes))
        return _taken(state, _search(f, x, value, gradient, direction, 1.0), gtol)

    value, gradient = _value_and_grad(f, x)
    no = np.bool_(False)
    start = (x, value, gradient, no, largest(gradient) <= gtol, no, np.int64(1))
    results = _run(step, start, maxiter)
    return results._replace(others={"nhev": results.nit})
