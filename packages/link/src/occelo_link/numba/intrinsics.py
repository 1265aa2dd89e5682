"""Numba intrinsics that printed programs call: exported LLVM functions and memory operations.

`numba.compiling` adds them to the namespace in which a printed program is compiled. `as_numba` uses some of them
directly.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from occelo_link.loops.ir.program import itemsize
from occelo_link.native.llvm.exports import POINTER, Exported
from occelo_link.numba.library import (
    Builder,
    Context,
    Intrinsic,
    IRType,
    IRValue,
    NumbaType,
    Signature,
    arrays,
    binding,
    cgutils,
    errors,
    extending,
    imputils,
    ir,
    types,
)
from occelo_link.numba.printer import Memory
from occelo_link.units.frame import ALLOC_OUTPUT, ARENA, ARENA_END, GROW, POLL, TAKE

Args = Sequence[IRValue]
Generate = Callable[[Context, Builder, Signature, Args], IRValue]
"""A function that builds the LLVM IR of a call of an intrinsic."""
Definition = tuple[Signature, Generate]
Made = tuple[int, NumbaType, Generate]
"""The number of an intrinsic's arguments, the type of its result, and the function that builds its code."""

_I64: IRType = ir.IntType(64)


def _scalar(dtype: str) -> NumbaType:
    """Return Numba's type of a scalar."""
    return types.boolean if dtype == "bool" else getattr(types, dtype)


def _memory(dtype: str) -> IRType:
    """Return LLVM's type of an element in memory."""
    if dtype in ("float64", "float32"):
        return ir.DoubleType() if dtype == "float64" else ir.FloatType()
    return ir.IntType(8 * itemsize(dtype))


def pointer_type(dtype: str) -> NumbaType:
    """Return Numba's type of a pointer to elements. A bool is a byte in memory."""
    return types.CPointer(types.uint8 if dtype == "bool" else getattr(types, dtype))


def _intrinsic(name: str, arity: int, define: Callable[..., Definition]) -> Intrinsic:
    """Make an intrinsic with a fixed number of arguments. Numba does not accept a variable number."""
    params = "".join(f", a{i}" for i in range(arity))
    namespace: dict[str, Any] = {"define": define}
    exec(f"def {name}(context{params}):\n    return define(context{params})\n", namespace)
    return extending.intrinsic(namespace[name])


def _defining(result: NumbaType, generate: Generate) -> Callable[..., Definition]:
    """Return the definition of an intrinsic whose arguments may have any types."""

    def define(context: Context, *args: NumbaType) -> Definition:
        return result(*args), generate

    return define


def _load_slot(builder: Builder, base: IRValue, slot: IRValue | int, kind: IRType) -> IRValue:
    """Build a load of a pointer from a slot of the frame or the table."""
    number = slot if isinstance(slot, ir.Value) else ir.Constant(_I64, slot)
    address = builder.gep(base, [number])
    return builder.load(builder.bitcast(address, kind.as_pointer()))


def _call_service(
    builder: Builder,
    frame: IRValue,
    table: IRValue,
    slot: int,
    args: Sequence[IRValue],
    kind: IRType,
) -> IRValue:
    argument_dtypes = [frame.type, *(a.type for a in args)]
    function = ir.FunctionType(kind, argument_dtypes).as_pointer()
    return builder.call(_load_slot(builder, table, slot, function), [frame, *args])


def _bytes(builder: Builder, count: IRValue, dtype: str) -> IRValue:
    """Build the number of bytes of ``count`` elements, rounded up so that the next allocation has an alignment of 64."""
    size = builder.mul(count, ir.Constant(_I64, itemsize(dtype)))
    return builder.and_(builder.add(size, ir.Constant(_I64, 127)), ir.Constant(_I64, -64))


def _pointer(memory: Memory) -> Made:
    kind = _memory(memory.dtype).as_pointer()

    def generate(context: Context, builder: Builder, signature: Signature, args: Args) -> IRValue:
        return _load_slot(builder, args[0], args[1], kind)

    return 2, pointer_type(memory.dtype), generate


