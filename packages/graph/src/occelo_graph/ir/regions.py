"""Regions: parts of a graph that one node runs itself, such as the branches of an `IfElse`.

The inputs of a node with regions are of two kinds. Its operands are computed before the node runs. The other inputs are
the results of its regions; the node decides whether they are computed. A node of the graph belongs to a region if its
outputs are needed only for the results of this region. `divide` finds the nodes of all regions in one pass.

A `Loop` is a region that a node runs repeatedly, with loop-carried values. It is a frozen graph, which reads only its
own inputs.

Lazy ops declare regions by `Op.regions`, and ops with a loop by `Op.loop`. The interpreter, DebugMode and the linkers
run the regions. Reverse mode differentiates them one by one (`gradient.pulling`). `occelo_rewrite.demands` finds out
from the regions under which conditions a node runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Self

from occelo_graph.frozen_dataclasses import frozen_dataclass

if TYPE_CHECKING:
    from occelo_graph.fgraph.frozen import FrozenFunctionGraph
    from occelo_graph.ir.nodes import Apply, Variable


@frozen_dataclass(eq=False)
class Region:
    """A part of the graph that a node runs itself.

    ``results`` are positions of inputs of the node: the inputs that the region computes.
    """

    results: tuple[int, ...]


@frozen_dataclass(eq=False)
class Loop:
    """A region that a node runs repeatedly. The outputs of the node are the final carried values.

    - ``body``: the graph of one iteration. Its first inputs are the carried values; its other inputs are the same in
      all iterations. Its first outputs are the next carried values.
    - ``count``: the position of the node's input with the number of iterations, an integer scalar. A negative number
      means no iteration. If ``count`` is None, nothing is carried: the body runs once, and its outputs are the outputs
      of the node.
    - ``carried``: the positions of the node's inputs with the initial carried values.
    - ``read``: the positions of the node's inputs that are the other inputs of the body.
    - ``stops``: whether the last output of the body is a condition. The loop ends after an iteration in which it is
      true.
    - ``fills``: indices of carried values that are tensors to be filled. Every iteration writes one row of such a
      tensor and reads no row. If the tensor has as many rows as there are iterations, its initial elements are never
      used.
    """

    body: FrozenFunctionGraph
    count: int | None
    carried: tuple[int, ...]
    read: tuple[int, ...] = ()
    stops: bool = False
    fills: tuple[int, ...] = ()


def writes_into_carried(loop: Loop) -> dict[Variable, list[Apply]]:
    """For each carried value that an iteration changes only by writing into it, the nodes that write, in order.

    The ops of these nodes have in-place variants, so the carried value may be updated in its memory. Examples are the
    memory of a trace and a delay line. The keys are inputs of the body: the carried values before the iteration.
    """
    writers: dict[Variable, list[Apply]] = {}
    for before, after in zip(
        loop.body.inputs[: len(loop.carried)], loop.body.outputs, strict=False
    ):
        writes: list[Apply] = []
        variable = after
        while variable is not before and variable.type == before.type:
            node = variable.owner
            variant: Any = None if node is None else getattr(node.op, "with_inplace", None)
            if node is None or variant is None or variant().destroy_map.get(variable.index) != [0]:
                break
            writes.append(node)
            variable = node.inputs[0]
        if writes and variable is before:
            writers[before] = writes[::-1]
    return writers


def operands_of(node: Apply) -> Sequence[Variable]:
    """The inputs of a node that are computed before it runs: all except the results of its regions."""
    op = node.op
    return [node.inputs[i] for i in op.operands(node)] if op.lazy else node.inputs


def perhaps_needless(order: Sequence[Apply], outputs: Sequence[Variable]) -> set[Apply]:
    """The nodes that compiled code may run although no result needs them.

    Several regions need such a node, but nothing outside of them needs it. So the node is in no region, and compiled
    code runs it before the regions. Perhaps none of these regions runs. Such nodes of the bodies of loops are found,
    too.
    """
    needless: set[Apply] = set()
    for node in order:
        loop = node.op.loop(node) if node.op.loops else None
        if loop is not None:
            needless |= perhaps_needless(loop.body.nodes, loop.body.outputs)
    if not any(node.op.lazy for node in order):
        return needless
    needed = set(outputs)
    inside = divide(order, outputs).outermost
    for node in reversed(order):
        if not needed.isdisjoint(node.outputs):
            needed.update(operands_of(node))
        elif node not in inside:
            needless.add(node)
    return needless


def awaited(
    node: Apply,
    inputs: Sequence[Variable],
    known: Callable[[Variable], bool],
    value: Callable[[Variable], Any],
) -> list[Variable]:
    """The inputs of a node that must still be computed before the node can run.

    If some operands are not ``known``, the result lists these operands. Otherwise the ``value`` of each operand is
    read to find out which regions run. Then the result lists the results of these regions that are not known.
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


