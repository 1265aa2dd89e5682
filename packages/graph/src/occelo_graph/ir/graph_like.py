"""`graph_parts`: the outputs and inputs of a graph, which may be a variable, a node, a function graph or a function.

The printers, `save` and `digest` call it, so that they accept all of these objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from occelo_graph.ir.nodes import Variable, is_node


def graph_parts(
    graph: Any, inputs: Sequence[Variable] = (), compiled: str | None = None
) -> tuple[list[Variable], list[Variable]]:
    """The outputs and the inputs of ``graph``.

    ``graph`` is a variable, a sequence of variables, a node, an object with outputs and inputs such as a
    `FunctionGraph`, or an object with a function graph, such as a compiled function. TypeError for anything else.

    - ``inputs``: if they are given, they are returned as the inputs. Otherwise the inputs of the object are returned.
      A variable, a sequence of variables and a node count as graphs without inputs.
    - ``compiled``: if this text is given, a compiled function raises TypeError, too. The message starts with the text.
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
    found: Any = getattr(graph, "outputs", None)
    outputs: Sequence[Variable] = found
    if isinstance(found, list | tuple):
        own: Sequence[Variable] = getattr(graph, "inputs", ())
        return list(outputs), list(inputs) or list(own)
    variables: Iterable[Any] = graph
    if isinstance(graph, Iterable) and not isinstance(graph, str | bytes):
        listed = list(variables)
        wrong = next((v for v in listed if not isinstance(v, Variable)), None)
        if wrong is None:
            return listed, list(inputs)
        raise TypeError(f"A graph has variables as outputs, not {wrong!r}")
    raise TypeError(f"Expected variables or a graph, got {graph!r}")
