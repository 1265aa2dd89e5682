"""`Scan`: the op of loops with carried values, sequences and traces.

`looping.building` makes nodes of this op for `loop`, `scan` and similar functions. For gradients, vectorization and
rules, a loop is one node with a body. Before linking, the node is expanded to an `Iterate` (`looping.expansion`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any, NamedTuple

import numpy as np

from occelo_graph.fgraph.frozen import FrozenFunctionGraph
from occelo_graph.interpret import body_runner
from occelo_graph.ir.clone import equal_computations
from occelo_graph.ir.known_values import known_integer
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.op import Cotangents, Kernel, Op, Tangents, op
from occelo_graph.ir.terms import Term
from occelo_graph.ir.traits import trait
from occelo_graph.ir.traversal import toposort
from occelo_graph.ir.types import Type
from occelo_graph.tensors.type import TensorType
from occelo_loops.ops.printing import written_loop

_COUNT = TensorType("int64", ())


class ScanParts(NamedTuple):
    """The inputs of a node of `Scan` without the number of steps, or the inputs of its body, in three lists."""

    carried: list[Variable]
    sequences: list[Variable]
    constants: list[Variable]


@op
class Scan(Op):
    """A loop: ``body`` runs once for each step, with values carried from each step to the next.

    A node has these inputs: the number of steps (an int64 scalar), the initial carried values, the sequences, and the
    constants. Each step reads one element of each sequence, along its first axis, and all constants. The outputs of a
    node are the carried values after the last step, and the traces. A trace has an element of each step, stacked along
    a new first axis. With ``stops``, the last output is the number of steps that ran (int64).

    - ``body``: the graph of one step. Its inputs are the carried values, the elements of sequences and the constants.
      Its outputs are the new carried values, the elements of traces, and with ``stops`` whether this step is the last.
    - ``carried``, ``sequences``: the numbers of carried values and of sequences.
    - ``stops``: whether a condition, the last output of ``body``, can end the loop early.
    - ``reverse``: whether the sequences are read backward. The first of n steps reads element n - 1, the last one
      element 0. Elements of traces are written at the positions from which the step reads.
    - ``truncate``: the number of last steps that reverse mode differentiates. None means all steps.
    - ``bounded``: False if the number of steps is only a huge limit, as in a `while_loop`. Reverse mode would have to
      keep the states of so many steps, so it raises NotImplementedError.
    - ``name``: the name of the loop in errors and printed graphs.

    ValueError at run time for a negative number of steps, or for a sequence with fewer elements than steps.
    """

    body: FrozenFunctionGraph
    carried: int
    sequences: int
    stops: bool = False
    reverse: bool = False
    truncate: int | None = None
    bounded: bool = True
    name: str | None = field(default=None, compare=False)

    @property
    def traces(self) -> int:
        """The number of traces."""
        return len(self.body.outputs) - self.carried - self.stops

    @trait
    def pure(self) -> bool:
        """Whether all nodes of the body are pure."""
        return self.body.pure

    def parts(self, values: Sequence[Variable]) -> ScanParts:
        """Divide the body's inputs, or a node's inputs after the number of steps, into the lists of `ScanParts`."""
        middle = self.carried + self.sequences
        return ScanParts(
            list(values[: self.carried]), list(values[self.carried : middle]), list(values[middle:])
        )

    def forward(self) -> Scan:
        """A copy of the op that reads sequences from the first element to the last."""
        return replace(self, reverse=False)

    def same_steps(self, other: Scan) -> bool:
        """Whether two ops, applied to the same inputs, carry the same values and end at the same step.

        Their traces may differ.
        """
        one, two = self.body, other.body
        if replace(other, body=one, truncate=self.truncate) != self:
            return False
        if one is two:
            return True
        if [v.type for v in one.inputs] != [v.type for v in two.inputs]:
            return False
        return equal_computations(
            self._without_traces(), other._without_traces(), list(one.inputs), list(two.inputs)
        )

    def _without_traces(self) -> list[Variable]:
        outputs = list(self.body.outputs)
        return [*outputs[: self.carried], *outputs[self.carried + self.traces :]]

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        *inputs, function = operands
        texts = [term.text for term in inputs[1:]]
        middle = self.carried + self.sequences
        return written_loop(
            function.text,
            inputs[0].short,
            texts[: self.carried],
            texts[self.carried : middle],
            texts[middle:],
            self.traces,
            stops=self.stops,
            reverse=self.reverse,
        )

    # types

    def infer(self, *types: Type) -> tuple[Type, ...]:
        arguments = self.parts(self.body.inputs)
        if len(types) != 1 + len(self.body.inputs):
            raise ValueError(f"{self} takes {1 + len(self.body.inputs)} inputs, got {len(types)}")
        if types[0] != _COUNT:
            raise TypeError(f"The number of steps must be an int64 scalar, got {types[0]}")
        middle = 1 + self.carried
        for variable, kind in zip(arguments.carried, types[1:middle], strict=True):
            if not variable.type.is_super(kind):
                raise TypeError(f"A carried value of type {variable.type} cannot start as {kind}")
        for variable, after in zip(arguments.carried, self.body.outputs, strict=False):
            if not variable.type.is_super(after.type):
                raise TypeError(
                    f"A carried value of type {variable.type} cannot become {after.type}"
                )
        for variable, kind in zip(arguments.sequences, types[middle:], strict=False):
            element = variable.type
            if (
                not isinstance(kind, TensorType)
                or not kind.ndim
                or not element.is_super(TensorType(kind.dtype, kind.shape[1:]))
            ):
                raise TypeError(f"A sequence with elements of type {element} cannot be {kind}")
        for variable, kind in zip(
            arguments.constants, types[middle + self.sequences :], strict=True
        ):
            if not variable.type.is_super(kind):
                raise TypeError(f"A constant of type {variable.type} cannot be {kind}")
        return self._results(None)

    def _results(self, steps: int | None) -> tuple[Type, ...]:
        kinds: list[Type] = [v.type for v in self.body.inputs[: self.carried]]
        for v in self.body.outputs[self.carried : self.carried + self.traces]:
            if not isinstance(v.type, TensorType):
                raise TypeError(f"A trace must be of tensors, and not of type {v.type}")
            kinds.append(TensorType(v.type.dtype, (steps, *v.type.shape)))
        return (*kinds, _COUNT) if self.stops else tuple(kinds)

    def types_for(self, inputs: Sequence[Variable]) -> tuple[Type, ...]:
        kinds = self.infer_types(tuple(v.type for v in inputs))
        steps = None if self.stops else known_integer(inputs[0])
        return kinds if steps is None or steps < 0 else self._results(steps)

    # values

    def evaluate(self, *arrays: Any) -> Any:
        results = tuple(_Interpreted(self).run(*arrays))
        return results if len(results) != 1 else results[0]

    def kernel(self, node: Apply) -> Kernel:
        return _Interpreted(self).run

    def decompose(self, *inputs: Any) -> Sequence[Any] | None:
        from occelo_loops.ops.expansion import expanded  # that module imports this one

        outputs = expanded(self, inputs)
        # lengths of elements may depend on what the step computes by lazy ops
        nodes = toposort(outputs, blockers=frozenset(inputs))
        return None if any(each.op.lazy or not each.op.pure for each in nodes) else outputs

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        from occelo_loops.ops.lengths import result_shapes

        return result_shapes(self, node, input_shapes)

    # derivatives and batches

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        from occelo_loops.ops.derivatives.reverse import connections

        return connections(self, node)

    def pullback(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Cotangents
    ) -> Cotangents:
        from occelo_loops.ops.derivatives.reverse import pulled

        return pulled(self, inputs, outputs, cotangents)

    def pushforward(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], tangents: Tangents
    ) -> Tangents:
        from occelo_loops.ops.derivatives.reverse import pushed

        return pushed(self, inputs, outputs, tangents)

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        from occelo_loops.ops.derivatives.batches import batched

        return batched(self, node, inputs, batch_ndims)

    def __str__(self) -> str:
        way = ", backwards" if self.reverse else ""
        until = ", until" if self.stops else ""
        return f"Scan{{{self.name or f'{len(self.body.nodes)} nodes'}{way}{until}}}"


class _Interpreted:
    """Runs a `Scan` in Python, for the interpreter and the Python linkers. It is the reference for all backends."""

    def __init__(self, op_: Scan) -> None:
        self.op = op_
        self.step = body_runner(op_.body)

    def run(self, count: Any, *arrays: Any) -> Sequence[Any]:
        op_, steps = self.op, int(count)
        first, last = op_.carried, op_.carried + op_.sequences
        state: list[Any] = list(arrays[:first])
        sequences, constants = arrays[first:last], arrays[last:]
        self._check(steps, sequences)
        traces: list[list[Any]] = [[] for _ in range(op_.traces)]
        done = 0
        while done < steps:
            at = steps - 1 - done if op_.reverse else done
            operands = [*state, *(s[at, ...] for s in sequences), *constants]
            try:
                results = self.step(operands)
                for trace, element in zip(traces, results[first:], strict=False):
                    if trace and np.shape(trace[0]) != np.shape(element):
                        raise ValueError(
                            f"A trace has elements of one shape: the first has {np.shape(trace[0])}, and this one {np.shape(element)}. "
                            "(Gradients in reverse mode keep the states of all steps, so there is none for a state that changes its length)"
                        )
                    trace.append(np.array(element))
            except Exception as error:
                error.add_note(f"This was step {done} of {op_}.")
                raise
            state = results[:first]
            done += 1
            if op_.stops and bool(results[-1]):
                break
        own = [_own(v.type, value) for v, value in zip(op_.body.inputs, state, strict=False)]
        if not done and traces:
            stacked = [np.zeros((0, *s), k) for s, k in self._empty(arrays)]
        else:
            stacked = [np.stack(t[::-1] if op_.reverse else t) for t in traces]
        return [*own, *stacked, *([np.asarray(done, "int64")] if op_.stops else [])]

    def _check(self, steps: int, sequences: Sequence[Any]) -> None:
        if steps < 0:
            raise ValueError(f"The number of steps of {self.op} is {steps}, and cannot be negative")
        for i, sequence in enumerate(sequences):
            if len(sequence) < steps:
                raise ValueError(
                    f"{self.op} has {steps} steps, but its sequence {i} has only {len(sequence)} elements"
                )

    def _empty(self, arrays: Sequence[Any]) -> list[tuple[tuple[int, ...], str]]:
        """The shape and dtype of the elements of each trace, for a scan that takes no step.

        If the shapes are not static, the body runs once to find them, with zeros as elements of sequences.
        """
        op_ = self.op
        kinds = [v.type for v in op_.body.outputs[op_.carried : op_.carried + op_.traces]]
        tensors = [k for k in kinds if isinstance(k, TensorType)]
        static = [(tuple(n for n in k.shape if n is not None), k.dtype) for k in tensors]
        if all(len(s) == k.ndim for (s, _), k in zip(static, tensors, strict=True)):
            return static
        first, last = op_.carried, op_.carried + op_.sequences
        operands = [*arrays[:first]]
        operands += [np.zeros(s.shape[1:], s.dtype) for s in arrays[first:last]]
        with np.errstate(all="ignore"):
            results = self.step([*operands, *arrays[last:]])
        return [(np.shape(r), k.dtype) for r, k in zip(results[first:], tensors, strict=False)]


def _own(kind: Type, value: Any) -> Any:
    if kind.is_array:
        return np.array(value)
    return kind.copy(value) if kind.parts() is not None else value
