"""Merging: nodes that compute the same become one."""

from __future__ import annotations

from typing import Any

from occelo_graph import Apply, FunctionGraph, InconsistencyError, Variable
from occelo_graph.ir.nodes import AtomicVariable, NominalVariable
from occelo_rewrite.record import RewriteRecord
from occelo_rewrite.rewriter import GraphRewriter

__all__ = ["MergeOptimizer"]


def _constant_key(variable: Variable) -> Any:
    if isinstance(variable, AtomicVariable) and not isinstance(variable, NominalVariable):
        try:
            key = variable.signature()
            hash(key)
        except (TypeError, NotImplementedError):
            return None
        return key
    return None


class MergeOptimizer(GraphRewriter):
    """Common-subexpression elimination in one topological pass.

    Constants with equal type and bits become one variable; then nodes with equal ops and the same
    inputs (in any order, for commutative ops) become one node. Ops that are not pure, and ops that
    overwrite an input, are never merged.
    """

    def __init__(self, name: str = "merge") -> None:
        self.name = name

    def apply(self, fgraph: FunctionGraph, record: RewriteRecord) -> None:
        self._merge_constants(fgraph)
        known: dict[Any, Apply] = {}
        for node in fgraph.toposort():
            if node not in fgraph.apply_nodes or not node.op.pure or node.op.destroy_map:
                continue
            ids = [id(v) for v in node.inputs]
            if node.op.commutative:
                ids.sort()
            key = (node.op, tuple(ids))
            kept = known.setdefault(key, node)
            if kept is not node:
                self._merge(fgraph, kept, node, record)

    def _merge_constants(self, fgraph: FunctionGraph) -> None:
        known: dict[Any, Variable] = {}
        for variable in list(fgraph.variables):
            if variable.owner is not None:
                continue
            key = _constant_key(variable)
            if key is None:
                continue
            kept = known.setdefault(key, variable)
            if kept is not variable:
                if kept.name is None and variable.name is not None:
                    kept.name = variable.name
                fgraph.replace(variable, kept, reason=self)

    def _merge(
        self, fgraph: FunctionGraph, kept: Apply, node: Apply, record: RewriteRecord
    ) -> None:
        pairs = list(zip(node.outputs, kept.outputs, strict=True))
        for old, new in pairs:
            if not old.type.is_super(new.type):
                return
        before = str(node)
        try:
            fgraph.replace_all_validate(pairs, reason=self)
        except InconsistencyError:
            return
        for old, new in pairs:
            if new.name is None and old.name is not None:
                new.name = old.name
        source = "" if node.source is None else str(node.source)
        record.add("merge", before, "an equal node", source)
