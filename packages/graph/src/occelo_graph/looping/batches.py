"""`batched`: the batching rule of `Scan`, which vectorization calls through `Scan.batch`.

It makes one scan whose steps compute all elements of the batch at once. The elements may take different numbers of
steps. Then the scan runs until the last element ends, and the carried values of elements that have ended no longer
change. The traces are then ragged: some rows of an element are not valid (`occelo_graph.ragged`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.traversal import ancestors
from occelo_graph.looping.building import Step, scan_node
from occelo_graph.ops.batching import align, batch_shape
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.create import arange, broadcast_to
from occelo_graph.ops.elemwise.arithmetic import le, maximum, minimum, switch
from occelo_graph.ops.join import concatenate
from occelo_graph.ops.shape.reading import shape_tuple
from occelo_graph.ragged import count_of, is_ragged, mark, refuse
from occelo_graph.tensors.nodes import tensors
from occelo_graph.vectorize import vectorize_graph

if TYPE_CHECKING:
    from occelo_graph.looping.scan_op import Scan
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["batched"]


def batched(
    op_: Scan, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
) -> list[Variable]:
    """The outputs of a node of `Scan` for inputs with batch dimensions in front. The arguments are as in `Op.batch`."""
    return _Batched(op_, inputs, batch_ndims).run()


def _checked(op_: Scan, inputs: Sequence[Any]) -> Any:
    """The number of steps, with a check that the ragged sequences have enough valid rows in each element of the batch."""
    steps, ragged = inputs[0], [v for v in inputs[1:] if is_ragged(v)]
    others = [*inputs[1 : 1 + op_.carried], *inputs[1 + op_.carried + op_.sequences :]]
    for v in ragged:
        count = count_of(v)
        if count is None or any(v is w for w in others):
            raise refuse(op_)
        if count is not steps:
            check = CheckAndRaise(
                ValueError, f"{op_} has more steps than its sequence has elements"
            )
            steps = check(steps, le(steps, count).all())
    return steps


class _Batched:
    """Makes the batched scan for a node of `Scan` and inputs with batch dimensions in front.

    - ``has``: for each input after the number of steps, whether it has batch dimensions in the new scan.
    - ``traced``: for each trace, whether it has batch dimensions.
    - ``own_ends``: whether the elements of the batch may end at different steps. Then the new scan carries two more
      values for each element: its number of steps so far, and whether it is still running.
    """

    def __init__(self, op_: Scan, inputs: Sequence[Any], batch_ndims: Sequence[int]) -> None:
        self.op = op_
        self.inputs = [_checked(op_, inputs), *inputs[1:]]
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
        """Find out which carried values and traces get batch dimensions: those that depend on an input with them.

        Returns whether the condition that ends the scan gets batch dimensions, too.
        """
        op_ = self.op
        arguments, results = op_.body.inputs, op_.body.outputs
        while True:
            known = {v for v, has in zip(arguments, self.has, strict=True) if has}
            reached = [not known.isdisjoint(ancestors([v])) for v in results]
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
        carried: list[Any] = self.full[:first]
        steps: Any = self.inputs[0]
        reverse = op_.reverse
        if self.own_ends:
            whole = broadcast_to(align(steps, steps.type.ndim, self.ndim), self.lengths)
            carried = [*carried, np.int64(0) * whole, whole > 0]
            self.limit = whole
            if self._steps_vary():
                # the zero is for empty batches, which have no largest number of steps
                each = concatenate([whole.flatten(), np.zeros(1, "int64")])
                most = switch(each.min() < 0, each.min(), each.max())
                if reverse:
                    sequences = [
                        self._backwards(v, has)
                        for v, has in zip(sequences, self.has[first:last], strict=True)
                    ]
                    self.has[first:last] = [True] * op_.sequences
                    reverse = False
                steps = most
        _, made = scan_node(
            self._step,
            steps,
            carried,
            sequences,
            [*self.full[last:], *([self.limit] if self.own_ends else [])],
            reverse=reverse,
            truncate=op_.truncate,
            bounded=op_.bounded,
            name=op_.name,
        )
        if self.own_ends:
            (count,) = tensors(made[first : first + 1])
            rows = tensors(made[first + 2 : first + 2 + op_.traces])
            # in a loop that goes backward, the valid rows are not the first ones
            kept = [mark(self._time_after(v), None if op_.reverse else count) for v in rows]
            return [*made[:first], *kept, *([count] if op_.stops else [])]
        traces = [
            self._time_after(v) if has else v
            for v, has in zip(tensors(made[first : first + op_.traces]), self.traced, strict=True)
        ]
        return [*made[:first], *traces, *made[first + op_.traces :]]

    def _backwards(self, sequence: TensorVariable, has: bool) -> TensorVariable:
        """A sequence in the order in which the elements of the batch read it, if the loop goes backward.

        Each element begins at its own last step. The first axis of the result is for the steps; the batch dimensions
        follow. ``has`` says whether ``sequence`` already has batch dimensions.
        """
        n = self.ndim
        length = shape_tuple(sequence)[0]
        steps = arange(length).dimshuffle([0, *["x"] * n])
        last = self.limit.dimshuffle(["x", *range(n)]) - 1
        # positions outside of the sequence belong to steps that are not taken: the scan checks that
        # the sequence is long enough
        at = minimum(maximum(last - steps, 0), length - 1)
        if not has:
            return sequence[at]
        places = [
            arange(length).dimshuffle([0 if j == i + 1 else "x" for j in range(n + 1)])
            for i, length in enumerate(self.lengths)
        ]
        return sequence[(at, *places)]

    def _steps_vary(self) -> bool:
        """Whether the number of steps has batch dimensions, and so may differ between elements of the batch."""
        return self.inputs[0].type.ndim > 0

    def _step(
        self, carried: list[Variable], elements: list[Variable], constants: list[Variable]
    ) -> Step:
        op_ = self.op
        first, body = op_.carried, op_.body
        rest = constants[:-1] if self.own_ends else constants
        arguments = [*self._running(carried), *elements, *rest]
        inner = [v.type.make_variable() for v in body.inputs]
        found: list[Any] = vectorize_graph(
            body.bind(inner), dict(zip(inner, arguments, strict=True))
        )
        results = tensors(found)
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
        kept = [
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
        return Step([*kept, count, still], traced, ~still.any())

    def _running(self, carried: list[Variable]) -> list[Variable]:
        """The carried values before a step. For elements that have ended, the initial values are used instead.

        A step may not be defined for the final state of an element: for example, the state is 0, and a step computes
        its logarithm. The derivative of this step would be infinite or NaN. A gradient multiplies it by zero, which
        gives NaN instead of 0.
        """
        first = self.op.carried
        if not self.own_ends:
            return carried[:first]
        (active,) = tensors(carried[first + 1 : first + 2])
        return [
            switch(
                active.dimshuffle([*range(self.ndim), *["x"] * (v.type.ndim - self.ndim)]), v, start
            )
            for v, start in zip(tensors(carried[:first]), self.full, strict=False)
        ]

    def _spread(self, variable: TensorVariable, like: TensorVariable) -> TensorVariable:
        """A carried value after a step, broadcast to the batch dimensions of ``like``, its value before the step."""
        if variable.type.ndim == like.type.ndim:
            return variable
        lengths = shape_tuple(like)[: self.ndim]
        full = align(variable, 0, self.ndim)
        return broadcast_to(full, (*lengths, *shape_tuple(variable)))

    def _spread_like(self, variable: TensorVariable, k: int) -> TensorVariable:
        wanted = self.op.body.outputs[self.op.carried + k].type.ndim
        assert wanted is not None
        if self.traced[k] and variable.type.ndim == wanted:
            return broadcast_to(
                align(variable, 0, self.ndim), (*self.lengths, *shape_tuple(variable))
            )
        return variable
