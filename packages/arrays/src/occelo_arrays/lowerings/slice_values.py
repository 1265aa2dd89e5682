"""Lowerings of the ops that make slices and read their bounds."""

from __future__ import annotations

from collections.abc import Sequence

from occelo_arrays.ops.parts.slice_values import FAR, MakeSlice, SliceBounds
from occelo_graph import Apply
from occelo_link.loops.complexes import always
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.registry import lowers_parts_to_loops
from occelo_link.loops.tensors import Index, Tensor, TensorGroup, Virtual


@lowers_parts_to_loops(MakeSlice)
def lower_make_slice(
    context: Context, node: Apply[MakeSlice], inputs: list[Tensor]
) -> Sequence[Tensor]:
    present = node.op.given
    rest = iter([context.scalar(t) for t in inputs])
    numbers = [next(rest) if has else context.i64(0) for has in present]
    truth = [context.builder.const(has, "bool") for has in present]

    def vector(dtype: str, elements: Sequence[Value]) -> Tensor:
        def element(b: Builder, index: Index) -> Value:
            first, second, third = elements
            later = b.select(b.eq(index[0], b.i64(1)), second, third)
            return b.select(b.eq(index[0], b.i64(0)), first, later)

        return context.virtual(dtype, [context.i64(3)], element, cost=1)

    return [TensorGroup([vector("int64", numbers), vector("bool", truth)])]


@lowers_parts_to_loops(SliceBounds)
def lower_slice_bounds(
    context: Context, node: Apply[SliceBounds], inputs: list[Tensor]
) -> Sequence[Tensor]:
    (value,) = inputs
    assert isinstance(value, TensorGroup)
    builder = context.builder
    numbers, truth = map(context.store, value.parts)

    def bound(position: int, absent: Value) -> Value:
        at = [context.i64(position)]
        return builder.select(truth.at(builder, at), numbers.at(builder, at), absent)

    for stored in (numbers, truth):
        context.schedule.flush_for(stored)
    zero, far, near = context.i64(0), context.i64(FAR), context.i64(-FAR)
    step = bound(2, context.i64(1))
    context.check(builder.op("ne", step, zero))
    forward = builder.lt(zero, step)
    start = bound(0, builder.select(forward, zero, far))
    stop = bound(1, builder.select(forward, far, near))
    return [Virtual("int64", (), always(v), flat=True) for v in (start, stop, step)]
