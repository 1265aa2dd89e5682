"""`ValueWriter`: writes the values of a graph, such as ops, types, arrays and their parameters, as Python expressions.

`to_python` and `pprint` use it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from occelo_graph.canonical.encoding import Static
from occelo_graph.canonical.names import class_name
from occelo_graph.fgraph.frozen import FrozenFunctionGraph
from occelo_graph.ir.nodes import Constant
from occelo_graph.ir.op import Op
from occelo_graph.ir.slices import slice_parts
from occelo_graph.ir.types import Type
from occelo_graph.narrowing import is_list, is_slice, is_tuple
from occelo_graph.tensors.type import TensorType


class ValueWriter:
    """Writes expressions for values, and collects the imports that they need.

    With ``brief``, fields of ops that have their default values are left out.
    """

    def __init__(self, brief: bool = False) -> None:
        self.brief = brief
        self.imports: dict[str, None] = {}

    def inner_graph(self, graph: FrozenFunctionGraph) -> str:
        """The name of an inner graph in the source. TypeError if the writer defines no graphs."""
        raise TypeError("An inner graph has no Python form here")

    def class_expression(self, cls: type) -> str:
        """The name of a class. Adds an import of the class to ``imports``."""
        module, _, name = class_name(cls).partition(":")
        self.imports[f"from {module} import {name.partition('.')[0]}"] = None
        return name

    def op(self, op_: Op) -> str:
        """A call of the op's class. TypeError if the op has neither fields nor ``__props__``."""
        props = op_.props()
        if props is None:
            raise TypeError(f"The op {op_} has no fields and no __props__, so no Python form")
        # a class whose constructor does not accept its fields defines `python_fields`
        own: Callable[[], dict[str, Any]] | None = getattr(op_, "python_fields", None)
        fields, maker = (props, "") if own is None else (own(), ".from_fields")
        if self.brief and dataclasses.is_dataclass(op_):
            usual = {f.name: f.default for f in dataclasses.fields(op_)}
            fields = {k: v for k, v in fields.items() if usual.get(k, op_) is not v}
        inner = ", ".join(f"{k}={self.value(v)}" for k, v in fields.items())
        return f"{self.class_expression(type(op_))}{maker}({inner})"

    def value(self, value: Any) -> str:
        """An expression for a value, such as an op, a type or a parameter of an op. TypeError if there is none."""
        if isinstance(value, TensorType):
            self.imports["from occelo_graph.tensors.type import TensorType"] = None
            return f"TensorType({value.dtype!r}, {value.shape!r})"
        if isinstance(value, Op):
            return self.op(value)
        if isinstance(value, FrozenFunctionGraph):
            return self.inner_graph(value)
        if isinstance(value, Static):
            inner = ", ".join(f"{k}={self.value(v)}" for k, v in value.fields().items())
            return f"{self.class_expression(type(value))}({inner})"
        if isinstance(value, Type):
            inner = ", ".join(self.value(k) for k in value.key())
            return f"{self.class_expression(type(value))}({inner})"
        if is_tuple(value):
            return f"({', '.join(map(self.value, value))}{',' if len(value) == 1 else ''})"
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

    def constant(self, variable: Constant, options: str = "") -> str:
        """An expression for a constant. ``options`` are further arguments of `Type.make_constant`."""
        type_, kind = self.value(variable.type), variable.type
        if kind.is_array or not kind.parts():
            data = self.value(variable.data)
        else:
            data = f"{type_}.from_parts({self.value(list(kind.to_parts(variable.data)))})"
        return f"{type_}.make_constant({data}{options})"


def _reshaped(value: Any) -> str:
    return f".reshape({value.shape!r})" if value.size == 0 else ""
