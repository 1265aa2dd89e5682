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

__all__: list[str] = []

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
    one = context.i64(1)
    left = node.op.side == "left"

    def emit() -> None:
        with ExitStack() as stack:
            loops = [stack.enter_context(builder.loop(n, fixed=True)) for n in result.shape]
            *index, at = (loop.index for loop in loops)
            element = builder.load(
                elements.buffer, elements.position(builder, [*index, at]), fixed=True
            )

            def body(values: Sequence[Value]) -> list[Value]:
                low, high = values
                middle = builder.op("floordiv", builder.add(low, high), context.i64(2))
                each = builder.load(
                    rows.buffer, rows.position(builder, [*index, middle]), fixed=True
                )
                if left:
                    before = _is_less(builder, each, element)
                else:
                    before = builder.op("not", _is_less(builder, element, each))
                return [
                    builder.select(before, builder.add(middle, one), low),
                    builder.select(before, high, middle),
                ]

            found, _ = builder.repeat_while(
                [context.i64(0), a.shape[-1]], lambda values: builder.lt(*values), body
            )
            builder.store(result.buffer, result.position(builder, [*index, at]), found)

    context.step([rows, elements], [result], emit)
    return [result]
