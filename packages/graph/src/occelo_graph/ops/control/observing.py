"""Ops that observe values: `Print` and `PdbBreakpoint` return their inputs, and print them or start the debugger.

Users import them from `occelo` and apply them to variables. When a function is compiled, `occelo_compile.maker` makes
each observer a hidden output. Nodes that read the observer's result then read its input instead. So ``log(1 +
Print()(x))`` is rewritten like ``log(1 + x)``. In graphs with lazy branches, observers stay in place, since the
observed value may never be computed.
"""

from __future__ import annotations

import pdb
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.op import Cotangents, Op, Tangents
from occelo_graph.ir.traits import trait
from occelo_graph.ops.control.identities import SameType
from occelo_graph.tensors.constant import as_tensor_variable


class Print(SameType):
    """Prints its input and returns it.

    ``attrs`` are the names of attributes of the value. For each attribute, a line with ``message``, the attribute's
    name and its value is printed. Callable attributes are called. If ``global_fn`` is given, ``global_fn(op, value)``
    is called instead of printing.
    """

    __props__: ClassVar[tuple[str, ...]] = ("message", "attrs", "global_fn")
    view_map = {0: [0]}
    pure = False
    observes: ClassVar[bool] = True

    def __init__(
        self,
        message: str = "",
        attrs: Sequence[str] = ("__str__",),
        global_fn: Callable[[Print, Any], None] | None = None,
    ) -> None:
        self.message = message
        self.attrs = tuple(attrs)
        self.global_fn = global_fn

    def evaluate(self, x: Any) -> Any:
        if self.global_fn is not None:
            self.global_fn(self, x)
            return x
        for attribute in self.attrs:
            member = getattr(x, attribute)
            print(self.message, attribute, "=", member() if callable(member) else member)
        return x

    def do_constant_folding(self, fgraph: Any, node: Apply) -> bool:
        return False

    def __str__(self) -> str:
        return f"Print{{{self.message}}}"


class PdbBreakpoint(Op):
    """``PdbBreakpoint(name)(condition, x, ...)`` returns the variables, and starts the debugger if ``condition`` holds.

    The condition is a scalar. In the debugger, the variable ``monitored`` holds the values. A single variable is
    returned by itself, several variables as a list. ``count`` is how many there are; a call counts them.
    """

    __props__: ClassVar[tuple[str, ...]] = ("name", "count")
    pure = False
    observes: ClassVar[bool] = True

    def __init__(self, name: str, count: int = 0) -> None:
        self.name = name
        self.count = count

    @trait
    def view_map(self) -> Mapping[int, Sequence[int]]:
        return {i: [i + 1] for i in range(self.count)}

    def infer(self, *types: Any) -> Any:
        if len(types) < 2:
            raise TypeError("A breakpoint needs a variable to look at")
        if types[0].ndim:
            raise TypeError(f"The condition of a breakpoint must be a scalar, got {types[0]}")
        return tuple(types[1:])

    def make_node(self, *inputs: Any) -> Apply:
        variables = [as_tensor_variable(v) for v in inputs]
        op = PdbBreakpoint(self.name, len(variables) - 1)
        return Apply.of_types(op, variables, op.infer(*(v.type for v in variables)))

    def evaluate(self, condition: Any, *monitored: Any) -> Any:
        if bool(condition):
            print(f"Breakpoint {self.name!r}; `monitored` has {len(monitored)} values")
            pdb.set_trace()
        return monitored

    def pullback(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Cotangents
    ) -> Cotangents:
        return [None, *cotangents]

    def pushforward(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], tangents: Tangents
    ) -> Tangents:
        return list(tangents[1:])

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        count = len(node.outputs)
        return [[False] * count, *([i == j for j in range(count)] for i in range(count))]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return list(input_shapes[1:])

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return self(inputs[0].any(), *inputs[1:], return_list=True)

    def do_constant_folding(self, fgraph: Any, node: Apply) -> bool:
        return False
