"""Jacobians, Hessians, and products of Hessians with vectors, as functions for users.

A Jacobian is computed by one pullback, which is vectorized: its cotangents are all unit vectors at once. A Hessian is
the Jacobian of a gradient. The product of a Hessian with a vector is a pushforward of the gradient.
"""

from __future__ import annotations

from typing import Any

from occelo_graph.errors import describe, explained_by
from occelo_graph.gradient.forward import pushforward
from occelo_graph.gradient.reverse import grad, pullback, with_values, wrt_of
from occelo_graph.ir import trees
from occelo_graph.ir.traversal import variable_depends_on
from occelo_graph.ops.create import eye
from occelo_graph.ops.shape.reading import length_product, lengths_by_variables
from occelo_graph.ops.shape.reshaping import reshape
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.variable import TensorVariable
from occelo_graph.vectorize import vectorize_graph


@explained_by("gradients")
def jacobian(
    expression: Any,
    wrt: Any,
    consider_constant: Any = None,
    disconnected_inputs: str = "raise",
    vectorize: bool = True,
) -> Any:
    """Derivatives of every element of ``expression`` with respect to every element of ``wrt``.

    The result has the dimensions of ``expression``, followed by the dimensions of ``wrt``. If ``wrt`` is a tree of
    variables, such as a list or a dict, the result is the tree with a Jacobian for each variable. If ``expression`` is a
    dict, a named tuple or a dataclass, the result is its tree, of results for each leaf. A list is a tensor here. All
    derivatives are computed by one pullback, which is vectorized over the rows of an identity matrix. The size of the
    matrix may be dynamic.

    ``consider_constant`` and ``disconnected_inputs`` are as in `grad`. ``vectorize`` is accepted for compatibility and
    has no effect.
    """
    del vectorize
    if trees.is_tree(expression) and type(expression) not in (list, tuple, type(None)):
        leaves, outer = trees.flatten(expression, "expression")
        return outer.unflatten(
            jacobian(leaf, wrt, consider_constant, disconnected_inputs) for leaf in leaves
        )
    expression = as_tensor_variable(expression)
    variables, structure = wrt_of(wrt)
    if expression.type.ndim == 0:
        rows: list[Any] = grad(expression, variables, consider_constant, disconnected_inputs)
        return structure.unflatten(rows)
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
    return structure.unflatten(results)


@explained_by("gradients")
def hessian(
    cost: Any,
    wrt: Any,
    consider_constant: Any = None,
    disconnected_inputs: str = "raise",
    mixed: bool = False,
) -> Any:
    """Second derivatives of a scalar ``cost`` with respect to the elements of ``wrt``.

    The result has the dimensions of ``wrt`` twice. If ``wrt`` is a tree of variables, such as a list or a dict, the
    result is the tree with a Hessian for each variable. With ``mixed``, each leaf is a tree, too, as in ``jax.hessian``:
    the derivatives of the gradient by that variable, with respect to every variable.

    ``consider_constant`` and ``disconnected_inputs`` are as in `grad`.
    """
    variables, structure = wrt_of(wrt)
    gradients: list[Any] = grad(cost, variables, consider_constant, disconnected_inputs)
    return structure.unflatten(
        jacobian(gradient, wrt if mixed else variable, consider_constant, "ignore")
        for variable, gradient in zip(variables, gradients, strict=True)
    )


@explained_by("gradients")
def hessian_vector_product(cost: Any, wrt: Any, p: Any, **options: Any) -> Any:
    """The product of the Hessian of ``cost`` with the vector ``p``, without computing the Hessian.

    ``wrt`` is the variable of the Hessian, and ``p`` has its shape. Both may also be trees, such as lists of equal
    length (else ValueError). The result is a variable or a tree like ``wrt``. ``options`` are those of `grad`.
    """
    structure = wrt_of(wrt)[1]
    variables, points = with_values(wrt, p, "p")
    if len(points) != len(variables):
        raise ValueError(
            f"{len(variables)} variables need as many vectors, got {len(points)}; the first is "
            + describe(variables[0])
        )
    gradients: list[Any] = grad(cost, variables, **options)
    products = pushforward(
        gradients,
        variables,
        points,
        disconnected_outputs="ignore",
        consider_constant=options.get("consider_constant"),
    )
    return structure.unflatten(products)
