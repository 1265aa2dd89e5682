"""What only types decide, taken out of a graph before it is run: models of known shapes, and lengths that are known.

While a graph is built they stay in it, so that it can be rebuilt for tensors of other shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from occelo_graph.ir.known_values import known_integers
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.narrowing import is_tuple
from occelo_graph.ops.create import Alloc
from occelo_graph.ops.elemwise.arithmetic import second
from occelo_graph.ops.length_inputs import ONCE_KNOWN
from occelo_graph.ops.shape import Shape, Shape_i, SpecifyShape, length_read
from occelo_graph.tensors.nodes import tensors

__all__ = [
    "fill_of_known_shape",
    "inputs_needed",
    "known_lengths",
    "length_of_copy",
    "settled_lengths",
]


def fill_of_known_shape(node: Apply) -> tuple[Alloc, Variable] | None:
    """The `Alloc`, and the value that it repeats, for a node that gives a value a known shape, as in ``zeros_like(x)``.

    Its model decides nothing then, and need not be computed. None for all other nodes.
    """
    if node.op != second:
        return None
    shape = tensors(node.outputs)[0].type.shape
    return None if None in shape else (Alloc(shape), node.inputs[1])


def known_lengths(node: Apply) -> Any:
    """The length, or the tuple of lengths, that a node reads of a tensor of known shape; None for all other nodes."""
    if not node.op.of_shapes:
        return None
    found: Any = node.op.known_integers(node, known_integers)
    return None if is_tuple(found) and None in found else found


def inputs_needed(node: Apply) -> Sequence[Variable]:
    """The inputs of a node without those of which only the type matters."""
    fill = fill_of_known_shape(node)
    if fill is not None:
        return (fill[1],)
    needed: Sequence[Variable] = () if known_lengths(node) is not None else node.inputs
    return needed


def length_of_copy(node: Apply, inputs: Sequence[Variable]) -> Variable | None:
    """The length of a tensor in a copy, for a node that reads it out of the shape of one; None for all other nodes.

    ``inputs`` are the copies of the node's.
    """
    owner = inputs[0].owner if inputs else None
    if owner is None or not isinstance(owner.op, Shape):
        return None
    read = length_read(node.outputs[0])
    if read is None:
        return None
    length: Variable = Shape_i(read[1])(owner.inputs[0])
    return length


def settled_lengths(node: Apply, inputs: Sequence[Variable]) -> Variable | None:
    """What a node computes from ``inputs``, with the lengths that are known among these as fields of its op.

    None where there are none. If the type of the node's output says more than they do, it is asserted: an input that
    was known when the node was made may have been exchanged for one that is not.
    """
    if not node.op.types_follow_values or len(inputs) == 1:
        return None
    op, rest = node.op.specialized(inputs)
    types = op.types_for(rest)
    wanted = tensors(node.outputs)[0].type
    fits = wanted.is_super(types[0])
    if fits and op is node.op:
        return None
    made_node = Apply.of_types(op, rest, types)
    made_node.mark = node.mark
    if fits:
        return made_node.outputs[0]
    asserting = SpecifyShape(wanted.shape, (False,) * wanted.ndim, ONCE_KNOWN)
    asserted = asserting.make_node(*made_node.outputs)
    asserted.mark = node.mark
    return asserted.outputs[0]
