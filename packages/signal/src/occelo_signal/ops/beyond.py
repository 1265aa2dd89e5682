"""The op `CorrelateBeyond`: the sums of products of a kernel and the vector under it, also where the kernel reaches beyond its ends.

Convolutions and correlations of vectors (`convolving`) are this op, as long as they need more than the places where the
kernel fits. So NaN and infinity in a kernel reach the sums of their own products only. The derivatives of the op are the
op again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.op import ZERO, Cotangents, op
from occelo_graph.ir.traits import FIRST, SECOND
from occelo_graph.ops.batched_lengths import common_lengths
from occelo_graph.ops.batching import align
from occelo_graph.ops.create import arange
from occelo_graph.ops.elemwise.arithmetic import and_, clip, ge, lt, switch
from occelo_graph.ops.index.subtensor import getitem
from occelo_graph.ops.join import flip
from occelo_graph.ops.length_inputs import (
    FollowsLengths,
    check_length_types,
    fill_static,
    specialize_lengths,
    split_static,
)
from occelo_graph.ops.reduce import sum as sum_
from occelo_graph.ops.shape.dimensions import expand_dims
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import Tensors, tensors
from occelo_graph.tensors.type import StaticShape, TensorType
from occelo_signal.ops.correlating import Correlate, conjugate, summed

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable


@op
class CorrelateBeyond(FollowsLengths):
    """Element i of the result is the sum of ``x[first + i + j] * k[j]`` over the j for which x has such an element.

    The vectors lie along the last dimensions of ``x`` and of the kernel ``k``. Those in front are as in `Correlate`.
    ``first`` is an integer scalar. ``count`` has the length of the result, or None, if it is a further input. A sum
    without products is 0.
    """

    count: StaticShape

    def static_inputs(self, node: Apply) -> Sequence[int]:
        return range(2, len(node.inputs))

    def linear_in(self, node: Apply) -> Sequence[slice]:
        return FIRST, SECOND

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True], [True], *[[False]] * (len(node.inputs) - 2)]

    def infer(self, x: TensorType, k: TensorType, *integers: Any) -> TensorType:
        check_length_types(self, integers)
        lead = Correlate(1).infer(x.clone(shape=(*x.shape[:-1], None)), k).shape[:-1]
        return TensorType(x.dtype, (*lead, *self.count))

    def evaluate(self, x: Any, k: Any, first: Any, *rest: Any) -> Any:
        (count,) = (int(n) for n in fill_static(self.count, rest))
        lead = np.broadcast_shapes(x.shape[:-1], k.shape[:-1])
        x = np.broadcast_to(x, (*lead, x.shape[-1]))
        k = np.broadcast_to(k, (*lead, k.shape[-1]))
        sums = np.zeros((*lead, count), x.dtype)
        if 0 in (x.shape[-1], k.shape[-1]):
            return sums
        start = int(first) + k.shape[-1] - 1
        for at in np.ndindex(*lead):
            full = np.correlate(x[at], k[at].conj(), "full")
            part = full[max(start, 0) : max(start + count, 0)]
            sums[at][max(-start, 0) : max(-start, 0) + len(part)] = part
        return sums

    def kernel(self, node: Apply) -> Any:
        run, fitting = super().kernel(node), Correlate(1).lead_check(node)

        def running(*arrays: Any) -> Sequence[Any]:
            fitting(*arrays[:2])
            return run(*arrays)

        return running

    def decompose(self, x: Any, k: Any, first: Any, *rest: Any) -> Sequence[Any]:
        (count,) = fill_static(self.count, rest)
        n, m = lengths_by_variables(x)[-1], lengths_by_variables(k)[-1]
        reads = expand_dims(arange(count) + first, 1) + expand_dims(arange(m), 0)
        under = getitem(x, (..., clip(reads, 0, n - 1)))
        inside = and_(ge(reads, 0), lt(reads, n))
        products = switch(inside, under * expand_dims(k, k.type.ndim - 1), 0)
        return [sum_(products, axis=-1, dtype=x.dtype)]

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        (x, k, first, *_), ct, out = inputs, cotangents[0], outputs[0]
        rest = [None] * (len(inputs) - 2)
        if out.type.is_discrete:
            return [ZERO, ZERO, *rest]
        n, m = lengths_by_variables(x)[-1], lengths_by_variables(k)[-1]
        of_x = correlated_beyond(ct, flip(conjugate(k), k.type.ndim - 1), 1 - m - first, n)
        of_k = correlated_beyond(conjugate(x), ct, first, m)
        return [summed(of_x, out, x, 1), summed(of_k, out, k, 1), *rest]

    def specialized(self, inputs: Sequence[Variable]) -> tuple[Any, Sequence[Variable]]:
        count, rest = specialize_lengths(self.count, inputs[3:])
        if count == self.count:
            return self, inputs
        return CorrelateBeyond(count), (*inputs[:3], *rest)

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        x, k = input_shapes[:2]
        static = tensors(node.inputs)[0].type.shape
        lead = [m if static[i] == 1 else n for i, (n, m) in enumerate(zip(x[:-1], k[:-1], strict=True))]  # fmt: skip
        return [(*lead, *fill_static(self.count, node.inputs[3:]))]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        ndim = max(batch_ndims[:2])
        pair = [align(v, n, ndim) for v, n in zip(inputs[:2], batch_ndims[:2], strict=True)]
        integers = common_lengths(self, inputs, batch_ndims, range(2, len(inputs)))[2:]
        return [self(*pair, *integers)]


def correlated_beyond(x: Any, k: Any, first: Any, count: Any) -> TensorVariable:
    """Apply `CorrelateBeyond`, with dimensions of length 1 in front of the tensor that has fewer."""
    x, k = as_tensor_variable(x), as_tensor_variable(k)
    widest = max(x.type.ndim, k.type.ndim)
    static, dynamic = split_static([count])
    pair = [align(v, v.type.ndim, widest) for v in (x, k)]
    sums: TensorVariable = CorrelateBeyond(static)(*pair, first, *dynamic)
    return sums
