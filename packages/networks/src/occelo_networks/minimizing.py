"""`minimize`: SciPy's minimizers for a cost and a tree of variables, with its derivatives."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np

import occelo_compile as oc
import occelo_graph as og
from occelo_arrays.ops.raveling import ravel
from occelo_graph import tensor as ot
from occelo_graph.errors import describe, explained_by
from occelo_graph.ir import trees
from occelo_graph.ir.nodes import Variable
from occelo_graph.ir.shared import SharedVariable
from occelo_graph.narrowing import is_dict

WITH_HESSIAN = ("dogleg", "trust-exact")
"""Methods that need the Hessian."""
WITH_PRODUCTS = ("newton-cg", "trust-ncg", "trust-krylov", "trust-constr")
"""Methods that need products of the Hessian with vectors, or take them."""
WITHOUT_GRADIENT = ("nelder-mead", "powell", "cobyla", "cobyqa")


@explained_by("arguments")
def minimize(
    cost: Any,
    params: Any,
    start: Any = None,
    *,
    given: Mapping[Any, Any] | None = None,
    method: str = "L-BFGS-B",
    mode: Any = None,
    **options: Any,
) -> Any:
    """Minimize a scalar ``cost`` over the variables in the tree ``params``, by ``scipy.optimize.minimize``.

    The cost and its gradient are compiled once, as one function of one vector. For methods that use them, so are the
    Hessian or its products with vectors.

    - ``start``: a tree of values like ``params``, from which the search starts. By default the values of ``params``,
      which then must be shared variables. Without ``start``, ``params`` may be a dict from variables to values.
    - ``given``: a mapping from the other variables of the cost to their values.
    - ``method``, ``options``: as in SciPy, such as ``tol=``, ``bounds=`` or ``options={"maxiter": 100}``. The default
      method is L-BFGS-B, also by the names "lbfgs" and "l-bfgs".
    - ``mode``: as in `function`.

    Returns SciPy's result. Its additional attribute ``params`` is the tree of the values that were found. Shared variables
    in ``params`` have these values afterwards.

    TypeError if the cost is not a real scalar, if a leaf of ``params`` is not a variable, or if there is no start.
    `MissingInputError` if the cost depends on a variable without a value.
    """
    optimize: Any = importlib.import_module("scipy.optimize")  # slow to import
    method = "L-BFGS-B" if method.lower() in ("lbfgs", "l-bfgs") else method
    if start is None and is_dict(params) and any(isinstance(k, Variable) for k in params):
        given_start: dict[Any, Any] = params
        result: Any = minimize(
            cost,
            list(given_start),
            list(given_start.values()),
            given=given,
            method=method,
            mode=mode,
            **options,
        )
        result.params = dict(zip(given_start, result.params, strict=True))
        return result
    variables, structure = trees.flatten(params, "params")
    for path, each in zip(structure.paths("params"), variables, strict=True):
        if not isinstance(each, Variable):
            raise TypeError(f"Costs are minimized over variables, and {path} is {each!r}")
        if start is None and not isinstance(each, SharedVariable):
            raise TypeError(f"The search needs a start, since {path} is no shared variable")
    if isinstance(cost, Variable) and getattr(cost.type, "ndim", 0):
        raise TypeError(f"The cost must be a scalar, but {cost} of type {cost.type} is not")
    if start is None:
        values = [each.get_value() for each in variables]
    else:
        leaves = structure.leaves_of(start, "start")
        values = [
            each.type.filter(v, allow_downcast=True)
            for each, v in zip(variables, leaves, strict=True)
        ]
    first, unravel = ravel(structure.unflatten(values))
    first = np.asarray(first, "float64")
    theta = ot.dvector("theta")
    pieces = trees.leaves(unravel(theta))
    replaced = {**dict(zip(variables, pieces, strict=True)), **_constants(given or {})}
    value = og.graph_replace(cost, replaced, strict=False)
    for root in og.explicit_graph_inputs([value]):
        if root is not theta:
            raise og.MissingInputError(
                f"The cost depends on {describe(root)}: give its value by given="
            )
    with_gradient = method.lower() not in WITHOUT_GRADIENT
    function = oc.function(
        [theta], (value, og.grad(value, theta)) if with_gradient else value, mode
    )
    derivatives: dict[str, Any] = {"jac": True} if with_gradient else {}
    if method.lower() in WITH_HESSIAN:
        derivatives["hess"] = oc.function([theta], og.hessian(value, theta), mode)
    elif method.lower() in WITH_PRODUCTS:
        v = ot.dvector("v")
        product = og.hessian_vector_product(value, theta, v)
        derivatives["hessp"] = oc.function([theta, v], product, mode, on_unused_input="ignore")
    result = optimize.minimize(function, first, method=method, **{**derivatives, **options})
    result.params = unravel(np.asarray(result.x))
    for each, leaf in zip(variables, trees.leaves(result.params), strict=True):
        if isinstance(each, SharedVariable):
            each.set_value(leaf)
    return result


def _constants(values: Mapping[Any, Any]) -> dict[Any, Any]:
    """The variables in ``values``, and their values as constants."""
    return {
        v: v.type.make_constant(v.type.filter(value, allow_downcast=True))
        for v, value in values.items()
    }
