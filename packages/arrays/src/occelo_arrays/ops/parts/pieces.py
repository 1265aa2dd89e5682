"""Ops that cut a tensor at a symbolic position and join the pieces: `Roll` and `Splice`, for `roll`, `insert` and `delete`.

One tensor is cut by slices, which are copied as wholes. The elements of a batch may be cut at different positions, so
that their pieces have different lengths; their elements are read one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import ZERO, Cotangents, Op, op
from occelo_graph.ops.batched_lengths import common_lengths
from occelo_graph.ops.batching import align, materialize
from occelo_graph.ops.create import arange, zeros
from occelo_graph.ops.elemwise.arithmetic import lt, maximum, switch
from occelo_graph.ops.index.search import take, take_along_axis
from occelo_graph.ops.index.subtensor import getitem
from occelo_graph.ops.join import join
from occelo_graph.ops.shape.dimensions import expand_dims
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.nodes import Tensors
from occelo_graph.tensors.type import TensorType


class _Pieces(Op):
    """Pieces of the first input, cut along ``axis`` at the second one, and of a third, if there is one."""

    axis: int

    def moved(self, extra: int) -> Any:
        """The op for tensors with so many further dimensions in front."""
        raise NotImplementedError

    def reads(self, at: Any, lengths: Sequence[Any], count: Sequence[Any]) -> Any:
        """Where the elements of the result are in the tensors of these ``lengths``, joined along the axis.

        ``count`` has the fourth input, if there is one.
        """
        raise NotImplementedError

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[i in (0, 2)] for i in range(len(node.inputs))]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        at, own = inputs[1], batch_ndims[1]
        count = common_lengths(self, inputs, batch_ndims, range(3, len(inputs)))[3:]
        extras = [batch_ndims[0], *batch_ndims[2:3]]
        parts = materialize([inputs[0], *inputs[2:3]], extras)
        if not own:
            return [self.moved(max(extras))(parts[0], at, *parts[1:], *count)]
        ndim = max(*extras, own)
        parts = [align(v, max(extras), ndim) for v in parts]
        where = ndim + self.axis
        lengths = [lengths_by_variables(v)[where] for v in parts]
        places = self.reads(expand_dims(align(at, own, ndim), ndim), lengths, count)
        order: list[Any] = ["x"] * parts[0].type.ndim
        order[:ndim], order[where] = range(ndim), ndim
        whole = join(where, *parts) if len(parts) > 1 else parts[0]
        return [_taken(whole, places.dimshuffle(order), where, ndim)]


def _taken(whole: Any, places: Any, where: int, lead: int) -> Any:
    """`take_along_axis`, where dimensions of length 1 among the first ``lead`` ones broadcast."""
    whole, places = materialize([whole, places], [lead, lead])
    return take_along_axis(whole, places, where)


@op
class Roll(_Pieces):
    """The first input with its elements moved forward along ``axis`` by the second one, a number; `roll` calls it."""

    axis: int

    def moved(self, extra: int) -> Roll:
        return Roll(self.axis + extra)

    def infer(self, x: TensorType, by: TensorType) -> TensorType:
        return x

    def evaluate(self, x: Any, by: Any) -> Any:
        return np.roll(x, int(by), self.axis)

    def decompose(self, x: Any, by: Any) -> Sequence[Any]:
        guard = _at_least_1(lengths_by_variables(x)[self.axis])
        start = guard - by % guard  # -by overflows for the smallest int64
        lead = [slice(None)] * self.axis
        ends = getitem(x, (*lead, slice(start, None))), getitem(x, (*lead, slice(None, start)))
        return [join(self.axis, *ends)]

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        if outputs[0].type.is_discrete:
            return [ZERO, ZERO]
        by = inputs[1] % _at_least_1(lengths_by_variables(inputs[0])[self.axis])
        return [self(cotangents[0], -by), ZERO]

    def reads(self, at: Any, lengths: Sequence[Any], count: Sequence[Any]) -> Any:
        (length,) = lengths
        place = arange(length) - at % _at_least_1(length)
        return switch(lt(place, 0), place + length, place)

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[0]]


def _at_least_1(length: Any) -> Any:
    return max(length, 1) if isinstance(length, int) else maximum(length, 1)


@op
class Splice(_Pieces):
    """The first input with some slices along ``axis`` from the second one on replaced by the slices of the third.

    ``omit`` slices are left out; if it is None, the fourth input is their number. `insert` omits none, and `delete` of
    one position has no slices in their place. The position is checked before.
    """

    axis: int
    omit: int | None

    def moved(self, extra: int) -> Splice:
        return Splice(self.axis + extra, self.omit)

    def infer(self, x: TensorType, at: TensorType, new: TensorType, *count: TensorType) -> Any:
        n, k, omit = x.shape[self.axis], new.shape[self.axis], self.omit
        shape = list(x.shape)
        shape[self.axis] = None if n is None or k is None or omit is None else n + k - omit
        return TensorType(x.dtype, shape)

    def evaluate(self, x: Any, at: Any, new: Any, *count: Any) -> Any:
        before, rest = np.split(x, [int(at)], self.axis)
        behind = np.split(rest, [int(self._omitted(count))], self.axis)[1]
        return np.concatenate([before, new, behind], self.axis)

    def decompose(self, x: Any, at: Any, new: Any, *count: Any) -> Sequence[Any]:
        lead = [slice(None)] * self.axis
        before = getitem(x, (*lead, slice(None, at)))
        behind = getitem(x, (*lead, slice(at + self._omitted(count), None)))
        return [join(self.axis, before, new, behind)]

    def _omitted(self, count: Sequence[Any]) -> Any:
        return count[0] if self.omit is None else self.omit

    def reads(self, at: Any, lengths: Sequence[Any], count: Sequence[Any]) -> Any:
        n, k = lengths
        omit = self._omitted(count)
        place = arange(n + k - omit)
        inserted = switch(lt(place, at + k), place - at + n, place - k + omit)
        return switch(lt(place, at), place, inserted)

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        (x, at, new, *count), ct = inputs, cotangents[0]
        rest = [ZERO] * len(count)
        if outputs[0].type.is_discrete:
            return [ZERO, ZERO, ZERO, *rest]
        k = lengths_by_variables(new)[self.axis]
        lengths = list(lengths_by_variables(x))
        lengths[self.axis] = self._omitted(count)
        back = Splice(self.axis, k if isinstance(k, int) else None)
        of_x = back(ct, at, zeros(lengths, ct.dtype), *([] if isinstance(k, int) else [k]))
        return [of_x, ZERO, take(ct, at + arange(k), axis=self.axis), *rest]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        x, _, new = input_shapes[:3]
        length = x[self.axis] + new[self.axis] - self._omitted(node.inputs[3:])
        return [(*x[: self.axis], length, *x[self.axis + 1 :])]
