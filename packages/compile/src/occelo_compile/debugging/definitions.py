"""Records the first definitions of variables in a graph, and all replacements, so that DebugMode can check them.

`debug_mode` adds the feature `Definitions` to the graph, and computes variables with `Values`. Rules change the inputs
of nodes, but a definition keeps the inputs that the node had when it entered the graph. So the value of a variable does
not depend on later changes, and each replacement is checked separately.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from occelo_graph import Apply, Constant, FunctionGraph, Variable
from occelo_graph.fgraph.features import Bookkeeper
from occelo_graph.ir.regions import awaited


@dataclass(frozen=True)
class Definition:
    """A node, and the inputs that it had when it entered the graph."""

    node: Apply
    inputs: tuple[Variable, ...]


@dataclass(frozen=True)
class Replacement:
    """The replacement of ``old`` by ``new``. ``reason`` is the name of the rule that made it."""

    old: Variable
    new: Variable
    reason: str


class Definitions(Bookkeeper):
    """A feature that records all definitions and replacements, and the graph's original ``outputs``."""

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
        """Return the inputs that a node had when it entered the graph."""
        definition = self.of_node.get(node)
        return node.inputs if definition is None else definition.inputs


class Values:
    """Computes the values of variables by their definitions. Each variable is computed only once.

    ``run`` computes a node's outputs from its inputs.
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
        """Whether the value of a variable is known."""
        return variable in self.known or isinstance(variable, Constant)

    def get(self, variable: Variable) -> Any:
        """Return the known value of a variable."""
        return variable.data if isinstance(variable, Constant) else self.known.get(variable)

    def compute(self, variable: Variable) -> Any:
        """Return the value of a variable. Values that it needs are computed first."""
        stack = [variable]
        while stack:
            current = stack[-1]
            if self.has(current):
                stack.pop()
                continue
            node = current.owner
            assert node is not None
            missing = awaited(node, self.definitions.inputs_of(node), self.has, self.get)
            if missing:
                stack.extend(missing)
                continue
            arrays = [self.get(v) for v in self.definitions.inputs_of(node)]
            self.known.update(zip(node.outputs, self.run(node, arrays), strict=True))
            stack.pop()
        return self.get(variable)
