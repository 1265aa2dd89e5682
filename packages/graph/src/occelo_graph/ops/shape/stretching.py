"""The op `Stretch`, which broadcasts dimensions at run time, and the op of its gradient, `SumStretched`.

Index arrays and written values broadcast at run time, as in NumPy: a dimension is repeated if its length turns out to
be 1. `ops.index.fitting` applies `Stretch` to those whose lengths are not known to fit. So the ops that read and write
need not broadcast.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np

from occelo_graph.ir.known_values import known_integer
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.op import Cotangents, Op, op
from occelo_graph.ir.terms import Term
from occelo_graph.ir.traits import FIRST
from occelo_graph.ops.batched_lengths import common_lengths
from occelo_graph.ops.length_inputs import FollowsLengths, check_length_types
from occelo_graph.ops.linear import LinearInFirst
from occelo_graph.ops.shape.reading import length_op
from occelo_graph.tensors.nodes import Tensors
from occelo_graph.tensors.type import StaticShape, TensorType, shape_text


@op
class _ToLengths(FollowsLengths, LinearInFirst):
    """Base class of the two ops. The result has the length ``static[i]`` along axis ``i``, if this is not None.

    If ``given[i]`` is True, the length is the value of a further input. If neither is so, the length does not change.
    """

    static: StaticShape
    given: tuple[bool, ...]

    @property
    def axes(self) -> list[int]:
        """The axes whose lengths are stated."""
        return [i for i, (n, g) in enumerate(zip(self.static, self.given, strict=True)) if g or n]

    def wanted(self, own: Sequence[Any], lengths: Sequence[Any]) -> tuple[Any, ...]:
        """The lengths of the result. ``own`` are the lengths of the first input, ``lengths`` the further inputs."""
        rest = iter(lengths)
        return tuple(
            next(rest) if is_given else n if static is None else static
            for n, static, is_given in zip(own, self.static, self.given, strict=True)
        )

    def static_inputs(self, node: Apply) -> Sequence[int]:
        return range(1, len(node.inputs))

    def specialized(self, inputs: Sequence[Variable]) -> tuple[Op, Sequence[Variable]]:
        static, dynamic, rest = list(self.static), list(self.given), [inputs[0]]
        lengths = iter(inputs[1:])
        for i, is_given in enumerate(self.given):
            if is_given:
                variable = next(lengths)
                number = known_integer(variable)
                if number is None or number < 0:
                    rest.append(variable)
                else:
                    static[i], dynamic[i] = number, False
        if len(rest) == len(inputs):
            return self, inputs
        return self._with(tuple(static), tuple(dynamic)), rest

    def _with(self, static: StaticShape, given: tuple[bool, ...]) -> _ToLengths:
        raise NotImplementedError

    def __str__(self) -> str:
        return f"{type(self).__name__}{{axes={tuple(self.axes)}}}"

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [self.wanted(input_shapes[0], node.inputs[1:])]

    def with_ndim(self, ndim: int) -> _ToLengths:
        """The op for ``ndim`` dimensions: dimensions in front are added or dropped, whose lengths are not stated."""
        more = max(0, ndim - len(self.static))
        fewer = max(0, len(self.static) - ndim)
        return self._with(
            (None,) * more + self.static[fewer:], (False,) * more + self.given[fewer:]
        )

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        inputs = common_lengths(self, inputs, batch_ndims, range(1, len(inputs)))
        return [self.with_ndim(len(self.static) + batch_ndims[0])(*inputs)]


def _of_lengths(make: Any, x: Any, axes: Sequence[int], lengths_of: Any) -> Any:
    """Apply an op of the class ``make``, so that ``x`` gets the lengths of the tensor ``lengths_of`` along ``axes``."""
    has_length = tuple(i in axes for i in range(x.type.ndim))
    return make(has_length)(x, *(length_op(i)(lengths_of) for i in axes))


@op
class Stretch(_ToLengths):
    """Repeats dimensions of length 1, so that the result has the stated lengths. Other lengths must be as stated.

    ``of_index`` says what the first input is: an index array or a written value. As in NumPy, the error for other
    lengths is an IndexError or a ValueError. ``more`` says, for the message, that the part to write to has further
    dimensions in front.
    """

    moves = FIRST
    view_map = {0: [0]}

    of_index: bool = False
    more: bool = field(default=False, compare=False)

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        more = ", of_index=True" if self.of_index else ""
        op = f"Stretch(static={self.static!r}, given={self.given!r}{more})"
        text = f"{op}({', '.join(term.text for term in operands)})"
        return Term(text, unstretched=operands[0])

    def _with(self, static: StaticShape, given: tuple[bool, ...]) -> Stretch:
        return Stretch(static, given, self.of_index, self.more)

    def _refusal(self, own: str, wanted: str) -> Exception:
        if self.of_index:
            return IndexError(
                f"The index arrays do not fit each other: one has the shape {own}, which does not broadcast to {wanted}"
            )
        part = f"(..., {wanted[1:]}".replace(",)", ")") if self.more else wanted
        return ValueError(f"Cannot write a value of shape {own} to a part of shape {part}")

    def infer(self, x: TensorType, *lengths: Any) -> TensorType:
        check_length_types(self, lengths)
        if x.ndim != len(self.static):
            raise ValueError(f"{self} takes {len(self.static)} dimensions, got {x}")
        for own, static in zip(x.shape, self.static, strict=True):
            if static is not None and own not in (None, 1, static):
                raise self._refusal(shape_text(x.shape), shape_text(self.static))
        # a given length that is not known is the tensor's own, unless this is 1
        shape = [
            static if static is not None else None if is_given and own == 1 else own
            for own, static, is_given in zip(x.shape, self.static, self.given, strict=True)
        ]
        return TensorType(x.dtype, shape)

    def evaluate(self, x: Any, *lengths: Any) -> Any:
        shape = self.wanted(x.shape, [int(n) for n in lengths])
        if x.shape == shape:
            return x
        if any(own not in (1, n) for own, n in zip(x.shape, shape, strict=True)):
            raise self._refusal(str(x.shape), str(shape))
        return np.array(np.broadcast_to(x, shape))

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        def make(given: tuple[bool, ...]) -> SumStretched:
            return SumStretched((None,) * len(given), given)

        x = inputs[0]
        return [_of_lengths(make, cotangents[0], self.axes, x), *[None] * (len(inputs) - 1)]


@op
class SumStretched(_ToLengths):
    """Sums over dimensions that a `Stretch` has repeated. This is the gradient of `Stretch`.

    The stated lengths are those before the repetition: 1, or the length itself, where nothing is summed.
    """

    by_parts = FIRST
    view_map = {0: [0]}

    def _with(self, static: StaticShape, given: tuple[bool, ...]) -> SumStretched:
        return SumStretched(static, given)

    def infer(self, x: TensorType, *lengths: Any) -> TensorType:
        check_length_types(self, lengths)
        if x.ndim != len(self.static):
            raise ValueError(f"{self} takes {len(self.static)} dimensions, got {x}")
        for own, static in zip(x.shape, self.static, strict=True):
            if static not in (None, 1) and own not in (None, static):
                raise ValueError(f"{self} cannot sum {x} to {shape_text(self.static)}")
        shape = [
            static if static is not None else None if is_given and own != 1 else own
            for own, static, is_given in zip(x.shape, self.static, self.given, strict=True)
        ]
        return TensorType(x.dtype, shape)

    def evaluate(self, x: Any, *lengths: Any) -> Any:
        shape = self.wanted(x.shape, [int(n) for n in lengths])
        axes = tuple(i for i, (own, n) in enumerate(zip(x.shape, shape, strict=True)) if own != n)
        if any(shape[i] != 1 for i in axes):
            raise ValueError(f"Cannot sum a tensor of shape {x.shape} to the shape {shape}")
        return x.sum(axis=axes, keepdims=True, dtype=x.dtype) if axes else x

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        def make(given: tuple[bool, ...]) -> Stretch:
            return Stretch((None,) * len(given), given)

        x = inputs[0]
        return [_of_lengths(make, cotangents[0], self.axes, x), *[None] * (len(inputs) - 1)]
