"""`minimize_scalar`: a minimum of a function of one number, with the names of `scipy.optimize.minimize_scalar`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from occelo_graph.errors import describe
from occelo_graph.gradient.reverse import grad
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.elemwise.arithmetic import switch
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_optimize.ops.applying import apply_method, is_loop, options_of
from occelo_optimize.ops.limits import bounded_residual
from occelo_optimize.ops.methods.iterating import Found
from occelo_optimize.ops.methods.scalar_minima import (
    GOLDEN,
    bracket_of,
    brent,
    golden,
    ordered,
)
from occelo_optimize.ops.regions import Problem, Region, problem_of, region_of
from occelo_optimize.ops.results import OptimizeResult, result_of
from occelo_optimize.ops.scipy_calls import SCALAR_MINIMIZERS, call_scipy

__all__ = ["minimize_scalar"]

METHODS = {
    "brent": {"xtol": 1.48e-8, "maxiter": 500},
    "bounded": {"xatol": 1e-5, "maxiter": 500},
    "golden": {"xtol": 1.4901161193847656e-08, "maxiter": 5000},
}
"""The options of each method, with SciPy's defaults."""
_WHO = "minimize_scalar"


def minimize_scalar(
    objective: Any,
    x: Any = None,
    *,
    args: Sequence[Any] = (),
    method: str | None = None,
    bracket: Any = None,
    bounds: Any = None,
    tol: Any = None,
    options: Mapping[str, Any] | None = None,
    using: str | None = None,
    optimizer_kwargs: Mapping[str, Any] | None = None,
) -> OptimizeResult:
    """A minimum of a function of one number: a value of ``x`` at which ``objective`` is smaller than at others near it.

    - ``objective``: a real scalar, an expression of ``x``. Or a Python function of a scalar and of ``args``.
    - ``x``: a scalar of floats in the objective. For a Python function it may be left out.
    - ``method``: "brent", "golden" or "bounded". The default is "bounded" with ``bounds``, else "brent".
    - ``bracket``: two numbers, from which a search goes downhill until it has a bracket, or three numbers (a, b, c) with
      a < b < c and the objective at b below those at a and c. The default is (x, x + 1), with x = 0 if there is none.
      (SciPy has no start, and begins at 0.)
    - ``bounds``: the interval for "bounded". A solution at a bound has the derivatives of this bound.
    - ``tol``: the relative accuracy; for "bounded" the absolute one. The default is SciPy's, 1.48e-8 and 1e-5.
    - ``options``: ``maxiter``, and ``xtol`` or ``xatol`` in place of ``tol``.
    - ``using``: "loops", or "scipy" for SciPy's method of this name, which calls one compiled function. The default is "loops".
    - ``optimizer_kwargs``: a mapping of arguments of this function, such as ``tol``, as in PyTensor.

    Returns a pair of the solution, of the dtype of ``x``, and whether it was found, with the attributes of `OptimizeResult`.
    The solution has derivatives with respect to everything that the objective reads, by the implicit function theorem,
    and needs second derivatives for them.

    TypeError for an ``x`` that is no scalar of floats, ValueError for an objective that does not depend on it, or for an
    unknown method. ValueError at run time for three numbers that are no bracket, or for bounds in the wrong order.
    """
    if optimizer_kwargs:
        arguments = {"bracket": bracket, "bounds": bounds, "tol": tol, "options": options}
        arguments |= optimizer_kwargs
        return minimize_scalar(objective, x, args=args, method=method, using=using, **arguments)
    if method is None:
        method = "brent" if bounds is None else "bounded"
    method, loops = is_loop(_WHO, method, using, METHODS, SCALAR_MINIMIZERS)
    if method == "bounded" and bounds is None:
        raise ValueError("The method bounded needs bounds, an interval (a, b)")
    if method != "bounded" and bounds is not None:
        raise ValueError(
            f"The method {method} takes a bracket, and no bounds; 'bounded' takes them"
        )
    problem = problem_of(objective, 0.0 if x is None else x, args, _WHO)
    for each, what in ((problem.x, "variable"), (problem.expression, "objective")):
        if each.type.ndim:
            raise TypeError(f"minimize_scalar needs a scalar as its {what}, got {describe(each)}")
    region = region_of([problem.expression], problem.x, "objective")
    equation: Any = grad(problem.expression, problem.x)
    if bounds is not None:
        equation = bounded_residual(problem.x, equation, *_points(problem.start, None, bounds))
    slope = region_of([equation], problem.x, "derivative of the objective")
    name = f"minimize_{method}"
    if not loops:
        arguments = {
            "method": method,
            "bracket": bracket,
            "bounds": bounds,
            "tol": tol,
            "options": options,
        }
        call = call_scipy(region, _WHO, 0, arguments)
        results = apply_method(region, slope, call, [problem.start], {}, name, scipy=True)
        return _result(problem, region, results)
    key = "xatol" if method == "bounded" else "xtol"
    settings = options_of(f"The method {method}", options, METHODS[method], **{key: tol})
    starts = _points(problem.start, bracket, bounds)
    solve: Any = {"brent": _brent, "golden": _golden, "bounded": _bounded}[method]
    results = apply_method(region, slope, solve, starts, settings, name)
    return _result(problem, region, results)


