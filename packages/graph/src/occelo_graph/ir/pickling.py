"""Pickles and deep copies of nodes and of the variables that nodes compute, without recursion over the depth of a graph.

Such a variable is pickled as a position in a `NodeTable`, which has all nodes of the variable's graph. All variables and
nodes of one pickle share these tables, so they are parts of one graph again when they are loaded. The contents of a
table are rows of numbers, like those of the canonical document (`canonical.document`). But the ops, the types and the
variables without owner are objects, since a pickle may hold ops that have no canonical form.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pickle import UnpicklingError
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.shared import SharedVariable
from occelo_graph.provenance import Mark, Source, source_of

FORMAT = 2
"""The number of what `NodeTable` and a function's pickle consist of. Raise it if either changes, or a module is moved."""

_live: WeakValueDictionary[int, NodeTable] = WeakValueDictionary()
"""Maps the ``id`` of each node to its table, as long as a pickler has that table.

A table keeps its nodes alive, so no other node gets the ``id`` of one of them.
"""


class NodeTable:
    """Nodes, as they are pickled: first their number, then what they are.

    A pickler thus knows the table before it comes to its contents, which may refer to the table: the default update of
    a shared variable is computed from this variable.
    """

    __slots__ = ("__weakref__", "nodes", "positions")

    def __init__(self, nodes: Sequence[Apply]) -> None:
        self.nodes = nodes
        self.positions = {id(node): position for position, node in enumerate(nodes)}

    @classmethod
    def of(cls, variables: Iterable[Variable]) -> NodeTable:
        """A new table of the nodes that compute ``variables``, without the nodes of tables that a pickler has.

        If the table is pickled before the variables, it is the only one that they need.
        """
        return cls._of_nodes([v.owner for v in variables if v.owner is not None])

    @classmethod
    def _of_nodes(cls, nodes: Iterable[Apply]) -> NodeTable:
        reached: dict[Apply, None] = {}
        pending = list(nodes)[::-1]
        while pending:
            node = pending.pop()
            if node in reached or id(node) in _live:
                continue
            reached[node] = None
            for variable in node.inputs:
                needed: Variable | None = variable
                if isinstance(variable, SharedVariable):
                    needed = variable.default_update
                if needed is not None and needed.owner is not None:
                    pending.append(needed.owner)
        table = cls(list(reached))
        _live.update(dict.fromkeys(table.positions, table))
        return table

    @classmethod
    def with_node(cls, node: Apply) -> NodeTable:
        """The table that has a node."""
        return _live.get(id(node)) or cls._of_nodes([node])

    def __reduce__(self) -> tuple[Any, ...]:
        outputs = [v for node in self.nodes for v in node.outputs]
        classes = _Column()
        kinds = [classes.position(v.__class__) for v in outputs]
        counts = [len(node.outputs) for node in self.nodes]
        shape = classes.values, _packed(counts), _packed(kinds)
        return _with_empty_nodes, (*shape, FORMAT), self._contents(outputs)

    def _contents(self, outputs: list[Variable]) -> dict[str, Any]:
        ops, types, others, places = _Column(), _Column(), _Column(), _Places()
        numbers = {v: i for i, v in enumerate(outputs)}
        rows: list[int] = []
        for node in self.nodes:
            rows += (ops.position(node.op), places.position(node.mark), len(node.inputs))
            for v in node.inputs:
                number = numbers.get(v)
                rows.append(len(numbers) + others.position(v) if number is None else number)
            rows += [types.position(v.type) for v in node.outputs]
        return {
            "ops": ops.values,
            "types": types.values,
            "others": others.values,
            "places": places.values,
            "rows": _packed(rows),
            "node tags": [(i, n.tag) for i, n in enumerate(self.nodes) if n.has_tag],
            "variables": [(i, extra) for i, v in enumerate(outputs) if (extra := _kept(v))],
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        variables: list[Variable] = [v for node in self.nodes for v in node.outputs]
        variables += state["others"]
        places: list[Source] = state["places"]
        rows = iter(_unpacked(state["rows"]))
        for node in self.nodes:
            node.op = state["ops"][next(rows)]
            place = next(rows)
            node.mark = None if place < 0 else places[place]
            node.inputs = [variables[next(rows)] for _ in range(next(rows))]
            for variable in node.outputs:
                variable.type = state["types"][next(rows)]
        for position, tag in state["node tags"]:
            self.nodes[position].tag = tag
        variables_kept: list[tuple[int, dict[str, Any]]] = state["variables"]
        for number, extra in variables_kept:
            for slot, value in extra.items():
                setattr(variables[number], slot, value)


class _Column:
    """Objects without duplicates, in the order of their first occurrence."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._positions: dict[int, int] = {}

    def position(self, value: Any) -> int:
        position = self._positions.setdefault(id(value), len(self.values))
        if position == len(self.values):
            self.values.append(value)
        return position


class _Places:
    """Lines of the user's code without duplicates."""

    def __init__(self) -> None:
        self.values: list[Source] = []
        self._positions: dict[Any, int] = {None: -1}

    def position(self, mark: Mark | Source | None) -> int:
        position = self._positions.get(mark)
        if position is None:
            source = source_of(mark)
            position = self._positions.get(source)
            if position is None:
                assert source is not None
                position = self._positions[source] = len(self.values)
                self.values.append(source)
            self._positions[mark] = position
        return position


def _packed(numbers: Sequence[int]) -> bytes:
    return np.asarray(numbers, "<i4").tobytes()


def _unpacked(numbers: bytes) -> list[int]:
    integers: list[int] = np.frombuffer(numbers, "<i4").tolist()
    return integers


def _kept(variable: Variable) -> dict[str, Any]:
    """What an output has besides its type and its owner, by attribute: name, tag, and what a subclass adds."""
    attributes, slots = variable.__getstate__()
    own = {"type", "owner", "index"}
    extra = {k: v for k, v in slots.items() if v is not None and k not in own}
    return {**extra, **(attributes or {})}


def _with_empty_nodes(
    classes: list[Any], counts: bytes, kinds: bytes, number: int = 1
) -> NodeTable:
    if number != FORMAT:  # before anything else of the pickle is looked up
        raise UnpicklingError(
            f"The pickle of a graph or a function has format {number}, and this version of Occelo reads format {FORMAT}. "
            "Pickles are for the version that wrote them; `save` writes files that later versions load"
        )
    variables: list[Any] = [classes[k].__new__(classes[k]) for k in _unpacked(kinds)]
    nodes: list[Apply] = []
    first = 0
    for count in _unpacked(counts):
        nodes.append(Apply.without_contents(variables[first : first + count]))
        first += count
    return NodeTable(nodes)


def _node(table: NodeTable, position: int) -> Apply:
    return table.nodes[position]


def _output(table: NodeTable, position: int, index: int) -> Variable:
    return table.nodes[position].outputs[index]


def reduced(what: Variable | Apply) -> tuple[Any, ...]:
    """What ``__reduce__`` of a node, or of a variable that a node computes, returns."""
    if isinstance(what, Apply):
        table = NodeTable.with_node(what)
        return _node, (table, table.positions[id(what)])
    assert what.owner is not None
    table = NodeTable.with_node(what.owner)
    return _output, (table, table.positions[id(what.owner)], what.index)
