"""Lowerings of `Join` and `Repeat`, which join and repeat tensors, and of `MakeVector`, which makes a vector of
scalars.

The linkers ``native``, ``c``, ``c|py`` and ``numba`` use these lowerings; `loops.build` imports this module to register
them.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_graph import TensorApply
from occelo_graph.ops.join import Join, MakeVector, Repeat
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.loop_nests import copy_elements
from occelo_link.loops.lowering import Context
from occelo_link.loops.lowerings.shape import pick
from occelo_link.loops.registry import lowers_to_loops
from occelo_link.loops.tensors import Index, Stored, Tensor

_PICKED = 6
"""The largest number of scalars for which a vector is a formula. The elements of longer vectors are stored one by one.
"""


@lowers_to_loops(MakeVector)
def lower_make_vector(
    context: Context, node: TensorApply[MakeVector], inputs: list[Tensor]
) -> Sequence[Tensor]:
    op = node.op
    shape = [context.i64(len(inputs))]
    if 0 < len(inputs) <= _PICKED:

        def element(builder: Builder, index: Index) -> Value:
            return pick(builder, [t.at(builder, []) for t in inputs], index[0])

        return [context.virtual(op.dtype, shape, element, inputs, flat=True, cost=len(inputs))]
    result = context.new_stored(op.dtype, shape)

    def emit() -> None:
        builder = context.builder
        for position, tensor in enumerate(inputs):
            builder.store(result.buffer, builder.i64(position), tensor.at(builder, []))

    context.step(inputs, [result], emit)
    return [result]


@lowers_to_loops(Join)
def lower_join(context: Context, node: TensorApply[Join], inputs: list[Tensor]) -> Sequence[Tensor]:
    op = node.op
    builder = context.builder
    axis: int = op.axis
    shape = list(inputs[0].shape)
    for tensor in inputs[1:]:
        for i in range(tensor.ndim):
            if i != axis:
                shape[i] = context.unify(shape[i], tensor.shape[i])
    starts = [context.i64(0)]
    for tensor in inputs:
        starts.append(builder.add(starts[-1], tensor.shape[axis]))
    shape[axis] = starts[-1]
    result = context.new_stored(inputs[0].dtype, shape)

    def emit() -> None:
        for tensor, start in zip(inputs, starts, strict=False):
            offset = builder.mul(start, result.strides[axis])
            whole = result.flat and axis == 0
            part = Stored(result.buffer, tensor.shape, offset, result.strides, whole, base=result)
            copy_elements(context, tensor, part)

    context.step(inputs, [result], emit)
    return [result]


@lowers_to_loops(Repeat)
def lower_repeat(
    context: Context, node: TensorApply[Repeat], inputs: list[Tensor]
) -> Sequence[Tensor]:
    op = node.op
    builder = context.builder
    x, repeats = inputs
    axis: int = op.axis
    count = context.unify(repeats.shape[0], x.shape[axis])
    counts = context.store(repeats)
    least = context.reduce(counts, (0,), "min", counts.dtype, "int64")
    most = context.reduce(counts, (0,), "max", counts.dtype, "int64")
    total = context.reduce(counts, (0,), "add", "int64", "int64")
    zero = context.i64(0)
    smallest = context.scalar(least)
    context.check(builder.op("or", builder.eq(count, zero), builder.op("le", zero, smallest)))
    # the sum of the repeats may wrap around, so an upper bound is checked: their number times the largest one
    context.check_size([count, context.scalar(most)])
    length = context.scalar(total)
    sources = context.new_stored("int64", [length])

    def emit() -> None:
        with builder.loop(count, fixed=True) as loop:
            place = loop.carry(zero)
            times = builder.cast(counts.at(builder, [loop.index]), "int64")
            with builder.loop(times, lanes=8) as inner:
                builder.store(sources.buffer, builder.add(place.param, inner.index), loop.index)
            place.following = builder.add(place.param, times)

    context.step([counts], [sources], emit)
    shape = list(x.shape)
    shape[axis] = length

    def element(b: Builder, index: Index) -> Value:
        at = list(index)
        at[axis] = sources.at(b, [index[axis]])
        return x.at(b, at)

    return [context.virtual(x.dtype, shape, element, [x, sources], cost=2)]
