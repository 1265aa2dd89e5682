"""Types and constants as text of LLVM IR, for one lane or several.

Most modules of the LLVM printer use it.
"""

from __future__ import annotations

import struct
from typing import Any

from occelo_link.loops.ir.operations import is_float, width

_BITS64 = struct.Struct("<d")


def element_type(dtype: str) -> str:
    """Return LLVM's type of a scalar in a register."""
    if dtype == "float64":
        return "double"
    return "float" if dtype == "float32" else f"i{width(dtype)}"


def memory_type(dtype: str) -> str:
    """Return LLVM's type of an element in memory. It differs from `element_type` only for bool, which is a byte in
    memory.
    """
    return "i8" if dtype == "bool" else element_type(dtype)


def type_of(dtype: str, lanes: int) -> str:
    """Return LLVM's type of a value in registers: a scalar for one lane, or a vector for several lanes."""
    scalar = element_type(dtype)
    return scalar if lanes == 1 else f"<{lanes} x {scalar}>"


def literal(number: Any, dtype: str) -> str:
    """Return a number as an LLVM literal."""
    if is_float(dtype):
        return f"0x{int.from_bytes(_BITS64.pack(number), 'little'):016X}"
    return str(int(number))


def constant(number: Any, dtype: str, lanes: int) -> str:
    """Return a number as an LLVM constant that has this number in all lanes."""
    text = literal(number, dtype)
    if lanes == 1:
        return text
    if number == 0 and not (is_float(dtype) and str(number)[0] == "-"):
        return "zeroinitializer"
    return f"splat ({element_type(dtype)} {text})"
