"""Helpers for batched loops: inputs for elements of the batch that have ended, and the order of the rows of traces.

`occelo_loops.ops.derivatives.batches` calls these functions. A step computes all elements of the batch, even those that have ended. The
results for ended elements are not used, but their derivatives must be finite: a gradient multiplies them by zero, and
zero times infinity or NaN is NaN. With the last state of an ended element, or with further elements of its sequences,
the derivatives might not be finite. For instance, short series are often filled up with NaN. So ended elements get
other inputs.
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


class Instead:
    """Other inputs of steps, for elements of the batch that have ended: the inputs of their own first step.

    An element that takes no step at all gets the inputs of another element, which takes one. ``limit`` has the largest
    number of steps for each element of the batch. ``varying`` says whether these numbers may differ, so that some may
    be 0. Derivatives treat the other inputs as constant.
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
        """A carried value for ended elements of the batch: the value ``start`` before the first step."""
        return disconnected_grad(self._of_one_that_runs(start))

    def of_constant(self, constant: TensorVariable) -> TensorVariable:
        """A constant of the loop that has batch dimensions. Only elements that take no step get the part of another
        element.
        """
        return self._of_one_that_runs(constant)

    def of_element(self, sequence: TensorVariable, at: Any, *, batched: bool) -> TensorVariable:
        """What the first step reads of a sequence, at position ``at``, for ended elements of the batch.

        The first axis of ``sequence`` is for the steps. ``batched`` says whether batch dimensions follow this axis.
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
        """``value`` for the elements of the batch that are ``active``, and ``instead`` for all others."""
        extra = self._ndim - (instead.type.ndim - value.type.ndim)
        return switch(self._beside(active, instead), align(value, extra, self._ndim), instead)

    def _beside(self, condition: TensorVariable, value: TensorVariable) -> TensorVariable:
        """A condition for each element of the batch, with more dimensions, so that it broadcasts against ``value``."""
        rest = value.type.ndim - self._ndim
        return condition.dimshuffle([*range(self._ndim), *["x"] * rest])

    def _of_one_that_runs(self, value: TensorVariable) -> TensorVariable:
        """``value``, where elements of the batch that take no step get the part of one element that takes a step."""
        if self._runs is None:
            return value
        rest = shape_tuple(value)[self._ndim :]
        flat = reshape(value, (length_product(self._lengths), *rest))
        one = concatenate([flat, zeros((1, *rest), value.dtype)])[self._one]
        other = disconnected_grad(align(one, 0, self._ndim))
        return switch(self._beside(self._runs, value), value, other)


def backwards(sequence: TensorVariable, limit: TensorVariable, *, batched: bool) -> TensorVariable:
    """A sequence in the order in which a loop that goes backward reads it, for each element of the batch.

    An element with n steps reads the first n rows of the sequence, the last of them first. ``limit`` has the number of
    steps of each element. The first axis of the result is for the steps, and the batch dimensions follow. ``batched``
    says whether ``sequence`` already has batch dimensions.
    """
    n = limit.type.ndim
    at = _within(_first_axis(limit, n) - 1 - _steps(shape_tuple(sequence)[0], n), sequence)
    return _rows(sequence, at, shape_tuple(limit)) if batched else sequence[at]


def valid_first(rows: TensorVariable, count: TensorVariable, *, from_end: bool) -> TensorVariable:
    """The trace of a loop that goes backward, in which the valid rows of each element of the batch come first.

    As without a batch, the first row of an element is that of its last step. ``rows`` has the rows of the trace in the
    order of the steps or, if ``from_end`` is True, in the opposite order, in which the row of the first step is the
    last row. ``count`` has the number of steps of each element.
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
    """The positions ``at``, limited to the range of ``rows``. Positions out of range belong to steps that are not
    taken.
    """
    return minimum(maximum(at, 0), shape_tuple(rows)[0] - 1)


def _rows(rows: TensorVariable, at: TensorVariable, lengths: Sequence[Any]) -> TensorVariable:
    """The rows at the positions ``at``, which differ between the elements of a batch of shape ``lengths``."""
    ndim = len(lengths)
    places: list[Variable] = [
        arange(length).dimshuffle([0 if j == i + 1 else "x" for j in range(ndim + 1)])
        for i, length in enumerate(lengths)
    ]
    return rows[(at, *places)]
