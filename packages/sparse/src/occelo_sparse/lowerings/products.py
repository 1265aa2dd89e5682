"""Lowerings of products of compressed matrices: loops over lines and their stored values.

Structures are checked before, in vector loops of their own: so the lines of a product are independent, and run in several
threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from occelo_graph import TensorApply
from occelo_graph.tensors.type import is_complex
from occelo_link.loops.lowering import Context
from occelo_link.loops.registry import lowers_to_loops
from occelo_sparse.ops.products import LineProduct, SampledProduct, ScatteredProduct
from occelo_sparse.ops.structure import Lines

if TYPE_CHECKING:
    from collections.abc import Generator

    from occelo_link.loops.ir.program import Value
    from occelo_link.loops.tensors import Stored, Tensor

LANES = 8


class _Structure:
    """The indices and offsets of a matrix in memory. `check` writes the checks, inside of the step that reads them."""

    def __init__(self, context: Context, indices: Tensor, offsets: Tensor) -> None:
        self.context, self.builder = context, context.builder
        self.indices, self.offsets = context.store(indices), context.store(offsets)
        self.node = context.node
        self.count = self.indices.shape[0]
        self.lines = self.builder.sub(self.offsets.shape[0], context.i64(1))
        context.check(self.builder.lt(context.i64(0), self.offsets.shape[0]))
        self.reads: list[Tensor] = [self.indices, self.offsets]

    def _load(self, part: Stored, at: Value) -> Value:
        loaded = self.builder.load(part.buffer, part.position(self.builder, [at]))
        return self.builder.cast(loaded, "int64")

    def index(self, at: Value) -> Value:
        """The index of a stored value."""
        return self._load(self.indices, at)

    def check(self, minor: Value | None) -> None:
        """Check that offsets increase from 0 to the number of values, and that indices are below ``minor``."""
        b, i64 = self.builder, self.context.i64
        ends = (self._load(self.offsets, i64(0)), self._load(self.offsets, self.lines))
        self.context.check(b.eq(ends[0], i64(0)), self.node)
        self.context.check(b.eq(ends[1], self.count), self.node)
        with b.loop(self.lines, lanes=LANES) as loop:
            least = loop.carry(i64(0), "min")
            start = self._load(self.offsets, loop.index)
            length = b.sub(self._load(self.offsets, b.add(loop.index, i64(1))), start)
            least.following = b.op("min", least.param, length)
        self.context.check(b.eq(least.result, i64(0)), self.node)
        if minor is None:
            return
        # in the dtype of the indices, of which a vector has more than of int64
        dtype = self.indices.dtype
        with b.loop(self.count, lanes=2 * LANES) as loop:
            low = loop.carry(b.const(0, dtype), "min")
            high = loop.carry(b.const(0, dtype), "max")
            index = self.indices.at(b, [loop.index])
            low.following = b.op("min", low.param, index)
            high.following = b.op("max", high.param, index)
        self.context.check(b.eq(low.result, b.const(0, dtype)), self.node)
        none = b.eq(self.count, i64(0))
        below = b.lt(b.cast(high.result, "int64"), minor)
        self.context.check(b.op("or", none, below), self.node)

    @contextmanager
    def line(self, parallel: bool = True) -> Generator[tuple[Value, Value, Value]]:
        """A loop over the lines: the number of a line, and where its values begin and end."""
        b = self.builder
        with b.loop(self.lines, parallel=parallel) as loop:
            start = self._load(self.offsets, loop.index)
            stop = self._load(self.offsets, b.add(loop.index, self.context.i64(1)))
            yield loop.index, start, stop


def _is_real(node: TensorApply) -> bool:
    return not any(is_complex(v.type.dtype) for v in node.inputs)


def _columns(x: Stored) -> tuple[Value, ...]:
    return tuple(x.shape[1:])


@lowers_to_loops(Lines)
def lower_lines(
    context: Context, node: TensorApply[Lines], inputs: list[Tensor]
) -> Sequence[Tensor]:
    structure = _Structure(context, *inputs)
    result = context.new_stored("int64", [structure.count])

    def emit() -> None:
        b = context.builder
        structure.check(None)
        with structure.line() as (line, start, stop), b.loop(stop, start=start) as loop:
            b.store(result.buffer, result.position(b, [loop.index]), line)

    context.step(structure.reads, [result], emit)
    return [result]


@lowers_to_loops(LineProduct, _is_real)
def lower_line_product(
    context: Context, node: TensorApply[LineProduct], inputs: list[Tensor]
) -> Sequence[Tensor]:
    b = context.builder
    structure = _Structure(context, *inputs[1:3])
    values, x = context.store(inputs[0]), context.store(inputs[3])
    context.unify(values.shape[0], structure.count)
    result = context.new_stored(x.dtype, [structure.lines, *_columns(x)])

    def scalar(line: Value, start: Value, stop: Value) -> None:
        with b.loop(stop, start=start) as loop:
            total = loop.carry(b.const(0, x.dtype))
            value = values.at(b, [loop.index])
            term = b.op("mul", value, x.at(b, [structure.index(loop.index)]))
            total.following = b.op("add", total.param, term)
        b.store(result.buffer, result.position(b, [line]), total.result)

    def row(line: Value, start: Value, stop: Value) -> None:
        columns = x.shape[1]
        with b.loop(columns, lanes=LANES) as loop:
            b.store(result.buffer, result.position(b, [line, loop.index]), b.const(0, x.dtype))
        with b.loop(stop, start=start) as stored:
            value, index = values.at(b, [stored.index]), structure.index(stored.index)
            with b.loop(columns, lanes=LANES) as loop:
                _add(context, result, [line, loop.index], value, x.at(b, [index, loop.index]))

    def emit() -> None:
        structure.check(x.shape[0])
        with structure.line() as (line, start, stop):
            (scalar if x.ndim == 1 else row)(line, start, stop)

    context.step([values, x, *structure.reads], [result], emit)
    return [result]


def _add(context: Context, result: Stored, at: Sequence[Value], value: Value, x: Value) -> None:
    """Add ``value * x`` to an element of the result."""
    b = context.builder
    where = result.position(b, at)
    before = b.load(result.buffer, where, fixed=True)
    b.store(result.buffer, where, b.op("add", before, b.op("mul", value, x)))


@lowers_to_loops(ScatteredProduct, _is_real)
def lower_scattered_product(
    context: Context, node: TensorApply[ScatteredProduct], inputs: list[Tensor]
) -> Sequence[Tensor]:
    b = context.builder
    structure = _Structure(context, *inputs[1:3])
    values, x = context.store(inputs[0]), context.store(inputs[3])
    count = context.scalar(inputs[4])
    context.check(b.op("le", context.i64(0), count))
    context.unify(values.shape[0], structure.count)
    context.unify(x.shape[0], structure.lines)
    result = context.new_stored(x.dtype, [count, *_columns(x)])

    def of_line(line: Value, start: Value, stop: Value) -> None:
        if x.ndim == 1:
            own = x.at(b, [line])
            with b.loop(stop, start=start) as stored:
                at = [structure.index(stored.index)]
                _add(context, result, at, values.at(b, [stored.index]), own)
            return
        with b.loop(stop, start=start) as stored:
            value, index = values.at(b, [stored.index]), structure.index(stored.index)
            with b.loop(x.shape[1], lanes=LANES) as loop:
                _add(context, result, [index, loop.index], value, x.at(b, [line, loop.index]))

    def emit() -> None:
        structure.check(count)
        with b.loop(b.product(result.shape), lanes=LANES) as loop:
            b.store(result.buffer, loop.index, b.const(0, x.dtype))
        with structure.line(parallel=False) as (line, start, stop):
            of_line(line, start, stop)

    context.step([values, x, *structure.reads], [result], emit)
    return [result]


@lowers_to_loops(SampledProduct, _is_real)
def lower_sampled_product(
    context: Context, node: TensorApply[SampledProduct], inputs: list[Tensor]
) -> Sequence[Tensor]:
    b = context.builder
    structure = _Structure(context, *inputs[:2])
    x, y = context.store(inputs[2]), context.store(inputs[3])
    context.unify(x.shape[0], structure.lines)
    for own, other in zip(_columns(x), _columns(y), strict=True):
        context.unify(own, other)
    result = context.new_stored(x.dtype, [structure.count])

    def at(line: Value, place: Value) -> Value:
        index = structure.index(place)
        if x.ndim == 1:
            return b.op("mul", x.at(b, [line]), y.at(b, [index]))
        with b.loop(x.shape[1], lanes=LANES) as loop:
            total = loop.carry(b.const(0, x.dtype), "add")
            term = b.op("mul", x.at(b, [line, loop.index]), y.at(b, [index, loop.index]))
            total.following = b.op("add", total.param, term)
        return total.result

    def emit() -> None:
        structure.check(y.shape[0])
        with structure.line() as (line, start, stop), b.loop(stop, start=start) as loop:
            b.store(result.buffer, result.position(b, [loop.index]), at(line, loop.index))

    context.step([x, y, *structure.reads], [result], emit)
    return [result]
