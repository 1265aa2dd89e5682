"""`to_python`: prints a graph as Python source that builds the same graph.

Users call the function to reproduce a graph elsewhere, for instance in a bug report.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Sequence
from typing import Any

from occelo_graph.canonical.document import Numbering
from occelo_graph.fgraph.frozen import FrozenFunctionGraph
from occelo_graph.ir.graph_like import graph_parts
from occelo_graph.ir.nodes import Constant, Variable
from occelo_graph.ir.shared import SharedVariable
from occelo_printing.values import ValueWriter

_PLAIN = re.compile(r"^(?!(make_)?graph\d+$)[A-Za-z_][A-Za-z0-9_]*$")
"""Matches the names that a variable may keep in the source. Other variables get new names there, such as ``v0``.

Names such as ``graph0`` and ``make_graph0`` do not match, since the source uses them for inner graphs.
"""


class _Writer(ValueWriter):
    """Writes graphs as statements, with functions that make their inner graphs."""

    def __init__(self) -> None:
        super().__init__()
        self.inner: dict[FrozenFunctionGraph, str] = {}
        """Maps each inner graph to its name in the source."""
        self.definitions: list[str] = []
        """The lines of the functions that make inner graphs. A function comes after the functions that it needs."""

    def inner_graph(self, graph: FrozenFunctionGraph) -> str:
        """The name of an inner graph in the source. Adds a function that builds the graph to ``definitions``."""
        if graph not in self.inner:
            lines = self.statements(graph.inputs, graph.outputs)
            number = len(self.inner)
            self.imports["from occelo_graph.fgraph.frozen import freeze"] = None
            self.definitions += [
                f"def make_graph{number}():",
                *(f"    {line}" for line in lines),
                "    return freeze(inputs, outputs)",
                "",
                f"graph{number} = make_graph{number}()",
                "",
            ]
            self.inner[graph] = f"graph{number}"
        return self.inner[graph]

    def statements(self, inputs: Sequence[Variable], outputs: Sequence[Variable]) -> list[str]:
        """Lines of source that build a graph, and assign lists of inputs and outputs to ``inputs`` and ``outputs``."""
        numbering = Numbering(inputs, outputs)
        names = _names(numbering.variables)
        computed = {out for node in numbering.nodes for out in node.outputs}
        input_set = frozenset(inputs)
        lines = [
            f"{names[v]} = {self.source(v, shared=v not in input_set)}"
            for v in numbering.variables
            if v not in computed
        ]
        for node in numbering.nodes:
            targets = "".join(f"{names[v]}, " for v in node.outputs)
            arguments = ", ".join(names[v] for v in node.inputs)
            lines.append(
                f"{targets.rstrip()} = {self.value(node.op)}.make_node({arguments}).outputs"
            )
            lines += [f"{names[v]}.name = {v.name!r}" for v in node.outputs if v.name is not None]
        lines.append(f"inputs = [{', '.join(names[v] for v in inputs)}]")
        lines.append(f"outputs = [{', '.join(names[v] for v in outputs)}]")
        return lines

    def source(self, variable: Variable, shared: bool) -> str:
        """An expression for a root. With ``shared``, shared variables keep their values; else they become inputs."""
        type_ = self.value(variable.type)
        name = "" if variable.name is None else f"name={variable.name!r}"
        more = f", {name}" if name else ""
        if isinstance(variable, Constant):
            return self.constant(variable, more)
        if isinstance(variable, SharedVariable) and shared:
            value = self.value(variable.get_value(borrow=True))
            return f"{self.class_expression(type(variable))}({type_}, {value}{more})"
        return f"{type_}.make_variable({name})"


def _names(variables: Sequence[Variable]) -> dict[Variable, str]:
    taken: set[str] = {"inputs", "outputs", "np", "freeze"}
    names: dict[Variable, str] = {}
    for number, variable in enumerate(variables):
        name = variable.name
        if (
            name is None
            or not _PLAIN.match(name)
            or keyword.iskeyword(name)
            or name in taken
            or name[0].isupper()
        ):
            name = f"v{number}"
        while name in taken:
            name += "_"
        taken.add(name)
        names[variable] = name
    return names


def to_python(outputs: Any, inputs: Sequence[Variable] = ()) -> str:
    """Python source that builds a graph, and assigns lists of its inputs and outputs to ``inputs`` and ``outputs``.

    ``outputs`` is a variable, a sequence of variables, a `FunctionGraph`, or a compiled function. The new graph has the
    same digest, and its shared variables have the same values. TypeError if an op has neither fields nor ``__props__``.
    """
    listed, inputs = graph_parts(outputs, inputs)
    writer = _Writer()
    lines = writer.statements(inputs, listed)
    return "\n".join([*sorted(writer.imports), "", *writer.definitions, *lines, ""])
