"""What users say of values: the `Assume` nodes of a graph."""

from __future__ import annotations

from typing import cast

from occelo_graph import Apply, FunctionGraph
from occelo_graph.ops.control import Assume

__all__ = ["Statement", "said_by", "statements"]

Statement = Apply[Assume]


def statements(fgraph: FunctionGraph) -> list[Statement]:
    """The nodes that say something of their input, in topological order; none is the usual case, and cheap."""
    if not any(isinstance(node.op, Assume) for node in fgraph.apply_nodes):
        return []
    return [cast("Statement", n) for n in fgraph.toposort() if isinstance(n.op, Assume)]


def said_by(node: Statement) -> tuple[tuple[str, bool], ...]:
    """The facts that a statement is about, and whether they hold."""
    return node.op.facts
