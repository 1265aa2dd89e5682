"""First definitions of variables in a graph, and their replacements, so that DebugMode can check each replacement.

`debug_mode` adds `Definitions` to the graph, and computes variables with `Values`. Rules change the inputs of nodes in
the graph, but a definition keeps the inputs with which the node entered the graph. So the value of a variable does not
depend on later changes. Each replacement is checked by itself: the old and the new variable must have equal values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from occelo_graph import Apply, Constant, FunctionGraph, Variable
from occelo_graph.fgraph.features import Bookkeeper
from occelo_graph.ir.regions import awaited

__all__ = ["Definition", "Definitions", "Replacement", "Values"]


@dataclass(frozen=True)
class Definition:
    """A node, and the inputs that it had when it entered the graph."""

    node: Apply
    inputs: tuple[Variable, ...]


@dataclass(frozen=True)
class Replacement:
    """The rule named ``reason`` replaced ``old`` by ``new``."""

    old: Variable
    new: Variable
    reason: str


class Definitions(Bookkeeper):
    """A feature that keeps all definitions and replacements, and the original ``outputs``."""

    def __init__(self) -> None:
        self.of_node: dict[Apply, Definition] = {}
        self.replacements: list[Replacement] = []
        self.outputs: list[Variable] = []
        self._seen: set[tuple[Variable, Variable]] = set()

    def on_attach(self, fgraph: FunctionGraph) -> None:
        self.outputs = list(fgraph.outputs)
        super().on_attach(fgraph)

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        if node not in self.of_node:
            self.of_node[node] = Definition(node, tuple(node.inputs))

    def on_change_input(
        self,
        fgraph: FunctionGraph,
        node: Apply,
        i: int,
        var: Variable,
        new_var: Variable,
        reason: Any = None,
    ) -> None:
        if (var, new_var) not in self._seen:
            self._seen.add((var, new_var))
            self.replacements.append(Replacement(var, new_var, str(reason)))

    def inputs_of(self, node: Apply) -> Sequence[Variable]:
        """The inputs that a node had when it entered the graph."""
        found = self.of_node.get(node)
        return node.inputs if found is None else found.inputs


class Values:
    """Values of variables, computed by their definitions, each once.

    ``run`` computes a node's outputs from its inputs' arrays.
    """

    def __init__(
        self,
        definitions: Definitions,
        given: Mapping[Variable, Any],
        run: Callable[[Apply, Sequence[Any]], Sequence[Any]],
    ) -> None:
        self.definitions = definitions
        self.known: dict[Variable, Any] = dict(given)
        self.run = run

    def has(self, variable: Variable) -> bool:
        """Whether the value is known."""
        return variable in self.known or isinstance(variable, Constant)

    def get(self, variable: Variable) -> Any:
        """A known value."""
        return variable.data if isinstance(variable, Constant) else self.known.get(variable)

    def compute(self, variable: Variable) -> Any:
        """The value of a variable; computes its ancestors as needed."""
        stack = [variable]
        while stack:
            wanted = stack[-1]
            if self.has(wanted):
                stack.pop()
                continue
            node = wanted.owner
            assert node is not None
            missing = awaited(node, self.definitions.inputs_of(node), self.has, self.get)
            if missing:
                stack.extend(missing)
                continue
            arrays = [self.get(v) for v in self.definitions.inputs_of(node)]
            self.known.update(zip(node.outputs, self.run(node, arrays), strict=True))
            stack.pop()
        return self.get(variable)
