"""Lowerings of shapes, asserted shapes, reshaping and transposition for JAX and PyTorch.

`occelo_link.traced.linker` imports this module to register the lowerings. The tracer calls them for nodes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from occelo_graph import TensorApply
from occelo_graph.ops.length_inputs import fill_static
from occelo_graph.ops.shape.asserting import SpecifyShape
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.ops.shape.reading import Shape, Shape_i
from occelo_graph.ops.shape.reshaping import Reshape
from occelo_graph.ops.shape.stretching import Stretch, SumStretched
from occelo_link.traced.registry import traces
from occelo_link.traced.traced_values import Array, Arrays
from occelo_link.traced.tracer import Tracer


@traces(Shape)
def lower_shape(tracer: Tracer, node: TensorApply[Shape], inputs: list[Array]) -> Arrays:
    return [np.array(tuple(inputs[0].shape), dtype="int64")]


@traces(Shape_i)
def lower_length(tracer: Tracer, node: TensorApply[Shape_i], inputs: list[Array]) -> Arrays:
    op = node.op
    return [np.array(int(inputs[0].shape[op.i]), dtype="int64")]


@traces(Reshape)
def lower_reshape(tracer: Tracer, node: TensorApply[Reshape], inputs: list[Array]) -> Arrays:
    op = node.op
    x = inputs[0]
    lengths = [tracer.integer(node, i + 1, v) for i, v in enumerate(inputs[1:])]
    shape = [int(n) for n in fill_static(op.shape, lengths)]
    size = math.prod(int(n) for n in x.shape)
    if -1 in shape:
        rest = -math.prod(shape)
        if rest:
            shape[shape.index(-1)] = size // rest
    if math.prod(shape) != size or any(n < 0 for n in shape):
        raise ValueError(f"Cannot reshape {tuple(x.shape)} to {tuple(shape)}")
    return [tracer.arrays.reshape(x, shape)]


@traces(SpecifyShape)
def lower_specified(tracer: Tracer, node: TensorApply[SpecifyShape], inputs: list[Array]) -> Arrays:
    op = node.op
    x, rest = inputs[0], iter(enumerate(inputs[1:], 1))
    for static, is_given, length in zip(op.static, op.given, x.shape, strict=True):
        stated = static
        if is_given:
            position, value = next(rest)
            if tracer.arrays.is_traced(value):
                same = tracer.arrays.scalars["eq"][1](
                    value, tracer.arrays.constant(np.array(int(length), tracer.arrays.dtype(value)))
                )
                tracer.check(same)
                continue
            stated = tracer.integer(node, position, value)
        if stated is not None and stated != int(length):
            raise ValueError(f"The shape is {tuple(x.shape)}, which is not as specified")
    return [x]


@traces(Stretch)
def lower_stretch(tracer: Tracer, node: TensorApply[Stretch], inputs: list[Array]) -> Arrays:
    x, own = inputs[0], tuple(int(n) for n in inputs[0].shape)
    lengths = _stated_lengths(tracer, node, own, inputs)
    if own == lengths:
        return [x]
    if any(n not in (1, m) for n, m in zip(own, lengths, strict=True)):
        raise ValueError(f"The shape {own} does not broadcast to {lengths}")
    return [tracer.arrays.broadcast(tracer.array(x), lengths)]


@traces(SumStretched)
def lower_sum_stretched(
    tracer: Tracer, node: TensorApply[SumStretched], inputs: list[Array]
) -> Arrays:
    x, own = inputs[0], tuple(int(n) for n in inputs[0].shape)
    lengths = _stated_lengths(tracer, node, own, inputs)
    axes = [i for i, (n, m) in enumerate(zip(own, lengths, strict=True)) if n != m]
    if any(lengths[i] != 1 for i in axes):
        raise ValueError(f"A tensor of shape {own} was not made from one of shape {lengths}")
    arrays = tracer.arrays
    return [arrays.reshape(arrays.reduce("add", tracer.array(x), axes), lengths) if axes else x]


def _stated_lengths(
    tracer: Tracer,
    node: TensorApply[Stretch | SumStretched],
    own: Sequence[int],
    inputs: Sequence[Array],
) -> tuple[int, ...]:
    stated = [tracer.integer(node, i, v) for i, v in enumerate(inputs[1:], 1)]
    return tuple(int(n) for n in node.op.wanted(own, stated))


@traces(DimShuffle)
def lower_dimshuffle(tracer: Tracer, node: TensorApply[DimShuffle], inputs: list[Array]) -> Arrays:
    op = node.op
    (x,) = inputs
    axes = [a for a in op.new_order if isinstance(a, int)]
    if any(int(x.shape[a]) != 1 for a in op.dropped):
        raise ValueError("A dimension to drop is not of length 1")
    moved = tracer.arrays.transpose(x, (*axes, *op.dropped))
    lengths = iter([int(x.shape[a]) for a in axes])
    shape = [1 if a == "x" else next(lengths) for a in op.new_order]
    return [tracer.arrays.reshape(moved, shape)]
