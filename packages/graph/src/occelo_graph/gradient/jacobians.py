"""Functions for users that compute Jacobians, Hessians, and products of Hessians with vectors.

Jacobians and Hessians are computed by a pullback that is vectorized over unit cotangents. The products are computed by
a pushforward.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from occelo_graph.errors import describe
from occelo_graph.gradient.forward import pushforward
from occelo_graph.gradient.reverse import grad, pullback
from occelo_graph.ir.nodes import Variable
from occelo_graph.ir.traversal import as_variables, variable_depends_on
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.create import eye
from occelo_graph.ops.shape.reading import length_product, lengths_by_variables
from occelo_graph.ops.shape.reshaping import reshape
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.variable import TensorVariable
from occelo_graph.vectorize import vectorize_graph

__all__ = ["hessian", "hessian_vector_product", "jacobian"]


def jacobian(
    expression: Any,
    wrt: Any,
    consider_constant: Any = None,
    disconnected_inputs: str = "raise",
    vectorize: bool = True,
) -> Any:
    """Derivatives of every element of ``expression`` with respect to every element of ``wrt``.

    The result has the dimensions of ``expression`` followed by those of ``wrt``. If ``wrt`` is a list or tuple of
    variables, the result is a list or tuple with the derivatives for each. They are computed by one pullback that is
    vectorized over an identity matrix, whose size may be dynamic. ``vectorize`` is accepted for compatibility and has
    no effect.
    """
    del vectorize
    expression = as_tensor_variable(expression)
    variables = as_variables(wrt)
    if expression.type.ndim == 0:
        rows: list[Any] = grad(expression, variables, consider_constant, disconnected_inputs)
        return _as_asked(rows, wrt)
    lengths = lengths_by_variables(expression)
    count = length_product(lengths)
    seed = expression.type.make_variable("cotangent")
    pulled: list[Any] = pullback(
        expression, variables, seed, consider_constant, disconnected_inputs
    )
    units = reshape(eye(count, dtype=expression.dtype), (count, *lengths))
    results: list[Any] = []
    for variable, row in zip(variables, pulled, strict=True):
        if variable_depends_on(row, seed):
            stacked: TensorVariable = vectorize_graph(row, {seed: units})
        else:
            stacked = row.broadcast_to((count, *lengths_by_variables(row)))
        results.append(reshape(stacked, (*lengths, *lengths_by_variables(variable))))
    return _as_asked(results, wrt)


def _as_asked(results: Sequence[Any], wrt: Any) -> Any:
    """One result, a list or a tuple of them, like ``wrt``."""
    if isinstance(wrt, Variable):
        return results[0]
    return tuple(results) if isinstance(wrt, tuple) else list(results)


def hessian(
    cost: Any,
    wrt: Any,
    consider_constant: Any = None,
    disconnected_inputs: str = "raise",
) -> Any:
    """Second derivatives of a scalar ``cost`` with respect to ``wrt``, one variable or several.

    The result has the dimensions of the variable twice. If ``wrt`` is a list or tuple of variables, the result is a
    list or tuple with the Hessian for each. Mixed derivatives with respect to two of the variables are not computed.
    """
    variables = as_variables(wrt)
    results: list[Any] = []
    for variable in variables:
        gradient = grad(cost, variable, consider_constant, disconnected_inputs)
        results.append(jacobian(gradient, variable, consider_constant, "ignore"))
    return _as_asked(results, wrt)


def hessian_vector_product(cost: Any, wrt: Any, p: Any, **options: Any) -> Any:
    """The Hessian of ``cost`` with respect to ``wrt`` times ``p``, computed without the Hessian.

    ``wrt`` and ``p`` are one variable each, or lists or tuples of equal length (ValueError), and so is the result.
    """
    variables = as_variables(wrt)
    points = list(p) if is_list_or_tuple(p) else [p]
    if len(points) != len(variables):
        raise ValueError(
            f"{len(variables)} variables need as many vectors, got {len(points)}; the first is "
            + describe(variables[0])
        )
    gradients: list[Any] = grad(cost, variables, **options)
    products = pushforward(gradients, variables, points, disconnected_outputs="ignore")
    return _as_asked(products, wrt)
