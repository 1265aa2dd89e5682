"""Lowerings of ops that read, check and change shapes: `Shape`, `Shape_i`, `SpecifyShape`, `DimShuffle`, `Reshape`.

The linkers ``native``, ``c``, ``c|py`` and ``numba`` use these lowerings; `loops.build` imports this module to register
them. `lowerings.create` and `lowerings.join` call `lengths_from` and `pick`.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_graph import Apply, TensorApply
from occelo_graph.ops.shape.asserting import SpecifyShape
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.ops.shape.reading import Shape, Shape_i
from occelo_graph.ops.shape.reshaping import Reshape
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.registry import lowers_to_loops
from occelo_link.loops.tensors import Index, Stored, Tensor, is_unit


def pick(builder: Builder, values: Sequence[Value], number: Value) -> Value:
    """The value ``values[number]``, computed by a chain of selections."""
    result = values[-1]
    for i in range(len(values) - 2, -1, -1):
        result = builder.select(builder.eq(number, builder.i64(i)), values[i], result)
    return result


def lengths_from(
    context: Context, static: Sequence[int | None], dynamic: Sequence[Tensor]
) -> list[Value]:
    """The lengths of a shape: each None in ``static`` is replaced by the next scalar of ``dynamic``."""
    rest = iter(dynamic)
    return [
        context.builder.cast(context.scalar(next(rest)), "int64") if n is None else context.i64(n)
        for n in static
    ]


@lowers_to_loops(Shape)
def lower_shape(context: Context, node: Apply, inputs: list[Tensor]) -> Sequence[Tensor]:
    lengths = inputs[0].shape
    shape = [context.i64(len(lengths))]
    if not lengths:
        return [context.virtual("int64", shape, lambda b, index: b.i64(0), flat=True)]
    return [context.virtual("int64", shape, lambda b, index: pick(b, lengths, index[0]), flat=True)]


@lowers_to_loops(Shape_i)
def lower_shape_i(
    context: Context, node: TensorApply[Shape_i], inputs: list[Tensor]
) -> Sequence[Tensor]:
    op = node.op
    length = inputs[0].shape[op.i]
    return [context.virtual("int64", (), lambda b, index: length, flat=True, cost=0)]


def with_shape(context: Context, tensor: Tensor, shape: Sequence[Value]) -> Tensor:
    """The same tensor, with ``shape`` as its lengths.

    The caller must know that the tensor has these lengths, or write a check of them.
    """
    if isinstance(tensor, Stored):
        return Stored(
            tensor.buffer,
            shape,
            tensor.offset,
            tensor.strides,
            tensor.flat,
            base=tensor,
            forward=tensor.forward,
        )
    return context.virtual(
        tensor.dtype, shape, tensor.at, [tensor], cost=0, flat=tensor.flat, identity=True
    )


@lowers_to_loops(SpecifyShape)
def lower_specify_shape(
    context: Context, node: TensorApply[SpecifyShape], inputs: list[Tensor]
) -> Sequence[Tensor]:
    op = node.op
    rest = iter(inputs[1:])
    shape: list[Value] = []
    for static, is_given, own in zip(op.static, op.given, inputs[0].shape, strict=True):
        if is_given:
            length = context.builder.cast(context.scalar(next(rest)), "int64")
            shape.append(context.unify(length, own))
        elif static is not None:
            shape.append(context.unify(context.i64(static), own))
        else:
            shape.append(own)
    own = inputs[0].shape
    if all(n is old or n.op != "const" for n, old in zip(shape, own, strict=True)):
        # no length has become static, so the tensor itself is the result
        return [inputs[0]]
    return [with_shape(context, inputs[0], shape)]


@lowers_to_loops(DimShuffle)
def lower_dimshuffle(
    context: Context, node: TensorApply[DimShuffle], inputs: list[Tensor]
) -> Sequence[Tensor]:
    op = node.op
    x = inputs[0]
    one, zero = context.i64(1), context.i64(0)
    for axis in op.dropped:
        if not is_unit(x.shape[axis]):
            context.unify(one, x.shape[axis])
    order = op.new_order
    shape = [one if isinstance(a, str) else x.shape[a] for a in order]
    # dimensions of length 1 may be in any order
    axes = [a for a in order if not isinstance(a, str) and not is_unit(x.shape[a])]
    in_order = axes == sorted(axes)
    if isinstance(x, Stored):
        strides = [zero if isinstance(a, str) else x.strides[a] for a in order]
        flat = x.flat and in_order
        forward = [isinstance(a, str) or x.forward[a] for a in order]
        return [Stored(x.buffer, shape, x.offset, strides, flat, base=x, forward=forward)]

    def element(builder: Builder, index: Index) -> Value:
        at = [zero] * x.ndim
        for place, axis in enumerate(order):
            if not isinstance(axis, str):
                at[axis] = index[place]
        return x.at(builder, at)

    return [context.virtual(x.dtype, shape, element, [x], cost=0, flat=x.flat and in_order)]


@lowers_to_loops(Reshape)
def lower_reshape(
    context: Context, node: TensorApply[Reshape], inputs: list[Tensor]
) -> Sequence[Tensor]:
    op = node.op
    builder = context.builder
    x = inputs[0]
    size = builder.product(x.shape)
    output = node.outputs[0].type
    lengths = lengths_from(context, op.shape, inputs[1:])
    # rewriting may have turned an input into the constant -1, which the op does not know as a static length
    open_axes = [i for i, n in enumerate(lengths) if n.op == "const" and n.args[0] == -1]
    unknown = [i for i, n in enumerate(lengths) if not _is_never_negative(n) and i not in open_axes]
    length = output.shape[open_axes[0]] if len(open_axes) == 1 else None
    if length is not None:
        lengths[open_axes[0]] = context.i64(length)
    elif open_axes or unknown:
        _infer_open_length(context, lengths, open_axes, unknown, size)
    for axis in (*open_axes, *unknown):
        context.check(builder.op("le", context.i64(0), lengths[axis]))
    context.check_size([lengths[axis] for axis in unknown])
    context.unify(builder.product(lengths), size)
    return [_reshaped(context, x, lengths)]


def _is_never_negative(length: Value) -> bool:
    """Whether a length is certainly not -1, because it is computed from lengths of tensors and constants that are not
    negative.
    """
    pending, seen = [length], {length}
    while pending:
        each = pending.pop()
        if each.op in ("mul", "add", "max", "min"):
            pending += [v for v in each.args if v not in seen]
            seen.update(each.args)
        elif each.op != "length" and not (each.op == "const" and each.args[0] >= 0):
            return False
    return True


def _infer_open_length(
    context: Context,
    lengths: list[Value],
    open_axes: Sequence[int],
    unknown: Sequence[int],
    size: Value,
) -> None:
    """Replace the length -1 in the shape of a reshape by the length that follows from ``size``, the number of elements.

    Along ``open_axes`` the length is the constant -1. Along the axes ``unknown`` it is known only at run time, and may
    be -1. Writes checks that at most one length is -1, and that no other length is then 0.
    """
    builder = context.builder
    zero, one, minus = context.i64(0), context.i64(1), context.i64(-1)
    may_be = (*open_axes, *unknown)
    is_open = {i: builder.eq(lengths[i], minus) for i in may_be}
    count = zero
    for i in may_be:
        count = builder.add(count, builder.cast(is_open[i], "int64"))
    context.check(builder.op("le", count, one))
    others = builder.product(
        [builder.select(is_open[i], one, n) if i in is_open else n for i, n in enumerate(lengths)]
    )
    # if another length is 0, the open length is undetermined, which is an error in NumPy
    context.check(builder.op("or", builder.eq(count, zero), builder.op("ne", others, zero)))
    length = builder.op("floordiv", size, others)
    for i in may_be:
        lengths[i] = builder.select(is_open[i], length, lengths[i])


def _reshaped(context: Context, x: Tensor, shape: Sequence[Value]) -> Tensor:
    """The elements of ``x`` in C order, with another shape."""
    if isinstance(x, Stored):
        stored = context.contiguous_copy(x)
        strides = context.contiguous(shape)
        return Stored(stored.buffer, shape, stored.offset, strides, True, base=stored)
    if x.flat:
        # a flat tensor computes elements by their number in C order
        def element(builder: Builder, index: Index) -> Value:
            return x.at(builder, _unravel(context, builder, x, _ravel(context, shape, index)))

        return context.virtual(x.dtype, shape, element, [x], cost=1, flat=_same_tail(x, shape))
    stored = context.store(x)
    strides = context.contiguous(shape)
    return Stored(stored.buffer, shape, stored.offset, strides, True, base=stored)


def _same_tail(x: Tensor, shape: Sequence[Value]) -> bool:
    long_axes = [n for n in x.shape if not is_unit(n)]
    return len(long_axes) <= 1


def _ravel(context: Context, shape: Sequence[Value], index: Index) -> Value:
    builder = context.builder
    total = context.i64(0)
    for n, i in zip(shape, index, strict=True):
        total = builder.add(builder.mul(total, n), i)
    return total


def _unravel(context: Context, builder: Builder, x: Tensor, number: Value) -> list[Value]:
    axes = [i for i, n in enumerate(x.shape) if not is_unit(n)]
    index = [context.i64(0)] * x.ndim
    for axis in reversed(axes[1:]):
        index[axis] = builder.op("remainder", number, x.shape[axis])
        number = builder.op("floordiv", number, x.shape[axis])
    if axes:
        index[axes[0]] = number
    return index
