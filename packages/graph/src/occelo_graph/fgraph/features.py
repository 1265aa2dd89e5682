"""Features: observers of a `FunctionGraph` that record, check or refuse its changes.

Rewriters undo changes with `ReplaceValidate`. `occelo_compile.maker` attaches it and `PreserveVariableAttributes` to
each graph. Features in `occelo_rewrite` keep common subexpressions, lengths and facts up to date. Features in
`protection` check in-place ops. DebugMode records replacements with a feature of its own
(`occelo_compile.debugging.definitions`). Users may attach features, too; no code of Occelo uses `FullHistory`,
`NodeFinder` and `PrintListener`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from occelo_graph.errors import InconsistencyError, ReplacementDidNotRemoveError
from occelo_graph.ir.nodes import Apply, Variable

if TYPE_CHECKING:
    from occelo_graph.fgraph.graph import FunctionGraph
    from occelo_graph.ir.op import Op

__all__ = [
    "AlreadyThere",
    "Bookkeeper",
    "Feature",
    "FullHistory",
    "History",
    "NodeFinder",
    "PreserveVariableAttributes",
    "PrintListener",
    "ReplaceValidate",
    "Validator",
]


class AlreadyThere(Exception):
    """Raised by `Feature.on_attach` when the graph already has a feature with the same purpose."""


class Feature:
    """Base of observers; hooks do nothing unless overridden.

    ``provides`` names methods of the feature that become methods of the graph while the feature is attached to it.
    """

    provides: tuple[str, ...] = ()

    def on_attach(self, fgraph: FunctionGraph) -> None:
        """Called before the feature is attached. If it raises `AlreadyThere`, the feature is silently not attached."""

    def on_detach(self, fgraph: FunctionGraph) -> None:
        """The feature was removed."""

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        """A node entered the graph."""

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        """A node left the graph because nothing uses it."""

    def on_change_input(
        self,
        fgraph: FunctionGraph,
        node: Apply,
        i: int,
        var: Variable,
        new_var: Variable,
        reason: Any = None,
    ) -> None:
        """Input ``i`` of ``node`` changed from ``var`` to ``new_var``."""

    def on_validate(self, fgraph: FunctionGraph) -> None:
        """Raise `InconsistencyError` if the graph, as it is now, is invalid."""

    def orderings(self, fgraph: FunctionGraph) -> dict[Apply, list[Apply]]:
        """Constraints on the order of nodes besides data flow.

        Maps a node to nodes that must run before it, although it does not use their results.
        """
        return {}

    def clone(self) -> Feature:
        """A feature of the same kind for a copy of the graph."""
        return type(self)()


class Bookkeeper(Feature):
    """A feature whose ``on_import`` is also called for nodes that are in the graph when it is attached."""

    def on_attach(self, fgraph: FunctionGraph) -> None:
        for node in fgraph.toposort():
            self.on_import(fgraph, node, "on_attach")

    def on_detach(self, fgraph: FunctionGraph) -> None:
        for node in fgraph.toposort():
            self.on_prune(fgraph, node, "on_detach")


class _Change:
    """One recorded change of an input, which can be undone and redone."""

    __slots__ = ("i", "new", "node", "old", "reason")

    def __init__(self, node: Apply, i: int, old: Variable, new: Variable, reason: Any) -> None:
        self.node, self.i, self.old, self.new, self.reason = node, i, old, new, reason

    def undo(self, fgraph: FunctionGraph) -> None:
        fgraph.change_node_input(self.node, self.i, self.old, ("Revert", self.reason), check=False)

    def redo(self, fgraph: FunctionGraph) -> None:
        fgraph.change_node_input(self.node, self.i, self.new, self.reason, check=False)


class History(Feature):
    """Records changes so that the graph can be reverted to a `checkpoint`.

    Changes are recorded only while a checkpoint is open. Only the latest checkpoint can be reverted to.
    """

    provides = ("checkpoint", "revert", "release")

    def __init__(self) -> None:
        self._changes: list[_Change] = []
        self._marks: list[int] = []
        self._reverting = False

    def on_attach(self, fgraph: FunctionGraph) -> None:
        if hasattr(fgraph, "checkpoint"):
            raise AlreadyThere("The graph already records its history")

    def on_change_input(
        self,
        fgraph: FunctionGraph,
        node: Apply,
        i: int,
        var: Variable,
        new_var: Variable,
        reason: Any = None,
    ) -> None:
        if self._marks and not self._reverting:
            self._changes.append(_Change(node, i, var, new_var, reason))

    def checkpoint(self, fgraph: FunctionGraph) -> int:
        """Start recording; returns a token for `revert` or `release`."""
        self._marks.append(len(self._changes))
        return len(self._marks)

    def _close(self, token: int) -> int:
        if token != len(self._marks):
            raise ValueError("Only the newest checkpoint can be reverted to or released")
        return self._marks.pop()

    def release(self, fgraph: FunctionGraph, token: int) -> None:
        """Keep the changes made since the checkpoint."""
        self._close(token)
        if not self._marks:
            self._changes.clear()

    def revert(self, fgraph: FunctionGraph, token: int) -> None:
        """Undo the changes made since the checkpoint."""
        start = self._close(token)
        self._reverting = True
        try:
            while len(self._changes) > start:
                self._changes.pop().undo(fgraph)
        finally:
            self._reverting = False


class FullHistory(Feature):
    """Records all changes, so that users can step forward and back through the rewriting of a graph.

    ``callback`` is called after each recorded change.
    """

    def __init__(self, callback: Callable[[], None] | None = None) -> None:
        self.fw: list[_Change] = []
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
        self.fw.append(_Change(node, i, var, new_var, reason))
        self.pointer += 1
        if self.callback is not None:
            self.callback()

    def goto(self, checkpoint: int) -> FunctionGraph:
        """Go to the state after ``checkpoint`` changes (0: the start); IndexError if there are fewer."""
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
        """Go to the latest state."""
        return self.goto(len(self.fw))

    def prev(self) -> FunctionGraph:
        """Undo one change, if there is one."""
        return self.goto(max(0, self.pointer))

    def next(self) -> FunctionGraph:
        """Redo one change, if there is one."""
        return self.goto(min(len(self.fw), self.pointer + 2))

    def clone(self) -> FullHistory:
        return FullHistory(self.callback)


class Validator(Feature):
    """Provides `validate` and `consistent`, which call ``on_validate`` of all features."""

    provides = ("validate", "consistent")

    def on_attach(self, fgraph: FunctionGraph) -> None:
        if hasattr(fgraph, "validate"):
            raise AlreadyThere("The graph already has a validator")

    def validate(self, fgraph: FunctionGraph) -> None:
        """Call ``on_validate`` of all features until one raises."""
        fgraph.execute_callbacks("on_validate")

    def consistent(self, fgraph: FunctionGraph) -> bool:
        """Whether `validate` raises nothing."""
        try:
            self.validate(fgraph)
        except InconsistencyError:
            return False
        return True


class ReplaceValidate(Feature):
    """Provides replacements that are undone together if a feature or a type refuses one."""

    provides = ("replace_validate", "replace_all_validate", "replace_all_validate_remove")

    def on_attach(self, fgraph: FunctionGraph) -> None:
        if hasattr(fgraph, "replace_validate"):
            raise AlreadyThere("The graph already has validated replacements")
        fgraph.attach_feature(History())
        fgraph.attach_feature(Validator())

    def replace_validate(
        self,
        fgraph: FunctionGraph,
        r: Variable,
        new_r: Variable,
        reason: Any = None,
        **options: Any,
    ) -> None:
        """`replace_all_validate` for a single pair."""
        self.replace_all_validate(fgraph, [(r, new_r)], reason=reason, **options)

    def replace_all_validate(
        self,
        fgraph: FunctionGraph,
        replacements: Iterable[tuple[Variable, Variable]],
        reason: Any = None,
        verbose: bool | None = None,
        **options: Any,
    ) -> None:
        """Replace all pairs and validate; an error restores the graph and is raised."""
        token = fgraph.checkpoint()
        try:
            fgraph.replace_all(replacements, reason=reason, verbose=verbose, **options)
            fgraph.validate()
        except BaseException:
            fgraph.revert(token)
            raise
        fgraph.release(token)

    def replace_all_validate_remove(
        self,
        fgraph: FunctionGraph,
        replacements: Iterable[tuple[Variable, Variable]],
        remove: Iterable[Apply],
        reason: Any = None,
        **options: Any,
    ) -> None:
        """`replace_all_validate`; afterwards the nodes ``remove`` must be gone (`ReplacementDidNotRemoveError`)."""
        token = fgraph.checkpoint()
        try:
            fgraph.replace_all(replacements, reason=reason, **options)
            fgraph.validate()
            kept = [node for node in remove if node in fgraph.apply_nodes]
            if kept:
                raise ReplacementDidNotRemoveError(
                    f"{reason} promised to remove {', '.join(str(n) for n in kept)}"
                )
        except BaseException:
            fgraph.revert(token)
            raise
        fgraph.release(token)


class PreserveVariableAttributes(Feature):
    """Copies a variable's name, and the tag that excludes it from NaN checks, to its replacement."""

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
    """Provides `get_nodes`: the nodes of an op."""

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
        """The nodes that apply ``op``."""
        return list(self._by_op.get(op, ()))


class PrintListener(Feature):
    """Prints all changes."""

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
