"""Lowerings of reductions, argmax, cumulative sums and products, and linear recurrences.

The linkers ``native``, ``c``, ``c|py`` and ``numba`` use these lowerings; `loops.build` imports this module to register
them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from occelo_graph import TensorApply
from occelo_graph.ops.reduce import Argmax, CAReduce, CumOp, LinearRecurrence
from occelo_graph.ops.reductions import Reduction
from occelo_link.loops.complexes import PARTS, ComplexTensor, by_parts, parts_of
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.operations import is_float
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.lowerings.elemwise.complex import Complex, chosen, find_complex, times
from occelo_link.loops.lowerings.elemwise.op import complex_element
from occelo_link.loops.lowerings.elemwise.scalar import find_scalar
from occelo_link.loops.registry import lowers_complex_to_loops, lowers_to_loops
from occelo_link.loops.tensors import Index, Stored, Tensor, is_unit


def _operation(reduction: Reduction, dtype: str) -> str | None:
    """The operation of loop programs that combines two elements in a reduction, such as ``add``; None if none does."""
    return reduction.called("loops", dtype)


def _scalar(reduction: Reduction, dtype: str) -> Callable[[Builder, Value, Value], Value] | None:
    """The formula that combines two elements in a reduction. None if loop programs have no formula for the dtype."""
    operation = _operation(reduction, dtype)
    if operation is not None:
        return lambda b, x, y: b.op(operation, x, y)
    formula = find_scalar(reduction.name, [dtype, dtype], dtype)
    return None if formula is None else lambda b, x, y: b.cast(formula(b, dtype, [x, y]), dtype)


def _computed_in(node: TensorApply[CAReduce]) -> str:
    dtype = node.inputs[0].type.dtype
    return node.op.computed_in(dtype) or dtype


def _check_not_empty(context: Context, x: Tensor, axes: Sequence[int]) -> None:
    """Write a check that there are elements along ``axes``. Like NumPy's, it also holds for results without elements."""
    builder = context.builder
    count = builder.product([n for i, n in enumerate(x.shape) if i in axes])
    if count.op != "const" or count.args[0] <= 0:
        context.check(builder.lt(context.i64(0), count))


def _has_formula(node: TensorApply[CAReduce]) -> bool:
    op = node.op
    return op.acc_dtype != "float16" and _scalar(op.reduction, _computed_in(node)) is not None


@lowers_to_loops(CAReduce, when=_has_formula)
def lower_reduce(
    context: Context, node: TensorApply[CAReduce], inputs: list[Tensor]
) -> Sequence[Tensor]:
    op = node.op
    output = node.outputs[0].type
    x = inputs[0]
    acc = _computed_in(node)
    if not op.axis:
        return [context.cast(context.cast(x, acc), output.dtype)]
    if not op.reduction.may_be_empty:
        _check_not_empty(context, x, op.axis)
    operation = _operation(op.reduction, acc)
    if operation is None:
        return [_fold(context, node, context.cast(x, acc))]
    return [context.reduce(x, op.axis, operation, acc, output.dtype)]


def _fold(context: Context, node: TensorApply[CAReduce], x: Tensor) -> Tensor:
    """Lower a reduction that combines elements by a formula, because no operation of loop programs does so.

    The elements are combined one by one, in order.
    """
    op = node.op
    output = node.outputs[0].type
    combine = _scalar(op.reduction, x.dtype)
    assert combine is not None
    outer = [i for i in range(x.ndim) if i not in op.axis]
    result = context.new_stored(output.dtype, [x.shape[i] for i in outer])
    initial = op.reduction.start(x.dtype) if op.reduction.may_be_empty else 0

    def combined(state: tuple[Value, Value], index: Index) -> tuple[Value, Value]:
        builder, (so_far, seen) = context.builder, state
        value = x.at(builder, index)
        both = combine(builder, so_far, value)
        return builder.select(seen, both, value), builder.const(True, "bool")

    def emit() -> None:
        start = [
            context.builder.const(each, d) for each, d in ((initial, x.dtype), (False, "bool"))
        ]
        _combine_each(context, x.shape, op.axis, [result], (start[0], start[1]), combined)

    context.step([x], [result], emit)
    return result


def _complex_formula(
    node: TensorApply[CAReduce] | TensorApply[CumOp],
) -> Callable[[Builder, Complex, Complex], Complex]:
    """The function that combines two complex numbers in a reduction."""
    formula = find_complex(node.op.reduction.name)
    assert formula is not None

    def combine(builder: Builder, x: Complex, y: Complex) -> Complex:
        value = formula(builder, [x, y])
        assert isinstance(value, tuple)
        return value

    return combine


