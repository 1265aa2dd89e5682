"""Features: observers of a `FunctionGraph` that record, check or refuse its changes.

This module has the base class `Feature` and the features by which any graph makes and undoes changes: see
`ReplaceValidate`. Other features are in `occelo_rewrite.features`. Those in `occelo_rewrite` itself keep track of common
subexpressions, lengths and facts. A feature in `occelo_compile.debugging.definitions` records replacements for DebugMode.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from occelo_graph.errors import InconsistencyError, ReplacementDidNotRemoveError
from occelo_graph.ir.nodes import Apply, Variable

if TYPE_CHECKING:
    from occelo_graph.fgraph.graph import FunctionGraph


class AlreadyThere(Exception):
    """`Feature.on_attach` raises it if the graph already has a feature with the same purpose."""


class Feature:
    """Base class of features. Its methods are hooks that the graph calls; by default they do nothing.

    ``provides`` lists names of methods of the feature. While the feature is attached to a graph, the graph has these
    methods, too. TypeError if it is given arguments.
    """

    provides: tuple[str, ...] = ()

    def on_attach(self, fgraph: FunctionGraph) -> None:
        """Called before the feature is attached. If this hook raises `AlreadyThere`, the feature is not attached."""

    def on_detach(self, fgraph: FunctionGraph) -> None:
        """Called after the feature was removed from the graph."""

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        """Called after a node was added to the graph."""

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        """Called after a node was removed from the graph because nothing uses it."""

    def on_change_input(
        self,
        fgraph: FunctionGraph,
        node: Apply,
        i: int,
        var: Variable,
        new_var: Variable,
        reason: Any = None,
    ) -> None:
        """Called after input ``i`` of ``node`` was changed from ``var`` to ``new_var``."""

    def on_validate(self, fgraph: FunctionGraph) -> None:
        """Called after a change by `ReplaceValidate`. Raises `InconsistencyError` if the graph is now invalid."""

    def orderings(self, fgraph: FunctionGraph) -> dict[Apply, list[Apply]]:
        """Additional constraints on the order of nodes, for `FunctionGraph.toposort`.

        The result maps a node to nodes that must run before it, although it does not use their outputs.
        """
        return {}

    def clone(self) -> Feature:
        """A feature of the same class, without state, for a copy of the graph."""
        return type(self)()


class Bookkeeper(Feature):
    """Base class of features that must see all nodes of a graph.

    When the feature is attached, ``on_import`` is called for each node that is already in the graph. When it is
    detached, ``on_prune`` is called for each node. TypeError if it is given arguments.
    """

    def on_attach(self, fgraph: FunctionGraph) -> None:
        for node in fgraph.toposort():
            self.on_import(fgraph, node, "on_attach")

    def on_detach(self, fgraph: FunctionGraph) -> None:
        for node in fgraph.toposort():
            self.on_prune(fgraph, node, "on_detach")


class Change:
    """A recorded change of an input of a node, which can be undone and redone."""

    __slots__ = ("i", "new", "node", "old", "reason")

    def __init__(self, node: Apply, i: int, old: Variable, new: Variable, reason: Any) -> None:
        self.node, self.i, self.old, self.new, self.reason = node, i, old, new, reason

    def undo(self, fgraph: FunctionGraph) -> None:
        fgraph.change_node_input(self.node, self.i, self.old, ("Revert", self.reason), check=False)

    def redo(self, fgraph: FunctionGraph) -> None:
        fgraph.change_node_input(self.node, self.i, self.new, self.reason, check=False)


class History(Feature):
    """Records the changes after a `checkpoint`, so that `revert` can undo them.

    Checkpoints may be nested. Only the latest one can be reverted or released. TypeError if it is given arguments.
    """

    provides = ("checkpoint", "revert", "release")

    def __init__(self) -> None:
        self._changes: list[Change] = []
        self._marks: list[int] = []
        self._reverting = False

    def on_attach(self, fgraph: FunctionGraph) -> None:
        if "checkpoint" in vars(fgraph):
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
            self._changes.append(Change(node, i, var, new_var, reason))

    def checkpoint(self, fgraph: FunctionGraph) -> int:
        """Start recording changes. Returns a token for `revert` or `release`."""
        self._marks.append(len(self._changes))
        return len(self._marks)

    def _close(self, token: int) -> int:
        if token != len(self._marks):
            raise ValueError("Only the newest checkpoint can be reverted to or released")
        return self._marks.pop()

    def release(self, fgraph: FunctionGraph, token: int) -> None:
        """Keep the changes that were made since the checkpoint with this token."""
        self._close(token)
        if not self._marks:
            self._changes.clear()

    def revert(self, fgraph: FunctionGraph, token: int) -> None:
        """Undo the changes that were made since the checkpoint with this token."""
        start = self._close(token)
        self._reverting = True
        try:
            while len(self._changes) > start:
                self._changes.pop().undo(fgraph)
        finally:
            self._reverting = False


class Validator(Feature):
    """Gives the graph the methods `validate` and `consistent`, which call ``on_validate`` of all features.

    TypeError if it is given arguments.
    """

    provides = ("validate", "consistent")

    def on_attach(self, fgraph: FunctionGraph) -> None:
        if "validate" in vars(fgraph):
            raise AlreadyThere("The graph already has a validator")

    def validate(self, fgraph: FunctionGraph) -> None:
        """Call ``on_validate`` of all features. `InconsistencyError` if one of them refuses the graph."""
        fgraph.execute_callbacks("on_validate")

    def consistent(self, fgraph: FunctionGraph) -> bool:
        """Whether `validate` accepts the graph."""
        try:
            self.validate(fgraph)
        except InconsistencyError:
            return False
        return True


class ReplaceValidate(Feature):
    """Gives the graph methods that replace variables, then validate the graph. TypeError if it is given arguments.

    If a feature refuses the changed graph, or a replacement has a wrong type, all replacements of the call are undone.
    """

    provides = ("replace_validate", "replace_all_validate", "replace_all_validate_remove")

    def on_attach(self, fgraph: FunctionGraph) -> None:
        if "replace_validate" in vars(fgraph):
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
        """Like `replace_all_validate`, for a single pair of variables."""
        self.replace_all_validate(fgraph, [(r, new_r)], reason=reason, **options)

    def replace_all_validate(
        self,
        fgraph: FunctionGraph,
        replacements: Iterable[tuple[Variable, Variable]],
        reason: Any = None,
        verbose: bool | None = None,
        **options: Any,
    ) -> None:
        """Replace the first variable of each pair by the second one, and validate the graph.

        After an error the graph is as before the call, and the error is raised.
        """
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
        """Like `replace_all_validate`. In addition, the graph must then no longer contain the nodes ``remove``.

        `ReplacementDidNotRemoveError` if it contains one of them.
        """
        token = fgraph.checkpoint()
        try:
            fgraph.replace_all(replacements, reason=reason, **options)
            fgraph.validate()
            remaining = [node for node in remove if node in fgraph.apply_nodes]
            if remaining:
                raise ReplacementDidNotRemoveError(
                    f"{reason or 'A replacement'} promised to remove {', '.join(str(n) for n in remaining)}"
                )
        except BaseException:
            fgraph.revert(token)
            raise
        fgraph.release(token)
