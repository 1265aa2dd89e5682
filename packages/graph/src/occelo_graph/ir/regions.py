"""Regions: the parts of a graph that one node runs itself.

Most inputs of a node, its operands, are computed before it. The others are results of its regions, which the
node runs itself or leaves alone: the branches of `IfElse`. To a region belong the nodes that nothing but its
results need. `divide` finds them, for all nodes of a graph at once.

A `Loop` is a region that a node runs again and again, over values that each iteration leaves to the next. Its nodes are
those of a frozen graph, which reads nothing from outside but its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from occelo_graph.fgraph.frozen import FrozenFunctionGraph
    from occelo_graph.ir.nodes import Apply, Variable

__all__ = ["Division", "Loop", "Region", "awaited", "divide", "operands_of"]


@dataclass(frozen=True, eq=False)
class Region:
    """A part of the graph that a node runs itself; ``results`` are positions of inputs that it computes."""

    results: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Loop:
    """A region that a node runs ``count`` times, or until it says so.

    ``body`` computes what is carried from what was carried into an iteration and what all of them read: its
    first arguments are the inputs of the node at the positions ``carried`` (in the first iteration), then the results
    of the iteration before; the others are the inputs at the positions ``read``. ``count`` is the position of an integer
    scalar, the number of iterations (none, if it is negative). Without it (None) there is one, nothing is carried, and the
    outputs of the node are the results of the body. With ``stops`` the last result of the body is a truth
    value, after which there is no other iteration if it holds. The outputs of the node are what the last iteration
    leaves, or the first arguments if there is none.
    """

    body: FrozenFunctionGraph
    count: int | None
    carried: tuple[int, ...]
    read: tuple[int, ...] = ()
    stops: bool = False


def operands_of(node: Apply) -> Sequence[Variable]:
    """The inputs that are computed before a node runs."""
    op = node.op
    return [node.inputs[i] for i in op.operands(node)] if op.lazy else node.inputs


def awaited(
    node: Apply,
    inputs: Sequence[Variable],
    known: Callable[[Variable], bool],
    value: Callable[[Variable], Any],
) -> list[Variable]:
    """Those of a node's inputs that must still be computed before it can run.

    First its operands; once all of them are ``known``, the results of the regions that their values choose.
    """
    op = node.op
    if not op.lazy:
        return [v for v in inputs if not known(v)]
    operands = [inputs[i] for i in op.operands(node)]
    missing = [v for v in operands if not known(v)]
    if missing:
        return missing
    results = [
        i for region in op.chosen(node, [value(v) for v in operands]) for i in region.results
    ]
    return [inputs[i] for i in results if not known(inputs[i])]


@dataclass
class Division:
    """Which nodes of a graph run where.

    ``outside`` are those in no region, ``inside`` has for each node with regions the nodes of each of them, without
    those of regions further in, and ``outermost`` maps each node inside a region to the node outside that
    decides about it. All are in topological order.
    """

    outside: list[Apply] = field(default_factory=list["Apply"])
    inside: dict[Apply, list[list[Apply]]] = field(
        default_factory=dict["Apply", "list[list[Apply]]"]
    )
    outermost: dict[Apply, Apply] = field(default_factory=dict["Apply", "Apply"])


class _Place:
    """A region in the tree of regions; the root stands for what is in none.

    ``jump`` is an ancestor so far away that any other is reached in a number of steps that is logarithmic
    in the depth (Myers, "An applicative random-access stack", 1983).
    """

    __slots__ = ("depth", "jump", "nodes", "outermost", "parent")

    def __init__(self, parent: _Place | None, owner: Apply | None, nodes: list[Apply]) -> None:
        self.nodes = nodes
        self.parent: _Place = self if parent is None else parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        outside = parent is None or parent.depth == 0
        self.outermost: Apply | None = owner if outside or parent is None else parent.outermost
        self.jump: _Place = self
        if parent is not None:
            far = parent.jump
            level = parent.depth - far.depth == far.depth - far.jump.depth
            self.jump = far.jump if level else parent


def _common(a: _Place, b: _Place) -> _Place:
    """The innermost region that holds two regions."""
    if a.depth < b.depth:
        a, b = b, a
    while a.depth > b.depth:
        a = a.jump if a.jump.depth >= b.depth else a.parent
    while a is not b:
        a, b = (a.jump, b.jump) if a.jump is not b.jump else (a.parent, b.parent)
    return a


def divide(order: Sequence[Apply], outputs: Sequence[Variable]) -> Division:
    """Divide the nodes of a graph, given in topological order, into those of each region and those of none.

    A node whose results several regions need belongs to the innermost one that holds them all.
    """
    if not any(node.op.lazy for node in order):
        return Division(list(order))
    found = Division()
    top = _Place(None, None, found.outside)
    needed: dict[Variable, _Place] = dict.fromkeys(outputs, top)

    def need(variable: Variable, place: _Place) -> None:
        known = needed.get(variable)
        needed[variable] = place if known is None or known is place else _common(known, place)

    for node in reversed(order):
        places = [needed[v] for v in node.outputs if v in needed] or [top]
        place = places[0]
        for other in places[1:]:
            place = _common(place, other)
        place.nodes.append(node)
        if place.outermost is not None:
            found.outermost[node] = place.outermost
        for variable in operands_of(node):
            need(variable, place)
        regions = node.op.regions(node)
        if regions:
            inside: list[list[Apply]] = [[] for _ in regions]
            found.inside[node] = inside
            for region, nodes in zip(regions, inside, strict=True):
                inner = _Place(place, node, nodes)
                for position in region.results:
                    need(node.inputs[position], inner)
    for nodes in (found.outside, *(nodes for inside in found.inside.values() for nodes in inside)):
        nodes.reverse()
    return found
