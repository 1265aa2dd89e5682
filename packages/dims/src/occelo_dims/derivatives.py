"""Jacobians and Hessians of tensors with names. Gradients need nothing of their own: `occelo.grad` takes such tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from occelo_dims.labelled import Dims, XTensorLike, as_xtensor, describe, dims_of_leaves, labelled
from occelo_graph import grad
from occelo_graph import jacobian as jacobian_of_tensors
from occelo_graph.errors import explained_by
from occelo_graph.ir import trees


@explained_by("gradients")
def jacobian(
    expression: XTensorLike,
    wrt: Any,
    consider_constant: Any = None,
    disconnected_inputs: str = "raise",
    *,
    suffix: str = "_2",
) -> Any:
    """The derivatives of each element of ``expression`` by each element of ``wrt``, a tensor with names or a tree of such.

    The result has the dimensions of ``expression``, and then those of ``wrt``, in whose tree it comes. A dimension that
    both have gets the ``suffix`` for ``wrt``. ``consider_constant`` and
    ``disconnected_inputs`` are those of `occelo.jacobian`.

    TypeError for a tensor in ``wrt`` whose dimensions have no names, ValueError if a name with ``suffix`` is taken.
    """
    own = as_xtensor(expression)
    variables, structure = trees.flatten(wrt, "wrt")
    names = _names(variables, structure, "jacobian")
    jacobians: Sequence[Any] = jacobian_of_tensors(
        own.values, variables, consider_constant, disconnected_inputs
    )
    pairs = zip(jacobians, names, strict=True)
    return structure.unflatten(labelled(x, _joined(own.dims, dims, suffix)) for x, dims in pairs)


@explained_by("gradients")
def hessian(
    cost: XTensorLike,
    wrt: Any,
    consider_constant: Any = None,
    disconnected_inputs: str = "raise",
    mixed: bool = False,
    *,
    suffix: str = "_2",
) -> Any:
    """The second derivatives of a scalar ``cost`` by the elements of ``wrt``, a tensor with names or a tree of such.

    The result has the dimensions of ``wrt`` twice, the second time with the ``suffix``, in the tree of ``wrt``. With
    ``mixed``, each leaf is such a tree: the derivatives by both. ``consider_constant`` and ``disconnected_inputs``
    are those of `occelo.hessian`.

    TypeError for a cost that is no scalar, and for a tensor in ``wrt`` whose dimensions have no names; ValueError if a
    name with ``suffix`` is taken.
    """
    own = as_xtensor(cost)
    if own.dims:
        raise TypeError(f"hessian needs a scalar cost, got {describe(own)}; jacobian takes others")
    variables, structure = trees.flatten(wrt, "wrt")
    names = _names(variables, structure, "hessian")
    slopes: Sequence[Any] = grad(own.values, variables, consider_constant, disconnected_inputs)
    rows = [labelled(x, dims) for x, dims in zip(slopes, names, strict=True)]
    others = (
        [wrt] * len(rows)
        if mixed
        else [labelled(v, d) for v, d in zip(variables, names, strict=True)]
    )
    pairs = zip(rows, others, strict=True)
    return structure.unflatten(
        jacobian(row, other, consider_constant, "ignore", suffix=suffix) for row, other in pairs
    )


def _names(variables: Sequence[Any], structure: trees.Structure, what: str) -> list[Dims]:
    names: list[Dims] = []
    for x, dims, path in zip(
        variables, dims_of_leaves(structure), structure.paths("wrt"), strict=True
    ):
        if dims is None and getattr(x, "ndim", 0):
            raise TypeError(
                f"{what}: the dimensions of {path} have no names; occelo.{what} takes tensors without"
            )
        names.append(dims or ())
    return names


def _joined(first: Dims, second: Dims, suffix: str) -> Dims:
    return (*first, *(d + suffix if d in first else d for d in second))
