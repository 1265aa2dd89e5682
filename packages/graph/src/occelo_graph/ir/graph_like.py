"""Graphs by any name: variables, nodes, function graphs and compiled functions, as outputs and inputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from occelo_graph.ir.nodes import Variable, is_node

__all__ = ["graph_parts"]


def graph_parts(
    graph: Any, inputs: Sequence[Variable] = (), compiled: str | None = None
) -> tuple[list[Variable], list[Variable]]:
    """The outputs and the inputs of what was given as a graph.

    That is a variable or several, a node, something with outputs and inputs such as a `FunctionGraph`, or
    something with an ``fgraph``, such as a compiled function. ``inputs``, where there are any, take the
    place of the graph's own. TypeError for anything else, and for compiled functions where ``compiled``
    says what to do instead.
    """
    if isinstance(graph, Variable):
        return [graph], list(inputs)
    if is_node(graph):
        return list(graph.outputs), list(inputs)
    maker = getattr(graph, "maker", None)
    holder = graph if maker is None else maker
    if hasattr(holder, "fgraph"):
        if compiled is not None:
            raise TypeError(f"{compiled}, got the compiled {graph}")
        graph = holder.fgraph
    outputs = getattr(graph, "outputs", None)
    if isinstance(outputs, list | tuple):
        own: Any = getattr(graph, "inputs", ())
        return list(outputs), list(inputs) or list(own)  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(graph, Iterable) and not isinstance(graph, str | bytes):
        listed: list[Any] = list(graph)  # pyright: ignore[reportUnknownArgumentType]
        wrong = next((v for v in listed if not isinstance(v, Variable)), None)
        if wrong is None:
            return listed, list(inputs)
        raise TypeError(f"A graph has variables as outputs, not {wrong!r}")
    raise TypeError(f"Expected variables or a graph, got {graph!r}")
