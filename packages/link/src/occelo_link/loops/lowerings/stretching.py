"""Lowerings of `Stretch`, which broadcasts dimensions at run time, and of its gradient `SumStretched`.

In most calls the lengths fit, and nothing is to be done. So a tensor that lies in memory is not copied: the result is a
further name for its memory (`memory_of_either`). Only if a length is 1 and another one is wanted, the elements are
repeated or summed in new memory. The linkers ``native``, ``c``, ``c|py`` and ``numba`` use these lowerings;
`loops.build` imports this module to register them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from occelo_graph import TensorApply
from occelo_graph.ops.shape.stretching import Stretch, SumStretched
from occelo_link.loops.either_memory import memory_of_either
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.loop_nests import copy_elements, reduce_elements
from occelo_link.loops.lowering import Context
from occelo_link.loops.registry import lowers_to_loops
from occelo_link.loops.tensors import Index, Stored, Tensor, Virtual, is_unit


def _stated(
    context: Context, op: Stretch | SumStretched, own: Sequence[Value], dynamic: Sequence[Tensor]
) -> list[Value]:
    """The lengths of the result."""
    rest = iter(dynamic)
    return [
        context.builder.cast(context.scalar(next(rest)), "int64")
        if is_given
        else n
        if static is None
        else context.i64(static)
        for n, static, is_given in zip(own, op.static, op.given, strict=True)
    ]


def _differing(
    context: Context, own: Sequence[Value], lengths: Sequence[Value]
) -> tuple[list[int], Value]:
    """The axes along which two lengths are not known to be equal, and whether all of them are equal at run time."""
    builder = context.builder
    axes = [
        i
        for i, (a, b) in enumerate(zip(own, lengths, strict=True))
        if context.canonical(a) is not context.canonical(b)
    ]
    same = builder.const(True, "bool")
    for i in axes:
        equal = builder.eq(own[i], lengths[i])
        same = equal if i == axes[0] else builder.op("and", same, equal)
    return axes, same


@lowers_to_loops(Stretch)
def lower_stretch(
    context: Context, node: TensorApply[Stretch], inputs: list[Tensor]
) -> Sequence[Tensor]:
    builder, x = context.builder, inputs[0]
    shape = _stated(context, node.op, x.shape, inputs[1:])
    axes, same = _differing(context, x.shape, shape)
    one, zero = context.i64(1), context.i64(0)
    for i in axes:
        fits = builder.op("or", builder.eq(x.shape[i], shape[i]), builder.eq(x.shape[i], one))
        context.check(fits)
    if not axes:
        return [x]

    def repeated(source: Tensor) -> Callable[[Builder, Index], Value]:
        def element(inner: Builder, index: Index) -> Value:
            at = list(index)
            for i in axes:
                at[i] = inner.select(inner.eq(x.shape[i], shape[i]), at[i], zero)
            return source.at(inner, at)

        return element

    if not x.reads or all(is_unit(x.shape[i]) for i in axes):
        return [context.virtual(x.dtype, shape, repeated(x), [x], cost=1)]
    if isinstance(x, Stored) and not x.flat:
        # strides are dynamic anyway, so a stride of 0 costs nothing
        strides = [
            builder.select(builder.eq(n, m), s, zero) if i in axes else s
            for i, (n, m, s) in enumerate(zip(x.shape, shape, x.strides, strict=True))
        ]
        forward = [f and i not in axes for i, f in enumerate(x.forward)]
        return [Stored(x.buffer, shape, x.offset, strides, False, base=x, forward=forward)]

    def fill(stored: Tensor, target: Stored) -> None:
        copy_elements(context, Virtual(x.dtype, shape, repeated(stored)), target)

    return [memory_of_either(context, x, same, shape, fill)]


@lowers_to_loops(SumStretched)
def lower_sum_stretched(
    context: Context, node: TensorApply[SumStretched], inputs: list[Tensor]
) -> Sequence[Tensor]:
    x = inputs[0]
    shape = _stated(context, node.op, x.shape, inputs[1:])
    one = context.i64(1)
    for axis in range(x.ndim):
        target = [*x.shape[:axis], shape[axis], *x.shape[axis + 1 :]]
        axes, same = _differing(context, x.shape, target)
        if not axes:
            continue
        context.check(context.builder.op("or", same, context.builder.eq(shape[axis], one)))
        if isinstance(x, Stored):
            x = memory_of_either(context, x, same, target, _sum_along(context, axis))
        else:
            x = _stored_or_summed(context, x, same, target, axis)
    return [x]


def _stored_or_summed(
    context: Context, tensor: Tensor, same: Value, shape: Sequence[Value], axis: int
) -> Stored:
    """The elements of a formula, stored once, if ``same`` holds; otherwise their sums along ``axis``."""
    builder = context.builder
    result = context.new_stored(tensor.dtype, shape)

    def emit() -> None:
        # this loop is outside of the branch, so that it may run in several threads
        some = list(tensor.shape)
        some[axis] = builder.select(same, some[axis], context.i64(0))
        copied = Virtual(tensor.dtype, some, tensor.at, flat=tensor.flat, cost=tensor.cost)
        copied.reads = tensor.reads
        copy_elements(context, copied, result)

        def unusual() -> Sequence[Value]:
            _sum_along(context, axis)(tensor, result)
            return []

        builder.branch(same, lambda: [], unusual)

    context.step([tensor], [result], emit)
    return result


def _sum_along(context: Context, axis: int) -> Callable[[Tensor, Stored], None]:
    """A function that fills a tensor of length 1 along ``axis`` with the sums of another tensor."""

    def fill(source: Tensor, target: Stored) -> None:
        builder = context.builder
        index = [context.i64(0)] * source.ndim
        with ExitStack() as stack:
            for i, n in enumerate(source.shape):
                if i != axis and not is_unit(n):
                    index[i] = stack.enter_context(builder.loop(n)).index

            def element(number: Value) -> list[Value]:
                return [source.at(builder, [*index[:axis], number, *index[axis + 1 :]])]

            sums = [("add", source.dtype)]
            (total,) = reduce_elements(builder, source.shape[axis], sums, element, 1)
            builder.store(target.buffer, target.position(builder, index), total)

    return fill
