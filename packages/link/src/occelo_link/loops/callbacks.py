"""Calls of Python from within a program, for ops that have no loops.

A program calls two functions of the table: ``host:<k>``, with an array of int64 that holds the lengths of the inputs
and takes those of the results, and with the addresses of the inputs, which returns 0 if all went well; then
``taken:<k>`` with addresses for the results. Both need the interpreter's lock, and see to it themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from occelo_graph import Apply, TensorType, Variable
from occelo_link.loops.complexes import (
    PARTS,
    ComplexTensor,
    interleaved,
    interleaved_parts,
    parts_of,
)
from occelo_link.loops.float16 import packed, unpacked
from occelo_link.loops.ir.program import Buffer, Pointer, Value
from occelo_link.loops.loop_nests import copy_together
from occelo_link.loops.lowering import IN_MEMORY, Context
from occelo_link.loops.registry import lies_in_arrays
from occelo_link.loops.tensor_groups import parts_of_type, pieces
from occelo_link.loops.tensors import Joined, Tensor

__all__ = ["hostable", "lower_host"]


def hostable(node: Apply) -> bool:
    """Whether a node that has no loops can be called from within a program: all its values lie in arrays."""
    op = node.op
    return not (op.lazy or op.destroy_map) and all(
        lies_in_arrays(v) for v in (*node.inputs, *node.outputs)
    )


def lower_host(context: Context, node: Apply, inputs: list[Tensor]) -> Sequence[Tensor]:
    """A call of the op in Python: with the parts of its inputs, for those of its results."""
    builder, program = context.builder, context.program
    number = len(program.hosts)
    program.hosts.append(node)
    parts = [part for t in inputs for part in pieces(t)]
    given = [_given(context, t, k.dtype) for t, k in zip(parts, _kinds(node.inputs), strict=True)]
    context.schedule.flush()
    lengths = [n for t in parts for n in t.shape]
    kinds = _kinds(node.outputs)
    count = len(lengths) + sum(kind.ndim for kind in kinds)
    slots = builder.buffer("int64", "work", ndim=1)
    builder.alloc(slots, context.i64(max(1, count)))
    for k, length in enumerate(lengths):
        builder.store(slots, context.i64(k), length)
    status = builder.invoke(
        f"host:{number}", [Pointer(slots, context.i64(0)), *given], "int64", [slots]
    )
    assert status is not None
    context.check(builder.eq(status, context.i64(0)))
    results: list[Tensor] = []
    buffers: list[Buffer] = []
    at = len(lengths)
    for kind in kinds:
        buffer, result = _room(context, kind, slots, at)
        buffers.append(buffer)
        results.append(result)
        at += kind.ndim
    builder.invoke(
        f"taken:{number}", [Pointer(b, context.i64(0)) for b in buffers], "int64", buffers
    )
    rest = iter(results)
    return [
        next(rest) if v.type.is_array else Joined(list(islice(rest, len(_kinds([v])))))
        for v in node.outputs
    ]


def _kinds(variables: Sequence[Variable]) -> list[TensorType]:
    """The types of the arrays that values of variables consist of."""
    return [part for v in variables for part in parts_of_type(v.type)]


def _given(context: Context, tensor: Tensor, dtype: str) -> Pointer:
    """Where an input lies, as NumPy has it in memory."""
    if not isinstance(tensor, ComplexTensor):
        stored = context.contiguous_copy(packed(context, tensor) if dtype == "float16" else tensor)
        return Pointer(stored.buffer, stored.offset)
    builder, shape = context.builder, tensor.shape
    buffer = builder.buffer(PARTS[dtype], "work", ndim=len(shape))

    def emit() -> None:
        lengths = [context.canonical(n) for n in shape]
        builder.alloc(buffer, builder.product([*lengths, context.i64(2)]))
        whole = interleaved_parts(context, buffer, lengths)
        copy_together(context, list(zip(parts_of(tensor), whole, strict=True)))

    context.step(parts_of(tensor), [], emit)
    return Pointer(buffer, context.i64(0))


def _room(context: Context, kind: TensorType, slots: Buffer, at: int) -> tuple[Buffer, Tensor]:
    """Memory for a result, whose lengths the call has said, and the tensor in it."""
    builder = context.builder
    shape: list[Value] = [
        builder.load(slots, context.i64(at + axis), fixed=True) if n is None else context.i64(n)
        for axis, n in enumerate(kind.shape)
    ]
    seen = IN_MEMORY.get(kind.dtype, kind.dtype)
    buffer = builder.buffer(seen, "work", ndim=kind.ndim)
    if kind.dtype in PARTS:
        builder.alloc(buffer, builder.product([*shape, context.i64(2)]))
        return buffer, interleaved(context, buffer, shape)
    builder.alloc(buffer, builder.product(shape))
    stored: Tensor = context.over(buffer, shape)
    return buffer, unpacked(context, stored) if kind.dtype == "float16" else stored
