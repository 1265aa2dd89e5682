"""Incremental topological order: an order of the nodes of a graph that is kept valid while edges are added.

`inplace` uses it to check whether all other readers of a value can run before the node that overwrites it. The
algorithm is that of Pearce and Kelly, 2006.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from occelo_graph import Apply


class IncrementalOrder:
    """A topological order of the nodes of a graph, which can be extended by further edges.

    `add` adds an edge and repairs the order. It visits only nodes between the two ends of the edge.
    """

    def __init__(self, order: Sequence[Apply], users: Callable[[Apply], Iterable[Apply]]) -> None:
        self._place = {node: i for i, node in enumerate(order)}
        self._users = users
        self._later: dict[Apply, list[Apply]] = {}
        self._earlier: dict[Apply, list[Apply]] = {}

    def add(self, first: Apply, then: Apply) -> bool:
        """Require that ``first`` runs before ``then``. Returns False and changes nothing if this is impossible."""
        low, high = self._place[then], self._place[first]
        if low < high:
            forward = self._reach(then, high, True)
            if first in forward:
                return False
            self._reorder(self._reach(first, low, False), forward)
        self._later.setdefault(first, []).append(then)
        self._earlier.setdefault(then, []).append(first)
        return True

    def withdraw(self, first: Apply, then: Apply) -> None:
        """Remove the edge from ``first`` to ``then`` that `add` added."""
        self._later[first].remove(then)
        self._earlier[then].remove(first)

    def _next(self, node: Apply, forward: bool) -> Iterable[Apply]:
        if forward:
            yield from self._users(node)
            yield from self._later.get(node, ())
        else:
            for v in node.inputs:
                if v.owner is not None:
                    yield v.owner
            yield from self._earlier.get(node, ())

    def _reach(self, start: Apply, bound: int, forward: bool) -> list[Apply]:
        """The nodes that can be reached from ``start`` and lie between it and the position ``bound`` of the order.

        With ``forward`` the search follows edges to later nodes, else to earlier nodes.
        """
        place = self._place
        reached = {start: None}
        stack = [start]
        while stack:
            for each in self._next(stack.pop(), forward):
                where = place.get(each)
                if where is None or each in reached:
                    continue
                if where <= bound if forward else where >= bound:
                    reached[each] = None
                    stack.append(each)
        return list(reached)

    def _reorder(self, before: list[Apply], after: list[Apply]) -> None:
        place = self._place
        before.sort(key=place.__getitem__)
        after.sort(key=place.__getitem__)
        nodes = [*before, *after]
        for node, where in zip(nodes, sorted(place[n] for n in nodes), strict=True):
            place[node] = where
