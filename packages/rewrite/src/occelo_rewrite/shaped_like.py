"""`shaped_like` casts and broadcasts a replacement to the dtype and shape of the variable that it replaces.

`pattern_rule` applies it to every replacement, and other rules call it, since a rule must not change types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from occelo_graph.tensor import cast, second
from occelo_graph.tensors.nodes import tensors

if TYPE_CHECKING:
    from occelo_graph import TensorType, TensorVariable

__all__ = ["shaped_like"]


def shaped_like(value: TensorVariable, output: TensorVariable) -> TensorVariable:
    """``value``, cast and broadcast to the dtype and the shape of the node's output that it replaces."""
    wanted, given = output.type, value.type
    if given.dtype != wanted.dtype:
        value = cast(value, wanted.dtype)
    if given.ndim == wanted.ndim and all(
        a == b or (b is None and a != 1) for a, b in zip(given.shape, wanted.shape, strict=True)
    ):
        return value  # a static length of 1 may be broadcast to a dynamic one
    node = output.owner
    for variable in () if node is None else tensors(node.inputs):
        # broadcast against the inputs of the replaced node, not against its output
        if variable.type.ndim and not _covers(value.type, variable.type):
            value = second(variable, value)
    return value


def _covers(value: TensorType, other: TensorType) -> bool:
    """Whether broadcasting against ``other`` cannot change the type of ``value``."""
    lead = value.ndim - other.ndim
    return lead >= 0 and all(
        b == 1 or a == b for a, b in zip(value.shape[lead:], other.shape, strict=True)
    )
