"""Lowerings of ops that create tensors from shapes and numbers: `Alloc`, `ARange`, `Eye`.

The linkers ``native``, ``c``, ``c|py`` and ``numba`` use these lowerings; `loops.build` imports this module to register
them.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_graph import TensorApply
from occelo_graph.ops.create import Alloc, ARange, Eye
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.operations import is_float
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.lowerings.elemwise.op import broadcast_index
from occelo_link.loops.lowerings.shape import lengths_from
from occelo_link.loops.registry import lowers_to_loops
from occelo_link.loops.tensors import Index, Tensor, is_unit


def check_lengths(context: Context, lengths: Sequence[Value]) -> None:
    """Write checks of the lengths of a new tensor: none is negative, and the tensor is not too large for any memory.

    Lengths of inputs are never negative, and are not checked.
    """
    for n in lengths:
        if not (n.op == "length" or (n.op == "const" and n.args[0] >= 0)):
            context.check(context.builder.op("le", context.i64(0), n))
    context.check_size(lengths)


@lowers_to_loops(Alloc)
def lower_alloc(
    context: Context, node: TensorApply[Alloc], inputs: list[Tensor]
) -> Sequence[Tensor]:
    op = node.op
    value = inputs[0]
    type_ = node.inputs[0].type
    shape = lengths_from(context, op.shape, inputs[1:])
    check_lengths(context, shape)
    lead = len(shape) - value.ndim
    for i, n in enumerate(type_.shape):
        if n != 1:
            shape[lead + i] = context.unify(shape[lead + i], value.shape[i])

    def element(builder: Builder, index: Index) -> Value:
        return value.at(builder, broadcast_index(context, type_, index))

    flat = context.flat_over([value], shape)
    return [context.virtual(value.dtype, shape, element, [value], cost=0, flat=flat, identity=True)]


@lowers_to_loops(ARange)
def lower_arange(
    context: Context, node: TensorApply[ARange], inputs: list[Tensor]
) -> Sequence[Tensor]:
    op = node.op
    builder = context.builder
    start, stop, step = (context.scalar(t) for t in inputs)
    if all(not is_float(v.dtype) for v in (start, stop, step)):
        first, last, by = (builder.cast(v, "int64") for v in (start, stop, step))
        length = _range_length(context, first, last, by)
        context.check_size([length])

        def whole(b: Builder, index: Index) -> Value:
            number = b.add(first, b.mul(index[0], by))
            return b.cast(number, op.dtype)

        numbers = context.virtual(op.dtype, [length], whole, flat=True, cost=1)
        if op.dtype == "int64" and _is_const(first, 0) and _is_const(by, 1):
            numbers.bounds = first, builder.sub(length, context.i64(1))
        return [numbers]
    return [_float_range(context, op.dtype, start, stop, step)]


def _is_const(value: Value, number: int) -> bool:
    return value.op == "const" and value.args[0] == number


def _range_length(context: Context, first: Value, last: Value, by: Value) -> Value:
    """The length of a range of integers. Writes checks that the step is not 0, and that int64 holds the length."""
    builder = context.builder
    zero = context.i64(0)
    if _is_const(by, 1) and _is_const(first, 0):
        # the length of an input is not negative
        return last if last.op == "length" else builder.op("max", last, zero)
    if by.op == "const" and by.args[0]:
        forward: Value = builder.const(by.args[0] > 0, "bool")
    else:
        context.check(builder.op("ne", by, zero))
        forward = builder.lt(zero, by)

    def before(x: Value, y: Value) -> Value:
        return builder.select(forward, builder.lt(x, y), builder.lt(y, x))

    if _is_const(by, 1):
        count = builder.sub(last, first)
    else:
        # last - first may overflow where the length does not
        ends, starts = (builder.op("floordiv", v, by) for v in (last, first))
        end, start = (
            builder.sub(v, builder.mul(q, by)) for v, q in ((last, ends), (first, starts))
        )
        count = builder.add(builder.sub(ends, starts), builder.cast(before(start, end), "int64"))
    length = builder.select(before(first, last), count, zero)
    context.check(builder.op("le", zero, length))
    return length


def _float_range(context: Context, dtype: str, start: Value, stop: Value, step: Value) -> Tensor:
    """A range of floats. As in NumPy, the difference of neighbours is the second element minus the first one, in the
    dtype of the result.
    """
    builder = context.builder
    first, last, by = (builder.cast(v, "float64") for v in (start, stop, step))
    zero = builder.const(0.0, "float64")
    span = builder.op("ceil", builder.op("div", builder.op("sub", last, first), by))
    largest = builder.const(2.0**62, "float64")
    context.check(builder.op("lt", builder.op("abs", span), largest))
    length = builder.cast(builder.op("max", span, zero), "int64")
    origin = builder.cast(first, dtype)
    second = builder.cast(builder.op("add", first, by), dtype)
    delta = builder.op("sub", second, origin)

    def element(b: Builder, index: Index) -> Value:
        return b.op("add", origin, b.op("mul", b.cast(index[0], dtype), delta))

    return context.virtual(dtype, [length], element, flat=True, cost=2)


@lowers_to_loops(Eye)
def lower_eye(context: Context, node: TensorApply[Eye], inputs: list[Tensor]) -> Sequence[Tensor]:
    op = node.op
    builder = context.builder
    shape = lengths_from(context, op.shape, inputs[:-1])
    check_lengths(context, shape)
    k = builder.cast(context.scalar(inputs[-1]), "int64")

    def element(b: Builder, index: Index) -> Value:
        return b.cast(b.eq(b.sub(index[1], index[0]), k), op.dtype)

    flat = any(is_unit(n) for n in shape)
    return [context.virtual(op.dtype, shape, element, cost=2, flat=flat)]