def _result(problem: Problem, region: Region, results: Found) -> OptimizeResult:
    value = region.function(region.parameters)(results.x)
    return result_of(_WHO, problem.tree(results.x), results, fun=value)


def _points(start: Any, bracket: Any, bounds: Any) -> list[Any]:
    """The points that a method starts with, of the dtype of ``start``."""
    if bracket is None and bounds is None:
        return [start, start + 1.0]
    what, count = ("bracket", (2, 3)) if bounds is None else ("bounds", (2,))
    points = as_tensor_variable(bracket if bounds is None else bounds)
    length = points.type.shape[0] if points.type.ndim == 1 else None
    if length is None or length not in count:
        numbers = " or ".join(map(str, count))
        raise ValueError(
            f"minimize_scalar needs {numbers} numbers as its {what}, got {describe(points)}"
        )
    return [points[i].astype(start.dtype) for i in range(length)]


def _triple(f: Any, points: Sequence[Any]) -> tuple[Any, Any, Any, Any, Any]:
    """A bracket (low, x, high) from two or three points, whether it is one, and at how many points ``f`` was computed."""
    nfev: Any = np.int64(3)
    if len(points) == 2:
        a, b, c, fits, nfev = bracket_of(f, *points)
    else:
        a, b, c = points
        fb = f(b)
        good = (fb < f(a)) & (fb < f(c)) & (((a < b) & (b < c)) | ((c < b) & (b < a)))
        check = CheckAndRaise(
            ValueError,
            "minimize_scalar: three numbers (a, b, c) with a < b < c and f(b) < f(a), f(b) < f(c)",
        )
        b, fits = check(b, good), good
    low, high = ordered(a, c)
    return low, b, high, fits, nfev


def _in_bracket(result: Found, fits: Any, nfev: Any) -> Found:
    """The result of a search in a bracket that perhaps was none, after ``nfev`` points."""
    status = switch(fits, result.status, np.int64(2))
    return result._replace(success=result.success & fits, nfev=result.nfev + nfev, status=status)


def _brent(f: Any, *points: Any, xtol: Any, maxiter: Any) -> Found:
    low, x, high, fits, nfev = _triple(f, points)
    result = brent(f, low, x, high, xtol=1e-11, rtol=xtol, maxiter=maxiter)
    return _in_bracket(result, fits, nfev)


def _golden(f: Any, *points: Any, xtol: Any, maxiter: Any) -> Found:
    low, x, high, fits, nfev = _triple(f, points)
    result = golden(f, low, x, high, xtol=xtol, maxiter=maxiter)
    return _in_bracket(result, fits, nfev)


def _bounded(f: Any, low: Any, high: Any, *, xatol: Any, maxiter: Any) -> Found:
    check = CheckAndRaise(ValueError, "minimize_scalar: the lower bound exceeds the upper bound")
    low = check(low, low <= high)
    start = low + GOLDEN * (high - low)
    return brent(
        f, low, start, high, xtol=xatol / 3.0, rtol=1.4901161193847656e-08, maxiter=maxiter
    )
