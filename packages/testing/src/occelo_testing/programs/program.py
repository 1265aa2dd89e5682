"""`Program`: inputs and steps. Each step is source text for NumPy and for Occelo.

`drawing` and `generating` build programs. `rounding` runs programs, `listing` prints them, and `shrinking` makes them
smaller. `occelo_testing.random_programs` compiles programs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from occelo_graph import tensor as ot
from occelo_graph.tensors.type import TensorType
from occelo_testing.programs.numpy_names import NUMPY_NAMES

# the names that expressions for Occelo may use
SYMBOLIC_NAMES: dict[str, Any] = {"ot": ot, "np": np}


@dataclass(frozen=True)
class Input:
    """An input of a program: its type, and a value with any memory layout.

    The value is the expression ``view``, where ``{0}`` is replaced by the array ``base``. For example, "{0}[::-1]" is a
    reversed view.
    """

    dtype: str
    shape: tuple[int | None, ...]
    base: Any
    view: str = "{0}"

    def value(self) -> Any:
        """The value of the input, with its memory layout."""
        return _compiled(self.view, 1, "numpy")(np.array(self.base))

    def variable(self, name: str) -> Any:
        """A new variable of the input's type."""
        return TensorType(self.dtype, self.shape).make_variable(name)


@dataclass(frozen=True)
class Step:
    """One operation on earlier nodes.

    ``args`` are the positions of the arguments in the program. ``numpy`` and ``symbolic`` are expressions in which
    ``{i}`` is the i-th argument. ``rounds`` says how exact the results are:

    - "no": exact.
    - "zeros": exact except for the signs of zeros.
    - "result": rounded once.
    - "inside": intermediate results are rounded, too, as in sums of many terms.
    - "cancels": the errors are relative to the size of the arguments, not of the result.

    ``integral``: whether results for small whole numbers are exact, except for the signs of zeros.
    """

    name: str
    args: tuple[int, ...]
    numpy: str
    symbolic: str
    rounds: str = "no"
    integral: bool = False
    dtype: str = ""

    def on_arrays(self, values: Sequence[Any]) -> Any:
        """The result of NumPy for the given values of the arguments."""
        return np.asarray(_compiled(self.numpy, len(self.args), "numpy")(*values))

    def on_variables(self, variables: Sequence[Any]) -> Any:
        """The variable that Occelo builds from the given variables of the arguments."""
        return _compiled(self.symbolic, len(self.args), "symbolic")(*variables)


Node = Input | Step


@dataclass(frozen=True)
class Program:
    """Inputs and steps in topological order, and the positions of the results."""

    nodes: tuple[Node, ...]
    outputs: tuple[int, ...]
    seed: int = -1

    @property
    def inputs(self) -> list[int]:
        """Positions of the inputs."""
        return [i for i, node in enumerate(self.nodes) if isinstance(node, Input)]

    def name(self, position: int) -> str:
        """The name of a node in listings."""
        return f"{'x' if isinstance(self.nodes[position], Input) else 't'}{position}"

    def values(self) -> list[Any]:
        """The values of the inputs, as new arrays."""
        return [node.value() for node in self.nodes if isinstance(node, Input)]

    def build(self) -> tuple[list[Any], list[Any]]:
        """Build the graph: the variables of the inputs and of the results."""
        variables = self.variables()
        return [variables[i] for i in self.inputs], [variables[i] for i in self.outputs]

    def variables(self, given: Mapping[int, Any] | None = None) -> list[Any]:
        """Build the graph: a variable for each node.

        ``given`` maps positions of inputs to variables to use for them.
        """
        variables: list[Any] = []
        for position, node in enumerate(self.nodes):
            if given is not None and position in given:
                variables.append(given[position])
            elif isinstance(node, Input):
                variables.append(node.variable(self.name(position)))
            else:
                variables.append(node.on_variables([variables[i] for i in node.args]))
        return variables

    def run(self, values: Sequence[Any] | None = None) -> list[Any]:
        """The value of every node, computed by NumPy in the user's order."""
        inputs = iter(self.values() if values is None else values)
        node_values: list[Any] = []
        with np.errstate(all="ignore"):
            for node in self.nodes:
                if isinstance(node, Input):
                    node_values.append(next(inputs))
                else:
                    node_values.append(node.on_arrays([node_values[i] for i in node.args]))
        return node_values

    def with_static_lengths(self) -> Program:
        """The program whose inputs have only static lengths."""
        nodes = [
            replace(node, shape=np.shape(node.value())) if isinstance(node, Input) else node
            for node in self.nodes
        ]
        return replace(self, nodes=tuple(nodes))

    def pruned(self) -> Program:
        """The program without nodes that no result depends on."""
        needed = set(self.outputs)
        for position in reversed(range(len(self.nodes))):
            node = self.nodes[position]
            if position in needed and isinstance(node, Step):
                needed.update(node.args)
        positions = sorted(needed)
        where = {old: new for new, old in enumerate(positions)}
        nodes: list[Node] = []
        for old in positions:
            node = self.nodes[old]
            if isinstance(node, Step):
                node = replace(node, args=tuple(where[i] for i in node.args))
            nodes.append(node)
        return replace(
            self,
            nodes=tuple(nodes),
            outputs=tuple(where[i] for i in self.outputs),
        )


@cache
def _compiled(text: str, count: int, names: str) -> Callable[..., Any]:
    arguments = [f"a{i}" for i in range(count)]
    source = f"lambda {', '.join(arguments)}: {text.format(*arguments)}"
    function: Callable[..., Any] = eval(
        source, dict(NUMPY_NAMES if names == "numpy" else SYMBOLIC_NAMES)
    )
    return function
