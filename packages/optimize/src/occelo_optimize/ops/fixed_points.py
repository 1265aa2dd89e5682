"""`fixed_point`: a value that a function does not change, with the names of `scipy.optimize.fixed_point`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from occelo_graph.errors import describe
from occelo_graph.ops.elemwise.arithmetic import abs, eq, isfinite, switch
from occelo_graph.ops.reduce import all as all_of
from occelo_optimize.ops.applying import apply_method, is_loop
from occelo_optimize.ops.methods.iterating import Found, iterate, status_of
from occelo_optimize.ops.regions import problem_of, region_of
from occelo_optimize.ops.results import OptimizeResult, result_of

__all__ = ["fixed_point"]

_WHO = "fixed_point"


def fixed_point(
    func: Any,
    x0: Any,
    *,
    args: Sequence[Any] = (),
    xtol: Any = 1e-8,
    maxiter: Any = 500,
    method: str = "del2",
) -> OptimizeResult:
    """A value of ``x0`` that equals ``func``.

    - ``func``: a tensor like ``x0``, an expression of it. Or a Python function of a tensor like ``x0`` and of ``args``.
    - ``x0``: a tensor of floats in the expression, of any shape. Its value is where the search starts. For a Python
      function it is the start itself.
    - ``xtol``, ``maxiter``: the search ends where no element changes by more than ``xtol``, relative to itself, or after
      ``maxiter`` iterations.
    - ``method``: "iteration" repeats the function. "del2" also extrapolates from each two steps, element by element, after
      Steffensen and Aitken.

    Returns a pair of the fixed point and whether it was found, with the attributes of `OptimizeResult`. It has derivatives by the
    implicit function theorem, not through the iterations.

    TypeError for an ``x0`` that is no tensor of floats, ValueError for a function that does not depend on it or has another
    number of dimensions, and for an unknown method.
    """
    method, _ = is_loop(_WHO, method, None, {"del2": None, "iteration": None}, ())
    problem = problem_of(func, x0, args, _WHO)
    expression, x = problem.expression, problem.x
    if expression.type.ndim != x.type.ndim:
        raise ValueError(
            f"fixed_point needs a function that returns a tensor like its argument, got {describe(expression)} for {describe(x)}"
        )
    region = region_of([expression], x, "function")
    residual = region_of([x - expression], x, "function")
    solve = _extrapolated if method == "del2" else _repeated
    settings = {"xtol": xtol, "maxiter": maxiter}
    results = apply_method(
        region, residual, solve, [problem.start], settings, f"fixed_point_{method}"
    )
    value = region.function(region.parameters)(results.x)
    return result_of(_WHO, problem.tree(results.x), results, fun=value)


def _small(before: Any, after: Any, xtol: Any) -> Any:
    """Whether no element changed by more than ``xtol``, relative to the one before; absolute where that is 0."""
    size = abs(before)
    change = abs(after - before) / switch(size > 0.0, size, 1.0)
    return all_of(change <= xtol)


def _run(step: Callable[[Any], Any], x: Any, xtol: Any, maxiter: Any, calls: int) -> Found:
    """The loop of a step that calls the function ``calls`` times."""

    def both(state: Any) -> Any:
        before, _, _ = state
        after = step(before)
        return after, _small(before, after, xtol), ~all_of(isfinite(after))

    no = np.bool_(False)
    (x, success, stuck), nit = iterate(both, lambda s: s[1] | s[2], (x, no, no), maxiter)
    return Found(x, success, nit, nit * calls, 0 * nit, status_of(success, stuck))


def _repeated(f: Callable[[Any], Any], x: Any, *, xtol: Any, maxiter: Any) -> Found:
    return _run(f, x, xtol, maxiter, 1)


def _extrapolated(f: Callable[[Any], Any], x: Any, *, xtol: Any, maxiter: Any) -> Found:
    def step(before: Any) -> Any:
        one = f(before)
        two = f(one)
        bend = two - 2.0 * one + before
        return switch(eq(bend, 0.0), two, before - (one - before) ** 2 / bend)

    return _run(step, x, xtol, maxiter, 2)
