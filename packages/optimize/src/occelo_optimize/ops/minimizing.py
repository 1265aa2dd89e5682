"""`minimize`: a minimum of a function of tensors, with the names of `scipy.optimize.minimize`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from occelo_graph.errors import describe
from occelo_graph.gradient.reverse import grad
from occelo_optimize.ops.applying import apply_method, is_loop, options_of
from occelo_optimize.ops.inverse_hessian import InverseHessian
from occelo_optimize.ops.limits import (
    bounded_residual,
    constrained_residual,
    constraints_of,
    ends_of_bounds,
    has_ends,
    largest_violation,
    parts_between,
)
from occelo_optimize.ops.methods import descent
from occelo_optimize.ops.methods.iterating import Found
from occelo_optimize.ops.regions import problem_of, region_of
from occelo_optimize.ops.results import OptimizeResult, result_of
from occelo_optimize.ops.scipy_calls import (
    MINIMIZERS,
    WITH_CONSTRAINTS,
    WITH_HESSIAN,
    WITHOUT_GRADIENT,
    call_scipy,
)

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
    method: str | None = None,
    tol: Any = None,
    options: Mapping[str, Any] | None = None,
    bounds: Any = None,
    constraints: Any = (),
    using: str | None = None,
    jac: bool = True,
    hess: bool = False,
    use_vectorized_jac: bool = False,
    optimizer_kwargs: Mapping[str, Any] | None = None,
) -> OptimizeResult:
    """A minimum of a function of tensors: values of ``x`` at which ``objective`` is smaller than at others near them.

    - ``objective``: a real scalar, an expression of ``x``. Or a Python function of a tree of tensors like ``x`` and of
      ``args``.
    - ``x``: a tensor of floats in the objective, or a tree of such tensors. Their values are where the search starts.
      For a Python function they are the start itself.
    - ``method``: "BFGS", "L-BFGS" (which keeps ``maxcor`` steps in place of a matrix) or "newton". All of them use the
      gradient of the expression, and "newton" the Hessian. Or one of SciPy's methods: see ``using``. The default is
      "BFGS", SciPy's "L-BFGS-B" with ``bounds``, and its "SLSQP" with ``constraints``.
    - ``tol``: the search ends where no derivative exceeds it. The default is SciPy's ``gtol``, 1e-5.
    - ``options``: ``maxiter``, and ``gtol`` in place of ``tol``; for "L-BFGS" also ``maxcor``, an integer. For SciPy's methods
      they are SciPy's.
    - ``bounds``: a pair of numbers or None for each element of ``x``, or SciPy's ``Bounds``, for SciPy's methods that take them.
      Elements that end at a bound have no derivatives with respect to what the objective reads.
    - ``constraints``: a dict, or a list of dicts, for SciPy's "SLSQP", "trust-constr", "COBYLA" and "COBYQA": ``type`` is "eq"
      or "ineq", ``fun`` an expression of ``x``, or a Python function of a tree like ``x``, which is 0, or not negative, at the solution.
      ``args`` of a dict replace those above. Or SciPy's ``LinearConstraint``, of the values of ``x`` as one vector, and
      ``NonlinearConstraint``, with a Python function of a tree like ``x``. Derivatives are those of the solution with the same constraints active: those of "eq", and of
      "ineq" those that are at most 1e-5. Gradients of active ones have to be independent.
    - ``using``: "loops" for the methods above, or "scipy" for SciPy's method of this name, which calls one compiled function of
      value and gradient. By default it is "loops" where there is such a method.
    - ``jac``: whether SciPy's methods get the gradient, or take differences. Those that need the Hessian get it.
    - ``hess``, ``use_vectorized_jac``: accepted for PyTensor's sake; they have no effect.
    - ``optimizer_kwargs``: a mapping of arguments of this function, such as ``tol`` and ``options``, as in PyTensor.

    Returns a pair of the solution, a tree like ``x``, and whether it was found, with the attributes of `OptimizeResult`;
    ``jac`` is the gradient there, a vector. "BFGS" has its estimate ``hess_inv`` of the inverse Hessian, a matrix; that of "L-BFGS" and "L-BFGS-B" is known by
    its products, ``hess_inv @ v``, and has ``todense()``. Methods with a Hessian have ``nhev``, the number of points where it was computed.
    With constraints ``maxcv`` is the largest violation of one of them, or of a bound. The solution has derivatives with respect to everything that the objective
    reads, by the implicit function theorem. They need its second derivatives, and are as accurate as the solution.

    TypeError for an objective that is no real scalar, or for an ``x`` that is no tensor of floats. ValueError for an
    objective that does not depend on it, and for an unknown method.
    """
    del hess, use_vectorized_jac
    if optimizer_kwargs:
        arguments: dict[str, Any] = {
            "tol": tol,
            "options": options,
            "bounds": bounds,
            "constraints": constraints,
            **optimizer_kwargs,
        }
        return minimize(objective, x, args=args, method=method, using=using, jac=jac, **arguments)
    if isinstance(constraints, Mapping) or has_ends(constraints):
        constraints = [constraints]
    has_constraints = len(constraints) > 0
    if method is None:
        method = "SLSQP" if has_constraints else "BFGS" if bounds is None else "L-BFGS-B"
    method, loops = is_loop(_WHO, method, using, METHODS, MINIMIZERS)
    if loops and bounds is not None:
        raise ValueError(f"The method {method} takes no bounds; SciPy's L-BFGS-B does")
    if has_constraints and method not in WITH_CONSTRAINTS:
        raise ValueError(
            f"The method {method} takes no constraints; SciPy's {', '.join(WITH_CONSTRAINTS)} do"
        )
    problem = problem_of(objective, x, args, _WHO, vector=True)
    cost = problem.expression
    if cost.type.ndim:
        raise TypeError(f"minimize needs a scalar as its objective, got {describe(cost)}")
    limits = constraints_of(constraints, problem, x, args, _WHO) if has_constraints else []
    ends = None if bounds is None else ends_of_bounds(bounds, _WHO)
    gradient = grad(cost, problem.x)
    equation: Any = gradient
    if limits:
        bounded = [] if ends is None else parts_between(problem.x, *ends)
        equation = constrained_residual(problem.x, gradient, [*limits, *bounded])
    elif ends is not None:
        low, high = (v.astype(problem.x.dtype) for v in ends)
        equation = bounded_residual(problem.x, gradient, low, high)
    region = region_of([cost, *(value for _, value in limits)], problem.x, "objective")
    slope = region_of([gradient], problem.x, "gradient of the objective")
    residual = region_of([equation], problem.x, "gradient of the objective")
    name = f"minimize_{method}"
    if loops:
        settings = options_of(f"The method {method}", options, METHODS[method], gtol=tol)
        solve = _SOLVERS[method]
    else:
        arguments = {"method": method, "tol": tol, "options": options, "jac": jac}
        arguments["bounds"] = (
            {"lb": ends[0], "ub": ends[1]} if ends and has_ends(bounds) else bounds
        )
        arguments["kinds"] = [kind for kind, _ in limits] or None
        order = 0 if method in WITHOUT_GRADIENT else 2 if method in WITH_HESSIAN else 1
        solve, settings = call_scipy(region, "minimize", order, arguments), {}
    results = apply_method(
        region, residual, solve, [problem.start], settings, name, scipy=not loops
    )
    value, *vectors = region.graph.bind([results.x, *region.parameters])
    others: dict[str, Any] = {"fun": value, "jac": slope.function(slope.parameters)(results.x)}
    if limits:
        kinds = [kind for kind, _ in limits]
        others["maxcv"] = largest_violation(results.x, zip(kinds, vectors, strict=True), ends)
    return result_of(_WHO, problem.tree(results.x), _with_inverse(results), **others)


def _with_inverse(results: Found) -> Found:
    """The results with the inverse Hessian that follows from steps."""
    steps = dict(results.others)
    if "sk" not in steps:
        return results
    inverse = InverseHessian(steps.pop("sk"), steps.pop("yk"))
    return results._replace(others={**steps, "hess_inv": inverse})
