"""`Writer` and `Scope`: what translations call to write operators, constants and inner graphs of a model.

A `Writer` belongs to a model: it makes names and keeps constants. A `Scope` belongs to one graph of it, the model's own or
the branch or body of an operator, and writes nodes on demand, as the values of variables are asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from occelo_export.onnx.registry import translation_of
from occelo_graph import Apply, Constant, Variable
from occelo_graph.errors import describe
from occelo_graph.ir.decomposing import decomposition
from occelo_graph.ir.regions import operands_of

WORKING = {
    "int8": "int32",
    "int16": "int32",
    "uint8": "int32",
    "uint16": "int32",
    "uint32": "int64",
}
"""Dtypes in which few operators of onnxruntime compute, and the ones in which they are computed instead."""


def working_dtype(dtype: str) -> str:
    """The dtype in which elements of another dtype are computed; booleans are computed as integers."""
    return "int32" if dtype == "bool" else WORKING.get(dtype, dtype)


def onnx_module(name: str = "onnx") -> Any:
    """Import a module of ONNX. ModuleNotFoundError, which says how to install it, if it is missing."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != "onnx":
            raise
        raise ModuleNotFoundError(
            "This needs onnx, which is not installed: pip install 'occelo-export[onnx]'",
            name="onnx",
        ) from None


class NotInONNX(TypeError):
    """An op or a dtype has no equal in ONNX. The message names the op and the line that made it."""


class Writer:
    """The names and the constants of a model."""

    def __init__(self) -> None:
        self.helper: Any = onnx_module("onnx.helper")
        self._numpy_helper: Any = onnx_module("onnx.numpy_helper")
        self._count = 0
        self.initializers: list[Any] = []
        self._constants: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self.taken: set[str] = set()

    def fresh(self, hint: str) -> str:
        """A new name."""
        name = hint
        while name in self.taken:
            self._count += 1
            name = f"{hint}_{self._count}"
        self.taken.add(name)
        return name

    def constant(self, value: Any, hint: str = "constant") -> str:
        """The name of an array that is part of the model."""
        array = np.ascontiguousarray(value).reshape(np.shape(value))
        key = array.dtype.str, array.shape, array.tobytes()
        if key not in self._constants:
            self._constants[key] = name = self.fresh(hint)
            self.initializers.append(self._numpy_helper.from_array(array, name))
        return self._constants[key]

    def element_type(self, dtype: str) -> int:
        """ONNX's number for a dtype."""
        number: int = self.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return number

    def info(self, name: str, variable: Variable, lengths: Sequence[Any] | None = None) -> Any:
        """The declaration of an input or an output."""
        kind: Any = variable.type
        if not kind.is_array or kind.dtype.startswith("complex"):
            raise NotInONNX(f"ONNX's values are tensors of real numbers, not {describe(variable)}")
        return self.helper.make_tensor_value_info(name, self.element_type(kind.dtype), lengths)


