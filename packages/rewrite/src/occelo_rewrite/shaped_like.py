"""`shaped_like` casts and broadcasts a replacement to the dtype and shape of the variable that it replaces.

A rule must not change types. So `pattern_rule` applies this function to every replacement, and other rules call it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from occelo_graph.tensor import cast, second
from occelo_graph.tensors.nodes import tensors

if TYPE_CHECKING:
    from occelo_graph import TensorType, TensorVariable


def shaped_like(value: TensorVariable, output: TensorVariable) -> TensorVariable:
    """``value``, cast and broadcast to the dtype and shape of ``output``, the variable that it is to replace."""
    target, own = output.type, value.type
    if own.dtype != target.dtype:
        value = cast(value, target.dtype)
    if own.ndim == target.ndim and all(
        a == b or (b is None and a != 1) for a, b in zip(own.shape, target.shape, strict=True)
    ):
        return value  # (a static length of 1 may need broadcasting to a dynamic length)
    node = output.owner
    for variable in () if node is None else tensors(node.inputs):
        # the inputs of the replaced node decide the shape; its output must not be read, since it
        # goes away
        if variable.type.ndim and not _covers(value.type, variable.type):
            value = second(variable, value)
    return value


def _covers(value: TensorType, other: TensorType) -> bool:
    """Whether broadcasting ``value`` against ``other`` leaves the type of ``value`` as it is."""
    lead = value.ndim - other.ndim
    return lead >= 0 and all(
        b == 1 or a == b for a, b in zip(value.shape[lead:], other.shape, strict=True)
    )
