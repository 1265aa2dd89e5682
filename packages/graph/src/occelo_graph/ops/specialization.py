"""Specialization of single nodes: known lengths become constants or fields of ops, for compiling and interpreting.

While a graph is built, a length refers to the tensor that has it, even if it is static, so that the graph can be rebuilt
for other shapes. In the copy that is compiled, static lengths are numbers.

`occelo_compile.specialization` uses this module when it copies a graph to compile it. `occelo_compile.collect` calls
`inputs_needed` to find tensors that need no value, since only their static lengths are used. The rule
`lengths_that_are_known` applies `specialized_lengths` again while rewriting. The interpreter (`interpret`) does not
copy graphs: while it runs, it calls `known_lengths` and `fill_of_known_shape` for each node.
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
from occelo_graph.ops.shape.asserting import SpecifyShape
from occelo_graph.ops.shape.reading import Shape, Shape_i, length_read
from occelo_graph.tensors.nodes import computed_by, tensors

__all__ = [
    "fill_of_known_shape",
    "inputs_needed",
    "known_lengths",
    "length_of_copy",
    "specialized_lengths",
]


def fill_of_known_shape(node: Apply) -> tuple[Alloc, Variable] | None:
    """An `Alloc` and its input, in place of a node that broadcasts a value to the static shape of a tensor.

    ``zeros_like`` makes such nodes. The `Alloc` needs only the value, not the tensor. None for all other nodes.
    """
    if node.op != second:
        return None
    shape = tensors(node.outputs)[0].type.shape
    return None if None in shape else (Alloc(shape), node.inputs[1])


def known_lengths(node: Apply) -> Any:
    """The length, or tuple of lengths, that a node reads from a tensor of static shape; None for all other nodes."""
    if not node.op.of_shapes:
        return None
    found: Any = node.op.known_integers(node, known_integers)
    return None if is_tuple(found) and None in found else found


def inputs_needed(node: Apply) -> Sequence[Variable]:
    """The inputs of a node that must be computed. Only the static shapes of its other inputs are used."""
    fill = fill_of_known_shape(node)
    if fill is not None:
        return (fill[1],)
    needed: Sequence[Variable] = () if known_lengths(node) is not None else node.inputs
    return needed


def length_of_copy(node: Apply, inputs: Sequence[Variable]) -> Variable | None:
    """For a node ``shape(x)[i]``, the length ``Shape_i(i)`` of the copy of ``x``; None for all other nodes.

    ``inputs`` are the copies of the node's inputs.
    """
    owner = computed_by(inputs[0], Shape) if inputs else None
    if owner is None:
        return None
    read = length_read(node.outputs[0])
    if read is None:
        return None
    length: Variable = Shape_i(read[1])(owner.inputs[0])
    return length


def specialized_lengths(node: Apply, inputs: Sequence[Variable]) -> Variable | None:
    """The output of the node's op for ``inputs``, with known lengths as fields of the op; None if no length is known.

    If the type of the new output is less precise than that of the node's output, a `SpecifyShape` asserts the more
    precise type. This happens if the value of an input was known when the node was made, and that input has since been
    replaced by one whose value is not known.
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
