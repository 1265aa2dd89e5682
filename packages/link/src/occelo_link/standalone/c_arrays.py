"""Writes arrays in C, with the exact bits of their elements. `exporting` and `example_calls` use it."""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_link.c.literals import literal, memory_type
from occelo_link.loops.lowering import MEMORY_DTYPES
from occelo_link.standalone.signature import C_TYPES

_PARTS = {"complex64": "float32", "complex128": "float64"}


def _numbers(array: Any) -> Any:
    """Return the elements as one row of numbers that C has: a complex number is two, and a float16 is its bits."""
    flat = np.ascontiguousarray(array).reshape(-1)
    dtype = _PARTS.get(flat.dtype.name, flat.dtype.name)
    return flat.view(MEMORY_DTYPES.get(dtype, dtype) if dtype == "float16" else dtype)


def _literals(numbers: Any) -> list[str]:
    dtype = numbers.dtype.name
    if dtype == "bool":
        return [str(int(n)) for n in numbers.tolist()]
    texts = [literal(n, dtype) for n in numbers.tolist()]
    short = memory_type(
        dtype
    )  # the literal of a small integer names its type as generated code does
    return [each.replace(f"({short})", f"({C_TYPES[dtype]})") for each in texts]


def elements_of(array: Any, plain: bool = False) -> list[Any]:
    """Return the elements as literals in C, or as Python's numbers if ``plain`` is true."""
    numbers = _numbers(array)
    return numbers.tolist() if plain else _literals(numbers)


def array_text(name: str, array: Any, const: str = "const ") -> str:
    """Return the definition of a static array in C. An empty array gets one element, since C has no empty arrays."""
    numbers = _numbers(array)
    kind = C_TYPES[np.asarray(array).dtype.name]
    if numbers.dtype.kind == "f" and np.isnan(numbers).any():
        # as integers, since the literal of a NaN would lose its bits
        numbers = numbers.view(f"uint{8 * numbers.itemsize}")
        return _array(f"{name}_bits", C_TYPES[numbers.dtype.name], numbers, const) + (
            f"\n#define {name} (({const}{kind} *){name}_bits)"
        )
    return _array(name, kind, numbers, const)


def _array(name: str, kind: str, numbers: Any, const: str) -> str:
    elements = _literals(numbers) or ["0"]
    rows = ",\n  ".join(", ".join(elements[i : i + 8]) for i in range(0, len(elements), 8))
    return f"static {const}{kind} {name}[{len(elements)}] = {{\n  {rows}}};"