def _same(memory: Memory) -> Made:
    kind = _memory(memory.dtype).as_pointer()

    def generate(context: Context, builder: Builder, signature: Signature, args: Args) -> IRValue:
        return builder.bitcast(args[0], kind)

    return 1, pointer_type(memory.dtype), generate


def _stack(memory: Memory) -> Made:
    kind = _memory(memory.dtype)

    def generate(context: Context, builder: Builder, signature: Signature, args: Args) -> IRValue:
        room = cgutils.alloca_once(builder, ir.ArrayType(kind, memory.number))
        room.align = 64
        return builder.bitcast(room, kind.as_pointer())

    return 0, pointer_type(memory.dtype), generate


def _output(memory: Memory) -> Made:
    kind = _memory(memory.dtype).as_pointer()

    def generate(context: Context, builder: Builder, signature: Signature, args: Args) -> IRValue:
        frame, table, position, *lengths = args
        listed = cgutils.alloca_once(builder, ir.ArrayType(_I64, max(1, len(lengths))))
        first = builder.bitcast(listed, _I64.as_pointer())
        for axis, length in enumerate(lengths):
            builder.store(length, builder.gep(first, [ir.Constant(_I64, axis)]))
        return _call_service(builder, frame, table, ALLOC_OUTPUT, [position, first], kind)

    return 3 + memory.number, pointer_type(memory.dtype), generate


def _grow(memory: Memory) -> Made:
    kind = _memory(memory.dtype).as_pointer()

    def generate(context: Context, builder: Builder, signature: Signature, args: Args) -> IRValue:
        frame, table, count = args
        size = _bytes(builder, count, memory.dtype)
        return _call_service(builder, frame, table, GROW, [size], kind)

    return 3, pointer_type(memory.dtype), generate


def _take(memory: Memory) -> Made:
    """An intrinsic that gives an output the memory of the input that it updates, or a copy of this memory."""
    kind = _memory(memory.dtype).as_pointer()

    def generate(context: Context, builder: Builder, signature: Signature, args: Args) -> IRValue:
        frame, table, position, taken, count = args
        size = builder.mul(count, ir.Constant(_I64, itemsize(memory.dtype)))
        return _call_service(builder, frame, table, TAKE, [position, taken, size], kind)

    return 5, pointer_type(memory.dtype), generate


def _poll(memory: Memory) -> Made:
    def generate(context: Context, builder: Builder, signature: Signature, args: Args) -> IRValue:
        frame, table = args
        status = _call_service(builder, frame, table, POLL, [], _I64)
        return builder.icmp_signed("!=", status, ir.Constant(_I64, 0))

    return 2, types.boolean, generate


def _work(memory: Memory) -> Made:
    """An intrinsic that allocates working memory, in the arena or, if the arena has no room, by the service `GROW`."""
    kind = _memory(memory.dtype).as_pointer()

    def generate(context: Context, builder: Builder, signature: Signature, args: Args) -> IRValue:
        frame, table, count = args
        size = _bytes(builder, count, memory.dtype)
        free = builder.gep(frame, [ir.Constant(_I64, ARENA)])
        at = builder.load(free)
        after = builder.add(at, size)
        end = builder.load(builder.gep(frame, [ir.Constant(_I64, ARENA_END)]))
        result = cgutils.alloca_once(builder, kind)
        with builder.if_else(builder.icmp_unsigned("<=", after, end)) as (fits, grows):
            with fits:
                builder.store(builder.inttoptr(at, kind), result)
                builder.store(after, free)
            with grows:
                grown = _call_service(builder, frame, table, GROW, [size], kind)
                builder.store(grown, result)
        return builder.load(result)

    return 3, pointer_type(memory.dtype), generate


def _number(memory: Memory) -> Made:
    def generate(context: Context, builder: Builder, signature: Signature, args: Args) -> IRValue:
        return builder.ptrtoint(args[0], _I64)

    return 1, types.int64, generate


