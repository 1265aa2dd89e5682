"""In-place rewriting: ops overwrite inputs that are dead afterwards.

`pipeline` runs it as the stages ``inplace_...``. First all inputs to overwrite are chosen. A topological order of the
nodes is kept meanwhile, and updated whenever a choice adds a constraint. Then all chosen nodes are replaced, and the
graph is validated once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Protocol

from occelo_graph import (
    Apply,
    Constant,
    FunctionGraph,
    InconsistencyError,
    Op,
    Supervisor,
    Variable,
)
from occelo_graph.fgraph.graph import Output
from occelo_graph.fgraph.protection import version_root, view_root
from occelo_graph.ops.elemwise.composite import Composite
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.scalar import ScalarFunction, ScalarOp
from occelo_rewrite.ordering import IncrementalOrder
from occelo_rewrite.record import RewriteRecord
from occelo_rewrite.rewriter import RecordingRewriter

__all__ = ["InplaceRewriter", "elemwise_variants", "flag_variants"]

Variants = Callable[[Apply], Iterable[tuple[int, Op]]]
"""Returns for a node the positions of inputs that it could overwrite, each with the in-place op."""


def elemwise_variants(node: Apply) -> Iterable[tuple[int, Op]]:
    """The in-place variants of an elementwise node: pairs of the position of an input that has the type of the first
    output, and the op that overwrites this input.
    """
    op = node.op
    if (
        not isinstance(op, Elemwise)
        or op.inplace
        or not isinstance(op.scalar_op, ScalarFunction | Composite)
    ):
        return
    out = node.outputs[0].type
    for i, v in enumerate(node.inputs):
        if v.type == out and out.ndim:
            yield i, _overwriting(op.scalar_op, i)


@lru_cache(maxsize=4096)
def _overwriting(function: ScalarOp, position: int) -> Elemwise:
    """The elementwise op that writes its first result into an input.

    Ops are cached, so that their inferred types are memoized.
    """
    return Elemwise(function, ((0, position),))


class _WithFlag(Protocol):
    """An op whose field ``inplace`` says whether it overwrites its first input."""

    @property
    def inplace(self) -> bool: ...

    def with_inplace(self) -> Op: ...


def flag_variants(*classes: type[_WithFlag]) -> Variants:
    """A function that returns the in-place variants of a node, for nodes of these classes of ops with a field
    ``inplace``.
    """

    def variants(node: Apply) -> Iterable[tuple[int, Op]]:
        op = node.op
        if isinstance(op, classes) and node.inputs[0].type == node.outputs[0].type:
            if not op.inplace and any(c in op.computes_as for c in classes):
                yield 0, op.with_inplace()

    return variants


_MOST_ATTEMPTS = 4
"""After so many nodes have failed to overwrite a variable, no other node tries. The limit bounds the cost for variables
with many readers.
"""


class InplaceRewriter(RecordingRewriter):
    """Replaces ops by their in-place variants where that is possible."""

    def __init__(self, name: str, variants: Variants) -> None:
        self.name = name
        self.variants = variants

    def run(self, fgraph: FunctionGraph, record: RewriteRecord) -> None:
        if not any(True for node in fgraph.apply_nodes for _ in self.variants(node)):
            return
        chosen = _Plan(fgraph).choose(self.variants)
        if not chosen:
            return
        history = fgraph.checkpoint()
        noted: list[tuple[int, str, str, Apply, Apply]] = []
        for node, op in chosen:
            if record.limit is not None and len(record.applications) + len(noted) >= record.limit:
                break
            made = Apply.of_types(op, node.inputs, [v.type for v in node.outputs])
            made.mark = node.mark
            fgraph.replace_all(zip(node.outputs, made.outputs, strict=True), reason=self.name)
            noted.append((record.start(node), str(node), str(made), node, made))
        try:
            fgraph.validate()
        except InconsistencyError:
            fgraph.revert(history)
            raise
        fgraph.release(history)
        for parent, before, after, node, made in noted:
            record.add(parent, self.name, before, after, node, made.outputs)


class _Plan:
    """The inputs that are chosen so far to be overwritten, and an order of nodes in which that is possible."""

    def __init__(self, fgraph: FunctionGraph) -> None:
        self.fgraph = fgraph
        self.nodes = fgraph.toposort()
        self.order = IncrementalOrder(self.nodes, self._users)
        self.destroyed: dict[Variable, Apply] = {}
        self.inputs = set(fgraph.inputs)
        self.memory: dict[Variable, Variable] = {}
        self.refused: dict[Variable, int] = {}
        guards = [f for f in fgraph.features if isinstance(f, Supervisor)]
        # without a feature that says which inputs are protected, all of them are
        guarded = [f.untouchable(fgraph) for f in guards] or [fgraph.inputs]
        self.protected = {view_root(v) for listed in guarded for v in listed}
        for node, before in fgraph.orderings().items():
            for each in before:
                self.order.add(each, node)
        for node in self.nodes:
            for sources in node.op.destroy_map.values():
                for i in sources:
                    self.destroyed[version_root(node.inputs[i])] = node

    def _users(self, node: Apply) -> Iterable[Apply]:
        for out in node.outputs:
            for user, _ in self.fgraph.clients[out]:
                yield user

    def choose(self, variants: Variants) -> list[tuple[Apply, Any]]:
        """The nodes to replace, each with its in-place op, in order."""
        chosen: list[tuple[Apply, Any]] = []
        for node in self.nodes:
            for position, op in variants(node):
                if self._claim(node, position):
                    chosen.append((node, op))
                    break
        return chosen

    def _claim(self, node: Apply, position: int) -> bool:
        """Let a node overwrite one of its inputs, if all other readers can run before it; returns whether that is so.

        A view is never overwritten: it may be read-only, or several of its elements may share memory.
        """
        variable = node.inputs[position]
        root = version_root(variable)
        if root is not variable:
            return False
        known = self.memory.get(root)
        base = view_root(root) if known is None else known
        if (
            self.refused.get(root, 0) > _MOST_ATTEMPTS
            or root in self.destroyed
            or base in self.protected
            or isinstance(base, Constant)
        ):
            return False
        if base.owner is None and base not in self.inputs:
            return False
        if any(i != position and version_root(v) is root for i, v in enumerate(node.inputs)):
            return False
        readers = self._readers(root, node)
        if readers is None:
            return False
        done: list[Apply] = []
        for reader in readers:
            if not self.order.add(reader, node):
                for each in done:
                    self.order.withdraw(each, node)
                self.refused[root] = self.refused.get(root, 0) + 1
                return False
            done.append(reader)
        self.destroyed[root] = node
        self.memory[node.outputs[0]] = base
        return True

    def _readers(self, root: Variable, node: Apply) -> list[Apply] | None:
        """The nodes other than ``node`` that read ``root`` or a view of it; None if the graph returns one of them."""
        found: dict[Apply, None] = {}
        pending = [root]
        while pending:
            for user, i in self.fgraph.clients[pending.pop()]:
                if isinstance(user.op, Output):
                    return None
                if user is node:
                    continue
                found[user] = None
                for out, sources in user.op.view_map.items():
                    if i in sources:
                        pending.append(user.outputs[out])
        return list(found)
