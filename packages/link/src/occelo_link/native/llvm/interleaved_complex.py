"""Vector loads and stores of interleaved complex numbers.

`vectors` and `vector_iteration` print with it. Real and imaginary parts alternate in memory. One load takes both
parts of all lanes, and shuffles separate them; a load of every second float would be a gather.
"""

from __future__ import annotations

from occelo_link.loops.ir.operations import is_float
from occelo_link.loops.ir.program import Buffer, Value, itemsize
from occelo_link.native.llvm.literals import memory_type
from occelo_link.native.llvm.module_writer import ModuleWriter
from occelo_link.native.llvm.scalars import Scalars

__all__ = ["Interleaved", "base_and_part", "suffix"]


def suffix(dtype: str, count: int) -> str:
    """The suffix of LLVM's intrinsics for a vector of elements in memory."""
    return f"v{count}" + ("f" if is_float(dtype) else "i") + str(itemsize(dtype) * 8)


def base_and_part(buffer: Buffer, offset: Value) -> tuple[Value, int] | None:
    """The offset of the complex number that an element belongs to, and its part: 0 (real) or 1; None if unknown."""
    if not buffer.holds.startswith("complex"):
        return None
    if offset.op == "add":
        for one, base in (offset.args, offset.args[::-1]):
            if one.op == "const" and one.args[0] == 1 and _is_even(base):
                return base, 1
    return (offset, 0) if _is_even(offset) else None


def _is_even(value: Value) -> bool:
    """Whether an integer is statically even."""
    if value.op == "const":
        return bool(value.args[0] % 2 == 0)
    if value.op == "mul":
        return any(map(_is_even, value.args))
    return value.op in ("add", "sub") and all(map(_is_even, value.args))


class Interleaved:
    """Loads and stores of both parts of complex numbers at once."""

    def __init__(self, out: ModuleWriter, scalars: Scalars) -> None:
        self.declare = out.declare
        self.emit = out.emit
        self.line = out.line
        self.address = scalars.address

    def _both_masks(self, mask: str, lanes: int) -> str:
        """The mask of all parts, from the mask of the numbers."""
        picks = ", ".join(f"i32 {i // 2}" for i in range(2 * lanes))
        kind = f"<{lanes} x i1>"
        return self.emit(
            f"shufflevector {kind} {mask}, {kind} poison, <{2 * lanes} x i32> <{picks}>"
        )

    def load_both(self, buffer: Buffer, base: str, lanes: int, mask: str | None) -> str:
        """The parts of the numbers from ``base`` on, side by side."""
        kind, size = f"<{2 * lanes} x {memory_type(buffer.dtype)}>", itemsize(buffer.dtype)
        address = self.address(buffer, base)
        if mask is None:
            return self.emit(f"load {kind}, ptr {address}, align {size}")
        name = f"@llvm.masked.load.{suffix(buffer.dtype, 2 * lanes)}.p0"
        masks = f"<{2 * lanes} x i1>"
        self.declare(f"declare {kind} {name}(ptr, i32, {masks}, {kind})")
        return self.emit(
            f"call {kind} {name}(ptr {address}, i32 {size}, "
            f"{masks} {self._both_masks(mask, lanes)}, {kind} zeroinitializer)"
        )

    def part_of(self, both: str, dtype: str, part: int, lanes: int) -> str:
        """One part of all numbers."""
        kind = f"<{2 * lanes} x {memory_type(dtype)}>"
        picks = ", ".join(f"i32 {2 * i + part}" for i in range(lanes))
        return self.emit(f"shufflevector {kind} {both}, {kind} poison, <{lanes} x i32> <{picks}>")

    def store_both(
        self, buffer: Buffer, base: str, re: str, im: str, lanes: int, mask: str | None
    ) -> None:
        """Store both parts of the numbers from ``base`` on."""
        element, size = memory_type(buffer.dtype), itemsize(buffer.dtype)
        one, kind = f"<{lanes} x {element}>", f"<{2 * lanes} x {element}>"
        picks = ", ".join(f"i32 {i // 2 + i % 2 * lanes}" for i in range(2 * lanes))
        both = self.emit(f"shufflevector {one} {re}, {one} {im}, <{2 * lanes} x i32> <{picks}>")
        address = self.address(buffer, base)
        if mask is None:
            self.line(f"store {kind} {both}, ptr {address}, align {size}")
            return
        name = f"@llvm.masked.store.{suffix(buffer.dtype, 2 * lanes)}.p0"
        masks = f"<{2 * lanes} x i1>"
        self.declare(f"declare void {name}({kind}, ptr, i32, {masks})")
        self.line(
            f"call void {name}({kind} {both}, ptr {address}, i32 {size}, "
            f"{masks} {self._both_masks(mask, lanes)})"
        )
