"""Callbacks: compiled code calls Python to run an op that has no lowering to loops.

`BlockLinker` calls `loops.registry.can_be_callback` to find out which nodes without a lowering may still belong to a
block. `loops.build` lowers such nodes with `lower_callback`. `units.callbacks` contains the Python functions that
compiled code calls.

Callback k consists of two functions, whose addresses are in the table of the unit (`units.frame`). ``callback:<k>``
runs the op. It receives the addresses of the inputs and of an int64 array with their lengths. It appends the lengths of
the results to this array, and returns 0 on success. ``results:<k>`` receives the addresses of memory for the results,
and copies the results there. Both functions acquire the GIL.
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
from occelo_link.loops.float16 import from_float16_bits, to_float16_bits
from occelo_link.loops.ir.program import Buffer, Pointer, Value
from occelo_link.loops.loop_nests import copy_together
from occelo_link.loops.lowering import MEMORY_DTYPES, Context
from occelo_link.loops.tensor_groups import members_of, parts_of_type
from occelo_link.loops.tensors import Tensor, TensorGroup


def lower_callback(context: Context, node: Apply, inputs: list[Tensor]) -> Sequence[Tensor]:
    """Write the calls of a callback, and return the results of its node."""
    builder, program = context.builder, context.program
    number = len(program.callbacks)
    program.callbacks.append((*context.state.within, node))
    parts = [part for t in inputs for part in members_of(t)]
    addresses = [
        _address_of(context, t, k.dtype) for t, k in zip(parts, _kinds(node.inputs), strict=True)
    ]
    context.schedule.flush()
    lengths = [n for t in parts for n in t.shape]
    kinds = _kinds(node.outputs)
    count = len(lengths) + sum(kind.ndim for kind in kinds)
    slots = builder.buffer("int64", "work", ndim=1)
    builder.alloc(slots, context.i64(max(1, count)))
    for k, length in enumerate(lengths):
        builder.store(slots, context.i64(k), length)
    status = builder.invoke(
        f"callback:{number}", [Pointer(slots, context.i64(0)), *addresses], "int64", [slots]
    )
    assert status is not None
    context.check(builder.eq(status, context.i64(0)))
    results: list[Tensor] = []
    buffers: list[Buffer] = []
    at = len(lengths)
    for kind in kinds:
        buffer, result = _result_buffer(context, kind, slots, at)
        buffers.append(buffer)
        results.append(result)
        at += kind.ndim
    builder.invoke(
        f"results:{number}", [Pointer(b, context.i64(0)) for b in buffers], "int64", buffers
    )
    rest = iter(results)
    return [
        next(rest) if v.type.is_array else TensorGroup(list(islice(rest, len(_kinds([v])))))
        for v in node.outputs
    ]


def _kinds(variables: Sequence[Variable]) -> list[TensorType]:
    """The types of the arrays that the values of the variables consist of."""
    return [part for v in variables for part in parts_of_type(v.type)]


def _address_of(context: Context, tensor: Tensor, dtype: str) -> Pointer:
    """Store an input in the layout of a NumPy array, and return its address."""
    if not isinstance(tensor, ComplexTensor):
        stored = context.contiguous_copy(
            to_float16_bits(context, tensor) if dtype == "float16" else tensor
        )
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


def _result_buffer(
    context: Context, kind: TensorType, slots: Buffer, at: int
) -> tuple[Buffer, Tensor]:
    """Allocate a buffer for a result of a callback. Returns the buffer and the tensor that lies in it.

    ``slots`` holds the lengths that the callback has returned. The lengths of this result begin at position ``at``.
    """
    builder = context.builder
    shape: list[Value] = [
        builder.load(slots, context.i64(at + axis), fixed=True) if n is None else context.i64(n)
        for axis, n in enumerate(kind.shape)
    ]
    seen = MEMORY_DTYPES.get(kind.dtype, kind.dtype)
    buffer = builder.buffer(seen, "work", ndim=kind.ndim)
    if kind.dtype in PARTS:
        builder.alloc(buffer, builder.product([*shape, context.i64(2)]))
        return buffer, interleaved(context, buffer, shape)
    builder.alloc(buffer, builder.product(shape))
    stored: Tensor = context.over(buffer, shape)
    return buffer, from_float16_bits(context, stored) if kind.dtype == "float16" else stored