def _has_complex_formula(node: TensorApply[CAReduce] | TensorApply[CumOp]) -> bool:
    """Whether a reduction needs a formula for complex numbers, and there is one.

    A reduction that can be applied to real parts and imaginary parts separately, such as a sum, needs no formula.
    """
    complexes = node.outputs[0].type.dtype in PARTS
    return complexes and find_complex(node.op.reduction.name) is not None and not by_parts(node)


@lowers_complex_to_loops(CAReduce, when=_has_complex_formula)
def lower_complex_reduce(
    context: Context, node: TensorApply[CAReduce], inputs: list[Tensor]
) -> Sequence[Tensor]:
    """Lower a reduction of complex numbers. Elements are combined one by one, in order, starting from the identity
    element.

    Numbers with equal real parts are ordered by their imaginary parts. So both parts of the identity element are -inf
    for a maximum, and inf for a minimum.
    """
    op, (x,), combine = node.op, inputs, _complex_formula(node)
    output = PARTS[node.outputs[0].type.dtype]
    acc = PARTS[_computed_in(node)]
    outer = [i for i in range(x.ndim) if i not in op.axis]
    results = [context.new_stored(acc, [x.shape[i] for i in outer]) for _ in range(2)]
    start = op.reduction.start(acc)
    if not op.reduction.may_be_empty:
        _check_not_empty(context, x, op.axis)

    def emit() -> None:
        builder = context.builder
        beside = 0.0 if op.reduction.may_be_empty else start
        one = builder.const(start, acc), builder.const(beside, acc)

        def combined(state: Complex, index: Index) -> Complex:
            return combine(builder, state, complex_element(builder, acc, x, index))

        if outer and outer[-1] == x.ndim - 1 and not is_unit(x.shape[-1]):
            _combine_rows(context, x.shape, op.axis, results, one, combined)
        else:
            _combine_each(context, x.shape, op.axis, results, one, combined)

    context.step(parts_of(x), results, emit)
    return [ComplexTensor(*(context.cast(each, output) for each in results))]


def _combine_each(
    context: Context,
    shape: Sequence[Value],
    axes: Sequence[int],
    results: Sequence[Stored],
    start: Complex,
    combined: Callable[[Complex, Index], Complex],
) -> None:
    """Reduce elements along axes, with two values as the state: a complex number, or an element and another value. Each
    result is completed before the next one begins.
    """
    builder = context.builder
    outer = [i for i in range(len(shape)) if i not in axes]
    index = [context.i64(0)] * len(shape)

    def elements(index: Sequence[Value], over: Sequence[int], state: Complex) -> Complex:
        if not over:
            return combined(state, index)
        with builder.loop(shape[over[0]], fixed=True) as loop:
            re, im = loop.carry(state[0]), loop.carry(state[1])
            at = list(index)
            at[over[0]] = loop.index
            re.following, im.following = elements(at, over[1:], (re.param, im.param))
        return re.result, im.result

    with ExitStack() as stack:
        for axis in outer:
            row = builder.loop(shape[axis], parallel=axis == outer[0])
            index[axis] = stack.enter_context(row).index
        for result, value in zip(results, elements(index, axes, start), strict=False):
            where = result.position(builder, [index[i] for i in outer])
            builder.store(result.buffer, where, builder.cast(value, result.dtype))


def _combine_rows(
    context: Context,
    shape: Sequence[Value],
    axes: Sequence[int],
    results: Sequence[Stored],
    start: Complex,
    combined: Callable[[Complex, Index], Complex],
) -> None:
    """Reduce complex elements along axes other than the last one.

    The innermost loop runs over the last axis. In this loop each element is combined with a different result.
    """
    builder = context.builder
    for result, value in zip(results, start, strict=True):
        with builder.loop(builder.product(result.shape), lanes=8) as loop:
            first = result.position(builder, [context.i64(0)] * result.ndim)
            builder.store(result.buffer, builder.add(first, loop.index), value)
    index = [context.i64(0)] * len(shape)
    with ExitStack() as stack:
        for axis in range(len(shape) - 1):
            index[axis] = stack.enter_context(builder.loop(shape[axis])).index
        index[-1] = stack.enter_context(builder.loop(shape[-1], lanes=8)).index
        own = [n for i, n in enumerate(index) if i not in axes]
        places = [result.position(builder, own) for result in results]
        re, im = (
            builder.load(result.buffer, place, fixed=True)
            for result, place in zip(results, places, strict=True)
        )
        for result, place, value in zip(results, places, combined((re, im), index), strict=True):
            builder.store(result.buffer, place, value)


