"""`to_python`: prints a graph as Python source that builds the same graph.

Users call the function to reproduce a graph elsewhere, for instance in a bug report.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from occelo_graph.canonical.document import Numbering
from occelo_graph.canonical.encoding import Static
from occelo_graph.canonical.names import class_name
from occelo_graph.fgraph.frozen import FrozenFunctionGraph
from occelo_graph.ir.graph_like import graph_parts
from occelo_graph.ir.nodes import Constant, Variable
from occelo_graph.ir.op import Op
from occelo_graph.ir.shared import SharedVariable
from occelo_graph.ir.slices import slice_parts
from occelo_graph.ir.types import Type
from occelo_graph.narrowing import is_list, is_slice, is_tuple
from occelo_graph.tensors.type import TensorType

_PLAIN = re.compile(r"^(?!(make_)?graph\d+$)[A-Za-z_][A-Za-z0-9_]*$")
"""Matches the names that a variable may keep in the source. Other variables get new names there, such as ``v0``.

Names such as ``graph0`` and ``make_graph0`` do not match, since the source uses them for inner graphs.
"""


class _Writer:
    """Writes expressions for values, and collects the imports that they need."""

    def __init__(self) -> None:
        self.imports: dict[str, None] = {}
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

    def class_expression(self, cls: type) -> str:
        """The name of a class. Adds an import of the class to ``imports``."""
        module, _, name = class_name(cls).partition(":")
        self.imports[f"from {module} import {name.partition('.')[0]}"] = None
        return name

    def value(self, value: Any) -> str:
        """An expression for a value, such as an op, a type or a parameter of an op. TypeError if there is none."""
        if isinstance(value, TensorType):
            self.imports["from occelo_graph.tensors.type import TensorType"] = None
            return f"TensorType({value.dtype!r}, {value.shape!r})"
        if isinstance(value, Op):
            props = value.props()
            if props is None:
                raise TypeError(f"The op {value} has no fields and no __props__, so no Python form")
            # a class whose constructor does not accept its fields defines `python_fields`
            own: Callable[[], dict[str, Any]] | None = getattr(value, "python_fields", None)
            fields, maker = (props, "") if own is None else (own(), ".from_fields")
            inner = ", ".join(f"{k}={self.value(v)}" for k, v in fields.items())
            return f"{self.class_expression(type(value))}{maker}({inner})"
        if isinstance(value, FrozenFunctionGraph):
            return self.inner_graph(value)
        if isinstance(value, Static):
            inner = ", ".join(f"{k}={self.value(v)}" for k, v in value.fields().items())
            return f"{self.class_expression(type(value))}({inner})"
        if isinstance(value, Type):
            inner = ", ".join(self.value(k) for k in value.key())
            return f"{self.class_expression(type(value))}({inner})"
        if is_tuple(value):
            return "(" + "".join(f"{self.value(v)}, " for v in value).rstrip() + ")"
        if is_list(value):
            return "[" + ", ".join(self.value(v) for v in value) + "]"
        if is_slice(value):
            return f"slice({', '.join(self.value(p) for p in slice_parts(value))})"
        if isinstance(value, np.ndarray | np.generic):
            return self.array(value)
        if (isinstance(value, float) and value != value) or value in (np.inf, -np.inf):
            return f"float({str(value)!r})"
        if isinstance(value, type):
            return self.class_expression(value)
        if value is None or isinstance(value, bool | int | float | str | bytes):
            return repr(value)
        raise TypeError(f"{value!r} has no Python form")

    def array(self, value: Any) -> str:
        """An expression for an array. It reproduces the elements of the array to the last bit."""
        self.imports["import numpy as np"] = None
        data = np.ascontiguousarray(value)
        if data.size <= 64 and data.dtype.kind in "biu":
            return f"np.array({value.tolist()!r}, dtype={data.dtype.name!r})" + _reshaped(value)
        raw = data.tobytes().hex()
        return f"np.frombuffer(bytes.fromhex({raw!r}), {data.dtype.str!r}).reshape({value.shape!r})"

    def statements(self, inputs: Sequence[Variable], outputs: Sequence[Variable]) -> list[str]:
        """Lines of source that build a graph, and assign lists of inputs and outputs to ``inputs`` and ``outputs``."""
        numbering = Numbering(inputs, outputs)
        names = _names(numbering.variables)
        made = {out for node in numbering.nodes for out in node.outputs}
        given = frozenset(inputs)
        lines = [
            f"{names[v]} = {self.source(v, shared=v not in given)}"
            for v in numbering.variables
            if v not in made
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
            kind: Type = variable.type
            if kind.is_array or not kind.parts():
                data = self.value(variable.data)
            else:
                data = f"{type_}.from_parts({self.value(list(kind.to_parts(variable.data)))})"
            return f"{type_}.make_constant({data}{more})"
        if isinstance(variable, SharedVariable) and shared:
            value = self.value(variable.get_value(borrow=True))
            return f"{self.class_expression(type(variable))}({type_}, {value}{more})"
        return f"{type_}.make_variable({name})"


def _reshaped(value: Any) -> str:
    return f".reshape({value.shape!r})" if value.size == 0 else ""


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
