"""What is known of single nodes before they run: lengths that are static, and fills of a static shape.

The interpreter (`interpret`) calls these functions for each node that it runs, and so does what copies a graph to compile it
(`occelo_rewrite.specialization`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, cast

from occelo_graph.ir.known_values import known_integers
from occelo_graph.ir.nodes import Apply, AtomicVariable, Variable
from occelo_graph.ir.shared import SharedVariable
from occelo_graph.narrowing import is_tuple
from occelo_graph.ops.create import Alloc
from occelo_graph.ops.elemwise.arithmetic import second
from occelo_graph.tensors.nodes import tensors


def fill_of_known_shape(node: Apply) -> tuple[Alloc, Variable] | None:
    """An `Alloc` and its input that compute the same as ``node``, if it broadcasts a value to the shape of a tensor.

    ``zeros_like`` makes such nodes; their op is `elemwise.arithmetic.second`. If the shape is static, the `Alloc` needs
    only the value, and not the tensor. None for a shape that is not static, and for nodes of other ops.
    """
    if node.op != second:
        return None
    shape = tensors(node.outputs)[0].type.shape
    return None if None in shape else (Alloc(shape), node.inputs[1])


def checks_without_values(
    order: Iterable[Apply], values: Collection[Variable]
) -> dict[Apply, Apply]:
    """Maps checks of shapes that derivatives added, which read roots without a value, to nodes that check nothing."""
    lacking: set[Variable] = set()
    instead: dict[Apply, Apply] = {}
    for node in order:
        roots = (v for v in node.inputs if v.owner is None and not isinstance(v, AtomicVariable))
        lacking.update(v for v in roots if v not in values and not isinstance(v, SharedVariable))
        if lacking.isdisjoint(node.inputs):
            continue
        x, check = node.inputs[0], cast("Any", node.op)
        if check.types_follow_values and getattr(check, "of", "") and x not in lacking:
            ndim = len(check.static)
            instead[node] = type(check)((None,) * ndim, (False,) * ndim).make_node(x)
        else:
            lacking.update(node.outputs)
    return instead


def known_lengths(node: Apply) -> Any:
    """The length, or tuple of lengths, that ``node`` reads from a tensor, if they are static; None for other nodes."""
    if not node.op.of_shapes:
        return None
    lengths: Any = node.op.known_integers(node, known_integers)
    return None if is_tuple(lengths) and None in lengths else lengths