@lowers_complex_to_loops(Argmax)
@lowers_to_loops(Argmax)
def lower_argmax(
    context: Context, node: TensorApply[Argmax], inputs: list[Tensor]
) -> Sequence[Tensor]:
    op = node.op
    x = inputs[0]
    _check_not_empty(context, x, op.axis)
    outer = [i for i in range(x.ndim) if i not in op.axis]
    result = context.new_stored("int64", [x.shape[i] for i in outer])
    parts = parts_of(x)

    def emit() -> None:
        builder = context.builder
        index = [context.i64(0)] * x.ndim
        with ExitStack() as stack:
            for axis in outer:
                row = builder.loop(x.shape[axis], parallel=axis == outer[0])
                index[axis] = stack.enter_context(row).index
            zero = context.i64(0)
            start = [builder.const(0, part.dtype) for part in parts]
            state = _best(context, parts, op.axis, index, (zero, zero, *start))
            where = result.position(builder, [index[i] for i in outer])
            builder.store(result.buffer, where, state[0])

    context.step(parts, [result], emit)
    return [result]


def _best(
    context: Context,
    parts: Sequence[Tensor],
    axes: Sequence[int],
    index: Sequence[Value],
    state: Sequence[Value],
) -> list[Value]:
    """Reduce elements along ``axes`` for an argmax. The state is ``(position of the largest so far, elements seen,
    *parts of the largest so far)``. Elements have one part, or two if they are complex.
    """
    builder = context.builder
    position, seen, *best = state
    if not axes:
        value = [part.at(builder, index) for part in parts]
        better = builder.op(
            "or", builder.eq(seen, context.i64(0)), _is_larger(builder, best, value)
        )
        return [
            builder.select(better, seen, position),
            builder.add(seen, context.i64(1)),
            *(builder.select(better, new, old) for new, old in zip(value, best, strict=True)),
        ]
    with builder.loop(parts[0].shape[axes[0]], fixed=True) as loop:
        carried = [loop.carry(v) for v in state]
        at = list(index)
        at[axes[0]] = loop.index
        inner = [each.param for each in carried]
        for each, value in zip(carried, _best(context, parts, axes[1:], at, inner), strict=True):
            each.following = value
    return [each.result for each in carried]


def _is_larger(b: Builder, best: Sequence[Value], value: Sequence[Value]) -> Value:
    """Whether an element is larger than the largest so far. NaN counts as the largest element; the first NaN wins."""
    larger = b.op("lt", best[0], value[0])
    if len(value) == 2:
        beside = b.op("and", b.op("eq", best[0], value[0]), b.op("lt", best[1], value[1]))
        larger = b.op("or", larger, beside)
    if not is_float(value[0].dtype):
        return larger
    new, old = (_is_nan(b, parts) for parts in (value, best))
    return b.op("and", b.op("or", larger, new), b.op("not", old))


def _is_nan(b: Builder, parts: Sequence[Value]) -> Value:
    lost = [b.op("ne", part, part) for part in parts]
    return b.op("or", *lost) if len(lost) == 2 else lost[0]


# cumulative sums and products


def _scan(
    context: Context,
    reads: Sequence[Tensor],
    shape: Sequence[Value],
    axis: int,
    dtype: str,
    start: Sequence[float],
    following: Callable[[Sequence[Value], Index], Sequence[Value]],
) -> list[Stored]:
    """Compute each element of a tensor from the previous element along ``axis``, as in a cumulative sum.

    The element at ``index`` is ``following(previous element, index)``. For the first element, the previous element is
    ``start``. An element is a sequence of values: one value, or a real and an imaginary part. The returned list has a
    tensor for each of these values.
    """
    results = [context.new_stored(dtype, shape) for _ in start]
    inner = [i for i in range(axis + 1, len(shape)) if not is_unit(shape[i])]

    def emit() -> None:
        builder = context.builder
        index = [context.i64(0)] * len(shape)
        initial = [builder.const(number, dtype) for number in start]

        def store(values: Sequence[Value]) -> None:
            for result, value in zip(results, values, strict=True):
                builder.store(result.buffer, result.position(builder, index), value)

        with ExitStack() as stack:
            for i in range(axis):
                index[i] = stack.enter_context(builder.loop(shape[i], parallel=i == 0)).index
            loop = stack.enter_context(builder.loop(shape[axis]))
            index[axis] = loop.index
            if not inner:
                states = [loop.carry(value) for value in initial]
                values = following([state.param for state in states], index)
                for state, value in zip(states, values, strict=True):
                    state.following = value
                store(values)
                return
            for i in inner[:-1]:
                index[i] = stack.enter_context(builder.loop(shape[i])).index
            index[inner[-1]] = stack.enter_context(builder.loop(shape[inner[-1]], lanes=8)).index
            first = builder.eq(loop.index, context.i64(0))
            before = list(index)
            before[axis] = builder.op("max", builder.sub(loop.index, context.i64(1)), index_zero)
            last = [
                builder.load(result.buffer, result.position(builder, before), fixed=True)
                for result in results
            ]
            so_far = [builder.select(first, *pair) for pair in zip(initial, last, strict=True)]
            store(following(so_far, index))

    index_zero = context.i64(0)
    context.step(reads, results, emit)
    return results


