"""Lowering of `SlidingWindow` to a formula that reads the input, so that no window is copied."""

from __future__ import annotations

from collections.abc import Sequence

from occelo_arrays.ops.parts.windows import SlidingWindow
from occelo_graph import TensorApply
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.registry import lowers_to_loops
from occelo_link.loops.tensors import Index, Tensor


@lowers_to_loops(SlidingWindow)
def lower_sliding_window(
    context: Context, node: TensorApply[SlidingWindow], inputs: list[Tensor]
) -> Sequence[Tensor]:
    (x,), builder = inputs, context.builder
    windows, axes = node.op.windows, node.op.axes
    shape = list(x.shape)
    for window, axis in zip(windows, axes, strict=True):
        context.check(builder.op("le", context.i64(window), shape[axis]))
        shape[axis] = builder.sub(shape[axis], context.i64(window - 1))

    def element(b: Builder, index: Index) -> Value:
        at = list(index[: x.ndim])
        for axis, within in zip(axes, index[x.ndim :], strict=True):
            at[axis] = b.add(at[axis], within)
        return x.at(b, at)

    shape += [context.i64(window) for window in windows]
    return [context.virtual(x.dtype, shape, element, [x], cost=2)]
