"""Lowering of `SearchSorted`: each element is searched by bisection."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from occelo_graph import TensorApply
from occelo_graph.tensors.type import is_complex, is_discrete
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.python_only import leave_to_python
from occelo_link.loops.registry import lowers_to_loops
from occelo_link.loops.tensors import Tensor
from occelo_sorting.ops.searching import SearchSorted

WAYS = 8
"""How many elements are searched at the same time, since each search waits for its loads.

The width of what is left is the same for all of them: it is halved whether the element is before the middle or after it.
"""

leave_to_python(SearchSorted, "loop programs do not compare complex numbers and booleans")


def _is_ordered(node: TensorApply[SearchSorted]) -> bool:
    dtype = node.inputs[0].type.dtype
    return dtype != "bool" and not is_complex(dtype)


def _is_less(builder: Builder, x: Value, y: Value) -> Value:
    """Whether x comes before y, where NaN comes last."""
    less = builder.lt(x, y)
    if is_discrete(x.dtype):
        return less
    only_last = builder.op("and", builder.op("ne", y, y), builder.eq(x, x))
    return builder.op("or", less, only_last)


@lowers_to_loops(SearchSorted, _is_ordered)
def lower_searchsorted(
    context: Context, node: TensorApply[SearchSorted], inputs: list[Tensor]
) -> Sequence[Tensor]:
    a, v = inputs
    builder = context.builder
    lead = [context.unify(m, n) for m, n in zip(a.shape[:-1], v.shape[:-1], strict=True)]
    rows, elements = context.store(a), context.store(v)
    result = context.new_stored("int64", [*lead, v.shape[-1]])
    left = node.op.side == "left"

    def before(each: Value, element: Value) -> Value:
        if left:
            return _is_less(builder, each, element)
        return builder.op("not", _is_less(builder, element, each))

    def emit() -> None:
        *lead, number = result.shape
        blocks = builder.op(
            "floordiv", builder.add(number, context.i64(WAYS - 1)), context.i64(WAYS)
        )
        with ExitStack() as stack:
            loops = [stack.enter_context(builder.loop(n, fixed=True)) for n in (*lead, blocks)]
            *index, block = (loop.index for loop in loops)
            start = builder.mul(block, context.i64(WAYS))
            last = builder.sub(number, context.i64(1))
            # the last block searches its last element several times
            places = [
                builder.op("min", builder.add(start, context.i64(i)), last) for i in range(WAYS)
            ]
            sought = [
                builder.load(elements.buffer, elements.position(builder, [*index, at]), fixed=True)
                for at in places
            ]

            def body(values: Sequence[Value]) -> list[Value]:
                width, *lows = values
                half = builder.op("floordiv", builder.add(width, context.i64(1)), context.i64(2))
                following: list[Value] = []
                for low, element in zip(lows, sought, strict=True):
                    beyond = builder.add(low, half)
                    at = rows.position(builder, [*index, builder.sub(beyond, context.i64(1))])
                    each = builder.load(rows.buffer, at, fixed=True)
                    following.append(builder.select(before(each, element), beyond, low))
                return [builder.op("floordiv", width, context.i64(2)), *following]

            zero = context.i64(0)
            _, *ends = builder.repeat_while(
                [a.shape[-1], *[zero] * WAYS], lambda values: builder.lt(zero, values[0]), body
            )
            for at, low in zip(places, ends, strict=True):
                builder.store(result.buffer, result.position(builder, [*index, at]), low)

    context.step([rows, elements], [result], emit)
    return [result]
