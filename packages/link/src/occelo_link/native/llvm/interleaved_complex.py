"""Prints vector loads and stores of complex numbers, whose real and imaginary parts alternate in memory.

One load reads both parts of all lanes, and shuffles separate them. That is faster than a gather of every second
element. `vectors` and `vector_iteration` use this module.
"""

from __future__ import annotations

from occelo_link.loops.ir.operations import is_float
from occelo_link.loops.ir.program import Buffer, Value, itemsize
from occelo_link.native.llvm.literals import memory_type
from occelo_link.native.llvm.module_writer import ModuleWriter
from occelo_link.native.llvm.scalars import Scalars


def suffix(dtype: str, count: int) -> str:
    """Return the suffix of LLVM's intrinsics for a vector of elements in memory, such as "v8f64"."""
    return f"v{count}" + ("f" if is_float(dtype) else "i") + str(itemsize(dtype) * 8)


def base_and_part(buffer: Buffer, offset: Value) -> tuple[Value, int] | None:
    """Return the offset of the complex number that the element at ``offset`` belongs to, and which part the element is.

    The part is 0 for real and 1 for imaginary. Returns None if that is not known statically.
    """
    if not buffer.holds.startswith("complex"):
        return None
    if offset.op == "add":
        for one, base in (offset.args, offset.args[::-1]):
            if one.op == "const" and one.args[0] == 1 and _is_even(base):
                return base, 1
    return (offset, 0) if _is_even(offset) else None


def _is_even(value: Value) -> bool:
    """Whether an integer is known statically to be even."""
    if value.op == "const":
        return bool(value.args[0] % 2 == 0)
    if value.op == "mul":
        return any(map(_is_even, value.args))
    return value.op in ("add", "sub") and all(map(_is_even, value.args))


class Interleaved:
    """Prints loads and stores of both parts of complex numbers at once.

    ``lanes`` is the number of complex numbers, and ``mask`` selects the active ones; None means all.
    """

    def __init__(self, out: ModuleWriter, scalars: Scalars) -> None:
        self.declare = out.declare
        self.emit = out.emit
        self.line = out.line
        self.address = scalars.address

    def _both_masks(self, mask: str, lanes: int) -> str:
        """Print the mask of all parts, from the mask of the complex numbers."""
        picks = ", ".join(f"i32 {i // 2}" for i in range(2 * lanes))
        kind = f"<{lanes} x i1>"
        return self.emit(
            f"shufflevector {kind} {mask}, {kind} poison, <{2 * lanes} x i32> <{picks}>"
        )

    def load_both(self, buffer: Buffer, base: str, lanes: int, mask: str | None) -> str:
        """Print a load of consecutive complex numbers. ``base`` is the offset of the first. Returns a vector of all
        parts.
        """
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
        """Print a shuffle that selects the real parts (``part`` 0) or the imaginary parts (1) from a vector of all
        parts.
        """
        kind = f"<{2 * lanes} x {memory_type(dtype)}>"
        picks = ", ".join(f"i32 {2 * i + part}" for i in range(lanes))
        return self.emit(f"shufflevector {kind} {both}, {kind} poison, <{lanes} x i32> <{picks}>")

    def store_both(
        self, buffer: Buffer, base: str, re: str, im: str, lanes: int, mask: str | None
    ) -> None:
        """Print a store of consecutive complex numbers. ``base`` is the offset of the first."""
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
