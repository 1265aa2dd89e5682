"""Conversions of minima and roots: the functions of `occelo.optimize`, with its loops where it has the method.

PyTensor's ops call SciPy, which calls a compiled function at each step. Here "BFGS", "brent", "golden", "bounded", "newton",
"halley", "secant", "bisect", "brentq" and "lm" are loops of the graph; other methods call SciPy, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytensor.tensor.optimize import MinimizeOp, MinimizeScalarOp, RootOp, RootScalarOp

import occelo as oc
from occelo_graph import Constant
from occelo_pytensor.conversion import Unconvertible, convert_inner
from occelo_pytensor.registry import register_conversion

_OPTIONS: dict[type, tuple[str, ...]] = {
    MinimizeOp: ("tol", "options", "bounds"),
    MinimizeScalarOp: ("tol", "options"),
    RootOp: ("tol", "options"),
    RootScalarOp: ("x1", "xtol", "rtol", "maxiter", "options"),
}
"""Arguments of SciPy's functions that have the same meaning here. Callbacks and constraints are code on arrays."""


@register_conversion(MinimizeOp)
def _minimize(node: Any, start: Any, *parameters: Any) -> Any:
    def solved(function: Any, **options: Any) -> Any:
        return oc.optimize.minimize(function, start, jac=node.op.jac, **options)

    return _solved(node, parameters, solved)


@register_conversion(RootOp)
def _root(node: Any, start: Any, *parameters: Any) -> Any:
    def solved(function: Any, **options: Any) -> Any:
        return oc.optimize.root(function, start, jac=node.op.jac, **options)

    return _solved(node, parameters, solved)


@register_conversion(MinimizeScalarOp)
def _minimize_scalar(node: Any, start: Any, *inputs: Any) -> Any:
    parameters, points = _parts(node, inputs)
    if not points and node.op.method != "bounded":
        points = {"bracket": (0.0, 1.0)}  # SciPy's, whatever the value of the variable is

    def solved(function: Any, **options: Any) -> Any:
        return oc.optimize.minimize_scalar(function, start, **points, **options)

    return _solved(node, parameters, solved)


@register_conversion(RootScalarOp)
def _root_scalar(node: Any, start: Any, *inputs: Any) -> Any:
    parameters, points = _parts(node, inputs)

    def solved(function: Any, **options: Any) -> Any:
        return oc.optimize.root_scalar(function, start, **points, **options)

    return _solved(node, parameters, solved)


def _parts(node: Any, inputs: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The parameters of the function, and its brackets and bounds by name; numbers where they are known, as SciPy needs them."""
    names = node.op.bound_kwargs
    count = len(inputs) - len(names)
    points = [tuple(v.data.tolist()) if isinstance(v, Constant) else v for v in inputs[count:]]
    return inputs[:count], dict(zip(names, points, strict=True))


def _solved(node: Any, parameters: tuple[Any, ...], solve: Callable[..., Any]) -> list[Any]:
    """The solution and whether it was found, by a loop, or by SciPy if its options are not those of the loop."""
    op, graph = node.op, node.op.fgraph
    others = op.optimizer_kwargs.keys() - set(_OPTIONS[type(op)])
    if others:
        raise Unconvertible(f"{op} with {', '.join(sorted(others))}")

    def function(x: Any) -> Any:
        (value,) = convert_inner(graph.inputs, graph.outputs[:1], [x, *parameters])
        return value

    options = {"method": op.method, "optimizer_kwargs": op.optimizer_kwargs}
    reason = None
    for using in (None, "scipy"):
        try:
            return list(solve(function, using=using, **options))
        except (TypeError, ValueError) as error:
            reason = error
    raise Unconvertible(f"{op} ({reason})")