def _hold(memory: Memory) -> Made:
    """An intrinsic that keeps its argument alive up to this point, and does nothing else."""

    def generate(context: Context, builder: Builder, signature: Signature, args: Args) -> IRValue:
        return context.get_dummy_value()

    return 1, types.none, generate


def _call(memory: Memory) -> Made:
    """An intrinsic that calls the function at the address ``memory.number`` with a frame and a number."""

    def generate(context: Context, builder: Builder, signature: Signature, args: Args) -> IRValue:
        kind = ir.FunctionType(_I64, [a.type for a in args]).as_pointer()
        address = context.add_dynamic_addr(builder, memory.number, info="occelo")
        return builder.call(builder.bitcast(address, kind), args)

    return 2, types.int64, generate


def _null(memory: Memory) -> Made:
    def generate(context: Context, builder: Builder, signature: Signature, args: Args) -> IRValue:
        return cgutils.is_null(builder, args[0])

    return 1, types.boolean, generate


def _nothing(memory: Memory) -> Made:
    kind = _memory(memory.dtype).as_pointer()

    def generate(context: Context, builder: Builder, signature: Signature, args: Args) -> IRValue:
        return cgutils.get_null_value(kind)

    return 0, pointer_type(memory.dtype), generate


_MAKERS: dict[str, Callable[[Memory], Made]] = {
    "pointer": _pointer,
    "same": _same,
    "stack": _stack,
    "output": _output,
    "grow": _grow,
    "poll": _poll,
    "take": _take,
    "work": _work,
    "null": _null,
    "nothing": _nothing,
    "number": _number,
    "hold": _hold,
    "call": _call,
}


@functools.cache
def memory_intrinsic(memory: Memory) -> Intrinsic:
    """Return the intrinsic of a memory operation."""
    if memory.action == "address":
        return _address()
    arity, result, generate = _MAKERS[memory.action](memory)
    return _intrinsic(memory.action, arity, _defining(result, generate))


def _address() -> Intrinsic:
    def generate(context: Context, builder: Builder, signature: Signature, args: Args) -> IRValue:
        return builder.gep(args[0], [args[1]])

    def define(context: Context, base: NumbaType, offset: NumbaType) -> Definition:
        return base(base, offset), generate

    return _intrinsic("address", 2, define)


def address_intrinsic(address: int) -> Intrinsic:
    """Return an intrinsic that returns an address of this process. Numba must not cache it."""

    def generate(context: Context, builder: Builder, signature: Signature, args: Args) -> IRValue:
        pointer = context.add_dynamic_addr(builder, address, info="occelo")
        return builder.bitcast(pointer, _I64.as_pointer())

    return _intrinsic("address_of", 0, _defining(pointer_type("int64"), generate))


def argument_intrinsic(dtype: str, ndim: int, slot: int) -> Intrinsic:
    """Return an intrinsic that stores an argument in the frame.

    For an array it stores the addresses of the data, the lengths and the strides. For a number it stores the address of
    the number.
    """
    kind = _scalar(dtype)

    def held(builder: Builder, value: IRValue) -> IRValue:
        return builder.ptrtoint(cgutils.alloca_once_value(builder, value), _I64)

    def of_array(
        context: Context, builder: Builder, signature: Signature, args: Sequence[IRValue]
    ) -> IRValue:
        frame, array = args
        struct = context.make_array(signature.args[1])(context, builder, array)
        parts = [builder.ptrtoint(struct.data, _I64)]
        parts += [held(builder, part) for part in (struct.shape, struct.strides)]
        for k, part in enumerate(parts):
            builder.store(part, builder.gep(frame, [ir.Constant(_I64, slot + k)]))
        return context.get_dummy_value()

    def of_number(
        context: Context, builder: Builder, signature: Signature, args: Sequence[IRValue]
    ) -> IRValue:
        value = context.cast(builder, args[1], signature.args[1], kind)
        stored = context.get_value_as_data(builder, kind, value)
        builder.store(held(builder, stored), builder.gep(args[0], [ir.Constant(_I64, slot)]))
        return context.get_dummy_value()

    def define(context: Context, frame: NumbaType, given: NumbaType) -> Definition:
        if not ndim and isinstance(given, types.Number | types.Boolean):
            return types.none(frame, given), of_number
        right = isinstance(given, types.Array) and (given.dtype, given.ndim) == (kind, ndim)
        if not right:
            raise errors.TypingError(
                f"an array of {dtype} with {ndim} dimensions is needed, not {given}"
            )
        return types.none(frame, given), of_array

    return _intrinsic("enter", 2, define)


