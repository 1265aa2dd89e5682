"""What users say of values: the `Assume` nodes of a graph."""

from __future__ import annotations

from typing import Any

from occelo_graph import Apply, FunctionGraph
from occelo_graph.ops.control import Assume

__all__ = ["said_by", "statements"]


def statements(fgraph: FunctionGraph) -> list[Apply]:
    """The nodes that say something of their input, in topological order; none is the usual case, and cheap."""
    if not any(isinstance(node.op, Assume) for node in fgraph.apply_nodes):
        return []
    return [node for node in fgraph.toposort() if isinstance(node.op, Assume)]


def said_by(node: Apply) -> tuple[tuple[str, bool], ...]:
    """The facts that a statement is about, and whether they hold."""
    op: Any = node.op
    facts: tuple[tuple[str, bool], ...] = op.facts
    return facts
