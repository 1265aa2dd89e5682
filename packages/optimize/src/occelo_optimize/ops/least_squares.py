"""`least_squares`: parameters with the least sum of squared residuals, with the names of `scipy.optimize.least_squares`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from occelo_graph.gradient.jacobians import jacobian
from occelo_graph.gradient.reverse import grad
from occelo_graph.ops.create import zeros_like
from occelo_graph.ops.shape.reshaping import ravel
from occelo_optimize.ops.applying import apply_method, is_loop, options_of
from occelo_optimize.ops.limits import (
    active_sides,
    bounded_residual,
    has_ends,
    optimality_between,
)
from occelo_optimize.ops.methods import systems
from occelo_optimize.ops.regions import problem_of, region_of
from occelo_optimize.ops.results import OptimizeResult, result_of
from occelo_optimize.ops.scipy_calls import LEAST_SQUARES, call_scipy

__all__ = ["least_squares"]

METHODS = {"lm": {"xtol": 1e-8, "ftol": 1e-8, "gtol": 1e-8, "maxiter": 400}}
"""The options of each method, with SciPy's defaults."""
_WHO = "least_squares"


def least_squares(
    fun: Any,
    x0: Any,
    *,
    args: Sequence[Any] = (),
    method: str | None = None,
    bounds: Any = None,
    xtol: Any = None,
    ftol: Any = None,
    gtol: Any = None,
    options: Mapping[str, Any] | None = None,
    using: str | None = None,
) -> OptimizeResult:
    """Values of ``x0`` with the least sum of squares of ``fun``, at least among values near them.

    - ``fun``: a tensor of floats, the residuals, an expression of ``x0``. Or a Python function of a tree like ``x0`` and of
      ``args``.
    - ``x0``: a tensor of floats in the residuals, or a tree of such tensors. Their values are where the search starts. For
      a Python function they are the start itself.
    - ``method``: "lm", the method of Levenberg and Marquardt as a loop of the graph, or SciPy's "trf" and "dogbox". The
      default is "lm", and "trf" with ``bounds``.
    - ``bounds``: a pair of lower and upper bounds, numbers or arrays, or SciPy's ``Bounds``, for SciPy's methods. Elements that end at a
      bound have no derivatives with respect to what the residuals read.
    - ``xtol``, ``ftol``, ``gtol``: the search ends where a step is at most ``xtol`` relative to x, where the sum decreases by
      at most its ``ftol``-th part, or where the gradient is at most ``gtol`` relative to residuals and columns of the Jacobian. The
      defaults are SciPy's, 1e-8.
    - ``options``: ``maxiter``, and the tolerances. For SciPy's methods, further arguments of SciPy's function.
    - ``using``: "loops" or "scipy", as in `minimize`.

    Returns a pair of the solution, a tree like ``x0``, and whether it was found, with the attributes of `OptimizeResult`;
    ``cost`` is half of the sum of squares, ``fun`` the residuals, ``jac`` their Jacobian and ``grad`` the gradient of the
    cost, at the solution. ``optimality`` is its largest element, with "trf" and bounds scaled by the distance to them, with "dogbox" without
    those that are at a bound; ``active_mask`` is -1 for elements at their lower bound, 1 for those at the upper one, else 0: as in SciPy. It has derivatives
    as that of `minimize`.

    TypeError for an ``x0`` that is no tensor of floats. ValueError for residuals that do not depend on it, and for an
    unknown method.
    """
    if method is None:
        method = "lm" if bounds is None else "trf"
    method, loops = is_loop(_WHO, method, using, METHODS, LEAST_SQUARES)
    if loops and bounds is not None:
        raise ValueError("The method lm takes no bounds; SciPy's trf and dogbox do")
    problem = problem_of(fun, x0, args, _WHO, vector=True)
    residuals = ravel(problem.expression)
    region = region_of([residuals], problem.x, "residuals")
    cost = 0.5 * (residuals**2).sum()
    equation = grad(cost, problem.x)
    ends: Any = None
    if bounds is not None:
        bounds = (bounds.lb, bounds.ub) if has_ends(bounds) else bounds
        ends = tuple(np.asarray(v, problem.x.dtype) for v in bounds)
        equation = bounded_residual(problem.x, equation, *ends)
    slope = region_of([equation], problem.x, "gradient of the cost")
    tolerances = {"xtol": xtol, "ftol": ftol, "gtol": gtol}
    if loops:
        settings = options_of("The method lm", options, METHODS["lm"], **tolerances)
        solve: Any = systems.levenberg_marquardt
    else:
        arguments = {"method": method, "bounds": bounds, **tolerances, **(options or {})}
        solve, settings = call_scipy(region, _WHO, 1, arguments), {}
    results = apply_method(
        region, slope, solve, [problem.start], settings, f"{_WHO}_{method}", scipy=not loops
    )
    x = problem.x
    own = region_of([residuals, cost, jacobian(residuals, x), grad(cost, x)], x, "residuals")
    values = own.graph.bind([results.x, *own.parameters])
    names = ("fun", "cost", "jac", "grad")
    parts: dict[str, Any] = dict(zip(names, values, strict=True))
    if ends is None:
        parts["optimality"] = systems.largest(parts["grad"])
        parts["active_mask"] = zeros_like(results.x, dtype="int64")
    else:
        exact = method == "dogbox"
        near = 0.0 if exact else 1e-8 if xtol is None else xtol
        low, high = ends
        parts["optimality"] = optimality_between(results.x, parts["grad"], low, high, exact=exact)
        parts["active_mask"] = active_sides(results.x, low, high, near)
    return result_of(_WHO, problem.tree(results.x), results, **parts)
