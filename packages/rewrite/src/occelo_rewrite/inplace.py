"""In-place rewriting: nodes are replaced by nodes that overwrite an input which is dead afterwards.

`pipeline` runs an `InplaceRewriter` in each of the stages ``inplace_...``, ``InplaceBlasOpt`` and
``random_make_inplace``.

First, the rewriter chooses all inputs to overwrite. A node can overwrite an input if all other readers of the input can
run before the node. So each choice adds edges to a topological order of the nodes (`ordering`). Then all chosen nodes
are replaced, and the graph is validated once.
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
    Variable,
)
from occelo_graph.fgraph.graph import Output
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.scalar import ScalarFunction, ScalarOp
from occelo_rewrite.features.protection import Supervisor, version_root, view_root
from occelo_rewrite.fusion.composite import Composite
from occelo_rewrite.ordering import IncrementalOrder
from occelo_rewrite.records.record import RewriteRecord
from occelo_rewrite.rewriter import RecordingRewriter

Variants = Callable[[Apply], Iterable[tuple[int, Op]]]
"""A function from a node to its in-place variants: pairs of the position of an input, and an op that overwrites this
input.
"""


def elemwise_variants(node: Apply) -> Iterable[tuple[int, Op]]:
    """The in-place variants of an elementwise node: pairs of the position of an input, and an op that overwrites this
    input.

    Inputs with the type of the first output can be overwritten.
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
    """The elementwise op that overwrites the input at ``position`` with its first result.

    The ops are cached, so that the types that they infer stay memoized.
    """
    return Elemwise(function, ((0, position),))


class _WithFlag(Protocol):
    """An op with a field ``inplace``: whether the op overwrites its first input."""

    @property
    def inplace(self) -> bool: ...

    def with_inplace(self) -> Op: ...


def flag_variants(*classes: type[_WithFlag]) -> Variants:
    """A function that returns the in-place variants of a node, if its op is of one of ``classes``.

    These classes have a field ``inplace``.
    """

    def variants(node: Apply) -> Iterable[tuple[int, Op]]:
        op = node.op
        if isinstance(op, classes) and node.inputs[0].type == node.outputs[0].type:
            if not op.inplace and any(c in op.computes_as for c in classes):
                yield 0, op.with_inplace()

    return variants


_MOST_ATTEMPTS = 4
"""How many nodes may fail to overwrite a variable before the variable is skipped.

The limit bounds the cost for variables with many readers.
"""


class InplaceRewriter(RecordingRewriter):
    """Replaces nodes by the in-place variants that ``variants`` returns, where the overwritten input is dead."""

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
            variant = Apply.of_types(op, node.inputs, [v.type for v in node.outputs])
            variant.mark = node.mark
            fgraph.replace_all(zip(node.outputs, variant.outputs, strict=True), reason=self.name)
            noted.append((record.start(node), str(node), str(variant), node, variant))
        try:
            fgraph.validate()
        except InconsistencyError:
            fgraph.revert(history)
            raise
        fgraph.release(history)
        for parent, before, after, node, variant in noted:
            record.add(parent, self.name, before, after, node, variant.outputs)


class _Plan:
    """The inputs that were chosen to be overwritten, and a topological order in which other readers of these inputs run
    first.
    """

    def __init__(self, fgraph: FunctionGraph) -> None:
        self.fgraph = fgraph
        self.nodes = fgraph.toposort()
        self.order = IncrementalOrder(self.nodes, self._users)
        self.destroyed: dict[Variable, Apply] = {}
        self.inputs = set(fgraph.inputs)
        self.memory: dict[Variable, Variable] = {}
        self.refused: dict[Variable, int] = {}
        guards = [f for f in fgraph.features if isinstance(f, Supervisor)]
        # if no feature says which inputs are protected, all are
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
        """The nodes to replace, in topological order, each with its in-place op."""
        chosen: list[tuple[Apply, Any]] = []
        for node in self.nodes:
            for position, op in variants(node):
                if self._claim(node, position):
                    chosen.append((node, op))
                    break
        return chosen

    def _claim(self, node: Apply, position: int) -> bool:
        """Let a node overwrite the input at ``position``, if all other readers of the input can run before the node.

        Returns whether the node may overwrite the input. A view is never overwritten: it may be read-only, or several
        of its elements may share memory.
        """
        variable = node.inputs[position]
        root = version_root(variable)
        if root is not variable:
            return False
        recorded = self.memory.get(root)
        base = view_root(root) if recorded is None else recorded
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
        """The nodes other than ``node`` that read ``root`` or a view of it; None if ``root`` or a view is an output of
        the graph.
        """
        readers: dict[Apply, None] = {}
        pending = [root]
        while pending:
            for user, i in self.fgraph.clients[pending.pop()]:
                if isinstance(user.op, Output):
                    return None
                if user is node:
                    continue
                readers[user] = None
                for out, sources in user.op.view_map.items():
                    if i in sources:
                        pending.append(user.outputs[out])
        return list(readers)
