"""Prints single operations and calls of a program as LLVM functions of scalars.

Numba would compute some operations differently from ``native``. For these operations `numba.printer` calls functions
that this module prints. The body of such a function is the text that ``native`` prints. Its arguments are those of the
operation, and the table of addresses. Its symbol is a digest of its text. So equal functions, which several programs
may need, are defined once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

from occelo_link.loops.ir.program import Block, Invoke, Pointer, Program, Reference, Value
from occelo_link.native.llvm.functions import Functions
from occelo_link.native.llvm.literals import element_type, memory_type
from occelo_link.native.llvm.module_writer import ModuleWriter
from occelo_link.native.llvm.operations import Operations

POINTER = "pointer"
"""The dtype of an argument that is an address."""


class Exported(NamedTuple):
    """A printed LLVM function: its symbol, its text, and the dtypes of its arguments and of its result.

    The dtype of the result is "" if the function returns nothing.
    """

    symbol: str
    text: str
    argument_dtypes: tuple[str, ...]
    result_dtype: str


def _type(dtype: str) -> str:
    return "ptr" if dtype == POINTER else element_type(dtype) if dtype else "void"


def _export(
    out: ModuleWriter,
    argument_dtypes: Sequence[str],
    result_dtype: str,
    emit: Callable[[list[str]], str],
) -> Exported:
    names = [f"%a{i}" for i in range(len(argument_dtypes))]
    result = emit(names)
    params = "".join(f"{_type(t)} {n}, " for t, n in zip(argument_dtypes, names, strict=True))
    text = "\n".join(
        [
            *sorted(out.declared),
            *out.outlined.values(),
            f"define {_type(result_dtype)} @SYMBOL({params}ptr %table) alwaysinline nounwind {{",
            "entry:",
            *out.allocas,
            *out.header,
            *out.lines,
            f"  ret {_type(result_dtype)} {result}".rstrip(),
            "}",
            "",
        ]
    )
    symbol = "occelo_" + hashlib.blake2b(text.encode(), digest_size=12).hexdigest()
    return Exported(
        symbol, text.replace("@SYMBOL", f"@{symbol}"), tuple(argument_dtypes), result_dtype
    )


def export_operation(program: Program, value: Value) -> Exported:
    """Print a function that computes one value of a program, an operation or a call, from the value's arguments."""
    argument_dtypes = [a.dtype for a in value.args if isinstance(a, Value)]
    out = ModuleWriter(program)
    functions = Functions(out, Operations(out))
    return _export(out, argument_dtypes, value.dtype, lambda names: functions.pure(value, names, 1))


def export_combine(program: Program, op: str, dtype: str, lanes: int) -> Exported:
    """Print a function that combines the accumulators of all lanes, which are stored at an address.

    The upper half of the accumulators is combined with the lower half until one is left.
    """
    out = ModuleWriter(program)
    operations = Operations(out)
    kind = memory_type(dtype)
    block = Block(None)
    x = Value(0, dtype, "param", (), block)
    pair = Value(1, dtype, op, (x, x), block)

    def emit(names: list[str]) -> str:
        parts: list[str] = []
        for lane in range(lanes):
            at = out.emit(f"getelementptr {kind}, ptr {names[0]}, i64 {lane}")
            part = out.emit(f"load {kind}, ptr {at}")
            parts.append(out.emit(f"icmp ne i8 {part}, 0") if dtype == "bool" else part)
        while len(parts) > 1:
            half = len(parts) // 2
            halves = zip(parts[:half], parts[half:], strict=True)
            parts = [operations.operation(pair, both, 1) for both in halves]
        return parts[0]

    return _export(out, [POINTER], dtype, emit)


def export_call(program: Program, call: Invoke) -> Exported:
    """Print a function that calls a library function, by its address in the table.

    Arguments that the library function expects by reference are passed to the printed function by value. The printed
    function stores them on the stack and passes on their addresses.
    """
    out = ModuleWriter(program)
    argument_dtypes = [
        POINTER if isinstance(a, Pointer) else (a.value if isinstance(a, Reference) else a).dtype
        for a in call.args
    ]
    result_dtype = "" if call.result is None else call.result.dtype

    def emit(names: list[str]) -> str:
        listed: list[str] = []
        for argument, name, dtype in zip(call.args, names, argument_dtypes, strict=True):
            if isinstance(argument, Reference):
                listed.append(f"ptr {out.reference_to(name, dtype)}")
            else:
                listed.append(f"{_type(dtype)} {name}")
        text = f"call {_type(result_dtype)} {out.entries[call.entry]}({', '.join(listed)})"
        if result_dtype:
            return out.emit(text)
        out.line(text)
        return ""

    return _export(out, argument_dtypes, result_dtype, emit)
