"""`root_scalar`: a root of a function of one number, with the names of `scipy.optimize.root_scalar`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from occelo_graph.errors import describe
from occelo_graph.ops.elemwise.arithmetic import switch
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_optimize.ops.applying import apply_method, is_loop, options_of
from occelo_optimize.ops.methods import scalar_roots
from occelo_optimize.ops.methods.iterating import Found
from occelo_optimize.ops.regions import Problem, Region, problem_of, region_of
from occelo_optimize.ops.results import OptimizeResult, result_of
from occelo_optimize.ops.scipy_calls import SCALAR_ROOTS, call_scipy

__all__ = ["root_scalar"]

_OPEN = {"xtol": 1.48e-8, "rtol": 0.0, "maxiter": 50}
_CLOSED = {"xtol": 2e-12, "rtol": 8.881784197001252e-16, "maxiter": 100}
METHODS = {
    "newton": _OPEN,
    "halley": _OPEN,
    "secant": _OPEN,
    "bisect": _CLOSED,
    "brentq": _CLOSED,
}
"""The options of each method, with SciPy's defaults."""
_WHO = "root_scalar"


def root_scalar(
    equation: Any,
    variable: Any = None,
    *,
    args: Sequence[Any] = (),
    method: str | None = None,
    bracket: Any = None,
    x0: Any = None,
    x1: Any = None,
    xtol: Any = None,
    rtol: Any = None,
    maxiter: Any = None,
    options: Mapping[str, Any] | None = None,
    using: str | None = None,
    jac: bool = False,
    hess: bool = False,
    optimizer_kwargs: Mapping[str, Any] | None = None,
) -> OptimizeResult:
    """A root of a function of one number: a value of ``variable`` at which ``equation`` is 0.

    - ``equation``: a real scalar, an expression of ``variable``. Or a Python function of a scalar and of ``args``.
    - ``variable``: a scalar of floats in the equation. Its value is where methods without a bracket start. For a Python
      function it is the start itself. SciPy's name ``x0`` is accepted for it.
    - ``method``: "newton", "halley" or "secant", which need a start, or "bisect" or "brentq", which need a ``bracket``.
      The default is "brentq" with a bracket, else "newton". Derivatives are those of the expression.
      SciPy's methods are there, too: see ``using``.
    - ``bracket``: two numbers, at which the equation has different signs.
    - ``x1``: the second point of "secant". The default is near the start, as in SciPy.
    - ``xtol``, ``rtol``, ``maxiter``: the search ends where a step, or the bracket, is at most ``xtol + rtol |x|``, or after
      ``maxiter`` iterations. The defaults are SciPy's, for the methods with a start 1.48e-8, 0 and 50, for those with a
      bracket 2e-12, 8.9e-16 and 100. They may also stand in ``options``.
    - ``using``: "loops" for the methods above, or "scipy" for SciPy's method of this name, such as "toms748", which calls one
      compiled function of value and derivatives. By default it is "loops" where there is such a method.
    - ``jac``, ``hess``: accepted for PyTensor's sake; the derivatives that a method needs are there.
    - ``optimizer_kwargs``: a mapping of arguments of this function, such as ``xtol``, as in PyTensor.

    Returns a pair of the root, of the dtype of the variable, and whether it was found, with the attributes of `OptimizeResult`.
    The root has derivatives with respect to everything that the equation reads, by the implicit function theorem.

    TypeError for a variable that is no scalar of floats, ValueError for an equation that does not depend on it, or for an
    unknown method. ValueError at run time if the equation has the same sign at both ends of the bracket.
    """
    del jac, hess
    if optimizer_kwargs:
        arguments = {"bracket": bracket, "x0": x0, "x1": x1, "xtol": xtol, "rtol": rtol}
        arguments |= {"maxiter": maxiter, "options": options, **optimizer_kwargs}
        return root_scalar(equation, variable, args=args, method=method, using=using, **arguments)
    if method is None:
        method = "newton" if bracket is None else "brentq"
    method, loops = is_loop(_WHO, method, using, METHODS, SCALAR_ROOTS)
    ends = None if bracket is None else _ends(bracket, _WHO)
    if variable is None:
        variable = x0 if x0 is not None else ends[0] if ends is not None else None
        if variable is None:
            raise TypeError("root_scalar needs a variable, or a bracket")
    problem = problem_of(equation, variable, args, _WHO)
    for each, what in ((problem.x, "variable"), (problem.expression, "equation")):
        if each.type.ndim:
            raise TypeError(f"root_scalar needs a scalar as its {what}, got {describe(each)}")
    region = region_of([problem.expression], problem.x, "equation")
    named = {"xtol": xtol, "rtol": rtol, "maxiter": maxiter}
    start = problem.start
    if not loops:
        arguments = {"method": method, "bracket": bracket, "x1": x1, **named, "options": options}
        call = call_scipy(region, _WHO, {"newton": 1, "halley": 2}.get(method, 0), arguments)
        results = apply_method(region, region, call, [start], {}, f"root_{method}", scipy=True)
        return _result(problem, region, results)
    settings = options_of(f"The method {method}", options, METHODS[method], **named)
    solve: Any = getattr(scalar_roots, method, scalar_roots.newton)
    if METHODS[method] is _CLOSED:
        if ends is None:
            raise ValueError(f"The method {method} needs a bracket of two numbers")
        starts = [e.astype(start.dtype) for e in ends]
    elif method == "secant":
        near = start * (1 + 1e-4) + switch(start >= 0.0, 1e-4, -1e-4)
        second = near if x1 is None else as_tensor_variable(x1)
        starts = [start, second.astype(start.dtype)]
    else:
        starts = [start]
        settings["order"] = 2 if method == "halley" else 1
    results = apply_method(region, region, solve, starts, settings, f"root_{method}")
    calls = results.nfev + settings.get("order", 1) * results.njev
    results = results._replace(others={"function_calls": calls})
    return _result(problem, region, results)


def _result(problem: Problem, region: Region, results: Found) -> OptimizeResult:
    value = region.function(region.parameters)(results.x)
    return result_of(_WHO, problem.tree(results.x), results, fun=value)


def _ends(bracket: Any, who: str) -> list[Any]:
    """The two ends of a bracket or of an interval."""
    variable = as_tensor_variable(bracket)
    if variable.type.ndim != 1 or variable.type.shape[0] not in (None, 2):
        raise ValueError(f"{who} needs two numbers (a, b) as its bracket, got {describe(variable)}")
    if variable.type.numpy_dtype.kind not in "fiu":
        raise TypeError(f"{who} needs real numbers as its bracket, got {describe(variable)}")
    if variable.type.numpy_dtype.kind != "f":
        variable = variable.astype("float64")
    return [variable[0], variable[1]]
