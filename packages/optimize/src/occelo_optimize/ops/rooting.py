"""`root`: a root of a system of equations, with the names of `scipy.optimize.root`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from occelo_graph.errors import describe
from occelo_graph.ops.elemwise.arithmetic import eq, switch
from occelo_graph.ops.shape.reshaping import ravel
from occelo_optimize.ops.applying import apply_method, is_loop, options_of
from occelo_optimize.ops.methods import systems
from occelo_optimize.ops.regions import problem_of, region_of
from occelo_optimize.ops.results import OptimizeResult, result_of
from occelo_optimize.ops.scipy_calls import ROOTS, WITH_JACOBIAN, call_scipy

__all__ = ["root"]

METHODS = {
    "newton": {"xtol": 1.49012e-8, "maxiter": 100},
    "lm": {"xtol": 1.49012e-8, "ftol": 1.49012e-8, "gtol": 0.0, "maxiter": 400},
}
"""The options of each method, with SciPy's defaults."""
_WHO = "root"


def root(
    equations: Any,
    variables: Any,
    *,
    args: Sequence[Any] = (),
    method: str = "newton",
    tol: Any = None,
    options: Mapping[str, Any] | None = None,
    using: str | None = None,
    jac: bool = True,
    use_vectorized_jac: bool = False,
    optimizer_kwargs: Mapping[str, Any] | None = None,
) -> OptimizeResult:
    """A root of a system: values of ``variables`` at which all ``equations`` are 0.

    - ``equations``: a real tensor with as many elements as the variables, an expression of them. Or a Python function of
      a tree of tensors like ``variables`` and of ``args``.
    - ``variables``: a tensor of floats in the equations, or a tree of such tensors. Their values are where the search
      starts. For a Python function they are the start itself.
    - ``method``: "newton", with shorter steps where full ones do not help, or "lm", the method of Levenberg and Marquardt.
      The Jacobian is that of the expression. Or one of SciPy's methods, such as "hybr": see ``using``.
    - ``tol``: the search ends where a step is at most ``tol (1 + |x|)``. The default is SciPy's, 1.49e-8.
    - ``options``: ``maxiter``, and ``xtol`` in place of ``tol``; for "lm" also ``ftol`` and ``gtol``. For SciPy's
      methods they are SciPy's.
    - ``using``: "loops" for the methods above, or "scipy" for SciPy's method of this name, which calls one compiled function of
      value and Jacobian. By default it is "loops" where there is such a method.
    - ``jac``: whether SciPy's "hybr" and "lm" get the Jacobian, or take differences.
    - ``use_vectorized_jac``: accepted for PyTensor's sake; it has no effect.
    - ``optimizer_kwargs``: a mapping of arguments of this function, such as ``tol`` and ``options``, as in PyTensor.

    Returns a pair of the root, a tree like ``variables``, and whether it was found, with the attributes of `OptimizeResult`.
    The root has derivatives with respect to everything that the equations read, by the implicit function theorem.

    TypeError for variables that are no tensors of floats. ValueError for equations that do not depend on them, or that are
    more or fewer, and for an unknown method.
    """
    del use_vectorized_jac
    if optimizer_kwargs:
        arguments: dict[str, Any] = {"tol": tol, "options": options, **optimizer_kwargs}
        return root(
            equations, variables, args=args, method=method, using=using, jac=jac, **arguments
        )
    method, loops = is_loop(_WHO, method, using, METHODS, ROOTS)
    problem = problem_of(equations, variables, args, _WHO, vector=True)
    expression = ravel(problem.expression)
    lengths = expression.type.shape[0], problem.x.type.shape[0]
    if None not in lengths and lengths[0] != lengths[1]:
        raise ValueError(
            f"root needs as many equations as variables, got {lengths[0]} for {lengths[1]}: "
            f"{describe(problem.expression)}"
        )
    region = region_of([expression], problem.x, "system of equations")
    if loops:
        settings = options_of(f"The method {method}", options, METHODS[method], xtol=tol)
        solve = systems.newton if method == "newton" else systems.levenberg_marquardt
    else:
        arguments = {"method": method, "tol": tol, "options": options, "jac": jac}
        solve, settings = call_scipy(region, "root", int(method in WITH_JACOBIAN), arguments), {}
    results = apply_method(
        region, region, solve, [problem.start], settings, f"root_{method}", scipy=not loops
    )
    value = region.function(region.parameters)(results.x)
    if loops:  # the numbers of SciPy's "hybr"
        ended = switch(eq(results.status, 2), np.int64(5), np.int64(2))
        results = results._replace(status=switch(results.success, np.int64(1), ended))
    return result_of(_WHO, problem.tree(results.x), results, fun=value)