def result_intrinsic(dtype: str, ndim: int, record: int) -> Intrinsic:
    """Return an intrinsic that makes the array of an output from its slots in the frame. The array owns its memory."""
    kind = types.Array(_scalar(dtype), ndim, "C")

    def generate(context: Context, builder: Builder, signature: Signature, args: Args) -> IRValue:
        def slot(number: int) -> IRValue:
            return builder.load(builder.gep(args[0], [ir.Constant(_I64, record + number)]))

        memory = builder.inttoptr(slot(2), ir.IntType(8).as_pointer())
        array = context.make_array(kind)(context, builder)
        data = context.nrt.meminfo_data(builder, memory)
        lengths = [slot(3 + axis) for axis in range(ndim)]
        size = ir.Constant(_I64, itemsize(dtype))
        strides: list[IRValue] = []
        step = size
        for length in reversed(lengths):
            strides.insert(0, step)
            step = builder.mul(step, length)
        arrays.populate_array(
            array,
            data=builder.bitcast(data, array.data.type),
            shape=lengths,
            strides=strides,
            itemsize=size,
            meminfo=memory,
        )
        return imputils.impl_ret_new_ref(context, builder, kind, array._getvalue())

    return _intrinsic("result", 1, _defining(kind, generate))


@functools.cache
def _exported_intrinsic(exported: Exported) -> Intrinsic:
    """Return the intrinsic of an exported LLVM function. Numba compiles the function's text once and links it to its
    callers.
    """
    libraries: list[Any] = []
    result = _scalar(exported.result_dtype) if exported.result_dtype else types.none

    def generate(context: Context, builder: Builder, signature: Signature, args: Args) -> IRValue:
        if not libraries:
            library = context.codegen().create_library(exported.symbol)
            library.add_llvm_module(binding.parse_assembly(exported.text))
            library.finalize()
            libraries.append(library)
        context.active_code_library.add_linking_library(libraries[0])
        result_dtype = _value(exported.result_dtype) if exported.result_dtype else ir.VoidType()
        kind = ir.FunctionType(result_dtype, [a.type for a in args])
        function = cgutils.get_or_insert_function(builder.module, kind, exported.symbol)
        result = builder.call(function, args)
        return result if exported.result_dtype else context.get_dummy_value()

    def define(context: Context, *args: NumbaType) -> Definition:
        argument_dtypes = [
            a if t == POINTER else _scalar(t)
            for t, a in zip((*exported.argument_dtypes, POINTER), args, strict=True)
        ]
        return result(*argument_dtypes), generate

    return _intrinsic(exported.symbol, len(exported.argument_dtypes) + 1, define)


def _value(dtype: str) -> IRType:
    """Return LLVM's type of a scalar in a register."""
    return ir.IntType(1) if dtype == "bool" else _memory(dtype)


def namespace_of(calls: Mapping[str, Memory | Exported]) -> dict[str, Any]:
    """Return the namespace in which the text of a printed program runs: NumPy and the intrinsics in ``calls``."""
    namespace: dict[str, Any] = {"np": np}
    for name, call in calls.items():
        namespace[name] = (
            memory_intrinsic(call) if isinstance(call, Memory) else _exported_intrinsic(call)
        )
    return namespace
