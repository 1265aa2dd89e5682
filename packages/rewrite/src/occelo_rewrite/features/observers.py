"""Features that observe the rewriting of a graph.

`occelo_compile.maker` attaches `PreserveVariableAttributes` to each graph. The features `FullHistory`, `NodeFinder` and
`PrintListener` are for users only.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from occelo_graph.fgraph.features import AlreadyThere, Bookkeeper, Change, Feature
from occelo_graph.ir.nodes import Apply, Variable

if TYPE_CHECKING:
    from occelo_graph.fgraph.graph import FunctionGraph
    from occelo_graph.ir.op import Op


class FullHistory(Feature):
    """Records all changes, so that users can step forward and backward through the rewriting of a graph.

    ``callback`` is called after each recorded change.
    """

    def __init__(self, callback: Callable[[], None] | None = None) -> None:
        self.fw: list[Change] = []
        self.pointer = -1
        self.callback = callback
        self._moving = False
        self._fgraph: FunctionGraph | None = None

    def on_attach(self, fgraph: FunctionGraph) -> None:
        if self._fgraph is not None:
            raise ValueError("A full history belongs to one graph")
        self._fgraph = fgraph

    def on_detach(self, fgraph: FunctionGraph) -> None:
        self._fgraph = None

    def on_change_input(
        self,
        fgraph: FunctionGraph,
        node: Apply,
        i: int,
        var: Variable,
        new_var: Variable,
        reason: Any = None,
    ) -> None:
        if self._moving:
            return
        del self.fw[self.pointer + 1 :]
        self.fw.append(Change(node, i, var, new_var, reason))
        self.pointer += 1
        if self.callback is not None:
            self.callback()

    def goto(self, checkpoint: int) -> FunctionGraph:
        """Go to the graph after the first ``checkpoint`` changes. IndexError if there are fewer changes."""
        if not 0 <= checkpoint <= len(self.fw):
            raise IndexError(f"There are {len(self.fw)} changes, not {checkpoint}")
        assert self._fgraph is not None
        self._moving = True
        try:
            while self.pointer + 1 > checkpoint:
                self.fw[self.pointer].undo(self._fgraph)
                self.pointer -= 1
            while self.pointer + 1 < checkpoint:
                self.pointer += 1
                self.fw[self.pointer].redo(self._fgraph)
        finally:
            self._moving = False
        return self._fgraph

    def start(self) -> FunctionGraph:
        """Go to the graph as it was when the feature was attached."""
        return self.goto(0)

    def end(self) -> FunctionGraph:
        """Go to the graph after all recorded changes."""
        return self.goto(len(self.fw))

    def prev(self) -> FunctionGraph:
        """Undo one change, if there is one."""
        return self.goto(max(0, self.pointer))

    def next(self) -> FunctionGraph:
        """Redo one change, if there is one."""
        return self.goto(min(len(self.fw), self.pointer + 2))

    def clone(self) -> FullHistory:
        return FullHistory(self.callback)


class PreserveVariableAttributes(Feature):
    """Copies the name of a variable to its replacement, and the attribute ``nan_guard_mode_check`` of its
    `Variable.tag`.

    With this attribute, users exclude a variable from the checks of NanGuardMode.
    """

    def on_change_input(
        self,
        fgraph: FunctionGraph,
        node: Apply,
        i: int,
        var: Variable,
        new_var: Variable,
        reason: Any = None,
    ) -> None:
        if var.name is not None and new_var.name is None and new_var.owner is not None:
            new_var.name = var.name
        if var.has_tag and getattr(var.tag, "nan_guard_mode_check", None) is not None:
            new_var.tag.nan_guard_mode_check = var.tag.nan_guard_mode_check


class NodeFinder(Bookkeeper):
    """Gives the graph the method `get_nodes`, which finds all nodes that apply a given op."""

    provides = ("get_nodes",)

    def __init__(self) -> None:
        self._by_op: dict[Op, dict[Apply, None]] = {}

    def on_attach(self, fgraph: FunctionGraph) -> None:
        if hasattr(fgraph, "get_nodes"):
            raise AlreadyThere("The graph already has a node finder")
        super().on_attach(fgraph)

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        self._by_op.setdefault(node.op, {})[node] = None

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        self._by_op.get(node.op, {}).pop(node, None)

    def get_nodes(self, fgraph: FunctionGraph, op: Op) -> Sequence[Apply]:
        """The nodes of the graph that apply ``op``."""
        return list(self._by_op.get(op, ()))


class PrintListener(Feature):
    """Prints all changes of the graph to ``file``, by default to standard output. ``active`` switches printing on."""

    def __init__(self, active: bool = True, file: Any = None) -> None:
        self.active = active
        self.file = file

    def _say(self, message: str) -> None:
        if self.active:
            print(message, file=self.file or sys.stdout)

    def on_attach(self, fgraph: FunctionGraph) -> None:
        self._say(f"-- attaching to: {fgraph}")

    def on_detach(self, fgraph: FunctionGraph) -> None:
        self._say(f"-- detaching from: {fgraph}")

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        self._say(f"-- importing: {node}, reason: {reason}")

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        self._say(f"-- pruning: {node}, reason: {reason}")

    def on_change_input(
        self,
        fgraph: FunctionGraph,
        node: Apply,
        i: int,
        var: Variable,
        new_var: Variable,
        reason: Any = None,
    ) -> None:
        self._say(f"-- changing ({node}, {i}) from {var} to {new_var}, reason: {reason}")

    def clone(self) -> PrintListener:
        return PrintListener(self.active, self.file)
