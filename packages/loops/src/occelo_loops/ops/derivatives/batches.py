"""`batched`: the batching rule of `Scan`, which vectorization calls through `Scan.batch`.

It makes one scan whose steps compute all elements of the batch at once. The elements may take different numbers of
steps. Then the scan runs until the last element ends, and the carried values of elements that have ended no longer
change. The traces are then ragged: the rows of an element after its own steps are not valid (`ragged`).
Steps still compute values for elements that have ended, from inputs that `looping.ended_elements` chooses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.traversal import ancestors
from occelo_graph.ops.batching import align, batch_shape
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.create import broadcast_to
from occelo_graph.ops.elemwise.arithmetic import le, switch
from occelo_graph.ops.join import concatenate
from occelo_graph.ops.shape.reading import shape_tuple
from occelo_graph.tensors.nodes import tensors
from occelo_graph.vectorize import vectorize_graph
from occelo_loops.ops.building.bodies import Step, scan_node
from occelo_loops.ops.derivatives import ragged_rules as ragged_rules  # adds its rules
from occelo_loops.ops.derivatives.ended_elements import Instead, backwards, valid_first
from occelo_loops.ops.derivatives.ragged import count_of, is_ragged_in, mark, refuse

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable
    from occelo_loops.ops.scan_op import Scan


def batched(
    op_: Scan, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
) -> list[Variable]:
    """The outputs of a node of `Scan` for inputs with batch dimensions in front. The arguments are as in `Op.batch`."""
    return _Batched(op_, node, inputs, batch_ndims).run()


def _checked(op_: Scan, node: Apply, inputs: Sequence[Any]) -> Any:
    """The number of steps, with a check that the ragged sequences have enough valid rows in each element of the batch."""
    steps = inputs[0]
    for position, v in enumerate(inputs):
        if not is_ragged_in(node, position, v):
            continue
        if not op_.carried < position <= op_.carried + op_.sequences:
            raise refuse(op_)
        count = count_of(v)
        if count is not steps:
            check = CheckAndRaise(
                ValueError, f"{op_} has more steps than its sequence has elements"
            )
            steps = check(steps, le(steps, count).all())
    return steps


class _Batched:
    """Makes the batched scan for a node of `Scan` and inputs with batch dimensions in front.

    - ``has``: for each input except the first one (the number of steps), whether it has batch dimensions in the new
      scan.
    - ``traced``: for each trace, whether it has batch dimensions.
    - ``own_ends``: whether the elements of the batch may end at different steps. Then the new scan carries two more
      values for each element: its number of steps so far, and whether it is still running.
    """

    def __init__(
        self, op_: Scan, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> None:
        self.op = op_
        self.inputs = [_checked(op_, node, inputs), *inputs[1:]]
        extras = list(batch_ndims)
        self.lengths = batch_shape(inputs, extras)
        self.ndim = len(self.lengths)
        self.has = [extra > 0 for extra in extras[1:]]
        self.own_ends = self._follow() or extras[0] > 0
        if self.own_ends:
            self.has[: op_.carried] = [True] * op_.carried
            self.traced = [True] * op_.traces
        self.full = [
            self._whole(v, extra, has)
            for v, extra, has in zip(inputs[1:], extras[1:], self.has, strict=True)
        ]

    def _follow(self) -> bool:
        """Find out which carried values and traces get batch dimensions: those that depend on an input with batch
        dimensions.

        Returns whether the condition that ends the scan gets batch dimensions, too.
        """
        op_ = self.op
        arguments, results = op_.body.inputs, op_.body.outputs
        while True:
            batched = {v for v, has in zip(arguments, self.has, strict=True) if has}
            reached = [not batched.isdisjoint(ancestors([v])) for v in results]
            more = [j for j in range(op_.carried) if reached[j] and not self.has[j]]
            for j in more:
                self.has[j] = True
            if not more:
                self.traced = reached[op_.carried : op_.carried + op_.traces]
                return op_.stops and reached[-1]

    def _whole(self, variable: TensorVariable, extra: int, has: bool) -> TensorVariable:
        """An input, broadcast to all batch dimensions if ``has`` is true, else unchanged.

        ``extra`` is the number of batch dimensions that it has already.
        """
        if not has:
            return variable
        full = align(variable, extra, self.ndim)
        return broadcast_to(full, (*self.lengths, *shape_tuple(full)[self.ndim :]))

    def _time_first(self, variable: TensorVariable) -> TensorVariable:
        n = self.ndim
        return variable.dimshuffle([n, *range(n), *range(n + 1, variable.type.ndim)])

    def _time_after(self, variable: TensorVariable) -> TensorVariable:
        n = self.ndim
        return variable.dimshuffle([*range(1, n + 1), 0, *range(n + 1, variable.type.ndim)])

    def run(self) -> list[Variable]:
        op_ = self.op
        first, last = op_.carried, op_.carried + op_.sequences
        sequences = [
            self._time_first(v) if has else v
            for v, has in zip(self.full[first:last], self.has[first:last], strict=True)
        ]
        if self.own_ends:
            return self._run_with_own_ends(sequences)
        _, outputs = self._scan(self.inputs[0], self.full[:first], sequences, self.full[last:])
        traces = [
            self._time_after(v) if has else v
            for v, has in zip(
                tensors(outputs[first : first + op_.traces]), self.traced, strict=True
            )
        ]
        return [*outputs[:first], *traces, *outputs[first + op_.traces :]]

    def _scan(
        self,
        steps: Any,
        carried: Sequence[Any],
        sequences: Sequence[Variable],
        constants: Sequence[Variable],
        *,
        forward: bool = False,
    ) -> tuple[Scan, list[Variable]]:
        op_ = self.op
        return scan_node(
            self._step,
            steps,
            carried,
            sequences,
            constants,
            reverse=op_.reverse and not forward,
            truncate=op_.truncate,
            bounded=op_.bounded,
            name=op_.name,
        )

    def _run_with_own_ends(self, sequences: list[TensorVariable]) -> list[Variable]:
        """The outputs, if the elements of the batch may end at different steps. ``sequences`` have the time axis first."""
        op_, steps = self.op, self.inputs[0]
        first, last = op_.carried, op_.carried + op_.sequences
        limit = broadcast_to(align(steps, steps.type.ndim, self.ndim), self.lengths)
        varying = self._steps_vary()
        forward = op_.reverse and varying
        if varying:
            # the zero is for empty batches, which have no largest number of steps
            each = concatenate([limit.flatten(), np.zeros(1, "int64")])
            steps = switch(each.min() < 0, each.min(), each.max())
        if forward:
            sequences = [
                backwards(v, limit, batched=has)
                for v, has in zip(sequences, self.has[first:last], strict=True)
            ]
            self.has[first:last] = [True] * op_.sequences
        self.instead = Instead(limit, varying)
        self.starts = [self.instead.of_state(v) for v in self.full[:first]]
        at = steps - 1 if op_.reverse and not forward else 0
        self.elements = [
            self.instead.of_element(v, at, batched=has)
            for v, has in zip(sequences, self.has[first:last], strict=True)
        ]
        constants = [
            self.instead.of_constant(v) if has else v
            for v, has in zip(self.full[last:], self.has[last:], strict=True)
        ]
        carried: list[Any] = [*self.full[:first], np.int64(0) * limit, limit > 0]
        _, outputs = self._scan(steps, carried, sequences, [*constants, limit], forward=forward)
        (count,) = tensors(outputs[first : first + 1])
        rows = tensors(outputs[first + 2 : first + 2 + op_.traces])
        if op_.reverse:
            rows = [valid_first(v, count, from_end=not forward) for v in rows]
        traces = [mark(self._time_after(v), count) for v in rows]
        return [*outputs[:first], *traces, *([count] if op_.stops else [])]

    def _steps_vary(self) -> bool:
        """Whether the number of steps has batch dimensions, and so may differ between elements of the batch."""
        return self.inputs[0].type.ndim > 0

    def _step(
        self, carried: list[Variable], elements: list[Variable], constants: list[Variable]
    ) -> Step:
        op_ = self.op
        first, body = op_.carried, op_.body
        rest = constants[:-1] if self.own_ends else constants
        arguments = [*self._running(carried, elements), *rest]
        inner = [v.type.make_variable() for v in body.inputs]
        batched: list[Any] = vectorize_graph(
            body.bind(inner), dict(zip(inner, arguments, strict=True))
        )
        results = tensors(batched)
        following = [
            self._spread(v, before) if has else v
            for v, before, has in zip(results, tensors(carried[:first]), self.has, strict=False)
        ]
        traced = [
            self._spread_like(v, k) for k, v in enumerate(results[first : first + op_.traces])
        ]
        if not self.own_ends:
            return Step(following, traced, results[-1] if op_.stops else None)
        done, active = tensors(carried[first:])
        masked = [
            switch(
                active.dimshuffle([*range(self.ndim), *["x"] * (v.type.ndim - self.ndim)]), v, old
            )
            for v, old in zip(following, carried, strict=False)
        ]
        count = done + active.astype("int64")
        (limit,) = tensors(constants[-1:])
        still = active & (count < limit)
        if op_.stops:
            still = still & ~results[-1]
        return Step([*masked, count, still], traced, ~still.any())

    def _running(self, carried: list[Variable], elements: list[Variable]) -> list[Variable]:
        """The carried values before a step, and the elements of sequences, that the body gets.

        Elements of the batch that have ended get the inputs of their first step instead. Those without a step get the
        inputs of another element.
        """
        if not self.own_ends:
            return [*carried, *elements]
        first = self.op.carried
        (active,) = tensors(carried[first + 1 : first + 2])
        values = [*tensors(carried[:first]), *tensors(elements)]
        return [
            self.instead.choose(active, v, start)
            for v, start in zip(values, [*self.starts, *self.elements], strict=True)
        ]

    def _spread(self, variable: TensorVariable, like: TensorVariable) -> TensorVariable:
        """A carried value after a step, broadcast to the batch dimensions of ``like``, its value before the step."""
        if variable.type.ndim == like.type.ndim:
            return variable
        lengths = shape_tuple(like)[: self.ndim]
        full = align(variable, 0, self.ndim)
        return broadcast_to(full, (*lengths, *shape_tuple(variable)))

    def _spread_like(self, variable: TensorVariable, k: int) -> TensorVariable:
        ndim = self.op.body.outputs[self.op.carried + k].type.ndim
        assert ndim is not None
        if self.traced[k] and variable.type.ndim == ndim:
            return broadcast_to(
                align(variable, 0, self.ndim), (*self.lengths, *shape_tuple(variable))
            )
        return variable
