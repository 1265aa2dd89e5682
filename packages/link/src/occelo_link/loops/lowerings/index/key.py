"""`read_key`: computes the entries of an index key, such as starts and lengths of slices, and checked positions.

`subtensor` calls `read_key` to lower every op that indexes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from occelo_graph.ir.slices import slice_parts
from occelo_graph.ops.index.key import ARRAY, SCALAR, Key, KeyEntry
from occelo_graph.ops.index.slice_lengths import clipped_length
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.tensors import Tensor

_LONG_STEP = 2**31
"""A static step up to this bound cannot overflow: lengths are below 2**62."""


class Part:
    """A slice: ``length`` positions, from ``start`` on, in steps of ``step``."""

    def __init__(self, start: Value, step: Value, length: Value) -> None:
        self.start = start
        self.step = step
        self.length = length


class Position:
    """An integer of a key, as a position that is counted from 0."""

    def __init__(self, value: Value) -> None:
        self.value = value


Entry = Part | Position | Tensor
"""An entry of a key. A tensor either holds positions in one dimension, or is a mask over one or more dimensions."""


def read_key(
    context: Context, key: Key, lengths: Sequence[Value], inputs: Sequence[Tensor]
) -> list[Entry]:
    """Return the entries of a key, and write checks of its integers. Positions in arrays are not checked.

    ``lengths`` are the lengths of the indexed tensor. ``inputs`` are the entries of the key that are inputs of the node.
    """
    rest = iter(inputs)
    entries: list[Entry] = []
    axis = 0
    for entry in key:
        if isinstance(entry, slice):
            entries.append(_slice(context, slice_parts(entry), lengths[axis], rest))
        elif isinstance(entry, str) and entry == ARRAY:
            array = next(rest)
            entries.append(array)
            if array.dtype == "bool":
                axis += array.ndim
                continue
        else:
            value = _scalar(context, next(rest)) if entry == SCALAR else context.i64(int(entry))
            entries.append(Position(_position(context, value, lengths[axis])))
        axis += 1
    return entries


def _scalar(context: Context, tensor: Tensor) -> Value:
    return context.builder.cast(context.scalar(tensor), "int64")


def _position(context: Context, value: Value, length: Value) -> Value:
    builder = context.builder
    zero = context.i64(0)
    if value.op == "const":
        number = value.args[0]
        if number < 0:
            value = builder.add(length, value)
            context.check(
                builder.op("le", zero, value)
                if length.op != "const"
                else _true(context, zero, value)
            )
            return value
        context.check(builder.lt(value, length))
        return value
    wrapped = builder.select(builder.lt(value, zero), builder.add(value, length), value)
    inside = builder.op("and", builder.op("le", zero, wrapped), builder.lt(wrapped, length))
    context.check(inside)
    return wrapped


def _true(context: Context, low: Value, value: Value) -> Value:
    return context.builder.const(low.args[0] <= value.args[0], "bool")


def _slice(
    context: Context,
    parts: tuple[KeyEntry, KeyEntry, KeyEntry],
    length: Value,
    rest: Iterator[Tensor],
) -> Part:
    builder = context.builder
    start, stop, step = (
        None if p is None else _scalar(context, next(rest)) if p == SCALAR else int(p)
        for p in parts
    )
    if length.op == "const" and not any(isinstance(p, Value) for p in (start, stop, step)):
        whole = range(*slice(start, stop, step).indices(length.args[0]))
        return Part(context.i64(whole.start), context.i64(whole.step), context.i64(len(whole)))
    by = context.i64(1) if step is None else step if isinstance(step, Value) else context.i64(step)
    zero, one = context.i64(0), context.i64(1)
    if by.op == "const":
        forward: Value = builder.const(by.args[0] > 0, "bool")
    else:
        context.check(builder.op("ne", by, zero))
        forward = builder.lt(zero, by)
    if by.op != "const" or abs(by.args[0]) > _LONG_STEP:
        # every step from the length on selects one element; with this one, nothing below overflows
        limit = builder.op("max", length, one)
        by = builder.select(
            forward, builder.op("min", by, limit), builder.op("max", by, builder.sub(zero, limit))
        )
    last = builder.sub(length, one)
    clipped = None
    if by.op == "const" and not isinstance(start, Value) and not isinstance(stop, Value):
        clipped = clipped_length(start, stop, by.args[0] > 0)
    low = builder.select(forward, zero, context.i64(-1))
    high = builder.select(forward, length, last)
    first = _clamp(context, start, length, low, high, builder.select(forward, low, high))
    if clipped is not None:
        span = _clipped(context, length, *clipped)
    else:
        end = _clamp(context, stop, length, low, high, builder.select(forward, high, low))
        span = builder.select(forward, builder.sub(end, first), builder.sub(first, end))
    size = builder.op("abs", by) if by.op != "const" else context.i64(abs(by.args[0]))
    if not (size.op == "const" and size.args[0] == 1):
        span = builder.op("floordiv", builder.add(span, builder.sub(size, one)), size)
    return Part(first, by, builder.op("max", span, zero) if clipped is None else span)


def _clipped(context: Context, length: Value, less: int, most: int | None) -> Value:
    """min(max(length - less, 0), most)."""
    builder, span = context.builder, length
    if less:
        span = builder.op("max", builder.sub(length, context.i64(less)), context.i64(0))
    if most is None:
        return span
    return builder.op("min", span, context.i64(most)) if most else context.i64(0)


def _clamp(
    context: Context,
    position: int | Value | None,
    length: Value,
    low: Value,
    high: Value,
    default: Value,
) -> Value:
    if position is None:
        return default
    builder = context.builder
    zero = context.i64(0)
    if isinstance(position, int):
        value = context.i64(position)
        if position < 0:
            return builder.op("max", builder.add(length, value), low)
        if position == 0 and high is length:
            return zero
    else:
        value = builder.select(builder.lt(position, zero), builder.add(position, length), position)
    return builder.op("min", builder.op("max", value, low), high)