class Scope:
    """Writes the nodes of one graph. ``values`` are the names of variables that are known, for instance of inputs."""

    def __init__(
        self, writer: Writer, values: Mapping[Variable, str], outer: Scope | None = None
    ) -> None:
        self.writer = writer
        self.nodes: list[Any] = []
        self._values = dict(values)
        self._outer = outer

    # operators

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Write an operator with one output. Returns the name of the output."""
        return self.ops(kind, inputs, 1, **attributes)[0]

    def ops(self, kind: str, inputs: Sequence[str], count: int, **attributes: Any) -> list[str]:
        """Write an operator. Returns the names of its outputs."""
        names = [self.writer.fresh(kind.lower()) for _ in range(count)]
        self.nodes.append(self.writer.helper.make_node(kind, list(inputs), names, **attributes))
        return names

    def constant(self, value: Any, dtype: str | None = None) -> str:
        """A constant, by default of its own dtype."""
        return self.writer.constant(np.asarray(value, dtype))

    def integers(self, values: Sequence[int]) -> str:
        """A constant vector of int64, such as axes."""
        return self.constant(list(values), "int64")

    def cast(self, name: str, have: str, want: str) -> str:
        """A value in another dtype."""
        if have == want:
            return name
        return self.op("Cast", name, to=self.writer.element_type(want))

    def vector(self, numbers: Sequence[int | str]) -> str:
        """A vector of int64 of numbers and of names of scalars."""
        static = [n for n in numbers if isinstance(n, int)]
        if len(static) == len(numbers):
            return self.integers(static)
        zero = self.integers([0])
        parts = [
            self.integers([n]) if isinstance(n, int) else self.op("Unsqueeze", n, zero)
            for n in numbers
        ]
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, axis=0)

    def length(self, name: str, axis: int) -> str:
        """The length of an axis, a scalar."""
        return self.op(
            "Squeeze", self.op("Shape", name, start=axis, end=axis + 1), self.integers([0])
        )

    def count(self, start: str, stop: str) -> str:
        """The numbers from one scalar to another, as int64."""
        return self.op("Range", start, stop, self.constant(1, "int64"))

    # values

    def find(self, variable: Variable) -> str | None:
        """The name of a variable that is written; None if it is not."""
        scope: Scope | None = self
        while scope is not None:
            if variable in scope._values:
                return scope._values[variable]
            scope = scope._outer
        if isinstance(variable, Constant):
            if not variable.type.is_array:
                raise NotInONNX(f"ONNX's values are tensors, not {describe(variable)}")
            return self.writer.constant(np.asarray(variable.data))
        return None

    def value(self, variable: Variable) -> str:
        """The name of a variable. The nodes that it needs are written first."""
        pending = [variable]
        while pending:
            current = pending[-1]
            if self.find(current) is not None:
                pending.pop()
                continue
            node = current.owner
            if node is None:
                raise NotInONNX(f"{describe(current)} has no value")
            missing = [v for v in operands_of(node) if self.find(v) is None]
            if missing:
                pending += missing
                continue
            names = self._written(node)
            self._values.update(zip(node.outputs, names, strict=True))
            pending.pop()
        name = self.find(variable)
        assert name is not None
        return name

    def _written(self, node: Apply) -> Sequence[str]:
        inputs = [self.find(v) or "" for v in operands_of(node)]
        for each in node.outputs:
            self._check(node, each)
        if node.op.loops:
            return self._loop(node, inputs)
        translation = translation_of(node.op)
        outputs = None if translation is None else translation(self, node, inputs)
        if outputs is not None:
            return outputs
        parts = None if node.op.lazy or node.op.destroy_map else decomposition(node)
        if parts is None:
            raise NotInONNX(f"ONNX has no operator for {node.op} of {describe(node.outputs[0])}")
        inner = Scope(self.writer, dict(zip(parts.inputs, inputs, strict=True)), self)
        inner.nodes = self.nodes
        return [inner.value(v) for v in parts.outputs]

    def _check(self, node: Apply, variable: Variable) -> None:
        kind: Any = variable.type
        if not kind.is_array or kind.dtype.startswith("complex"):
            raise NotInONNX(
                f"ONNX's operators compute tensors of real numbers, and {node.op} makes {describe(variable)}"
            )

    # inner graphs

    def graph(
        self, name: str, inputs: Sequence[Any], outputs: Sequence[tuple[str, Variable]]
    ) -> Any:
        """The graph of this scope, for an attribute of an operator."""
        infos: list[Any] = []
        for result, variable in outputs:
            own = self.writer.fresh("result")
            self.nodes.append(self.writer.helper.make_node("Identity", [result], [own]))
            infos.append(self.writer.info(own, variable))
        return self.writer.helper.make_graph(self.nodes, name, list(inputs), infos)

    def branch(self, condition: str, sides: Sequence[Sequence[Variable]]) -> list[str]:
        """Write an If: the results of the first side where the condition is true, and of the second otherwise."""
        graphs: list[Any] = []
        for name, results in zip(("then", "else"), sides, strict=True):
            inner = Scope(self.writer, {}, self)
            graphs.append(inner.graph(name, [], [(inner.value(v), v) for v in results]))
        count = len(sides[0])
        return self.ops("If", [condition], count, then_branch=graphs[0], else_branch=graphs[1])

    def _loop(self, node: Apply, inputs: Sequence[str]) -> Sequence[str]:
        """Write a Loop, or the body of a region that runs once."""
        loop = node.op.loop(node)
        operands = [inputs[i] for i in (*loop.carried, *loop.read)]
        body, count = loop.body, len(loop.carried)
        if loop.count is None:
            inner = Scope(self.writer, dict(zip(body.inputs, operands, strict=True)), self)
            inner.nodes = self.nodes
            return [inner.value(v) for v in body.outputs]
        helper, element = self.writer.helper, self.writer.element_type
        step, going = self.writer.fresh("step"), self.writer.fresh("going")
        names = [self.writer.fresh("carried") for _ in range(count)]
        inner = Scope(
            self.writer, dict(zip(body.inputs, [*names, *operands[count:]], strict=True)), self
        )
        declared = [
            helper.make_tensor_value_info(step, element("int64"), []),
            helper.make_tensor_value_info(going, element("bool"), []),
            *(self.writer.info(n, v) for n, v in zip(names, body.inputs, strict=False)),
        ]
        after = [(inner.value(v), v) for v in body.outputs[:count]]
        truth = _truth()
        on = inner.op("Not", inner.value(body.outputs[-1])) if loop.stops else going
        graph = inner.graph("body", declared, [(on, truth), *after])
        times = self.cast(inputs[loop.count], str(node.inputs[loop.count].type.dtype), "int64")
        first = self.constant(np.array(True))
        return self.ops("Loop", [times, first, *operands[:count]], count, body=graph)


def _truth() -> Variable:
    from occelo_graph.tensors.type import TensorType

    variable: Variable = TensorType("bool", ()).make_variable()
    return variable
