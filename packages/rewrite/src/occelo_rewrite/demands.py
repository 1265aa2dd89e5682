"""`run_together`: whether two nodes of a function graph run under the same conditions.

Rules that merge branches (`rules.control`) and scans (`occelo_loops.rules.merging`, `occelo_loops.rules.joining`) call it. Two
nodes may become one only if both always run together. Otherwise a call that needs only one of the nodes would also run
the other node, which might fail. For the same reason, `occelo_loops.rules.sharing` calls it before a scan reads results of
another scan.
"""

from __future__ import annotations

from collections.abc import Iterable
from weakref import WeakKeyDictionary

from occelo_graph import Apply, FunctionGraph
from occelo_graph.ir.regions import operands_of

_MOST = 16
"""The largest number of places in a demand (`_Demand`). The demand of a node that runs in more places is unknown."""


class _Place:
    """A place where nodes run: outside of all branches (``outer`` is None), or in a region of a lazy node.

    ``outer`` is the place where the lazy node itself runs. If several lazy nodes in one place have the same condition,
    their regions for the same value of the condition are one place, since they run together.
    """

    __slots__ = ("choices", "depth", "outer")

    def __init__(self, outer: _Place | None) -> None:
        self.outer = outer
        self.depth: int = 0 if outer is None else outer.depth + 1
        self.choices: dict[object, list[_Place]] = {}

    def regions(self, key: object, count: int) -> list[_Place]:
        """The places of the ``count`` regions of lazy nodes that run in this place and have the condition ``key``."""
        if key not in self.choices:
            self.choices[key] = [_Place(self) for _ in range(count)]
        return self.choices[key]

    def is_within(self, others: frozenset[_Place]) -> bool:
        """Whether this place is inside of one of ``others``."""
        place = self.outer
        while place is not None:
            if place in others:
                return True
            place = place.outer
        return False


_Demand = frozenset[_Place] | None
"""A demand: the places that need a value or run a node. None means that the demand is unknown."""

_NOTHING: frozenset[_Place] = frozenset()
_known: WeakKeyDictionary[FunctionGraph, dict[Apply, _Demand]] = WeakKeyDictionary()
"""For each graph with lazy nodes, the demand of each node.

Demands are not computed again when a change of the graph removes a use of a value. So a demand may list more places
than necessary. This is safe, because the user's graph needs the node in all of these places.
"""


def run_together(fgraph: FunctionGraph, node: Apply, other: Apply) -> bool:
    """Whether two nodes of a graph run under the same conditions. False if this is unknown."""
    demands = _known.get(fgraph)
    if demands is None or node not in demands or other not in demands:
        if not _has_lazy_nodes(fgraph):
            return True
        demands = _known[fgraph] = _demands(fgraph)
    demand = demands[node]
    return demand is not None and demand == demands[other]


def _has_lazy_nodes(fgraph: FunctionGraph) -> bool:
    key = "has_lazy_nodes"
    if key not in fgraph.derived:
        fgraph.derived[key] = any(node.op.lazy for node in fgraph.apply_nodes)
    return fgraph.derived[key]


def note_merged(fgraph: FunctionGraph, node: Apply, merged: Apply) -> None:
    """Record that ``merged`` runs under the same conditions as ``node``, which it is about to replace."""
    demands = _known.get(fgraph)
    if demands is not None and node in demands:
        demands[merged] = demands[node]


def _demands(fgraph: FunctionGraph) -> dict[Apply, _Demand]:
    top = _Place(None)
    always = frozenset((top,))
    needed: dict[object, _Demand] = dict.fromkeys(fgraph.outputs, always)
    demands: dict[Apply, _Demand] = {}
    for node in reversed(fgraph.toposort()):
        demand: _Demand = _NOTHING
        for variable in node.outputs:
            demand = _union(demand, needed.pop(variable, _NOTHING))
        demands[node] = demand
        for variable in operands_of(node):
            needed[variable] = _union(needed.get(variable, _NOTHING), demand)
        if not node.op.lazy:
            continue
        regions = node.op.regions(node)
        # If ``outputs_are_results``, only the operands decide which region runs, so they are the
        # condition. Otherwise each node is a condition of its own.
        key: object = node
        if node.op.outputs_are_results:
            key = (type(node.op), len(regions), *operands_of(node))
        for k, region in enumerate(regions):
            inside = None if demand is None else {p.regions(key, len(regions))[k] for p in demand}
            for position in region.results:
                variable = node.inputs[position]
                needed[variable] = _union(needed.get(variable, _NOTHING), inside)
    return demands


def _union(demand: _Demand, other: Iterable[_Place] | None) -> _Demand:
    """The simplified union of two sets of places; None if a set is unknown, or the union is too large.

    A place that lies inside of another place of the set is dropped. If all regions of a lazy node are in the set, the
    place of the lazy node replaces them.
    """
    if demand is None or other is None:
        return None
    if demand is other or not other:
        return demand
    places = demand.union(other)
    if places == demand:
        return demand
    whole = True
    while whole:
        places = frozenset([p for p in places if not p.is_within(places)])
        outer = {p.outer for p in places if p.outer is not None}
        whole = [p for p in outer if any(places.issuperset(each) for each in p.choices.values())]
        places = places.union(whole)
    return None if len(places) > _MOST else places
