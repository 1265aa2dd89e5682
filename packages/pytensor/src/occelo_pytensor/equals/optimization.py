"""The equals of minima, roots, differential equations and integrals.

A method of SciPy is PyTensor's op. Loops are graphs with the derivatives by the implicit function theorem that they have here.
"""

from __future__ import annotations

from typing import Any

from pytensor.tensor.optimize import MinimizeOp, MinimizeScalarOp, RootOp, RootScalarOp

from occelo_optimize.ops.implicit import ImplicitFunction
from occelo_optimize.ops.scipy_calls import WITH_HESSIAN, ScipySolver
from occelo_optimize.ops.solver import Solver
from occelo_pytensor.equals.control import with_derivative
from occelo_pytensor.equals.registry import converted, register_equal
from occelo_pytensor.library import tensor as pt
from occelo_pytensor.variables import their_type

_THEIRS = {
    "minimize": (MinimizeOp, "objective"),
    "minimize_scalar": (MinimizeScalarOp, "objective"),
    "root": (RootOp, "equations"),
    "root_scalar": (RootScalarOp, "equation"),
}
"""PyTensor's op for a function of SciPy, and what it calls the expression."""


@register_equal(Solver)
def _graph(op: Any, *inputs: Any) -> Any:
    return with_derivative(op, inputs)


@register_equal(ImplicitFunction)
def _implicit(op: Any, *inputs: Any) -> Any:
    """PyTensor's op for a method of SciPy. It has no derivatives where bounds or constraints are active."""
    node = op.graph.outputs[0].owner
    if (
        node is None
        or not isinstance(node.op, ScipySolver)
        or list(node.outputs) != list(op.graph.outputs)
    ):
        return with_derivative(op, inputs)
    if not {"bounds", "kinds"}.isdisjoint(node.op.options):
        return with_derivative(op, inputs)
    memo = dict(zip(op.graph.inputs, inputs, strict=True))
    return _solver(node.op, *converted(list(node.inputs), memo))


@register_equal(ScipySolver)
def _solver(op: Any, start: Any, *parameters: Any) -> Any:
    options = dict(op.options)
    if op.name not in _THEIRS or "kinds" in options:
        return NotImplemented
    theirs, what = _THEIRS[op.name]
    method = options.pop("method")
    variables = [their_type(v.type)(v.name) for v in op.graph.inputs]
    memo = dict(zip(op.graph.inputs, variables, strict=True))
    (value,) = converted(list(op.graph.outputs[:1]), memo)
    points: dict[str, Any] = {}
    fields: dict[str, Any] = {}
    if op.name in ("minimize", "root"):
        fields["jac"] = options.pop("jac", True)
    else:
        names = [name for name in ("bracket", "bounds") if name in options]
        points = {name: pt.constant(options.pop(name), dtype=start.dtype) for name in names}
        if op.name == "minimize_scalar" and not points:
            points["bracket"] = pt.stack([start, start + 1])
        fields["bound_kwargs"] = tuple(points)
    if op.name == "minimize":
        fields["hess"] = method in WITH_HESSIAN
    if op.name == "root_scalar":
        fields |= {"jac": method in ("newton", "halley"), "hess": method == "halley"}
    solver: Any = theirs(
        *variables, method=method, optimizer_kwargs=options, **{what: value}, **fields
    )
    solution, success = solver(start, *parameters, *points.values())
    # PyTensor's ops count nothing
    return [solution, pt.tensor_from_scalar(success), None, None, None, None]
