"""What rules look at: which op computes a variable, and which number a constant holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_graph import Apply, Constant, Variable
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.tensor import cast, second

__all__ = ["computed_by", "number_of", "shaped_like", "split_constant"]


def computed_by(variable: Variable, function: Elemwise) -> Apply | None:
    """The node, if ``variable`` is computed by an elementwise function; else None."""
    owner = variable.owner
    if owner is not None and isinstance(owner.op, Elemwise):
        return owner if owner.op.scalar_op == function.scalar_op and not owner.op.inplace else None
    return None


def number_of(variable: Variable) -> Any:
    """The one number that all elements of a constant are, as a Python number; None if there is none.

    Constants of more than 64 elements are not looked into.
    """
    if not isinstance(variable, Constant) or not isinstance(variable.data, np.ndarray):
        return None
    data: Any = variable.data  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if data.size == 0 or data.size > 64:
        return None
    first = data.flat[0]
    return first.item() if bool(np.all(data == first)) else None


def split_constant(node: Apply) -> tuple[list[Any], list[Any]]:
    """A node's inputs that are constants of one number, and the others."""
    numbers = [v for v in node.inputs if number_of(v) is not None]
    return numbers, [v for v in node.inputs if number_of(v) is None]


def shaped_like(value: Any, output: Any) -> Any:
    """``value`` with the dtype and the shape of what it replaces."""
    if value.type.dtype != output.type.dtype:
        value = cast(value, output.type.dtype)
    if value.type.ndim != output.type.ndim or value.type.broadcastable != output.type.broadcastable:
        value = second(output, value) if output.owner is None else _broadcast(value, output)
    return value


def _broadcast(value: Any, output: Any) -> Any:
    """``value`` broadcast against the inputs of the node that it replaces, not against its output."""
    for variable in output.owner.inputs:
        if variable.type.ndim:
            value = second(variable, value)
    return value
