"""Calls of Python from within a program, for ops that have no loops.

A program calls two functions of the table: ``host:<k>``, with an array of int64 that holds the lengths of the inputs
and takes those of the results, and with the addresses of the inputs, which returns 0 if all went well; then
``taken:<k>`` with addresses for the results. Both need the interpreter's lock, and see to it themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from occelo_graph import Apply, TensorType
from occelo_link.loops.complexes import has_complex
from occelo_link.loops.halves import has_halves
from occelo_link.loops.ir.program import Pointer, Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.registry import supported_dtype
from occelo_link.loops.tensors import Stored, Tensor

__all__ = ["hostable", "lower_host"]


def hostable(node: Apply) -> bool:
    """Whether a node that has no loops can be called from within a program.

    It must have no effects, since a call that fails elsewhere is done once more, and tensors only.
    """
    op = node.op
    return (
        op.pure
        and not (op.lazy or op.destroy_map)
        and all(supported_dtype(v) for v in (*node.inputs, *node.outputs))
        and not (has_complex(node) or has_halves(node))
    )


def lower_host(context: Context, node: Apply, inputs: list[Tensor]) -> Sequence[Tensor]:
    """A call of the op in Python."""
    builder, program = context.builder, context.program
    number = len(program.hosts)
    program.hosts.append(node)
    given = [context.contiguous_copy(t) for t in inputs]
    context.schedule.flush()
    lengths = [n for t in given for n in t.shape]
    kinds: list[Any] = [v.type for v in node.outputs]
    count = len(lengths) + sum(kind.ndim for kind in kinds)
    slots = builder.buffer("int64", "work", ndim=1)
    builder.alloc(slots, context.i64(max(1, count)))
    for k, length in enumerate(lengths):
        builder.store(slots, context.i64(k), length)
    start = [Pointer(t.buffer, t.offset) for t in given]
    status = builder.invoke(
        f"host:{number}", [Pointer(slots, context.i64(0)), *start], "int64", [slots]
    )
    assert status is not None
    context.check(builder.eq(status, context.i64(0)))
    results: list[Stored] = []
    at = len(lengths)
    for kind in kinds:
        results.append(_room(context, kind, slots, at))
        at += kind.ndim
    buffers = [t.buffer for t in results]
    builder.invoke(
        f"taken:{number}", [Pointer(b, context.i64(0)) for b in buffers], "int64", buffers
    )
    return results


def _room(context: Context, kind: TensorType, slots: Any, at: int) -> Stored:
    """Memory for a result, whose lengths the call has said."""
    builder = context.builder
    shape: list[Value] = [
        builder.load(slots, context.i64(at + axis), fixed=True) if n is None else context.i64(n)
        for axis, n in enumerate(kind.shape)
    ]
    result = context.new_stored(kind.dtype, shape)
    builder.alloc(result.buffer, builder.product(shape))
    return result
