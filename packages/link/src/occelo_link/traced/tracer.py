"""The tracer, which runs a graph on symbolic arrays of JAX or PyTorch while the library traces.

The linkers ``jax`` and ``pytorch``, `as_jax` and `as_torch` make a `Tracer` whenever they trace a graph. Every lowering
gets the tracer. Values that depend only on shapes and constants are computed with NumPy, so lengths are plain numbers.

A check cannot raise an error in compiled code. So all checks are combined into one scalar, which the linker reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from occelo_graph import Apply, Constant, Variable
from occelo_graph.extensions import is_external
from occelo_graph.ir.decomposing import Decomposition, decomposition
from occelo_graph.ir.regions import operands_of, writes_into_carried
from occelo_graph.narrowing import is_array, is_list_or_tuple
from occelo_graph.ops.length_inputs import ONCE_KNOWN, lengths_to_check, wrong_shape
from occelo_link.lowering_table import wrong_results
from occelo_link.traced.arrays import Arrays
from occelo_link.traced.fallback import fall_back, run_with_numpy
from occelo_link.traced.pieces import trace_in_pieces
from occelo_link.traced.registry import NeedsValue, find_lowering
from occelo_link.traced.traced_values import Parts, TracedValue, flat, grouped, in_parts, is_opaque
from occelo_link.withheld_lowerings import is_withheld


class Tracer:
    """Computes the values of variables on demand. A branch has its own tracer, which can also read values of the outer
    tracer.
    """

    def __init__(
        self,
        arrays: Arrays,
        values: Mapping[Variable, TracedValue],
        outer: Tracer | None = None,
        on_fallback: Callable[[Apply], None] | None = None,
        varying: set[Apply] | None = None,
    ) -> None:
        self.arrays = arrays
        self.values: dict[Variable, TracedValue] = dict(values)
        """The computed values. A value that consists of several arrays is a `Parts` object."""
        self.outer = outer
        self.rows_read: dict[Variable, list[TracedValue]] = {}
        """The tensors into which an iteration of a loop writes, each with the rows that were read before."""
        self.checks: list[TracedValue] = []
        self.on_fallback: Callable[[Apply], None] | None = (
            on_fallback if outer is None else outer.on_fallback
        )
        self.varying: set[Apply] | None = varying if outer is None else outer.varying
        """The loops that run in Python and whose carried values were found to change in shape. Compiled code adds such
        loops when it runs (`traced.fallback`). It is None if nobody traces the graph again then.
        """

    # values

    def body(self, values: Mapping[Variable, TracedValue]) -> Tracer:
        """Return a new tracer for an inner graph, whose nodes read no values of this tracer."""
        return Tracer(self.arrays, values, on_fallback=self.on_fallback, varying=self.varying)

    def find(self, variable: Variable) -> TracedValue:
        """Return the value of a variable if it has been computed, and otherwise None."""
        if isinstance(variable, Constant):
            return in_parts(variable.type, variable.data)
        tracer: Tracer | None = self
        while tracer is not None:
            if variable in tracer.values:
                return tracer.values[variable]
            tracer = tracer.outer
        return None

    def all_values(self, variables: Sequence[Variable]) -> list[TracedValue]:
        """Return the values of variables. A long graph is divided into pieces if the library can compile them
        separately.
        """
        if self.arrays.compiles_apart:
            trace_in_pieces(self, variables)
        return [self.value(v) for v in variables]

    def within(self) -> Tracer:
        """Return a new tracer within this tracer, for the nodes of a branch or of a piece."""
        return Tracer(self.arrays, {}, self)

    def value(self, variable: Variable) -> TracedValue:
        """Return the value of a variable. Values that it needs are computed first."""
        stack = [variable]
        while stack:
            current = stack[-1]
            if self.find(current) is not None:
                stack.pop()
                continue
            node = current.owner
            assert node is not None, current
            missing = [v for v in operands_of(node) if self.find(v) is None]
            if missing:
                stack.extend(missing)
                continue
            results = [
                v if kind.is_array or is_opaque(kind) else Parts(v)
                for kind, v in zip((o.type for o in node.outputs), self._run(node), strict=True)
            ]
            self.values.update(zip(node.outputs, results, strict=True))
            stack.pop()
        return self.find(variable)

    def _run(self, node: Apply) -> Sequence[TracedValue]:
        inputs = [self.find(v) for v in operands_of(node)]
        if not node.op.lazy and node.op.pure and not any(map(self.is_traced, inputs)):
            with np.errstate(all="ignore"):
                return run_with_numpy(node, [v.type for v in operands_of(node)], inputs)
        if node.op.loops and not is_withheld(node):
            return self._repeat(node, inputs)
        lowering = find_lowering(node)
        if lowering is None:
            parts = None if node.op.lazy or node.op.destroy_map else decomposition(node)
            if parts is None:
                return fall_back(self, node, inputs)
            outputs: Sequence[TracedValue] = self.decomposed(node, parts, inputs)
        else:
            outputs = lowering(self, node, inputs)
            if is_external(lowering):
                self._check(node, outputs)
        held = lengths_to_check(node)
        if held:  # only results that are arrays have such lengths
            shape = np.shape(outputs[0])
            if any(n is not None and n != int(m) for n, m in zip(held, shape, strict=False)):
                raise ValueError(wrong_shape(ONCE_KNOWN, shape, tuple(held)))
        return outputs

    def _check(self, node: Apply, results: Any) -> None:
        """TypeError if the results of a lowering of another package do not have the types of the node's outputs."""
        if not is_list_or_tuple(results) or len(results) != len(node.outputs):
            raise wrong_results(node, results, self._told)
        for variable, value in zip(node.outputs, results, strict=True):
            kinds = variable.type.parts()
            arrays = [value] if variable.type.is_array else value
            if kinds is not None and (
                not is_list_or_tuple(arrays)
                or [self._form(x) for x in arrays] != [(k.dtype, k.ndim) for k in kinds]
            ):
                raise wrong_results(node, results, self._told)

    def _form(self, value: Any) -> tuple[str, int] | None:
        """Return the dtype and the number of dimensions of an array, or None for anything else."""
        if self.arrays.is_traced(value):
            return self.arrays.dtype(value), len(value.shape)
        return (str(value.dtype), value.ndim) if is_array(value) else None

    def _told(self, value: Any) -> str:
        if is_list_or_tuple(value):
            return " with ".join(map(self._told, value))
        form = self._form(value)
        return type(value).__name__ if form is None else "{} of {} dimensions".format(*form)

    def decomposed(
        self, node: Apply, parts: Decomposition, inputs: Sequence[TracedValue]
    ) -> Sequence[TracedValue]:
        """Return the results of a node, computed by the decomposition of its op."""
        inner = Tracer(self.arrays, dict(zip(parts.inputs, inputs, strict=True)), self)
        try:
            results = [inner.value(v) for v in parts.outputs]
        except NeedsValue as need:
            position = next((i for i, v in enumerate(parts.inputs) if v is need.variable), None)
            if position is None:
                return fall_back(self, node, inputs)
            raise NeedsValue(node.inputs[position], node) from None
        self.checks += inner.checks
        return results

    def _once(self, node: Apply, inputs: list[TracedValue]) -> Sequence[TracedValue]:
        """Return the results of an inner graph that runs once."""
        body = node.op.loop(node).body
        inner = self.body(dict(zip(body.inputs, inputs, strict=True)))
        try:
            results = inner.all_values(body.outputs)
        except NeedsValue:
            return fall_back(self, node, inputs)
        self.checks += inner.checks
        return results

    def _repeat(self, node: Apply, inputs: list[TracedValue]) -> Sequence[TracedValue]:
        """Return the results of a loop. If the library has no loops, or if shapes change from step to step, `fall_back`
        runs it.
        """
        loop = node.op.loop(node)
        if loop.count is None:
            return self._once(node, inputs)
        arguments, results = loop.body.inputs, list(loop.body.outputs)
        kinds = [v.type for v in arguments[: len(loop.carried)]]
        read = [inputs[i] for i in loop.read]
        chains = writes_into_carried(loop).values()
        overwritten = [node.inputs[0] for chain in chains for node in chain]
        true, false = (self.arrays.constant(np.array(value)) for value in (True, False))

        def step(
            state: Sequence[TracedValue],
        ) -> tuple[Sequence[TracedValue], TracedValue, TracedValue]:
            inner = self.body(dict(zip(arguments, [*grouped(kinds, state), *read], strict=True)))
            inner.rows_read = {v: [] for v in overwritten}
            values = inner.all_values(results)
            left = list(map(inner.array, flat(values[: len(kinds)])))
            held = inner.all_checks()
            stops = inner.array(values[-1]) if loop.stops else false
            return left, stops, true if held is None else held

        try:
            state = list(map(self.array, flat(inputs[i] for i in loop.carried)))
            values, held = self.arrays.repeat(self.array(inputs[loop.count]), state, step)
        except Exception:
            # an iteration that always fails also runs in Python, since perhaps the loop has no iterations
            return fall_back(self, node, inputs)
        self.checks.append(held)
        return grouped(kinds, values)

    def is_traced(self, value: TracedValue) -> bool:
        """Whether a value, or a part of it, is an array of the library."""
        if isinstance(value, Parts):
            return any(map(self.arrays.is_traced, value))
        return self.arrays.is_traced(value)

    def known(self, node: Apply, position: int, value: TracedValue) -> TracedValue:
        """Return the value of a node's input as a NumPy array. Raises `NeedsValue` if it is not static."""
        if self.arrays.is_traced(value):
            raise NeedsValue(node.inputs[position], node)
        return value

    def integer(self, node: Apply, position: int, value: TracedValue) -> int:
        """Return a length or position as an integer. Raises `NeedsValue` if it is not static."""
        return int(self.known(node, position, value))

    def array(self, value: TracedValue) -> TracedValue:
        """Return a value as an array of the library."""
        return value if self.arrays.is_traced(value) else self.arrays.constant(value)

    # checks

    def check(self, condition: TracedValue) -> None:
        """Add a check that a scalar is true when the graph runs. Raises ValueError if it is static and false."""
        if self.arrays.is_traced(condition):
            self.checks.append(self.arrays.cast(condition, "bool"))
        elif not bool(condition):
            raise ValueError("A check of the graph fails whatever its inputs are")

    def all_checks(self) -> TracedValue:
        """Return one scalar that is true if all checks hold, or None if there are no checks."""
        if not self.checks:
            return None
        held = self.checks[0]
        conjunction = self.arrays.scalars["and"][1]
        for each in self.checks[1:]:
            held = conjunction(held, each)
        return held

    def branch(self, condition: TracedValue, node: Apply) -> Sequence[TracedValue]:
        """Return the results of a node's first region if the condition holds, and otherwise those of its second region.

        If the condition is static, or if the library has lazy branches, only one region runs. Raises `NeedsValue` for
        the condition if the regions cannot be traced as branches, for instance because their shapes differ.
        """
        then, other = ([node.inputs[i] for i in r.results] for r in node.op.regions(node))
        if not self.arrays.is_traced(condition):
            return [self.value(v) for v in (then if bool(condition) else other)]

        def side(variables: Sequence[Variable]) -> Callable[[], Sequence[TracedValue]]:
            def run() -> Sequence[TracedValue]:
                inner = self.within()
                results = list(map(self.array, flat(inner.all_values(variables))))
                held = inner.all_checks()
                return [*results, self.arrays.constant(np.array(True)) if held is None else held]

            return run

        try:
            *results, held = self.arrays.branch(condition, side(then), side(other))
        except NeedsValue:
            raise
        except Exception:
            # the shapes of the branches differ, or a branch fails for all values
            raise NeedsValue(node.inputs[0], node) from None
        self.checks.append(held)
        return grouped((v.type for v in node.outputs), results)