def _running_has_formula(node: TensorApply[CumOp]) -> bool:
    return _scalar(node.op.reduction, node.outputs[0].type.dtype) is not None


@lowers_to_loops(CumOp, when=_running_has_formula)
def lower_cumulative(
    context: Context, node: TensorApply[CumOp], inputs: list[Tensor]
) -> Sequence[Tensor]:
    op = node.op
    output = node.outputs[0].type
    x = inputs[0]
    combine = _scalar(op.reduction, output.dtype)
    assert combine is not None
    # a formula may have no identity element, so its state is at first the first element
    plain = _operation(op.reduction, output.dtype) is not None

    def following(state: Sequence[Value], index: Index) -> list[Value]:
        builder = context.builder
        value = builder.cast(x.at(builder, index), output.dtype)
        combined = combine(builder, state[0], value)
        if plain:
            return [combined]
        return [builder.select(builder.eq(index[op.axis], context.i64(0)), value, combined)]

    start = op.reduction.start(output.dtype) if plain else 0
    return _scan(context, [x], x.shape, op.axis, output.dtype, [start], following)


@lowers_complex_to_loops(CumOp, when=_has_complex_formula)
def lower_complex_cumulative(
    context: Context, node: TensorApply[CumOp], inputs: list[Tensor]
) -> Sequence[Tensor]:
    axis, (x,), combine = node.op.axis, inputs, _complex_formula(node)
    dtype = PARTS[node.outputs[0].type.dtype]

    def following(state: Sequence[Value], index: Index) -> Sequence[Value]:
        builder = context.builder
        value = complex_element(builder, dtype, x, index)
        # start from the first element, not from the identity element: the product of an infinity and 1 + 0i has a NaN
        # part
        first = builder.eq(index[axis], context.i64(0))
        return chosen(builder, first, value, combine(builder, (state[0], state[1]), value))

    parts = _scan(context, parts_of(x), x.shape, axis, dtype, [0.0, 0.0], following)
    return [ComplexTensor(*parts)]


@lowers_to_loops(LinearRecurrence)
def lower_recurrence(
    context: Context, node: TensorApply[LinearRecurrence], inputs: list[Tensor]
) -> Sequence[Tensor]:
    op = node.op
    output = node.outputs[0].type
    factor, term = inputs
    shape = [context.unify(m, n) for m, n in zip(factor.shape, term.shape, strict=True)]

    def following(state: Sequence[Value], index: Index) -> list[Value]:
        builder = context.builder
        a = builder.cast(factor.at(builder, index), output.dtype)
        b = builder.cast(term.at(builder, index), output.dtype)
        return [builder.op("add", builder.op("mul", a, state[0]), b)]

    return _scan(context, inputs, shape, op.axis, output.dtype, [0], following)


@lowers_complex_to_loops(LinearRecurrence)
def lower_complex_recurrence(
    context: Context, node: TensorApply[LinearRecurrence], inputs: list[Tensor]
) -> Sequence[Tensor]:
    dtype = PARTS[node.outputs[0].type.dtype]
    factor, term = inputs
    shape = [context.unify(m, n) for m, n in zip(factor.shape, term.shape, strict=True)]

    def following(state: Sequence[Value], index: Index) -> Sequence[Value]:
        builder = context.builder
        a, b = (complex_element(builder, dtype, x, index) for x in (factor, term))
        product = times(builder, a, (state[0], state[1]))
        return [builder.op("add", *pair) for pair in zip(product, b, strict=True)]

    reads = [part for x in inputs for part in parts_of(x)]
    parts = _scan(context, reads, shape, node.op.axis, dtype, [0.0, 0.0], following)
    return [ComplexTensor(*parts)]
