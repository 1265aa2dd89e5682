"""`NanGuardMode`, a mode that reports NaN, infinities and very large values in inputs and in outputs of nodes.

Users choose it with ``mode="NanGuardMode"``, or pass a `NanGuardMode` with other settings.
"""

from __future__ import annotations

import pdb
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_compile import options
from occelo_compile.debugging.comparing import is_array
from occelo_compile.mode import Mode, Optimizer
from occelo_graph import Apply, FunctionGraph, Type, Variable
from occelo_graph.errors import describe, lines
from occelo_graph.interpret import body_runner
from occelo_link import Linker, make_linker
from occelo_link.node_by_node import WatchingLinker
from occelo_link.vm import NodeThunk

if TYPE_CHECKING:
    from occelo_rewrite.database import RewriteDatabase

BIG = 1e10
"""Values with a larger absolute value are reported."""


class _Guard:
    """Checks values. For a fault it raises an error, warns, or starts the debugger, as ``action`` says."""

    def __init__(self, nan: bool, inf: bool, big: bool, action: str) -> None:
        self.nan, self.inf, self.big = nan, inf, big
        self.action = action

    def fault(self, kind: Type, value: Any) -> str | None:
        """Return a description of the fault of a value, or None if it has no fault."""
        if kind.parts() is None or value is None:
            return None
        faults = (self._fault_of(array) for array in kind.to_parts(value))
        return next((fault for fault in faults if fault is not None), None)

    def _fault_of(self, value: Any) -> str | None:
        if not is_array(value) or value.dtype.kind not in "fc" or not value.size:
            return None
        if self.nan and np.isnan(value).any():
            return "NaN"
        if self.inf and np.isinf(value).any():
            return "an infinite value"
        if self.big and (np.abs(value) > BIG).any():
            return f"a value beyond {BIG:g}"
        return None

    def checked(self, variable: Variable) -> bool:
        return getattr(variable.tag, "nan_guard_mode_check", True) is not False

    def on_input(self, variable: Variable, value: Any) -> None:
        """Check an input of the function."""
        if not self.checked(variable):
            return
        fault = self.fault(variable.type, value)
        if fault is not None:
            self.act(
                [f"Value of {describe(variable)}: {value}"],
                f"NanGuardMode found {fault} in an input",
            )

    def around(self, fgraph: FunctionGraph, i: int, node: Apply, thunk: NodeThunk) -> None:
        """Run a node and check its outputs."""
        thunk()
        for position, (variable, cell) in enumerate(zip(node.outputs, thunk.outputs, strict=True)):
            fault = self.fault(variable.type, cell[0]) if self.checked(variable) else None
            if fault is not None:
                context = self._context(node, i, thunk.inputs)
                context.append(f"  output {position}: {cell[0]}")
                step = self._first_step(node, [cell[0] for cell in thunk.inputs])
                when = "" if step is None else f", first after step {step}"
                self.act(context, f"NanGuardMode found {fault} in {describe(variable)}{when}")

    def _first_step(self, node: Apply, values: Sequence[Any]) -> int | None:
        """Return the first iteration of a loop after which a carried value has a fault, counted from 0.

        Returns None if the node is not a loop, or if no carried value has a fault.
        """
        loop = node.op.loop(node) if node.op.loops else None
        if loop is None or loop.count is None:
            return None
        once = body_runner(loop.body)
        kinds = [v.type for v in loop.body.inputs[: len(loop.carried)]]
        state, read = [values[i] for i in loop.carried], [values[i] for i in loop.read]
        for step in range(int(values[loop.count])):
            results = once([*state, *read])
            state = results[: len(state)]
            if any(self.fault(k, v) is not None for k, v in zip(kinds, state, strict=True)):
                return step
            if loop.stops and bool(results[-1]):
                break
        return None

    def _context(self, node: Apply, i: int, inputs: Sequence[list[Any]]) -> list[str]:
        """Return lines of a message: the node, the user's line, and each input."""
        context = [f"Node {i}, {node.op}" + (f", made at {node.source}:" if node.source else ":")]
        if node.source is not None and node.source.text:
            context.append(f"    {node.source.text}")
        for position, (variable, cell) in enumerate(zip(node.inputs, inputs, strict=True)):
            context.append(f"  input {position}, {variable}: {cell[0]}")
        return context

    def act(self, context: list[str], cause: str) -> None:
        message = lines(context, cause)
        if self.action == "raise":
            raise AssertionError(message)
        warnings.warn(message, stacklevel=2)
        if self.action == "pdb":
            pdb.set_trace()


class NanGuardMode(Mode):
    """A mode that checks inputs and the outputs of every node for NaN, infinities and absolute values beyond 1e10.

    For the first fault it raises an AssertionError that names the node, its inputs and the user's line. The option
    ``NanGuardMode__action`` can make it warn or start the debugger instead. The defaults of the arguments are the
    options of the same names. Variables with ``tag.nan_guard_mode_check = False`` are not checked.
    """

    def __init__(
        self,
        nan_is_error: bool | None = None,
        inf_is_error: bool | None = None,
        big_is_error: bool | None = None,
        optimizer: Optimizer = "default",
        linker: str | Linker | None = None,
        db: RewriteDatabase | None = None,
    ) -> None:
        guard = _Guard(
            options.NAN_GUARD_NAN.get() if nan_is_error is None else nan_is_error,
            options.NAN_GUARD_INF.get() if inf_is_error is None else inf_is_error,
            options.NAN_GUARD_BIG.get() if big_is_error is None else big_is_error,
            options.NAN_GUARD_ACTION.get(),
        )
        inner = linker if isinstance(linker, Linker) else make_linker(linker)
        watching = WatchingLinker(inner, guard.around, guard.on_input)
        super().__init__(watching, optimizer, db, "NanGuardMode")