@frozen_dataclass(eq=False)
class Division:
    """The nodes of a graph, divided among its regions.

    - ``outside``: the nodes in no region.
    - ``inside``: maps each node with regions to a list that has, for each region, the list of its nodes. A node in
      nested regions is listed only in the innermost one.
    - ``outermost``: maps each node in a region to the node that owns the outermost region around it.

    All lists are in topological order.
    """

    outside: list[Apply] = field(default_factory=list["Apply"])
    inside: dict[Apply, list[list[Apply]]] = field(
        default_factory=dict["Apply", "list[list[Apply]]"]
    )
    outermost: dict[Apply, Apply] = field(default_factory=dict["Apply", "Apply"])


class Nested:
    """A region in the tree of nested regions, with a fast search for common ancestors.

    ``parent`` is the region around it, and ``jump`` is a more distant ancestor. The jumps are chosen so that any
    ancestor is reached in a logarithmic number of steps (Myers, "An applicative random-access stack", 1983).
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
        """The innermost region that contains both this region and ``other``."""
        a, b = self, other
        if a.depth < b.depth:
            a, b = b, a
        while a.depth > b.depth:
            a = a.jump if a.jump.depth >= b.depth else a.parent
        while a is not b:
            a, b = (a.jump, b.jump) if a.jump is not b.jump else (a.parent, b.parent)
        return a


class _Place(Nested):
    """A region and its nodes. The root of the tree contains the nodes in no region."""

    __slots__ = ("nodes", "outermost")

    def __init__(self, parent: Self | None, owner: Apply | None, nodes: list[Apply]) -> None:
        super().__init__(parent)
        self.nodes = nodes
        outside = parent is None or parent.depth == 0
        self.outermost: Apply | None = owner if outside or parent is None else parent.outermost


def divide(order: Sequence[Apply], outputs: Sequence[Variable]) -> Division:
    """Divide the nodes of a graph among its regions. ``order`` has the nodes in topological order.

    A node that several regions need belongs to the innermost region that contains all of them.
    """
    if not any(node.op.lazy for node in order):
        return Division(list(order))
    parts = Division()
    top = _Place(None, None, parts.outside)
    needed: dict[Variable, _Place] = dict.fromkeys(outputs, top)

    def need(variable: Variable, place: _Place) -> None:
        former = needed.get(variable)
        needed[variable] = place if former is None or former is place else former.common(place)

    for node in reversed(order):
        places = [needed[v] for v in node.outputs if v in needed] or [top]
        place = places[0]
        for other in places[1:]:
            place = place.common(other)
        place.nodes.append(node)
        if place.outermost is not None:
            parts.outermost[node] = place.outermost
        for variable in operands_of(node):
            need(variable, place)
        regions = node.op.regions(node)
        if regions:
            inside: list[list[Apply]] = [[] for _ in regions]
            parts.inside[node] = inside
            for region, nodes in zip(regions, inside, strict=True):
                inner = _Place(place, node, nodes)
                for position in region.results:
                    need(node.inputs[position], inner)
    for nodes in (parts.outside, *(nodes for inside in parts.inside.values() for nodes in inside)):
        nodes.reverse()
    return parts
