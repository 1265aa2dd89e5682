"""Regions: parts of a graph that one node runs itself.

Most inputs of a node, its operands, are computed before the node runs. The other inputs are results of its regions,
such as the branches of `IfElse`: the node decides whether they run. If a node is needed for the results of one region
only, it belongs to that region. `divide` finds the nodes of all regions of a graph in one pass.

A `Loop` is a region that a node runs repeatedly, with loop-carried values. Its nodes form a frozen graph, which reads
nothing but its own arguments.

Lazy ops and ops with a loop declare regions (`Op.regions`, `Op.loop`). The interpreter, DebugMode and the linkers run
them. Gradients differentiate them one by one. Rewriting uses them to find out under which conditions a node runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from occelo_graph.frozen_dataclasses import frozen_dataclass

if TYPE_CHECKING:
    from occelo_graph.fgraph.frozen import FrozenFunctionGraph
    from occelo_graph.ir.nodes import Apply, Variable

__all__ = [
    "Division",
    "Loop",
    "Nested",
    "Region",
    "awaited",
    "divide",
    "operands_of",
    "perhaps_needless",
]


@frozen_dataclass(eq=False)
class Region:
    """A part of the graph that a node runs itself.

    ``results`` are the positions of the node's inputs that the region computes.
    """

    results: tuple[int, ...]


@frozen_dataclass(eq=False)
class Loop:
    """A region that a node runs repeatedly.

    - ``body``: the graph of one iteration. Its first arguments are the carried values, the others are the same in all
      iterations. Its first results are the new carried values.
    - ``count``: position of the input with the number of iterations, an integer scalar; a negative number means none.
      If ``count`` is None, the body runs once, nothing is carried, and its results are the outputs of the node.
    - ``carried``: positions of the inputs with the initial carried values.
    - ``read``: positions of the inputs for the other arguments of the body.
    - ``stops``: the last result of the body is a truth value; the loop ends after an iteration in which it is true.
    - ``fills``: numbers of carried values that are tensors which the loop fills. If the length of such a tensor is the
      number of iterations, the iterations write all of its elements, and read none. So its initial values are never
      seen.

    The outputs of the node are the final carried values.
    """

    body: FrozenFunctionGraph
    count: int | None
    carried: tuple[int, ...]
    read: tuple[int, ...] = ()
    stops: bool = False
    fills: tuple[int, ...] = ()


def operands_of(node: Apply) -> Sequence[Variable]:
    """The inputs that are computed before the node runs."""
    op = node.op
    return [node.inputs[i] for i in op.operands(node)] if op.lazy else node.inputs


def perhaps_needless(order: Sequence[Apply], outputs: Sequence[Variable]) -> set[Apply]:
    """The nodes outside of all regions that are needed only by regions, and by more than one of them.

    Compiled code runs such a node before the regions that need it, and perhaps none of these regions runs.
    """
    if not any(node.op.lazy for node in order):
        return set()
    needed = set(outputs)
    found: set[Apply] = set()
    inside = divide(order, outputs).outermost
    for node in reversed(order):
        if not needed.isdisjoint(node.outputs):
            needed.update(operands_of(node))
        elif node not in inside:
            found.add(node)
    return found


def awaited(
    node: Apply,
    inputs: Sequence[Variable],
    known: Callable[[Variable], bool],
    value: Callable[[Variable], Any],
) -> list[Variable]:
    """The inputs of a node that must still be computed before it can run.

    As long as an operand of the node is not ``known``, these are the operands that are not known. Once all operands are
    known, their values choose the regions that run. Then these are the results of the chosen regions that are not
    known.
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
    """The nodes of a graph divided among its regions.

    - ``outside``: the nodes in no region.
    - ``inside``: for each node with regions, the nodes of each region without those of nested regions.
    - ``outermost``: for each node in a region, the node outside of all regions that owns the outermost region around
      it.

    All are in topological order.
    """

    outside: list[Apply] = field(default_factory=list["Apply"])
    inside: dict[Apply, list[list[Apply]]] = field(
        default_factory=dict["Apply", "list[list[Apply]]"]
    )
    outermost: dict[Apply, Apply] = field(default_factory=dict["Apply", "Apply"])


class Nested:
    """A node of a tree of nested regions, with a fast search for common ancestors.

    ``jump`` is a more distant ancestor. It is chosen so that the number of steps to any ancestor is logarithmic in the
    depth (Myers, "An applicative random-access stack", 1983).
    """

    __slots__ = ("depth", "jump", "parent")

    def __init__(self, parent: Self | None) -> None:
        self.parent: Self = self if parent is None else parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.jump: Self = self
        if parent is not None:
            far = parent.jump
            level = parent.depth - far.depth == far.depth - far.jump.depth
            self.jump = far.jump if level else parent

    def common(self, other: Self) -> Self:
        """The innermost region that contains both."""
        a, b = self, other
        if a.depth < b.depth:
            a, b = b, a
        while a.depth > b.depth:
            a = a.jump if a.jump.depth >= b.depth else a.parent
        while a is not b:
            a, b = (a.jump, b.jump) if a.jump is not b.jump else (a.parent, b.parent)
        return a


class _Place(Nested):
    """A region and its nodes; the root stands for the nodes in no region."""

    __slots__ = ("nodes", "outermost")

    def __init__(self, parent: Self | None, owner: Apply | None, nodes: list[Apply]) -> None:
        super().__init__(parent)
        self.nodes = nodes
        outside = parent is None or parent.depth == 0
        self.outermost: Apply | None = owner if outside or parent is None else parent.outermost


def divide(order: Sequence[Apply], outputs: Sequence[Variable]) -> Division:
    """Divide the nodes of a graph, given in topological order, among its regions.

    A node on which several regions depend belongs to the innermost region that contains all of them.
    """
    if not any(node.op.lazy for node in order):
        return Division(list(order))
    found = Division()
    top = _Place(None, None, found.outside)
    needed: dict[Variable, _Place] = dict.fromkeys(outputs, top)

    def need(variable: Variable, place: _Place) -> None:
        known = needed.get(variable)
        needed[variable] = place if known is None or known is place else known.common(place)

    for node in reversed(order):
        places = [needed[v] for v in node.outputs if v in needed] or [top]
        place = places[0]
        for other in places[1:]:
            place = place.common(other)
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
