"""The op `Scatter`, which combines rows of a tensor with other rows, and `combine_subtensor`, which applies it to ``x[key]``.

Users write ``x.at[key].max(y)``, ``.min(y)`` and ``.mul(y)`` (`occelo_graph.ops.index.at`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import ZERO, Cotangents, Op, op
from occelo_graph.ir.terms import ATOM, Term, called
from occelo_graph.ir.traits import trait
from occelo_graph.ops.batching import materialize
from occelo_graph.ops.cast import cast
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.create import arange, broadcast_to, zeros_like
from occelo_graph.ops.elemwise.arithmetic import (
    and_,
    eq,
    ge,
    lt,
    maximum,
    minimum,
    mul,
    switch,
    true_div,
)
from occelo_graph.ops.elemwise.complex import conj
from occelo_graph.ops.elemwise.op import broadcast_static
from occelo_graph.ops.index.key import ARRAY, Key
from occelo_graph.ops.index.subtensor import (
    AdvancedSubtensor,
    getitem,
    indexed,
    set_subtensor,
    without_new_axes,
    written_value,
)
from occelo_graph.ops.reduce import all as all_of
from occelo_graph.ops.shape.dimensions import moveaxis
from occelo_graph.ops.shape.reading import length_product, lengths_by_variables
from occelo_graph.ops.shape.reshaping import reshape
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import Tensors, tensors
from occelo_graph.tensors.type import TensorType, is_complex, is_discrete

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

Combine = Literal["max", "min", "prod"]

_UFUNCS: Mapping[Combine, np.ufunc] = {
    "max": np.maximum,
    "min": np.minimum,
    "prod": np.multiply,
}


@op
class Scatter(Op):
    """``x`` with rows combined with rows of ``y``: by a product, a maximum or a minimum.

    The inputs are ``x``, ``y`` and an integer array ``rows``, the positions along the first axis of ``x``. ``y`` has the
    dimensions of ``rows``, then those of a row of ``x``. If a row occurs several times, it is combined with all values.

    ``combine`` is the name of the reduction. Complex numbers can only be multiplied, and booleans cannot.
    """

    combine: Combine
    inplace: bool = False

    @trait
    def destroy_map(self) -> Mapping[int, Sequence[int]]:
        return {0: [0]} if self.inplace else {}

    def with_inplace(self) -> Op:
        """The same op with ``inplace=True``, which overwrites its first input."""
        return replace(self, inplace=True)

    def key(self, x: TensorType) -> Key:
        """The index by which ``rows`` select the part of a tensor of the type ``x``."""
        return (ARRAY, *[slice(None)] * (x.ndim - 1))

    def infer(self, x: TensorType, y: TensorType, rows: TensorType) -> TensorType:
        if self.combine not in _UFUNCS:
            raise ValueError(f"Scatter combines by one of {[*_UFUNCS]}, got {self.combine!r}")
        if not x.ndim or not rows.ndim or rows.dtype == "bool" or not is_discrete(rows.dtype):
            raise TypeError(f"{self} takes an array of integers for the rows of {x}, got {rows}")
        if x.dtype != y.dtype:
            raise TypeError(f"Cannot combine {x.dtype} with {y.dtype}; cast one of them")
        if x.dtype == "bool" and self.combine == "prod":
            raise TypeError("Booleans are combined by a maximum (or) or a minimum (and)")
        if is_complex(x.dtype) and self.combine != "prod":
            raise TypeError(f"Complex numbers have no order, so they have no {self.combine}")
        part = (*rows.shape, *x.shape[1:])
        if len(part) != y.ndim:
            raise ValueError(f"{self} takes values of {len(part)} dimensions, got {y}")
        broadcast_static([part, y.shape], "combining with a part")
        for own, length in zip(y.shape, part, strict=True):
            if (own == 1) != (length == 1) and None not in (own, length):
                raise ValueError(f"{self} does not broadcast {y} to a part of shape {part}")
        return x

    def evaluate(self, x: Any, y: Any, rows: Any) -> Any:
        if y.shape != rows.shape + x.shape[1:]:
            raise ValueError(
                f"Cannot combine a part of shape {rows.shape + x.shape[1:]} with values of shape {y.shape}"
            )
        result = x if self.inplace else np.array(x)
        _UFUNCS[self.combine].at(result, rows, y)
        return result

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        (x, y, rows), out, ct = inputs, outputs[0], cotangents[0]
        if is_discrete(x.dtype):
            return [ZERO, ZERO, None]
        ct = cast(ct, x.dtype)
        pull = _pull_product if self.combine == "prod" else _pull_extreme
        return [*pull(x, y, rows, out, ct), None]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True], [True], [False]]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[0]]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        extra, own = max(batch_ndims), tensors(node.inputs)[2].type.ndim
        front = range(extra)
        if not batch_ndims[2]:
            # the batch follows the dimensions that rows select
            x, y = materialize(inputs[:2], batch_ndims[:2])
            x = moveaxis(x, front, range(1, extra + 1))
            y = moveaxis(y, front, range(own, own + extra))
            return [moveaxis(Scatter(self.combine)(x, y, inputs[2]), range(1, extra + 1), front)]
        x, y, rows = materialize(inputs, batch_ndims)
        lengths = lengths_by_variables(x)
        count, length = length_product(lengths[:extra]), lengths[extra]
        # an element of the batch must not reach into the next one
        inside = all_of(and_(ge(rows, -length), lt(rows, length)))
        rows = CheckAndRaise(IndexError, "A position is out of bounds")(cast(rows, "int64"), inside)
        rows = switch(lt(rows, 0), rows + length, rows)
        first = reshape(arange(count) * length, lengths[:extra])
        rows = rows + first.dimshuffle([*front, *["x"] * own])
        joined = reshape(x, (count * length, *lengths[extra + 1 :]))
        return [reshape(Scatter(self.combine)(joined, y, rows), lengths)]

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        if self.inplace:
            return None
        x, y, rows = operands
        part = f"{x.at(ATOM)}.at[{rows.short}].{self.combine.replace('prod', 'multiply')}"
        return called(part, (y.unstretched or y).text)

    def __str__(self) -> str:
        return f"Scatter{{{self.combine}}}{'_inplace' if self.inplace else ''}"


def _number(value: int, like: Any) -> Any:
    return cast(as_tensor_variable(value), like.dtype)


def _pull_extreme(x: Any, y: Any, rows: Any, out: Any, ct: Any) -> Sequence[Any]:
    """Cotangents of ``x`` and ``y`` for a maximum or minimum ``out``. Equal elements share the cotangent."""
    is_of_x, is_of_y = eq(x, out), eq(y, getitem(out, rows))
    count = getitem(cast(is_of_x, ct.dtype), rows).inc(cast(is_of_y, ct.dtype))
    share, zero = true_div(ct, count), _number(0, ct)
    return [switch(is_of_x, share, zero), switch(is_of_y, getitem(share, rows), zero)]


def _pull_product(x: Any, y: Any, rows: Any, out: Any, ct: Any) -> Sequence[Any]:
    """Cotangents of ``x`` and ``y`` for a product.

    The product of the other factors is the product of all factors that are not zero, divided by the own factor. Whether
    zeros are among the others is counted. A single one is a factor, so that the product also has derivatives.
    """
    if is_complex(x.dtype):
        x, y = conj(x), conj(y)
    is_zero, zero = eq(y, 0), _number(0, ct)
    factors = switch(is_zero, _number(1, ct), y)
    multiply = Scatter("prod")
    product = getitem(multiply(mul(x, ct), factors, rows), rows)
    zeros = getitem(getitem(zeros_like(ct, dtype="int64"), rows).inc(cast(is_zero, "int64")), rows)
    others = zeros - cast(is_zero, "int64")
    own = switch(is_zero, y, zero)
    single = getitem(getitem(zeros_like(ct), rows).inc(own), rows) - own
    factor = switch(eq(others, 1), single, zero)
    rest = true_div(product, factors)
    return [multiply(ct, y, rows), switch(eq(others, 0), rest, rest * factor)]


def combine_subtensor(part: Any, y: Any, combine: Combine) -> TensorVariable:
    """``combine_subtensor(x[key], y, "max")`` returns a copy of ``x`` with its part ``x[key]`` replaced by maxima.

    For ``combine`` "prod" they are products. If the index contains a position several times, the element there is
    combined with all its values. ``y`` broadcasts as for `inc_subtensor`, with the same errors.
    """
    writing, key, base, key_inputs = indexed(part)
    y = written_value(y, part)
    if np.result_type(part.dtype, y.dtype) != part.dtype:
        raise TypeError(
            f"Cannot write {y.dtype} into {part.dtype} without losing precision; cast it explicitly"
        )
    y = cast(y, part.dtype)
    is_array = [isinstance(e, str) and e == ARRAY for e in key]
    masks = [v for v in key_inputs if v.dtype == "bool"]
    if not writing.advanced or (masks and sum(is_array) == 1):
        # no position occurs twice
        return set_subtensor(part, _of_two(combine, part, y))
    if y.type.ndim > part.type.ndim:
        raise ValueError(f"Cannot write {y.type} to a part of {part.type.ndim} dimensions")
    y = broadcast_to(y, lengths_by_variables(part))
    if part.dtype == "bool" and combine == "prod":
        combine = "min"
    written = (
        _along_axis(base, y, key_inputs[0], is_array.index(True), combine)
        if sum(is_array) == 1 and len(key_inputs) == 1 and _selects_by_array_only(key)
        else _among_all(base, y, key, key_inputs, combine)
    )
    return without_new_axes(written, base, part)


def _of_two(combine: Combine, x: Any, y: Any) -> Any:
    if combine == "prod":
        return mul(x, y)
    return maximum(x, y) if combine == "max" else minimum(x, y)


def _selects_by_array_only(key: Key) -> bool:
    return all(e in (ARRAY, slice(None)) for e in key)


def _along_axis(x: Any, y: Any, rows: Any, axis: int, combine: Combine) -> Any:
    """Combine at positions ``rows`` along an axis of ``x``. ``y`` has the dimensions of ``rows`` in place of the axis."""
    own = range(rows.type.ndim)
    y = moveaxis(y, [axis + i for i in own], own)
    return moveaxis(Scatter(combine)(moveaxis(x, axis, 0), y, rows), 0, axis)


def _among_all(x: Any, y: Any, key: Key, key_inputs: Sequence[Any], combine: Combine) -> Any:
    """Combine at any index: its part of an array of all flat positions has the positions to write to."""
    lengths = lengths_by_variables(x)
    count = length_product(lengths)
    places = AdvancedSubtensor(key)(reshape(arange(count), lengths), *key_inputs)
    return reshape(Scatter(combine)(reshape(x, (count,)), y, places), lengths)
