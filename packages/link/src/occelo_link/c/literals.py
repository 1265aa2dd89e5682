"""C's names for the dtypes of scalars, and constants as C literals.

The other modules of this package that write C use them.
"""

from __future__ import annotations

import math
from typing import Any

from occelo_link.loops.ir.operations import is_float

TYPES = {
    "bool": "_Bool",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "float32": "float",
    "float64": "double",
}
"""The C type of a scalar variable, for each dtype."""


def memory_type(dtype: str) -> str:
    """Return the C type of an array's elements. It differs from `TYPES` only for bool, which is a byte in memory."""
    return "u8" if dtype == "bool" else TYPES[dtype]


def literal(number: Any, dtype: str) -> str:
    """Return the C literal of a constant of dtype ``dtype``."""
    if is_float(dtype):
        suffix = "f" if dtype == "float32" else ""
        if math.isnan(number):
            return f'__builtin_nan{suffix}("")'
        if math.isinf(number):
            return f"{'-' if number < 0 else ''}__builtin_inf{suffix}()"
        return f"{float(number).hex()}{suffix}"
    if dtype == "bool":
        return "1" if number else "0"
    if dtype == "int64" and number == -(2**63):
        return "(-9223372036854775807LL - 1)"
    if dtype == "int64":
        return f"{number}LL"
    return f"(({TYPES[dtype]}){number}{'ULL' if dtype == 'uint64' else 'LL'})"
