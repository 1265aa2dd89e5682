"""Operations, calls and functions of a program as LLVM functions of one lane, for generators of other code.

Each is a definition that takes the arguments and the table of addresses; its name is made from its text,
so that equal functions of several programs are one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

from occelo_link.loops.ir.program import Block, Invoke, Pointer, Program, Reference, Value
from occelo_link.native.llvm.functions import Functions
from occelo_link.native.llvm.literals import element_type, memory_type
from occelo_link.native.llvm.module_writer import Emission
from occelo_link.native.llvm.operations import Operations

__all__ = ["POINTER", "Exported", "export_call", "export_combination", "export_operation"]

POINTER = "pointer"
"""Stands for a dtype where an address is passed."""


class Exported(NamedTuple):
    """The symbol and text of an LLVM function; dtypes of its arguments and its result ("" if none)."""

    symbol: str
    text: str
    takes: tuple[str, ...]
    gives: str


def _type(dtype: str) -> str:
    return "ptr" if dtype == POINTER else element_type(dtype) if dtype else "void"


def _export(
    out: Emission, takes: Sequence[str], gives: str, emit: Callable[[list[str]], str]
) -> Exported:
    names = [f"%a{i}" for i in range(len(takes))]
    result = emit(names)
    params = "".join(f"{_type(t)} {n}, " for t, n in zip(takes, names, strict=True))
    text = "\n".join(
        [
            *sorted(out.declared),
            *out.outlined.values(),
            f"define {_type(gives)} @SYMBOL({params}ptr %table) alwaysinline nounwind {{",
            "entry:",
            *out.allocas,
            *out.header,
            *out.lines,
            f"  ret {_type(gives)} {result}".rstrip(),
            "}",
            "",
        ]
    )
    symbol = "occelo_" + hashlib.blake2b(text.encode(), digest_size=12).hexdigest()
    return Exported(symbol, text.replace("@SYMBOL", f"@{symbol}"), tuple(takes), gives)


def export_operation(program: Program, value: Value) -> Exported:
    """What computes a value from those of its arguments."""
    takes = [a.dtype for a in value.args if isinstance(a, Value)]
    out = Emission(program)
    functions = Functions(out, Operations(out))
    return _export(out, takes, value.dtype, lambda names: functions.pure(value, names, 1))


def export_combination(program: Program, op: str, dtype: str, lanes: int) -> Exported:
    """What combines partial results at an address: the upper half into the lower until one is left."""
    out = Emission(program)
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
    """A call of a function of the table; what it takes by reference is passed by value here."""
    out = Emission(program)
    takes = [
        POINTER if isinstance(a, Pointer) else (a.value if isinstance(a, Reference) else a).dtype
        for a in call.args
    ]
    gives = "" if call.result is None else call.result.dtype

    def emit(names: list[str]) -> str:
        listed: list[str] = []
        for argument, name, dtype in zip(call.args, names, takes, strict=True):
            if isinstance(argument, Reference):
                listed.append(f"ptr {out.held(name, dtype)}")
            else:
                listed.append(f"{_type(dtype)} {name}")
        text = f"call {_type(gives)} {out.entries[call.entry]}({', '.join(listed)})"
        if gives:
            return out.emit(text)
        out.line(text)
        return ""

    return _export(out, takes, gives, emit)
