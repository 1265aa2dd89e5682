"""What a batched loop computes for elements of the batch that have ended, and where the rows of its traces belong.

`looping.batches` calls these functions. A step computes all elements of the batch, also those that have ended. What it
computes for them is not used. But it must be defined: a gradient multiplies it by zero, and zero times an infinite or
undefined derivative is NaN. A state after the last step may be undefined for a further step, and so may an element of
a sequence, such as the NaN with which shorter series are often filled up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from occelo_graph.gradient.barriers import disconnected_grad
from occelo_graph.ir.nodes import Variable
from occelo_graph.ops.batching import align
from occelo_graph.ops.create import arange, ones, zeros
from occelo_graph.ops.elemwise.arithmetic import maximum, minimum, switch
from occelo_graph.ops.join import concatenate
from occelo_graph.ops.shape.reading import length_product, shape_tuple
from occelo_graph.ops.shape.reshaping import reshape

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["Instead", "backwards", "valid_first"]


class Instead:
    """The inputs of steps for elements of the batch that have ended: those of their first step.

    An element without any step gets the inputs of another element that has one. ``limit`` is the largest number of
    steps of each element of the batch. ``varying`` says whether these numbers may differ, so that some may be 0.
    Derivatives with respect to the inputs that are used instead are zero, and not computed.
    """

    def __init__(self, limit: TensorVariable, varying: bool) -> None:
        self._ndim = limit.type.ndim
        self._lengths = shape_tuple(limit)
        self._runs = limit > 0 if varying else None
        if self._runs is not None:
            # the last position has zeros, for batches in which no element has a step
            more = ones(1, "bool")
            self._one = concatenate([self._runs.flatten(), more]).argmax()

    def of_state(self, start: TensorVariable) -> TensorVariable:
        """Carried values, from the values ``start`` before the first step."""
        return disconnected_grad(self._of_one_that_runs(start))

    def of_constant(self, constant: TensorVariable) -> TensorVariable:
        """A constant with batch dimensions. It is unchanged for all elements that have a step."""
        return self._of_one_that_runs(constant)

    def of_element(self, sequence: TensorVariable, at: Any, *, batched: bool) -> TensorVariable:
        """Elements of a sequence, which the first step reads at position ``at``.

        The first axis of ``sequence`` is for the steps. ``batched`` says whether batch dimensions follow it.
        """
        rest = shape_tuple(sequence)[1:]
        zero = zeros((1, *rest), sequence.dtype)
        if isinstance(at, int):
            static = sequence.type.shape[0]
            first = sequence[0] if static else concatenate([sequence[:1], zero])[0]
        else:
            first = concatenate([zero, sequence])[maximum(at + 1, 0)]
        if not batched:
            return disconnected_grad(align(first, 0, self._ndim))
        return disconnected_grad(self._of_one_that_runs(first))

    def choose(
        self, active: TensorVariable, value: TensorVariable, instead: TensorVariable
    ) -> TensorVariable:
        """``value`` for the elements of the batch that are ``active``, ``instead`` for the others."""
        extra = self._ndim - (instead.type.ndim - value.type.ndim)
        return switch(self._beside(active, instead), align(value, extra, self._ndim), instead)

    def _beside(self, condition: TensorVariable, value: TensorVariable) -> TensorVariable:
        """A condition with the batch dimensions, with further dimensions so that it broadcasts against ``value``."""
        rest = value.type.ndim - self._ndim
        return condition.dimshuffle([*range(self._ndim), *["x"] * rest])

    def _of_one_that_runs(self, value: TensorVariable) -> TensorVariable:
        """``value``, with the part of an element that has a step in place of the parts of elements without steps."""
        if self._runs is None:
            return value
        rest = shape_tuple(value)[self._ndim :]
        flat = reshape(value, (length_product(self._lengths), *rest))
        one = concatenate([flat, zeros((1, *rest), value.dtype)])[self._one]
        other = disconnected_grad(align(one, 0, self._ndim))
        return switch(self._beside(self._runs, value), value, other)


def backwards(sequence: TensorVariable, limit: TensorVariable, *, batched: bool) -> TensorVariable:
    """A sequence in the order in which the elements of the batch read it, if the loop goes backward.

    Each element begins at its own last step; ``limit`` is the number of its steps. The first axis of the result is for
    the steps; the batch dimensions follow. ``batched`` says whether ``sequence`` already has batch dimensions.
    """
    n = limit.type.ndim
    at = _within(_first_axis(limit, n) - 1 - _steps(shape_tuple(sequence)[0], n), sequence)
    return _rows(sequence, at, shape_tuple(limit)) if batched else sequence[at]


def valid_first(rows: TensorVariable, count: TensorVariable, *, from_end: bool) -> TensorVariable:
    """The rows of a trace of a loop that goes backward, such that the valid ones are the first of each element.

    The row of an element's last step is the first one. ``count`` has the number of steps of each element. In ``rows``,
    the first step has the first row. With ``from_end`` it has the last row, and the other steps the rows before.
    """
    n = count.type.ndim
    own, number = _first_axis(count, n), shape_tuple(rows)[0]
    steps = _steps(number, n)
    at = number - own + steps if from_end else own - 1 - steps
    return _rows(rows, _within(at, rows), shape_tuple(count))


def _first_axis(numbers: TensorVariable, ndim: int) -> TensorVariable:
    return numbers.dimshuffle(["x", *range(ndim)])


def _steps(number: Any, ndim: int) -> TensorVariable:
    return arange(number).dimshuffle([0, *["x"] * ndim])


def _within(at: TensorVariable, rows: TensorVariable) -> TensorVariable:
    """Positions, with the nearest ones of ``rows`` in place of those outside, which belong to steps not taken."""
    return minimum(maximum(at, 0), shape_tuple(rows)[0] - 1)


def _rows(rows: TensorVariable, at: TensorVariable, lengths: Sequence[Any]) -> TensorVariable:
    """The rows at the positions ``at``, which differ between the elements of a batch of shape ``lengths``."""
    ndim = len(lengths)
    places: list[Variable] = [
        arange(length).dimshuffle([0 if j == i + 1 else "x" for j in range(ndim + 1)])
        for i, length in enumerate(lengths)
    ]
    return rows[(at, *places)]
