"""`Program`: inputs and steps, each step as source text for NumPy and for Occelo.

`drawing` builds such programs; `rounding`, `listing`, `shrinking` and `occelo_compile.random_programs` take them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from occelo_graph import tensor as ot
from occelo_graph.tensors.type import TensorType
from occelo_graph.testing.programs.numpy_names import NUMPY_NAMES

__all__ = ["Input", "Node", "Program", "Step"]

# operators between a NumPy array and a step's text see these names
SYMBOLIC_NAMES: dict[str, Any] = {"ot": ot, "np": np}


@dataclass(frozen=True)
class Input:
    """An argument: its type, and a value with any memory layout.

    ``view`` is the text of an expression for the value, with ``{0}`` in place of the array ``base``.
    """

    dtype: str
    shape: tuple[int | None, ...]
    base: Any
    view: str = "{0}"

    def value(self) -> Any:
        """The value with which the function is called."""
        return _compiled(self.view, 1, "numpy")(np.array(self.base))

    def variable(self, name: str) -> Any:
        """A fresh variable of its type."""
        return TensorType(self.dtype, self.shape).make_variable(name)


@dataclass(frozen=True)
class Step:
    """One operation on earlier nodes.

    ``numpy`` and ``symbolic`` are expressions in which ``{i}`` is the i-th of ``args``. ``rounds`` says how exact the
    results are:

    - "no": exact.
    - "zeros": exact except for the signs of zeros.
    - "result": rounded once.
    - "inside": intermediate results are rounded, too, as in sums of many terms.
    - "cancels": the errors are relative to the size of the arguments, not of the result.

    ``integral``: if all arguments are integers, the results are exact except for the signs of zeros.
    """

    name: str
    args: tuple[int, ...]
    numpy: str
    symbolic: str
    rounds: str = "no"
    integral: bool = False
    dtype: str = ""

    def on_arrays(self, values: Sequence[Any]) -> Any:
        """NumPy's result for the values of the arguments."""
        return np.asarray(_compiled(self.numpy, len(self.args), "numpy")(*values))

    def on_variables(self, variables: Sequence[Any]) -> Any:
        """Occelo's variable for the result, given the variables of the arguments."""
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
        """New values for the inputs."""
        return [node.value() for node in self.nodes if isinstance(node, Input)]

    def build(self) -> tuple[list[Any], list[Any]]:
        """Variables of the inputs and of the results."""
        made = self.variables()
        return [made[i] for i in self.inputs], [made[i] for i in self.outputs]

    def variables(self, given: Mapping[int, Any] | None = None) -> list[Any]:
        """A variable for each node; ``given`` has variables of some inputs, by position."""
        made: list[Any] = []
        for position, node in enumerate(self.nodes):
            if given is not None and position in given:
                made.append(given[position])
            elif isinstance(node, Input):
                made.append(node.variable(self.name(position)))
            else:
                made.append(node.on_variables([made[i] for i in node.args]))
        return made

    def run(self, values: Sequence[Any] | None = None) -> list[Any]:
        """The value of every node, computed by NumPy in the user's order."""
        given = iter(self.values() if values is None else values)
        made: list[Any] = []
        with np.errstate(all="ignore"):
            for node in self.nodes:
                if isinstance(node, Input):
                    made.append(next(given))
                else:
                    made.append(node.on_arrays([made[i] for i in node.args]))
        return made

    def pruned(self) -> Program:
        """The program without the nodes that no result needs."""
        needed = set(self.outputs)
        for position in reversed(range(len(self.nodes))):
            node = self.nodes[position]
            if position in needed and isinstance(node, Step):
                needed.update(node.args)
        kept = sorted(needed)
        where = {old: new for new, old in enumerate(kept)}
        nodes: list[Node] = []
        for old in kept:
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
    made: Callable[..., Any] = eval(
        source, dict(NUMPY_NAMES if names == "numpy" else SYMBOLIC_NAMES)
    )
    return made
