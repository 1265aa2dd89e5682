"""`graph_parts`: the outputs and inputs of a graph, which may be a variable, a node, a function graph or a function.

The printers, `save` and `digest` call it, so that they accept all of these objects. Functions of other libraries that hold a
function of Occelo are registered, and seen as what they hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from occelo_graph.errors import explained
from occelo_graph.ir import trees
from occelo_graph.ir.nodes import Variable, is_node

_held: dict[str, Callable[[Any], Any]] = {}


def register_holder(class_name: str, held: Callable[[Any], Any]) -> None:
    """Let tools that get an instance of a class of another library see ``held(instance)``.

    ``class_name`` is the name of the class with its module, so that it need not be imported. ``held`` raises TypeError if
    there is nothing to see.
    """
    _held[class_name] = held


def inspected(of: Any) -> Any:
    """What a tool sees of ``of``: what it holds, if a package registered its class, and otherwise ``of`` itself."""
    for each in type(of).__mro__ if _held else ():
        held = _held.get(f"{each.__module__}.{each.__qualname__}")
        if held is not None:
            return inspected(held(of))
    return of


def graph_parts(
    graph: Any, inputs: Sequence[Variable] = (), compiled: str | None = None
) -> tuple[list[Variable], list[Variable]]:
    """The outputs and the inputs of ``graph``.

    ``graph`` is a variable, a tree or a sequence of variables, a node, an object with outputs and inputs such as a
    `FunctionGraph`, or an object with a function graph, such as a compiled function. TypeError for anything else.

    - ``inputs``: if they are given, they are returned as the inputs. Otherwise the inputs of the object are returned.
      A variable, a sequence of variables and a node count as graphs without inputs.
    - ``compiled``: if this text is given, a compiled function raises TypeError, too. The message starts with the text.
    """
    graph = inspected(graph)
    if isinstance(graph, Variable):
        return [graph], list(inputs)
    if is_node(graph):
        return list(graph.outputs), list(inputs)
    maker = getattr(graph, "maker", None)
    holder = graph if maker is None else maker
    if hasattr(holder, "fgraph"):
        if compiled is not None:
            raise explained(TypeError(f"{compiled}, got the compiled {graph}"), "graphs")
        graph = holder.fgraph
    attribute: Any = getattr(graph, "outputs", None)
    outputs: Sequence[Variable] = attribute
    if isinstance(attribute, list | tuple):
        own: Sequence[Variable] = getattr(graph, "inputs", ())
        return list(outputs), list(inputs) or list(own)
    variables: Iterable[Any] = graph
    if isinstance(graph, Iterable) and not isinstance(graph, str | bytes):
        listed = trees.leaves(variables) if trees.is_tree(variables) else list(variables)
        wrong = next((v for v in listed if not isinstance(v, Variable)), None)
        if wrong is None:
            return listed, list(inputs)
        raise explained(TypeError(f"A graph has variables as outputs, not {wrong!r}"), "graphs")
    raise explained(TypeError(f"Expected variables or a graph, got {graph!r}"), "graphs")
