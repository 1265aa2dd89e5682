"""Features that check in-place ops: no node may overwrite a value that is protected, or that another node still reads.

`DestroyHandler` checks that all readers of a value can run before the node that overwrites the value. `Supervisor`
protects chosen inputs. `occelo_compile.maker` attaches `Supervisor` to the graph of each function, and `DestroyHandler`
to graphs in which the user allows in-place ops (``accept_inplace``). `rules.whole_graphs` attaches `DestroyHandler`
before in-place rewriting (`inplace`). This rewriting finds out with `view_root` and `version_root` which
variables share storage.

The other features, and `inplace_candidates`, are for users who write in-place rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from occelo_graph.errors import InconsistencyError, explained_by
from occelo_graph.fgraph.features import AlreadyThere, Bookkeeper, Feature
from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ir.traversal import toposort_with_orderings

if TYPE_CHECKING:
    from occelo_graph.fgraph.graph import FunctionGraph


def view_root(variable: Variable) -> Variable:
    """The oldest variable with the same storage as ``variable``: views and in-place ops are followed backward."""
    while variable.owner is not None and variable.index is not None:
        op, index = variable.owner.op, variable.index
        sources = op.view_map.get(index) or op.destroy_map.get(index)
        if not sources:
            return variable
        variable = variable.owner.inputs[sources[0]]
    return variable


def version_root(variable: Variable) -> Variable:
    """The variable of which ``variable`` is a view, directly or through other views.

    The result of an in-place op is not a view: it is a new version of the storage, with other values.
    """
    while variable.owner is not None and variable.index is not None:
        sources = variable.owner.op.view_map.get(variable.index)
        if not sources:
            return variable
        variable = variable.owner.inputs[sources[0]]
    return variable


_ORDERINGS, _VALIDATED = "orderings", "in-place ops validated"
"""Keys of `FunctionGraph.derived`."""


class DestroyHandler(Bookkeeper):
    """Checks that the nodes of a graph with in-place ops can run in some order, and constrains this order.

    An in-place op makes a new version of the values in a storage. Its node is the destroyer of the old version. A
    version has at most one destroyer. All readers of the version, and of its views, run before the destroyer. Constants
    are never overwritten. If a graph breaks one of these rules, its validation raises `InconsistencyError`.
    """

    provides = ("has_destroyers", "destroyers", "destroy_handler")

    def __init__(self) -> None:
        self._destroyers: dict[Apply, None] = {}

    def on_attach(self, fgraph: FunctionGraph) -> None:
        if hasattr(fgraph, "destroyers"):
            raise AlreadyThere("The graph already has a destroy handler")
        for node in fgraph.apply_nodes:
            self.on_import(fgraph, node, "on_attach")

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        if node.op.destroy_map:
            self._destroyers[node] = None
            fgraph.derived.clear()

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        self._destroyers.pop(node, None)

    @property
    def is_needed(self) -> bool:
        """Whether any node of the graph has an in-place op."""
        return bool(self._destroyers)

    def destroy_handler(self, fgraph: FunctionGraph) -> DestroyHandler:
        """Return this feature. The graph gets this method, too, so that other code can ask it for the feature."""
        return self

    def has_destroyers(self, fgraph: FunctionGraph, protected: Sequence[Variable]) -> bool:
        """Whether a node overwrites the storage of any of the variables ``protected``."""
        roots = {version_root(v) for v in protected}
        return any(root in roots for root in self._destroyed())

    def destroyers(self, fgraph: FunctionGraph, variable: Variable) -> list[Apply]:
        """The nodes that overwrite the storage of a variable. In a valid graph there is at most one."""
        root = version_root(variable)
        return [node for destroyed, node in self._destroyed_pairs() if destroyed is root]

    def _destroyed_pairs(self) -> list[tuple[Variable, Apply]]:
        return [
            (version_root(node.inputs[i]), node)
            for node in self._destroyers
            for sources in node.op.destroy_map.values()
            for i in sources
        ]

    def _destroyed(self) -> list[Variable]:
        return [root for root, _ in self._destroyed_pairs()]

    def _views(self, fgraph: FunctionGraph, root: Variable, destroyer: Apply) -> list[Variable]:
        """The variable ``root`` and all its views, except the views that ``destroyer`` computes."""
        views = [root]
        pending = [root]
        while pending:
            for node, i in fgraph.clients[pending.pop()]:
                if node is destroyer:
                    continue
                for out, sources in node.op.view_map.items():
                    if i in sources and out < len(node.outputs):
                        views.append(node.outputs[out])
                        pending.append(node.outputs[out])
        return views

    def orderings(self, fgraph: FunctionGraph) -> dict[Apply, list[Apply]]:
        orderings: dict[Apply, list[Apply]] | None = fgraph.derived.get(_ORDERINGS)
        if orderings is None:
            orderings = fgraph.derived[_ORDERINGS] = self._orderings(fgraph)
        return orderings

    def _orderings(self, fgraph: FunctionGraph) -> dict[Apply, list[Apply]]:
        before: dict[Apply, list[Apply]] = {}
        seen: dict[Variable, Apply] = {}
        for root, destroyer in self._destroyed_pairs():
            other = seen.get(root)
            if other is not None and other is not destroyer:
                raise InconsistencyError(
                    f"{root} would be overwritten by {other.op} and by {destroyer.op}"
                )
            seen[root] = destroyer
            readers: dict[Apply, None] = {}
            for view in self._views(fgraph, root, destroyer):
                for node, _ in fgraph.clients[view]:
                    if node is not destroyer and node in fgraph.apply_nodes:
                        readers[node] = None
            before.setdefault(destroyer, []).extend(readers)
        return before

    def on_validate(self, fgraph: FunctionGraph) -> None:
        if not self._destroyers or _VALIDATED in fgraph.derived:
            return
        for root, node in self._destroyed_pairs():
            if isinstance(view_root(root), Constant):
                raise InconsistencyError(f"{node.op} would overwrite the constant {root}")
        self._check_double_use()
        try:
            toposort_with_orderings(fgraph.outputs, orderings=self.orderings(fgraph))
        except ValueError as error:
            raise InconsistencyError(f"In-place ops leave no order to run in: {error}") from None
        fgraph.derived[_VALIDATED] = True

    def _check_double_use(self) -> None:
        for node in self._destroyers:
            destroyed = {i for sources in node.op.destroy_map.values() for i in sources}
            roots = [version_root(v) for v in node.inputs]
            for i in destroyed:
                if any(j != i and other is roots[i] for j, other in enumerate(roots)):
                    raise InconsistencyError(
                        f"{node.op} reads {roots[i]} through another input too"
                    )


Chosen = Sequence[Variable] | Callable[["FunctionGraph"], Sequence[Variable]]


class InputsAt:
    """A function that returns the inputs of a graph at ``positions``.

    A `Supervisor` with such a function can be copied and pickled together with the graph.
    """

    def __init__(self, positions: Sequence[int]) -> None:
        self.positions = tuple(positions)

    def __call__(self, fgraph: FunctionGraph) -> list[Variable]:
        return [fgraph.inputs[i] for i in self.positions]


class Supervisor(Feature):
    """Refuses graphs in which an op overwrites one of the ``protected`` variables.

    ``protected`` is a list of variables, or a function that returns them for a graph, such as `InputsAt`. The variables
    ``spared`` may be overwritten by ops of the user's graph, but not by ops that rewriting introduces. In a function
    they are the inputs with updates: a call that fails must leave their values unchanged.
    """

    def __init__(self, protected: Chosen, spared: Chosen = ()) -> None:
        self._protected = protected
        self._spared = spared

    def protected(self, fgraph: FunctionGraph) -> Sequence[Variable]:
        """The variables that no node may overwrite."""
        return self._protected(fgraph) if callable(self._protected) else self._protected

    def untouchable(self, fgraph: FunctionGraph) -> Sequence[Variable]:
        """The variables for which rewriting may not introduce in-place ops."""
        spared = self._spared(fgraph) if callable(self._spared) else self._spared
        return [*self.protected(fgraph), *spared]

    def on_validate(self, fgraph: FunctionGraph) -> None:
        overwrites = fgraph.__dict__.get("has_destroyers")
        if overwrites is None:
            return
        here = [v for v in self.protected(fgraph) if v in fgraph.variables]
        for variable in here if overwrites(here) else ():
            if overwrites([variable]):
                raise InconsistencyError(f"The protected variable {variable} would be overwritten")

    def clone(self) -> Supervisor:
        return Supervisor(self._protected, self._spared)


class _OutputVeto(Feature):
    """Base class of features that refuse outputs which in-place ops compute.

    ``protected_out_ids`` are the positions of the outputs that are checked. By default all are checked.
    """

    def __init__(self, protected_out_ids: Sequence[int] | None = None) -> None:
        self.protected_out_ids = None if protected_out_ids is None else tuple(protected_out_ids)

    def objection(self, fgraph: FunctionGraph, variable: Variable) -> str | None:
        """The reason to refuse an output that an in-place op computes. None if it is accepted."""
        raise NotImplementedError

    def on_validate(self, fgraph: FunctionGraph) -> None:
        chosen = self.protected_out_ids
        for i in range(len(fgraph.outputs)) if chosen is None else chosen:
            variable = fgraph.outputs[i]
            owner, index = variable.owner, variable.index
            if owner is None or index is None or not owner.op.destroy_map.get(index):
                continue
            reason = self.objection(fgraph, variable)
            if reason is not None:
                raise InconsistencyError(f"Output {i}, {variable}, {reason}")

    def clone(self) -> Feature:
        return type(self)(self.protected_out_ids)


class NoOutputFromInplace(_OutputVeto):
    """Refuses outputs that are computed by an in-place op."""

    def objection(self, fgraph: FunctionGraph, variable: Variable) -> str | None:
        return "would be computed in place"


class NoOutputInplaceOnInput(_OutputVeto):
    """Refuses outputs that are computed in the storage of an input of the graph."""

    def objection(self, fgraph: FunctionGraph, variable: Variable) -> str | None:
        return "would overwrite an input" if view_root(variable) in fgraph.inputs else None


@explained_by("graphs")
def inplace_candidates(
    fgraph: FunctionGraph, inputs: Sequence[Variable], protected_inputs: Sequence[Variable] = ()
) -> list[Variable]:
    """The variables in ``inputs`` that an in-place op with these inputs could overwrite.

    Such a variable is not a constant and not in ``protected_inputs``. It shares no storage with another input, and no
    other node overwrites it. TypeError unless it is asked about variables of a graph.
    """
    asked: Any = inputs
    is_list = not isinstance(asked, Variable) and all(isinstance(v, Variable) for v in asked)
    if not is_list or not hasattr(fgraph, "has_destroyers"):
        raise TypeError(
            f"inplace_candidates takes a function graph and a list of its variables, got {fgraph!r} and {inputs!r}"
        )
    roots = [view_root(v) for v in inputs]
    protected = {view_root(v) for v in protected_inputs}
    return [
        v
        for v, root in zip(inputs, roots, strict=True)
        if not isinstance(root, Constant)
        and root not in protected
        and sum(1 for r in roots if r is root) == 1
        and not fgraph.has_destroyers([v])
    ]
