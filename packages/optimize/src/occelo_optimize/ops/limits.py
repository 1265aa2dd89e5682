"""Bounds and constraints of a minimum: as a user writes them, and as equations that the minimum solves.

Where a bound is active, the minimum moves with the bound, and not with the gradient. So its derivatives are those of the
equations of the active set, by the implicit function theorem.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np

from occelo_graph.errors import describe
from occelo_graph.gradient.jacobians import jacobian
from occelo_graph.ir import trees
from occelo_graph.ir.clone import rebuilt
from occelo_graph.ir.nodes import Variable
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops import reduce
from occelo_graph.ops.elemwise.arithmetic import abs, maximum, minimum, switch
from occelo_graph.ops.index.search import diag
from occelo_graph.ops.join import concatenate
from occelo_graph.ops.shape.asserting import specify_shape
from occelo_graph.ops.shape.reshaping import ravel
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_linalg.ops.equations.solve import solve
from occelo_optimize.ops.methods.systems import largest
from occelo_optimize.ops.regions import Problem

ACTIVE = 1e-5
"""An inequality is active if its value is at most so large."""


def bounded_residual(x: Any, slope: Any, low: Any, high: Any) -> Any:
    """What is 0 at a minimum in an interval: the slope, or, where a step against it leaves the interval, x minus the bound."""
    return x - maximum(minimum(x - slope, high), low)


def ends_of_bounds(bounds: Any, who: str) -> tuple[Any, Any]:
    """The lower and the upper ends of a list of pairs, with infinity in place of None, or of SciPy's ``Bounds``.

    They have one element for each of the solution, or one for all. ValueError for other things.
    """
    try:
        if has_ends(bounds):
            return between_ends(bounds)
        pairs: Any = [(a, b) for a, b in bounds]
        low = np.array([-np.inf if a is None else float(a) for a, _ in pairs])
        high = np.array([np.inf if b is None else float(b) for _, b in pairs])
    except (TypeError, ValueError):
        raise ValueError(
            f"{who} needs a pair of numbers or None for each element as its bounds, got {bounds!r}"
        ) from None
    return low, high


def has_ends(limits: Any) -> bool:
    """Whether an object is one of SciPy's ``Bounds``, ``LinearConstraint`` and ``NonlinearConstraint``, which is not imported for that."""
    return hasattr(limits, "lb") and hasattr(limits, "ub")


def between_ends(limits: Any) -> tuple[Any, Any]:
    """The lower and the upper ends of an object of SciPy, as vectors of one length. ValueError for other shapes."""
    low, high = np.broadcast_arrays(*(np.asarray(v, float) for v in (limits.lb, limits.ub)))
    if low.ndim > 1:
        raise ValueError(
            f"Bounds and constraints have vectors as their ends, got {low.ndim}-d arrays"
        )
    return np.atleast_1d(low), np.atleast_1d(high)


def parts_between(value: Any, low: Any, high: Any) -> list[tuple[str, Any]]:
    """The kinds and vectors of constraints that say that a vector is between two ends: equations where these are the same.

    The ends have one element for each of the vector, or one for all.
    """
    if low.size != 1:
        value = specify_shape(value, low.shape)
    same = low == high
    parts: list[tuple[str, Any]] = []
    for kind, sign, ends, chosen in (
        ("eq", 1.0, low, same),
        ("ineq", 1.0, low, np.isfinite(low) & ~same),
        ("ineq", -1.0, high, np.isfinite(high) & ~same),
    ):
        rows = np.flatnonzero(chosen)
        if rows.size:
            own = value if low.size == 1 else value[rows]
            parts.append((kind, sign * (own - ends[rows].astype(value.dtype))))
    return parts


def constraints_of(
    constraints: Any, problem: Problem, start: Any, args: Sequence[Any], who: str
) -> list[tuple[str, Any]]:
    """The kinds, "eq" or "ineq", and the vectors of constraints, as expressions of the variable of ``problem``."""
    listed: Any = constraints if is_list_or_tuple(constraints) else [constraints]
    own = problem.tree(problem.x)
    vectors: list[tuple[str, Any]] = []
    for each in listed:
        if has_ends(each) and (hasattr(each, "fun") or hasattr(each, "A")):
            value = each.fun(own) if hasattr(each, "fun") else _rows(each.A) @ problem.x
            vectors += parts_between(_vector(value, problem.x, who), *between_ends(each))
            continue
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
        vectors.append((kind, _vector(value, problem.x, who)))
    return vectors


def _rows(matrix: Any) -> Any:
    """The matrix of SciPy's ``LinearConstraint``, which may be sparse, or the only row."""
    return np.atleast_2d(
        matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix, float)
    )


def _vector(value: Any, x: Any, who: str) -> Any:
    value = as_tensor_variable(value)
    if value.type.numpy_dtype.kind != "f":
        raise TypeError(f"{who} needs floats as its constraints, got {describe(value)}")
    return ravel(value).astype(x.dtype)


def largest_violation(x: Any, constraints: Iterable[tuple[str, Any]], ends: Any) -> Any:
    """How far the worst of the constraints is from being kept, also of the bounds ``ends`` or None; 0 if all are kept."""
    worst: Any = [abs(v) if kind == "eq" else -v for kind, v in constraints]
    if ends is not None:
        low, high = (v.astype(x.dtype) for v in ends)
        worst += [low - x, x - high]
    return reduce.max(concatenate(worst), initial=0.0)


def active_sides(x: Any, low: Any, high: Any, rtol: Any) -> Any:
    """For each element -1 at its lower bound, 1 at its upper one and else 0, as SciPy's `least_squares` finds them."""
    to_low, to_high = x - low, high - x
    near_low = minimum(to_high, rtol * maximum(1.0, abs(low)))
    near_high = minimum(to_low, rtol * maximum(1.0, abs(high)))
    at_low = np.isfinite(low) & (to_low <= (near_low if rtol else 0.0))
    at_high = np.isfinite(high) & (to_high <= (near_high if rtol else 0.0))
    return switch(at_high, np.int64(1), switch(at_low, np.int64(-1), np.int64(0)))


def optimality_between(x: Any, slope: Any, low: Any, high: Any, *, exact: bool) -> Any:
    """The largest derivative where a step against it stays in the interval.

    If not ``exact``, it is multiplied by the distance to the bound ahead, if that is finite, as Coleman and Li do and SciPy's "trf".
    """
    if exact:
        stuck = ((x <= low) & (slope > 0.0)) | ((x >= high) & (slope < 0.0))
        return largest(switch(stuck, 0.0, slope))
    up, down = (slope < 0.0) & np.isfinite(high), (slope > 0.0) & np.isfinite(low)
    return largest(slope * switch(up, high - x, switch(down, x - low, 1.0)))


def constrained_residual(x: Any, slope: Any, constraints: Sequence[tuple[str, Any]]) -> Any:
    """What is 0 at a minimum with constraints: the slope along the active ones, and these themselves.

    Multipliers are those of the least squares of the slope. They are unique if gradients of active constraints are independent.
    """
    value = concatenate([value for _, value in constraints])
    always = concatenate([value * 0.0 + float(kind == "eq") for kind, value in constraints])
    active = ((always > 0.0) | (value <= ACTIVE)).astype(x.dtype)
    rows = jacobian(value, x, disconnected_inputs="ignore") * active[:, None]
    multipliers = solve(rows @ rows.T + diag(1.0 - active), rows @ slope)
    return slope + rows.T @ (value * active - multipliers)
