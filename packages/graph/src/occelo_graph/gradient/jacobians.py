"""Jacobians, Hessians, and products of Hessians with vectors, as functions for users.

A Jacobian is computed by one pullback, which is vectorized: its cotangents are all unit vectors at once. A Hessian is
the Jacobian of a gradient. The product of a Hessian with a vector is a pushforward of the gradient.
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


def jacobian(
    expression: Any,
    wrt: Any,
    consider_constant: Any = None,
    disconnected_inputs: str = "raise",
    vectorize: bool = True,
) -> Any:
    """Derivatives of every element of ``expression`` with respect to every element of ``wrt``.

    The result has the dimensions of ``expression``, followed by the dimensions of ``wrt``. If ``wrt`` is a list or
    tuple of variables, the result is a list or tuple with a Jacobian for each variable. All derivatives are computed by
    one pullback, which is vectorized over the rows of an identity matrix. The size of the matrix may be dynamic.

    ``consider_constant`` and ``disconnected_inputs`` are as in `grad`. ``vectorize`` is accepted for compatibility and
    has no effect.
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
    """The first result if ``wrt`` is a variable; else all results, as a list or tuple like ``wrt``."""
    if isinstance(wrt, Variable):
        return results[0]
    return tuple(results) if isinstance(wrt, tuple) else list(results)


def hessian(
    cost: Any,
    wrt: Any,
    consider_constant: Any = None,
    disconnected_inputs: str = "raise",
) -> Any:
    """Second derivatives of a scalar ``cost`` with respect to the elements of ``wrt``.

    The result has the dimensions of ``wrt`` twice. If ``wrt`` is a list or tuple of variables, the result is a list or
    tuple with a Hessian for each variable. Mixed derivatives with respect to two of the variables are not computed.

    ``consider_constant`` and ``disconnected_inputs`` are as in `grad`.
    """
    variables = as_variables(wrt)
    results: list[Any] = []
    for variable in variables:
        gradient = grad(cost, variable, consider_constant, disconnected_inputs)
        results.append(jacobian(gradient, variable, consider_constant, "ignore"))
    return _as_asked(results, wrt)


def hessian_vector_product(cost: Any, wrt: Any, p: Any, **options: Any) -> Any:
    """The product of the Hessian of ``cost`` with the vector ``p``, without computing the Hessian.

    ``wrt`` is the variable of the Hessian, and ``p`` has its shape. Both may also be lists or tuples of equal length
    (else ValueError). The result is a variable, a list or a tuple like ``wrt``. Other arguments are those of `grad`.
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
