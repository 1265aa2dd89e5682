"""Prints functions for which AVX-512 has instructions (``PRIMITIVES`` of `loops.ir.operations`) as LLVM IR.

`functions` uses the class `Instructions` if the code is for a processor with AVX-512. The results have the same bits as
those of the functions' bodies.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_link.loops.ir.operations import width
from occelo_link.native.llvm.literals import constant, type_of
from occelo_link.native.llvm.module_writer import ModuleWriter

_ROOT_TWO = {
    "float64": float.fromhex("0x1.6a09e667f3bcdp0"),
    "float32": float.fromhex("0x1.6a09e6p0"),
}
"""The number from which on mantissas are halved, the same as in `elementary.building_blocks`."""
_MANTISSA, _ROUNDING = "12", "4"
"""Operands of the instructions: mantissas from 1 to 2, and NaN for negative numbers; the rounding that is set."""


def has_instructions(features: str) -> bool:
    """Whether a processor with LLVM's ``features`` has the instructions."""
    return {"+avx512f", "+avx512vl"} <= set(features.split(","))


class Instructions:
    """Prints instructions of AVX-512 for any number of lanes."""

    def __init__(self, out: ModuleWriter) -> None:
        self.declare = out.declare
        self.emit = out.emit

    def apply(self, name: str, dtype: str, args: Sequence[str], lanes: int) -> str:
        """Print the function ``name``, one of ``PRIMITIVES``."""
        if name.startswith("scale"):
            return self.call("scalef", dtype, args, lanes)
        m = self.call("getmant", dtype, args, lanes, _MANTISSA)
        kind, truth = type_of(dtype, lanes), type_of("bool", lanes)
        large = self.emit(f"fcmp oge {kind} {m}, {constant(_ROOT_TWO[dtype], dtype, lanes)}")
        if name.startswith("mantissa"):
            other = self.emit(f"fmul {kind} {m}, {constant(0.5, dtype, lanes)}")
        else:
            m = self.call("getexp", dtype, args, lanes)
            other = self.emit(f"fadd {kind} {m}, {constant(1.0, dtype, lanes)}")
        return self.emit(f"select {truth} {large}, {kind} {other}, {kind} {m}")

    def call(self, name: str, dtype: str, args: Sequence[str], lanes: int, *options: str) -> str:
        """Print calls of an instruction, one for each register that the lanes fill."""
        bits = width(dtype)
        size = min(max(128 // bits, 1 << (lanes - 1).bit_length()), 512 // bits)
        if size == lanes:
            return self.in_register(name, dtype, args, lanes, options)
        kind, part_kind, result = type_of(dtype, lanes), type_of(dtype, size), "poison"
        insert = f"@llvm.vector.insert.v{lanes}f{bits}.v{size}f{bits}"
        for first in range(0, lanes, size):
            parts = [self.part(dtype, each, lanes, first, size) for each in args]
            part = self.in_register(name, dtype, parts, size, options)
            if lanes < size:
                return self.part(dtype, part, size, 0, lanes)
            self.declare(f"declare {kind} {insert}({kind}, {part_kind}, i64 immarg)")
            listed = f"{kind} {result}, {part_kind} {part}, i64 {first}"
            result = self.emit(f"call {kind} {insert}({listed})")
        return result

    def in_register(
        self, name: str, dtype: str, args: Sequence[str], lanes: int, options: Sequence[str]
    ) -> str:
        bits, kind = lanes * width(dtype), type_of(dtype, lanes)
        operands = [*((kind, each) for each in args), *(("i32", each) for each in options)]
        operands += [(kind, "zeroinitializer"), (f"i{max(8, lanes)}", "-1")]
        operands += [("i32", _ROUNDING)] * (bits == 512)
        function = f"@llvm.x86.avx512.mask.{name}.p{'d' if dtype == 'float64' else 's'}.{bits}"
        kinds = (f"{each} immarg" if each == "i32" else each for each, _ in operands)
        self.declare(f"declare {kind} {function}({', '.join(kinds)})")
        return self.emit(f"call {kind} {function}({', '.join(map(' '.join, operands))})")

    def part(self, dtype: str, name: str, lanes: int, first: int, size: int) -> str:
        """Print ``size`` lanes of a vector, or of a scalar if ``lanes`` is 1. Lanes beyond its end may be anything."""
        kind = type_of(dtype, lanes)
        if size == 1:
            return self.emit(f"extractelement {kind} {name}, i32 0")
        if lanes == 1:
            return self.emit(f"insertelement {type_of(dtype, size)} poison, {kind} {name}, i32 0")
        taken = (f"i32 {k if k < lanes else 'poison'}" for k in range(first, first + size))
        mask = f"<{size} x i32> <{', '.join(taken)}>"
        return self.emit(f"shufflevector {kind} {name}, {kind} poison, {mask}")
