"""Emitting lines of LLVM IR, and how dtypes and constants are written."""

from __future__ import annotations

import struct
from collections import Counter
from typing import Any

from occelo_link.loops.ir.operations import is_float, width
from occelo_link.loops.ir.program import Buffer, Program, Value

__all__ = ["Emission", "element_type", "literal", "memory_type"]

_BITS64 = struct.Struct("<d")


def element_type(dtype: str) -> str:
    """LLVM's type of a scalar in registers."""
    if dtype == "float64":
        return "double"
    return "float" if dtype == "float32" else f"i{width(dtype)}"


def memory_type(dtype: str) -> str:
    """LLVM's type of an element in memory."""
    return "i8" if dtype == "bool" else element_type(dtype)


def literal(number: Any, dtype: str) -> str:
    """A constant as LLVM writes it."""
    if is_float(dtype):
        return f"0x{int.from_bytes(_BITS64.pack(number), 'little'):016X}"
    return str(int(number))


class Emission:
    """The lines of a unit so far, and the names of what they define."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.lines: list[str] = []
        self.allocas: list[str] = []
        self.header: list[str] = []
        self.names: dict[int, str] = {}
        self.pointers: dict[Buffer, str] = {}
        self.slots: dict[Buffer, str] = {}
        self.functions: dict[str, str] = {}
        self.outlined: dict[tuple[str, int], str] = {}
        self.uses: Counter[str] = Counter(
            statement.args[0]
            for block in program.blocks()
            for statement in block
            if isinstance(statement, Value) and statement.op == "apply"
        )
        self.declared: set[str] = set()
        self.count = 0
        self.label = "entry"
        self.bump = ""
        self.stack_used = 0

    def fresh(self) -> str:
        self.count += 1
        return f"%t{self.count}"

    def emit(self, text: str) -> str:
        self.count += 1
        name = f"%t{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def line(self, text: str) -> None:
        self.lines.append("  " + text)

    def new_label(self, hint: str) -> str:
        self.count += 1
        return f"{hint}{self.count}"

    def place(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.label = label

    def declare(self, text: str) -> None:
        self.declared.add(text)
