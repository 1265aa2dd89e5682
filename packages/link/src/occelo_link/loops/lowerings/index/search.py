"""Lowerings of `Nonzero`, which finds elements, and of `ExtractDiag` and `AllocDiag`, which read and create diagonals.

The linkers ``native``, ``c``, ``c|py`` and ``numba`` use these lowerings; `loops.build` imports this module to register
them. `index.subtensor` calls `positions_of_mask` for a boolean mask in an index.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from occelo_graph import Apply, TensorApply
from occelo_graph.ops.index.search import AllocDiag, ExtractDiag, Nonzero
from occelo_link.loops.complexes import parts_of
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowering import CHEAP, Context
from occelo_link.loops.registry import lowers_complex_to_loops, lowers_to_loops
from occelo_link.loops.tensors import Index, Stored, Tensor


@lowers_to_loops(Nonzero)
def lower_nonzero(context: Context, node: Apply, inputs: list[Tensor]) -> Sequence[Tensor]:
    return positions_of_mask(context, inputs[0])


@lowers_complex_to_loops(Nonzero)
def lower_complex_nonzero(context: Context, node: Apply, inputs: list[Tensor]) -> Sequence[Tensor]:
    parts = parts_of(inputs[0])

    def either(b: Builder, values: Sequence[Value]) -> Value:
        return b.op("or", *[b.cast(value, "bool") for value in values])

    return positions_of_mask(context, context.mapped("bool", either, *parts))


def positions_of_mask(context: Context, mask: Tensor) -> list[Stored]:
    """The positions of the elements that are not 0, in C order. Returns a vector of indices for each dimension."""
    x = context.store(mask) if mask.cost > CHEAP else mask

    ones = context.cast(context.cast(x, "bool"), "int64")
    axes = tuple(range(x.ndim))
    count = context.scalar(context.reduce(ones, axes, "add", "int64", "int64"))
    results = [context.new_stored("int64", [count]) for _ in axes]

    def emit() -> None:
        _write_positions(context, x, results)

    context.step([x], results, emit)
    return results


def _write_positions(context: Context, x: Tensor, results: Sequence[Stored]) -> None:
    builder = context.builder

    def visit(axis: int, index: list[Value], place: Value) -> Value:
        """Write the positions found in the dimensions from ``axis`` on, and return the next free place in the
        results.
        """
        if axis == x.ndim:
            nonzero = builder.cast(x.at(builder, index), "bool")

            def write() -> list[Value]:
                for result, i in zip(results, index, strict=True):
                    builder.store(result.buffer, place, i)
                return [builder.add(place, builder.i64(1))]

            (after,) = builder.branch(nonzero, write, lambda: [place])
            return after
        with builder.loop(x.shape[axis], fixed=True) as loop:
            carried = loop.carry(place)
            carried.following = visit(axis + 1, [*index, loop.index], carried.param)
        return carried.result

    visit(0, [], context.i64(0))


def _diagonal_length(context: Context, n: Value, m: Value, offset: int) -> Value:
    builder = context.builder
    rows = builder.add(n, context.i64(min(offset, 0)))
    columns = builder.sub(m, context.i64(max(offset, 0)))
    if rows.op == "const" and columns.op == "const":
        return context.i64(max(0, min(rows.args[0], columns.args[0])))
    return builder.op("max", builder.op("min", rows, columns), context.i64(0))


@lowers_to_loops(ExtractDiag)
def lower_extract_diag(
    context: Context, node: TensorApply[ExtractDiag], inputs: list[Tensor]
) -> Sequence[Tensor]:
    op = node.op
    builder = context.builder
    x = inputs[0]
    first, second = op.axis1, op.axis2
    rest = [i for i in range(x.ndim) if i not in (first, second)]
    length = _diagonal_length(context, x.shape[first], x.shape[second], op.offset)
    shape = [*(x.shape[i] for i in rest), length]
    below, right = context.i64(max(0, -op.offset)), context.i64(max(0, op.offset))
    if isinstance(x, Stored):
        start = builder.add(
            builder.mul(below, x.strides[first]), builder.mul(right, x.strides[second])
        )
        strides = [*(x.strides[i] for i in rest), builder.add(x.strides[first], x.strides[second])]
        offset = builder.add(x.offset, start)
        forward: list[bool] = [x.forward[i] for i in rest]
        forward.append(x.forward[first] and x.forward[second])
        return [Stored(x.buffer, shape, offset, strides, False, base=x, forward=forward)]

    def element(b: Builder, index: Index) -> Value:
        at = [context.i64(0)] * x.ndim
        for axis, i in zip(rest, index, strict=False):
            at[axis] = i
        at[first] = b.add(index[-1], below)
        at[second] = b.add(index[-1], right)
        return x.at(b, at)

    return [context.virtual(x.dtype, shape, element, [x], cost=1)]


@lowers_to_loops(AllocDiag)
def lower_alloc_diag(
    context: Context, node: TensorApply[AllocDiag], inputs: list[Tensor]
) -> Sequence[Tensor]:
    op = node.op
    builder = context.builder
    x = context.store(inputs[0])
    side = builder.add(x.shape[-1], context.i64(abs(op.offset)))
    shape = [*x.shape[:-1], side, side]
    result = context.new_stored(x.dtype, shape)

    def emit() -> None:
        zero = builder.const(0, x.dtype)
        with builder.loop(builder.product(shape), lanes=8) as loop:
            builder.store(result.buffer, loop.index, zero)
        index = [context.i64(0)] * x.ndim
        with ExitStack() as stack:
            for axis in range(x.ndim):
                index[axis] = stack.enter_context(builder.loop(x.shape[axis])).index
            row = builder.add(index[-1], context.i64(max(0, -op.offset)))
            column = builder.add(index[-1], context.i64(max(0, op.offset)))
            where = result.position(builder, [*index[:-1], row, column])
            builder.store(result.buffer, where, x.at(builder, index))

    context.step([x], [result], emit)
    return [result]
