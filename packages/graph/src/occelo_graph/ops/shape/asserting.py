"""The op `SpecifyShape` and the function `specify_shape`, which assert lengths of a tensor.

Users call `specify_shape` from `occelo.tensor`. Gradients, vectorization, specialization (`ops.specialization`),
conversions between types, and functions of other families assert lengths, too. The type of the result has the asserted
lengths, and they are checked when the graph runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.known_values import known_integer
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.op import Cotangents, Op, op
from occelo_graph.ir.terms import Term, called
from occelo_graph.ir.traits import FIRST
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.batched_lengths import common_lengths
from occelo_graph.ops.length_inputs import (
    FollowsLengths,
    check_length_types,
    integer_length,
    lengths_of,
    wrong_shape,
)
from occelo_graph.ops.linear import LinearInFirst
from occelo_graph.ops.shape.axes import normalize_axes
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import Tensors
from occelo_graph.tensors.type import StaticShape, TensorType, shape_text

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable


@op
class SpecifyShape(FollowsLengths, LinearInFirst):
    """Returns its first input, and checks that it has the asserted lengths.

    If ``static[i]`` is not None, axis ``i`` must have this length. If ``given[i]`` is True, the length must be the
    value of a further input. If neither is so, nothing is asserted about the axis. ``of`` is the name of the tensor in
    error messages; ops are compared without it.
    """

    reads_once: ClassVar[bool] = True

    moves = FIRST

    static: StaticShape
    given: tuple[bool, ...]
    of: str = field(default="", compare=False)

    view_map = {0: [0]}

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        rest = iter(operands[1:])
        pairs = zip(self.static, self.given, strict=True)
        lengths = [next(rest).short if is_given else str(static) for static, is_given in pairs]
        return called("specify_shape", operands[0].text, f"[{', '.join(lengths)}]")

    def infer(self, x: TensorType, *lengths: Any) -> TensorType:
        check_length_types(self, lengths)
        if x.ndim != len(self.static):
            raise ValueError(f"Expected {len(self.static)} dimensions, got {x}")
        if self.static.count(None) == x.ndim:
            return x
        merged: list[int | None] = []
        for own, length in zip(x.shape, self.static, strict=True):
            if own is not None and length is not None and own != length:
                raise ValueError(
                    f"The shape {shape_text(x.shape)} contradicts the specified {shape_text(self.static)}"
                )
            merged.append(own if length is None else length)
        return TensorType(x.dtype, merged)

    def evaluate(self, x: Any, *lengths: Any) -> Any:
        rest = iter(lengths)
        target = [int(next(rest)) if g else s for s, g in zip(self.static, self.given, strict=True)]
        if any(w is not None and w != n for w, n in zip(target, x.shape, strict=True)):
            text = shape_text(tuple(target))
            if self.of:
                raise ValueError(wrong_shape(self.of, x.shape, tuple(target)))
            raise ValueError(f"The shape is {x.shape}, but {text} was specified")
        return x

    def specialized(self, inputs: Sequence[Variable]) -> tuple[Op, Sequence[Variable]]:
        numbers = [known_integer(v) for v in inputs[1:]]
        if numbers.count(None) == len(numbers):
            return self, inputs
        static, dynamic, rest = list(self.static), list(self.given), [inputs[0]]
        lengths = iter(zip(inputs[1:], numbers, strict=True))
        for i, is_given in enumerate(self.given):
            if is_given:
                variable, n = next(lengths)
                if n is None or n < 0 or static[i] not in (None, n):
                    rest.append(variable)
                else:
                    static[i], dynamic[i] = n, False
        if len(rest) == len(inputs):
            return self, inputs
        return SpecifyShape(tuple(static), tuple(dynamic), self.of), rest

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        return [self(cotangents[0], *inputs[1:]), *[None] * (len(inputs) - 1)]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        rest = iter(node.inputs[1:])
        target = [next(rest) if g else s for s, g in zip(self.static, self.given, strict=True)]
        return [tuple(n if w is None else w for w, n in zip(target, input_shapes[0], strict=True))]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        inputs = common_lengths(self, inputs, batch_ndims, range(1, len(inputs)))
        extra = batch_ndims[0]
        wider = SpecifyShape((None,) * extra + self.static, (False,) * extra + self.given, self.of)
        return [wider(*inputs)]


def specify_shape(x: Any, shape: Any) -> TensorVariable:
    """``x`` with the assertion that it has the shape ``shape``. A None in ``shape`` asserts nothing.

    ValueError if a length differs. Dynamic lengths are checked when the graph runs.
    """
    x = as_tensor_variable(x)
    if isinstance(shape, Variable):
        entries: list[Any] = list(lengths_of(shape))
    else:
        listed: Any = shape if is_list_or_tuple(shape) or np.ndim(shape) else [shape]
        entries = [None if n is None else integer_length(n) for n in listed]
    if len(entries) != x.type.ndim:
        raise ValueError(f"Expected {x.type.ndim} lengths for {x}, got {len(entries)}")
    static = tuple(n if isinstance(n, int) else None for n in entries)
    dynamic = tuple(isinstance(n, Variable) for n in entries)
    if not any(dynamic) and all(
        w is None or w == n for w, n in zip(static, x.type.shape, strict=True)
    ):
        return x
    asserted: TensorVariable = SpecifyShape(static, dynamic)(
        x, *(n for n in entries if isinstance(n, Variable))
    )
    return asserted


def specify_broadcastable(x: Any, *axes: int) -> TensorVariable:
    """``x`` with the assertion that the dimensions ``axes`` have length 1. In the result they broadcast."""
    x = as_tensor_variable(x)
    chosen = normalize_axes(axes, x)
    return specify_shape(x, [1 if i in chosen else None for i in range(x.type.ndim)])
