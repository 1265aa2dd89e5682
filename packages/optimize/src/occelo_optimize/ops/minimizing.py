"""`minimize`: a minimum of a function of tensors, with the names of `scipy.optimize.minimize`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from occelo_graph.errors import describe
from occelo_graph.gradient.reverse import grad
from occelo_optimize.ops.applying import apply_method, one_of, options_of
from occelo_optimize.ops.methods import descent
from occelo_optimize.ops.regions import problem_of, region_of
from occelo_optimize.ops.results import OptimizeResult

__all__ = ["minimize"]

METHODS = {
    "bfgs": {"gtol": 1e-5, "maxiter": 1000},
    "l-bfgs": {"gtol": 1e-5, "maxiter": 15000, "maxcor": 10},
    "newton": {"gtol": 1e-5, "maxiter": 200},
}
"""The options of each method."""
_SOLVERS: Mapping[str, Any] = {
    "bfgs": descent.bfgs,
    "l-bfgs": descent.lbfgs,
    "newton": descent.newton,
}
_WHO = "minimize"


def minimize(
    objective: Any,
    x: Any,
    *,
    args: Sequence[Any] = (),
    method: str = "BFGS",
    tol: Any = None,
    options: Mapping[str, Any] | None = None,
) -> OptimizeResult:
    """A minimum of a function of tensors: values of ``x`` at which ``objective`` is smaller than at others near them.

    - ``objective``: a real scalar, an expression of ``x``. Or a Python function of a tree of tensors like ``x`` and of
      ``args``.
    - ``x``: a tensor of floats in the objective, or a tree of such tensors. Their values are where the search starts.
      For a Python function they are the start itself.
    - ``method``: "BFGS", "L-BFGS" (which keeps ``maxcor`` steps in place of a matrix) or "newton". All of them use the
      gradient of the expression, and "newton" the Hessian.
    - ``tol``: the search ends where no derivative exceeds it. The default is SciPy's ``gtol``, 1e-5.
    - ``options``: ``maxiter``, and ``gtol`` in place of ``tol``; for "L-BFGS" also ``maxcor``, an integer.

    Returns a pair of the solution, a tree like ``x``, and whether it was found, with the attributes of `OptimizeResult`;
    ``jac`` is the gradient there, a vector. The solution has derivatives with respect to everything that the objective
    reads, by the implicit function theorem. They need its second derivatives, and are as accurate as the solution.

    TypeError for an objective that is no real scalar, or for an ``x`` that is no tensor of floats. ValueError for an
    objective that does not depend on it, and for an unknown method.
    """
    method = one_of(_WHO, method, METHODS)
    problem = problem_of(objective, x, args, _WHO, vector=True)
    cost = problem.expression
    if cost.type.ndim:
        raise TypeError(f"minimize needs a scalar as its objective, got {describe(cost)}")
    region = region_of([cost], problem.x, "objective")
    slope = region_of([grad(cost, problem.x)], problem.x, "gradient of the objective")
    settings = options_of(f"The method {method}", options, METHODS[method], gtol=tol)
    solve: Any = _SOLVERS[method]
    found = apply_method(region, slope, solve, [problem.start], settings, f"minimize_{method}")
    value = region.function(region.parameters)(found[0])
    jac = slope.function(slope.parameters)(found[0])
    return OptimizeResult(problem.tree(found[0]), found[1], fun=value, jac=jac, nit=found[2])
