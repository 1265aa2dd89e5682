"""What loop programs mean and Python does not say: functions that printed programs call.

They are compiled with the program, and mean what `occelo_link.loops.ir.operations` says.
"""

# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnusedFunction=false
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, disallow-untyped-decorators=False
from __future__ import annotations

from typing import Any

import numpy as np

from occelo_link.numba.library import extending, ir, numba, types

__all__ = ["NAMESPACE"]

_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_inline = numba.njit(error_model="numpy")


def _bit_cast(target: Any, llvm: Any) -> Any:
    """An intrinsic that reads the bits of a number as those of another type."""

    @extending.intrinsic
    def cast(typing_context, value):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
            return builder.bitcast(args[0], llvm)

        return target(value), generate

    return cast


@extending.intrinsic
def fma(typing_context, x, y, z):  # type: ignore[no-untyped-def]
    """x y + z, rounded once."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.fma(*args)

    return x(x, y, z), generate


@_inline
def minimum(x, y):  # type: ignore[no-untyped-def]
    """The smaller, or NaN."""
    return x if x <= y or x != x else y


@_inline
def maximum(x, y):  # type: ignore[no-untyped-def]
    """The larger, or NaN."""
    return x if x >= y or x != x else y


def _of_integers(dtype: str) -> dict[str, Any]:
    """Division, remainder, shifts and absolute value of one type."""
    kind = getattr(np, dtype)
    signed = dtype.startswith("int")
    bits = np.int64(np.dtype(dtype).itemsize * 8)
    zero, one, minus = kind(0), kind(1), kind(-1) if signed else kind(0)

    @_inline
    def floordiv(x, y):  # type: ignore[no-untyped-def]
        if y == zero:
            return zero
        if signed and y == minus:
            return kind(zero - x)
        return kind(x // y)

    @_inline
    def remainder(x, y):  # type: ignore[no-untyped-def]
        if y == zero or (signed and y == minus):
            return zero
        return kind(x % y)

    @_inline
    def shl(x, y):  # type: ignore[no-untyped-def]
        n = np.int64(y)
        return kind(x << kind(n)) if n >= 0 and n < bits else zero

    @_inline
    def shr(x, y):  # type: ignore[no-untyped-def]
        n = np.int64(y)
        if n >= 0 and n < bits:
            return kind(x >> kind(n))
        return minus if signed and x < zero else zero

    @_inline
    def absolute(x):  # type: ignore[no-untyped-def]
        return kind(zero - x) if signed and x < zero else x

    del one
    found = {"floordiv": floordiv, "remainder": remainder, "shl": shl, "shr": shr, "abs": absolute}
    return {f"{name}_{dtype}": function for name, function in found.items()}


def _integer_of(source: str, bits: int) -> Any:
    """Conversion of floats, which gives the least integer where the value does not fit."""
    limit = float(2 ** (bits - 1))
    kind = np.int64 if bits == 64 else np.int32
    least = kind(-(2 ** (bits - 1)))

    @_inline
    def convert(x):  # type: ignore[no-untyped-def]
        return kind(x) if x >= -limit and x < limit else least

    return convert


def _unsigned_of(to_int64: Any) -> Any:
    half = float(2**63)

    @_inline
    def convert(x):  # type: ignore[no-untyped-def]
        if x >= half:
            return np.uint64(to_int64(x - half)) ^ np.uint64(2**63)
        return np.uint64(to_int64(x))

    return convert


NAMESPACE: dict[str, Any] = {"np": np, "fma": fma, "minimum": minimum, "maximum": maximum}
for _dtype in _INTEGERS:
    NAMESPACE.update(_of_integers(_dtype))
for _dtype in ("float32", "float64"):
    for _bits in (32, 64):
        NAMESPACE[f"int{_bits}_of_{_dtype}"] = _integer_of(_dtype, _bits)
    NAMESPACE[f"uint64_of_{_dtype}"] = _unsigned_of(NAMESPACE[f"int64_of_{_dtype}"])
for _float, _bits in (("float32", 32), ("float64", 64)):
    _llvm_float = ir.FloatType() if _bits == 32 else ir.DoubleType()
    for _integer in (f"int{_bits}", f"uint{_bits}"):
        NAMESPACE[f"bits_{_float}_{_integer}"] = _bit_cast(
            getattr(types, _integer), ir.IntType(_bits)
        )
        NAMESPACE[f"bits_{_integer}_{_float}"] = _bit_cast(getattr(types, _float), _llvm_float)
