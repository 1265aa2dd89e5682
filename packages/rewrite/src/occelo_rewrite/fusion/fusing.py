"""Fusion of connected elementwise nodes into one node, for linkers that run op by op.

`pipeline` runs `FusionRewriter` as the stage ``elemwise_fusion``. Only nodes of the same shape that belong to the same
region are fused.

The nodes that can be fused are divided into groups greedily, in topological order. Each group, and each node that
cannot be fused, has a level: one more than the highest level among the groups and nodes that it reads. To find a group
for a node, take the groups and nodes that it reads, and of these the ones with the highest level. If all of them are
groups of the node's shape and region, and together not too large, they are merged, and the node joins the merged group.
Otherwise the node begins a new group. So a group depends only on groups and nodes of lower levels, and no cycle can
arise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from occelo_graph import Apply, FunctionGraph, NominalVariable, Variable
from occelo_graph.fgraph.frozen import freeze
from occelo_graph.ir.regions import divide
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.tensors.nodes import tensors
from occelo_graph.tensors.type import StaticShape, TensorType, is_complex
from occelo_rewrite.engine import replace
from occelo_rewrite.fusion.composite import Composite
from occelo_rewrite.records.record import RewriteRecord
from occelo_rewrite.rewriter import RecordingRewriter

_MOST_FUNCTIONS = 2000

_Region = tuple[Apply, int]
"""A node that has regions, and the number of one of its regions."""
_Place = tuple[StaticShape, _Region | None]
"""A shape and a region. Nodes can be fused if both are equal."""


class _Group:
    """A group of nodes that are fused into one node."""

    __slots__ = ("level", "nodes", "place")

    def __init__(self, node: Apply, level: int, place: _Place) -> None:
        self.nodes = [node]
        self.level = level
        self.place = place


def _fusible_shape(node: Apply) -> StaticShape | None:
    """The shape of an elementwise node; None if the node cannot be fused."""
    op = node.op
    if not isinstance(op, Elemwise) or op.inplace or len(node.outputs) != 1:
        return None
    if isinstance(op.scalar_op, Composite):
        return None
    if op.moves is not None:
        return None  # the op only broadcasts or copies; the nodes that read its result do this at no cost
    if any(is_complex(v.type.dtype) for v in tensors((*node.inputs, *node.outputs))):
        return None  # a composite can only differentiate real functions
    return node.outputs[0].type.shape


def _merged(
    parts: list[_Group | None], place: _Place, group_of: dict[Apply, _Group]
) -> _Group | None:
    """Merge several groups of one level into one, and return it; None if they cannot become one node."""
    whole = list(dict.fromkeys(p for p in parts if p is not None))
    if None in parts or any(p.place != place for p in whole):
        return None
    if sum(len(p.nodes) for p in whole) >= _MOST_FUNCTIONS:
        return None
    whole.sort(key=lambda p: -len(p.nodes))
    for other in whole[1:]:
        for node in other.nodes:
            group_of[node] = whole[0]
        whole[0].nodes += other.nodes
        other.nodes = []
    return whole[0]


def _regions(order: list[Apply], outputs: Sequence[Variable]) -> dict[Apply, _Region]:
    """For each node that belongs to a region, this region.

    Nodes of different regions are not fused. Otherwise the fused node would run code of a branch that is not taken.
    """
    inside = divide(order, outputs).inside
    return {
        node: (owner, k)
        for owner, regions in inside.items()
        for k, nodes in enumerate(regions)
        for node in nodes
    }


def _groups(order: list[Apply], region_of: dict[Apply, _Region]) -> list[_Group]:
    groups: list[_Group] = []
    group_of: dict[Apply, _Group] = {}
    level_of: dict[Apply, int] = {}
    for node in order:
        owners = [v.owner for v in node.inputs if v.owner is not None]
        levels = [level_of[o] for o in owners]
        shape = _fusible_shape(node)
        if shape is None:
            level_of[node] = 1 + max(levels, default=0)
            continue
        top = max(levels, default=0)
        place = (shape, region_of.get(node))
        near = [o for o in owners if level_of[o] == top]
        parts = [group_of.get(o) for o in near]
        joined = _merged(parts, place, group_of) if near else None
        if joined is None:
            joined = _Group(node, 1 + top, place)
            groups.append(joined)
        else:
            joined.nodes.append(node)
        group_of[node] = joined
        level_of[node] = joined.level
    return [g for g in groups if len(g.nodes) > 1]


_made: dict[Any, Elemwise] = {}
_MOST_MADE = 4096


def _fuse(
    fgraph: FunctionGraph, group: _Group, positions: dict[Apply, int], record: RewriteRecord
) -> bool:
    group.nodes.sort(key=positions.__getitem__)
    inside = set(group.nodes)
    numbers: dict[Variable, int] = {}
    outer: list[Variable] = []
    steps: list[Any] = []
    for node in group.nodes:
        for v in node.inputs:
            if v not in numbers:
                # constants are inputs, too, so that groups that differ only in constants share one
                # op
                numbers[v] = -1 - len(outer)
                outer.append(v)
        steps.append((node.op, *(numbers[v] for v in node.inputs)))
        numbers[node.outputs[0]] = len(steps) - 1
    exits = [
        node.outputs[0]
        for node in group.nodes
        if any(user not in inside for user, _ in fgraph.clients[node.outputs[0]])
    ]
    dtypes = tuple([v.type.dtype for v in outer])
    key = (dtypes, tuple(steps), tuple([numbers[v] for v in exits]))
    op = _made.get(key)
    if op is None:
        op = _composite(group.nodes, outer, exits)
        if len(_made) >= _MOST_MADE:
            _made.clear()
        _made[key] = op
    results = op.make_node(*outer).outputs
    pairs = list(zip(exits, results, strict=True))
    if not all(old.type.is_super(new.type) for old, new in pairs):
        return False
    return replace("elemwise_fusion", fgraph, group.nodes[-1], pairs, record)


def _composite(nodes: list[Apply], outer: list[Variable], exits: list[Variable]) -> Elemwise:
    """The op that computes a group of nodes.

    ``outer`` are the variables that the group reads, and ``exits`` are the results that nodes outside of the group
    read.
    """
    inner: dict[Variable, Variable] = {}
    for i, v in enumerate(outer):
        inner[v] = NominalVariable(i, TensorType(v.type.dtype, ()))
    for node in nodes:
        inner[node.outputs[0]] = node.op.make_node(*(inner[v] for v in node.inputs)).outputs[0]
    return Elemwise(Composite(freeze([inner[v] for v in outer], [inner[v] for v in exits])))


class FusionRewriter(RecordingRewriter):
    """Replaces each group of connected elementwise nodes of one shape by one node."""

    name = "elemwise_fusion"

    def run(self, fgraph: FunctionGraph, record: RewriteRecord) -> None:
        # groups are replaced from the outputs to the inputs, so that a group still reads the
        # variables that it was built from
        order = fgraph.toposort()
        positions = {node: i for i, node in enumerate(order)}
        for group in sorted(
            _groups(order, _regions(order, fgraph.outputs)), key=lambda g: -g.level
        ):
            _fuse(fgraph, group, positions, record)
