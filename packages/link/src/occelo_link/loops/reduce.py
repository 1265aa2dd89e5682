"""Lowering reductions, running sums and products, and soft maxima."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

from occelo_graph import Apply, TensorApply
from occelo_graph.ops.reduce import (
    Argmax,
    CAReduce,
    CumOp,
    LinearRecurrence,
    LogSoftmax,
    LogSumExp,
    Softmax,
)
from occelo_graph.ops.reductions import Reduction
from occelo_link.loops.elementary import single
from occelo_link.loops.elementary.exponential import exp
from occelo_link.loops.elementary.logarithm import log
from occelo_link.loops.elemwise.scalar import find_scalar
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.operations import is_float
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowering import CHEAP, Context
from occelo_link.loops.nests import reduce_elements
from occelo_link.loops.registry import lowers_to_loops
from occelo_link.loops.tensors import Index, Stored, Tensor, is_unit

__all__: list[str] = []


def _operation(row: Reduction, dtype: str) -> str | None:
    """The operation of loop programs that combines elements of a dtype."""
    return row.called("loops", dtype)


def _scalar(row: Reduction, dtype: str) -> Callable[[Builder, Value, Value], Value] | None:
    """What combines two values of a dtype; None if loop programs have no formula for it."""
    operation = _operation(row, dtype)
    if operation is not None:
        return lambda b, x, y: b.op(operation, x, y)
    found = find_scalar(row.name, [dtype, dtype], dtype)
    return None if found is None else lambda b, x, y: b.cast(found(b, dtype, [x, y]), dtype)


def _computed_in(node: Apply) -> str:
    op: Any = node.op
    x: Any = node.inputs[0].type
    return op.computed_in(x.dtype) or x.dtype


def _cast_tensor(context: Context, tensor: Tensor, dtype: str) -> Tensor:
    if tensor.dtype == dtype:
        return tensor

    def element(builder: Builder, index: Index) -> Value:
        return builder.cast(tensor.at(builder, index), dtype)

    return context.virtual(
        dtype, tensor.shape, element, [tensor], cost=1, flat=tensor.flat, identity=True
    )


def _check_not_empty(context: Context, x: Tensor, axes: Sequence[int]) -> None:
    """Stop if there are results, but no elements to choose them from."""
    builder = context.builder
    zero = context.i64(0)
    count = builder.product([n for i, n in enumerate(x.shape) if i in axes])
    if count.op == "const" and count.args[0] > 0:
        return
    kept = builder.product([n for i, n in enumerate(x.shape) if i not in axes])
    some = builder.lt(zero, count)
    if not (kept.op == "const" and kept.args[0] > 0):
        some = builder.op("or", some, builder.eq(kept, zero))
    context.check(some)


def _has_formula(node: Apply) -> bool:
    op: Any = node.op
    return op.acc_dtype != "float16" and _scalar(op.row, _computed_in(node)) is not None


@lowers_to_loops(CAReduce, when=_has_formula)
def lower_reduce(
    context: Context, node: TensorApply[CAReduce], inputs: list[Tensor]
) -> Sequence[Tensor]:
    op = node.op
    output = node.outputs[0].type
    x = inputs[0]
    acc = _computed_in(node)
    if not op.axis:
        return [_cast_tensor(context, _cast_tensor(context, x, acc), output.dtype)]
    if not op.row.may_be_empty:
        _check_not_empty(context, x, op.axis)
    operation = _operation(op.row, acc)
    if operation is None:
        return [_fold(context, node, _cast_tensor(context, x, acc))]
    return [context.reduce(x, op.axis, operation, acc, output.dtype)]


def _fold(context: Context, node: Apply, x: Tensor) -> Tensor:
    """A reduction by a function that is no operation of loop programs: the elements one after the other, from the first."""
    op: Any = node.op
    output: Any = node.outputs[0].type
    combine = _scalar(op.row, x.dtype)
    assert combine is not None
    kept = [i for i in range(x.ndim) if i not in op.axis]
    result = context.new_stored(output.dtype, [x.shape[i] for i in kept])
    initial = op.row.start(x.dtype) if op.row.may_be_empty else 0

    def elements(index: Sequence[Value], axes: Sequence[int], state: tuple[Value, Value]) -> Any:
        builder = context.builder
        so_far, seen = state
        if not axes:
            value = x.at(builder, index)
            return builder.select(seen, combine(builder, so_far, value), value), builder.const(
                True, "bool"
            )
        with builder.loop(x.shape[axes[0]], fixed=True) as loop:
            carried = [loop.carry(v) for v in state]
            at = list(index)
            at[axes[0]] = loop.index
            inner = (carried[0].param, carried[1].param)
            for each, value in zip(carried, elements(at, axes[1:], inner), strict=True):
                each.following = value
        return carried[0].result, carried[1].result

    def emit() -> None:
        builder = context.builder
        index = [context.i64(0)] * x.ndim
        with ExitStack() as stack:
            for axis in kept:
                index[axis] = stack.enter_context(builder.loop(x.shape[axis])).index
            start = builder.const(initial, x.dtype), builder.const(False, "bool")
            value, _ = elements(index, op.axis, start)
            where = result.position(builder, [index[i] for i in kept])
            builder.store(result.buffer, where, builder.cast(value, output.dtype))

    context.step([x], [result], emit)
    return result


@lowers_to_loops(Argmax)
def lower_argmax(
    context: Context, node: TensorApply[Argmax], inputs: list[Tensor]
) -> Sequence[Tensor]:
    op = node.op
    x = inputs[0]
    _check_not_empty(context, x, op.axis)
    kept = [i for i in range(x.ndim) if i not in op.axis]
    result = context.new_stored("int64", [x.shape[i] for i in kept])

    def emit() -> None:
        builder = context.builder
        index = [context.i64(0)] * x.ndim
        with ExitStack() as stack:
            for axis in kept:
                index[axis] = stack.enter_context(builder.loop(x.shape[axis])).index
            zero = context.i64(0)
            start = builder.const(0, x.dtype)
            _, position, _ = _best(context, x, op.axis, index, (start, zero, zero))
            where = result.position(builder, [index[i] for i in kept])
            builder.store(result.buffer, where, position)

    context.step([x], [result], emit)
    return [result]


def _best(
    context: Context,
    x: Tensor,
    axes: Sequence[int],
    index: Sequence[Value],
    state: tuple[Value, Value, Value],
) -> tuple[Value, Value, Value]:
    """``(largest so far, its position, elements seen)`` after the elements over ``axes``."""
    builder = context.builder
    best, position, seen = state
    if not axes:
        value = x.at(builder, index)
        better = builder.op("or", builder.eq(seen, context.i64(0)), builder.op("lt", best, value))
        if is_float(x.dtype):
            # NaN counts as largest, and the first of them stays
            nan = builder.op("and", builder.op("ne", value, value), builder.op("eq", best, best))
            better = builder.op("or", better, nan)
        return (
            builder.select(better, value, best),
            builder.select(better, seen, position),
            builder.add(seen, context.i64(1)),
        )
    with builder.loop(x.shape[axes[0]], fixed=True) as loop:
        carried = [loop.carry(v) for v in state]
        at = list(index)
        at[axes[0]] = loop.index
        inner = (carried[0].param, carried[1].param, carried[2].param)
        for each, value in zip(carried, _best(context, x, axes[1:], at, inner), strict=True):
            each.following = value
    return carried[0].result, carried[1].result, carried[2].result


# running sums and products


def _scan(
    context: Context,
    reads: Sequence[Tensor],
    shape: Sequence[Value],
    axis: int,
    dtype: str,
    start: float,
    following: Callable[[Value, Index], Value],
) -> Stored:
    """``s_k = following(s_{k-1}, index)`` along ``axis``, from ``start``."""
    result = context.new_stored(dtype, shape)
    inner = [i for i in range(axis + 1, len(shape)) if not is_unit(shape[i])]

    def emit() -> None:
        builder = context.builder
        index = [context.i64(0)] * len(shape)
        initial = builder.const(start, dtype)
        with ExitStack() as stack:
            for i in range(axis):
                index[i] = stack.enter_context(builder.loop(shape[i])).index
            loop = stack.enter_context(builder.loop(shape[axis]))
            index[axis] = loop.index
            if not inner:
                state = loop.carry(initial)
                state.following = following(state.param, index)
                builder.store(result.buffer, result.position(builder, index), state.following)
                return
            for i in inner[:-1]:
                index[i] = stack.enter_context(builder.loop(shape[i])).index
            index[inner[-1]] = stack.enter_context(builder.loop(shape[inner[-1]], lanes=8)).index
            first = builder.eq(loop.index, context.i64(0))
            before = list(index)
            before[axis] = builder.op("max", builder.sub(loop.index, context.i64(1)), index_zero)
            last = builder.load(result.buffer, result.position(builder, before), fixed=True)
            value = following(builder.select(first, initial, last), index)
            builder.store(result.buffer, result.position(builder, index), value)

    index_zero = context.i64(0)
    context.step(reads, [result], emit)
    return result


def _running_has_formula(node: Apply) -> bool:
    op: Any = node.op
    output: Any = node.outputs[0].type
    return _scalar(op.row, output.dtype) is not None


@lowers_to_loops(CumOp, when=_running_has_formula)
def lower_cumulative(
    context: Context, node: TensorApply[CumOp], inputs: list[Tensor]
) -> Sequence[Tensor]:
    op = node.op
    output = node.outputs[0].type
    x = inputs[0]
    combine = _scalar(op.row, output.dtype)
    assert combine is not None
    # what has an operation has an identity; other functions are not asked what they make of theirs
    plain = _operation(op.row, output.dtype) is not None

    def following(state: Value, index: Index) -> Value:
        builder = context.builder
        value = builder.cast(x.at(builder, index), output.dtype)
        made = combine(builder, state, value)
        if plain:
            return made
        return builder.select(builder.eq(index[op.axis], context.i64(0)), value, made)

    start = op.row.start(output.dtype) if plain else 0
    return [_scan(context, [x], x.shape, op.axis, output.dtype, start, following)]


@lowers_to_loops(LinearRecurrence)
def lower_recurrence(
    context: Context, node: TensorApply[LinearRecurrence], inputs: list[Tensor]
) -> Sequence[Tensor]:
    op = node.op
    output = node.outputs[0].type
    factor, term = inputs
    shape = [context.unify(m, n) for m, n in zip(factor.shape, term.shape, strict=True)]

    def following(state: Value, index: Index) -> Value:
        builder = context.builder
        a = builder.cast(factor.at(builder, index), output.dtype)
        b = builder.cast(term.at(builder, index), output.dtype)
        return builder.op("add", builder.op("mul", a, state), b)

    return [_scan(context, inputs, shape, op.axis, output.dtype, 0, following)]


# soft maxima


def _exp(b: Builder, x: Value) -> Value:
    if x.dtype == "float32":
        return b.apply("exp_float32", single.exp, x)
    return b.apply("exp", exp, x)


def _log(b: Builder, x: Value) -> Value:
    if x.dtype == "float32":
        return b.apply("log_float32", single.log, x)
    return b.apply("log", log, x)


def _subtracted(b: Builder, top: Value) -> Value:
    """What is subtracted from a row whose largest element is ``top``: 0 where that is -inf or NaN."""
    above = b.op("lt", b.const(-math.inf, top.dtype), top)
    return b.select(above, top, b.const(0.0, top.dtype))


def _less(b: Builder, x: Value, top: Value) -> Value:
    """x less what is subtracted; 0 where both are equal, if infinite."""
    return b.select(b.op("eq", x, top), b.const(0.0, x.dtype), b.op("sub", x, top))


class _Rows:
    """Passes over the elements that belong to one result of a reduction over trailing axes."""

    def __init__(self, context: Context, x: Tensor, axes: Sequence[int]) -> None:
        self.context = context
        self.x = x
        self.axes = [i for i in axes if not is_unit(x.shape[i])]
        self.kept = [i for i in range(x.ndim) if i not in axes]
        long_axes = [i for i in range(x.ndim) if not is_unit(x.shape[i])]
        trailing = long_axes[len(long_axes) - len(self.axes) :] == self.axes
        self.possible = trailing and (len(self.axes) <= 1 or x.flat)
        self.index: list[Value] = []

    def loops(self, stack: ExitStack) -> None:
        """Open the loops over the results."""
        builder = self.context.builder
        self.index = [self.context.i64(0)] * self.x.ndim
        for position, axis in enumerate(self.kept):
            if not is_unit(self.x.shape[axis]):
                loop = builder.loop(self.x.shape[axis], parallel=position == 0)
                self.index[axis] = stack.enter_context(loop).index

    def reduce(
        self, combine: str, dtype: str, element: Callable[[Index], Value], lanes: int
    ) -> Value:
        """Combine ``element`` over a row."""
        (result,) = reduce_elements(
            self.context.builder,
            self.count(),
            [(combine, dtype)],
            lambda number: [element(self.at(number))],
            lanes,
        )
        return result

    def each(self, write: Callable[[Index], None]) -> None:
        """Do something for each element of a row."""
        with self.context.builder.loop(self.count(), lanes=8) as loop:
            write(self.at(loop.index))

    def count(self) -> Value:
        """The number of elements of a row."""
        return self.context.builder.product([self.x.shape[i] for i in self.axes])

    def at(self, number: Value) -> list[Value]:
        """The index of an element of the row."""
        index = list(self.index)
        if self.axes:
            index[self.axes[-1]] = number
        return index


def _soft(
    context: Context, node: Apply, x: Tensor, finish: Callable[[_Rows, Stored, Value], None]
) -> Stored | None:
    """A soft maximum by rows: the maximum, then what ``finish`` does with the copied row."""
    op: Any = node.op
    output: Any = node.outputs[0].type
    x = _cast_tensor(context, x, output.dtype)
    rows = _Rows(context, x, op.axis)
    if not rows.possible:
        return None
    result = context.new_stored(output.dtype, x.shape)

    def emit() -> None:
        builder = context.builder
        with ExitStack() as stack:
            rows.loops(stack)

            def copied(index: Index) -> Value:
                value = x.at(builder, index)
                builder.store(result.buffer, result.position(builder, index), value)
                return value

            top = _subtracted(builder, rows.reduce("max", output.dtype, copied, 8))
            finish(rows, result, top)

    context.step([x], [result], emit)
    return result


def _load(context: Context, stored: Stored, index: Index) -> Value:
    builder = context.builder
    return builder.load(stored.buffer, stored.position(builder, index), fixed=True)


@lowers_to_loops(Softmax)
def lower_softmax(
    context: Context, node: TensorApply[Softmax], inputs: list[Tensor]
) -> Sequence[Tensor]:
    builder = context.builder

    def finish(rows: _Rows, result: Stored, top: Value) -> None:
        def power(index: Index) -> Value:
            shifted = _less(builder, _load(context, result, index), top)
            value = _exp(builder, shifted)
            builder.store(result.buffer, result.position(builder, index), value)
            return value

        total = rows.reduce("add", result.dtype, power, 8)
        inverse = builder.op("div", builder.const(1.0, result.dtype), total)

        def divide(index: Index) -> None:
            # a quotient for each element would take longer than its exponential
            value = builder.op("mul", _load(context, result, index), inverse)
            builder.store(result.buffer, result.position(builder, index), value)

        rows.each(divide)

    found = _soft(context, node, inputs[0], finish)
    if found is not None:
        return [found]
    powers, _ = _shifted(context, node, inputs[0])
    stored = context.store(powers)
    op = node.op
    total = context.reduce(stored, op.axis, "add", stored.dtype, stored.dtype)
    return [_with_kept(context, op.axis, stored, total, lambda b, x, t: b.op("div", x, t))]


@lowers_to_loops(LogSoftmax)
def lower_log_softmax(
    context: Context, node: TensorApply[LogSoftmax], inputs: list[Tensor]
) -> Sequence[Tensor]:
    builder = context.builder

    def finish(rows: _Rows, result: Stored, top: Value) -> None:
        def power(index: Index) -> Value:
            shifted = _less(builder, _load(context, result, index), top)
            return _exp(builder, shifted)

        total = rows.reduce("add", result.dtype, power, 8)
        logarithm = _log(builder, total)

        def subtract(index: Index) -> None:
            value = _less(builder, _load(context, result, index), top)
            value = builder.op("sub", value, logarithm)
            builder.store(result.buffer, result.position(builder, index), value)

        rows.each(subtract)

    found = _soft(context, node, inputs[0], finish)
    if found is not None:
        return [found]
    op = node.op
    powers, shifted = _shifted(context, node, inputs[0])
    total = context.reduce(powers, op.axis, "add", powers.dtype, powers.dtype)

    def subtract(b: Builder, x: Value, t: Value) -> Value:
        return b.op("sub", x, _log(b, t))

    return [_with_kept(context, op.axis, shifted, total, subtract)]


@lowers_to_loops(LogSumExp)
def lower_log_sum_exp(
    context: Context, node: TensorApply[LogSumExp], inputs: list[Tensor]
) -> Sequence[Tensor]:
    op = node.op
    output = node.outputs[0].type
    powers, _, top = _shifted_with_top(context, node, inputs[0])
    total = (
        context.reduce(powers, op.axis, "add", output.dtype, output.dtype) if op.axis else powers
    )

    def element(builder: Builder, index: Index) -> Value:
        logarithm = _log(builder, total.at(builder, index))
        return builder.op("add", logarithm, _subtracted(builder, top.at(builder, index)))

    return [
        context.virtual(output.dtype, total.shape, element, [total, top], cost=30, identity=True)
    ]


def _with_kept(
    context: Context,
    axes: Sequence[int],
    x: Tensor,
    reduced: Tensor,
    function: Callable[[Builder, Value, Value], Value],
) -> Tensor:
    """``function`` of each element and of what its row was reduced to."""

    def element(builder: Builder, index: Index) -> Value:
        kept = [v for i, v in enumerate(index) if i not in axes]
        return function(builder, x.at(builder, index), reduced.at(builder, kept))

    return context.virtual(x.dtype, x.shape, element, [x, reduced], cost=4)


def _shifted(context: Context, node: Apply, x: Tensor) -> tuple[Tensor, Tensor]:
    powers, shifted, _ = _shifted_with_top(context, node, x)
    return powers, shifted


def _shifted_with_top(context: Context, node: Apply, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """``exp(x - top)``, ``x - top`` (0 where both are infinite) and the maximum."""
    op: Any = node.op
    output: Any = node.outputs[0].type
    x = _cast_tensor(context, x, output.dtype)
    if x.cost > CHEAP:
        x = context.store(x)
    top: Tensor = context.reduce(x, op.axis, "max", x.dtype, x.dtype) if op.axis else x

    def subtract(b: Builder, value: Value, largest: Value) -> Value:
        return _less(b, value, _subtracted(b, largest))

    shifted = _with_kept(context, op.axis, x, top, subtract)

    def element(builder: Builder, index: Index) -> Value:
        return _exp(builder, shifted.at(builder, index))

    powers = context.virtual(x.dtype, x.shape, element, [shifted], cost=20)
    return powers, shifted, top
