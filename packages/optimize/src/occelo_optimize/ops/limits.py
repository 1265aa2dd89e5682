"""Bounds and constraints of a minimum: as a user writes them, and as equations that the minimum solves.

Where a bound is active, the minimum moves with the bound, and not with the gradient. So its derivatives are those of the
equations of the active set, by the implicit function theorem.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from occelo_graph.errors import describe
from occelo_graph.gradient.jacobians import jacobian
from occelo_graph.ir import trees
from occelo_graph.ir.clone import rebuilt
from occelo_graph.ir.nodes import Variable
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.elemwise.arithmetic import maximum, minimum
from occelo_graph.ops.index.search import diag
from occelo_graph.ops.join import concatenate
from occelo_graph.ops.shape.reshaping import ravel
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_linalg.ops.equations.solve import solve
from occelo_optimize.ops.regions import Problem

ACTIVE = 1e-5
"""An inequality is active if its value is at most so large."""


def bounded_residual(x: Any, slope: Any, low: Any, high: Any) -> Any:
    """What is 0 at a minimum in an interval: the slope, or, where a step against it leaves the interval, x minus the bound."""
    return x - maximum(minimum(x - slope, high), low)


def pairs_of_bounds(bounds: Any, who: str) -> tuple[Any, Any]:
    """The lower and the upper bounds of a list of pairs, with infinity in place of None. ValueError for other things."""
    try:
        pairs: Any = [(a, b) for a, b in bounds]
        low = np.array([-np.inf if a is None else float(a) for a, _ in pairs])
        high = np.array([np.inf if b is None else float(b) for _, b in pairs])
    except (TypeError, ValueError):
        raise ValueError(
            f"{who} needs a pair of numbers or None for each element as its bounds, got {bounds!r}"
        ) from None
    return low, high


def constraints_of(
    constraints: Any, problem: Problem, start: Any, args: Sequence[Any], who: str
) -> list[tuple[str, Any]]:
    """The kinds, "eq" or "ineq", and the vectors of constraints, as expressions of the variable of ``problem``."""
    listed: Any = constraints if is_list_or_tuple(constraints) else [constraints]
    own = problem.tree(problem.x)
    vectors: list[tuple[str, Any]] = []
    for each in listed:
        if not isinstance(each, dict) or not {"type", "fun"} <= cast("Any", each).keys():
            raise TypeError(
                f"{who} needs dicts of 'type' and 'fun' as its constraints, got {each!r}"
            )
        constraint = cast("dict[str, Any]", each)
        kind, fun = constraint["type"], constraint["fun"]
        if kind not in ("eq", "ineq"):
            raise ValueError(f"{who} has the constraints 'eq' and 'ineq', and no {kind!r}")
        if isinstance(fun, Variable):
            pairs = list(zip(trees.leaves(start), trees.leaves(own), strict=True))
            (value,) = rebuilt([fun], [(a, b) for a, b in pairs if a is not b])
        else:
            value = fun(own, *constraint.get("args", args))
        value = as_tensor_variable(value)
        if value.type.numpy_dtype.kind != "f":
            raise TypeError(f"{who} needs floats as its constraints, got {describe(value)}")
        vectors.append((kind, ravel(value).astype(problem.x.dtype)))
    return vectors


def constrained_residual(
    x: Any, slope: Any, constraints: Sequence[tuple[str, Any]], bounds: tuple[Any, Any] | None
) -> Any:
    """What is 0 at a minimum with constraints: the slope along the active ones, and these themselves.

    Multipliers are those of the least squares of the slope. They are unique if gradients of active constraints are independent.
    """
    values = [value for _, value in constraints]
    always = [value * 0.0 + float(kind == "eq") for kind, value in constraints]
    if bounds is not None:
        for sign, ends in ((1.0, bounds[0]), (-1.0, bounds[1])):
            chosen = np.flatnonzero(np.isfinite(ends))
            if chosen.size:
                values.append(sign * (x[chosen] - ends[chosen].astype(x.dtype)))
                always.append(np.zeros(chosen.size, x.dtype))
    value = concatenate(values)
    active = ((concatenate(always) > 0.0) | (value <= ACTIVE)).astype(x.dtype)
    rows = jacobian(value, x, disconnected_inputs="ignore") * active[:, None]
    multipliers = solve(rows @ rows.T + diag(1.0 - active), rows @ slope)
    return slope + rows.T @ (value * active - multipliers)
