"""Rules about matrices in order: nothing is sorted, and no values are summed, that are in order and single already."""

from __future__ import annotations

from typing import Any

from occelo_graph import Apply, FunctionGraph, TensorApply, TensorVariable, Variable, computed_by
from occelo_graph import tensor as ot
from occelo_graph.ir.nodes import is_node
from occelo_graph.ops.create import Alloc
from occelo_graph.ops.index.subtensor import AdvancedIncSubtensor, AdvancedSubtensor
from occelo_graph.ops.shape.stretching import Stretch
from occelo_rewrite.constants import number_of
from occelo_rewrite.patterns.node_rule import Replacements, node_rewriter
from occelo_rewrite.shapes import shapes_of
from occelo_sparse.facts import has_order
from occelo_sparse.ops.ordering import DistinctPlaces, OrderOfPlaces
from occelo_sparse.rules.parts import asking


def _places(node: TensorApply[Any]) -> list[TensorVariable]:
    """Vectors that are as long as the positions of a node whose values stay in place."""
    return [node.inputs[0], *node.outputs[:-2]]


def _are_positions(fgraph: FunctionGraph, node: TensorApply[Any]) -> bool:
    """Whether the positions that a node computes are known to be 0, 1, 2, ..."""
    fact = "sorted_indices" if isinstance(node.op, OrderOfPlaces) else "canonical"
    return has_order(asking(fgraph), fact, *node.inputs[:2])


@node_rewriter([OrderOfPlaces, DistinctPlaces])
def stay_in_place(
    fgraph: FunctionGraph, node: TensorApply[OrderOfPlaces | DistinctPlaces]
) -> Replacements:
    """The stored values of a matrix in order stay where they are, and those of a canonical matrix are not summed."""
    if not _are_positions(fgraph, node):
        return None
    replaced: dict[Any, Any] = dict(zip(node.outputs[:-1], node.inputs, strict=False))
    positions = node.outputs[-1]
    for client, _ in fgraph.clients[positions]:
        if not is_node(client) or len(client.outputs) != 1 or client.inputs[-1] is not positions:
            continue
        moved = _moved(client)
        if (
            moved is not None
            and moved.type.ndim == 1
            and _is_as_long(fgraph, moved, *_places(node))
        ):
            replaced[client.outputs[0]] = moved
    return {old: new for old, new in replaced.items() if fgraph.clients.get(old)} or None


@node_rewriter([OrderOfPlaces, DistinctPlaces])
def count_places(
    fgraph: FunctionGraph, node: TensorApply[OrderOfPlaces | DistinctPlaces]
) -> Replacements:
    """The positions of values that stay where they are: 0, 1, 2, ..."""
    if not _are_positions(fgraph, node):
        return None
    return {node.outputs[-1]: ot.arange(node.inputs[0].shape[0])}


def _moved(client: Apply) -> Any:
    """The vector that a node reads at positions, or writes there into zeros."""
    if isinstance(client.op, AdvancedSubtensor) and len(client.inputs) == 2:
        return client.inputs[0]
    if isinstance(client.op, AdvancedIncSubtensor) and len(client.inputs) == 3:
        if not _is_zero(client.inputs[0]):
            return None
        written: Any = client.inputs[1]
        stretched = computed_by(written, Stretch)  # to the number of positions
        return written if stretched is None else stretched.inputs[0]
    return None


def _is_zero(x: Variable) -> bool:
    owner = x.owner
    if owner is None or not (isinstance(owner.op, Alloc) or owner.op == ot.second):
        return False
    return number_of(owner.inputs[0 if isinstance(owner.op, Alloc) else 1]) == 0


def _is_as_long(fgraph: FunctionGraph, x: Variable, *others: Variable) -> bool:
    shapes = shapes_of(fgraph)
    (n,) = shapes.shape_of(fgraph, x)
    return any(
        n is m or (isinstance(n, int) and n == m)
        for each in others
        for m in shapes.shape_of(fgraph, each)
    )
