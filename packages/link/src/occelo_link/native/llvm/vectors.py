"""Prints vector operations as LLVM IR: scalars in all lanes, masks, and loads and stores of vectors.

It is a part of the LLVM printer (`printer`); `vector_iteration` and `vector_loops` use it.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_link.loops.ir.program import Buffer, Value, itemsize
from occelo_link.native.llvm.interleaved_complex import suffix
from occelo_link.native.llvm.literals import constant, element_type, memory_type, type_of
from occelo_link.native.llvm.module_writer import ModuleWriter
from occelo_link.native.llvm.scalars import Scalars

_ALL = "splat (i1 true)"


class Vectors:
    """Prints vector operations.

    A ``mask`` selects the active lanes; None means all lanes. A bool is a byte in memory, and an ``i1`` in a register.
    """

    def __init__(self, out: ModuleWriter, scalars: Scalars) -> None:
        self.declare = out.declare
        self.emit = out.emit
        self.line = out.line
        self.use = scalars.use
        self.buffer = scalars.buffer

    def splat(self, name: str, dtype: str, lanes: int) -> str:
        """Print a vector that has a scalar in all lanes."""
        kind, scalar = type_of(dtype, lanes), element_type(dtype)
        first = self.emit(f"insertelement {kind} poison, {scalar} {name}, i32 0")
        zeros = f"<{lanes} x i32> zeroinitializer"
        return self.emit(f"shufflevector {kind} {first}, {kind} poison, {zeros}")

    def spread(self, value: Value, lanes: int) -> str:
        """Print a vector with one value, which comes from outside of the loop, in all lanes."""
        if value.op == "const":
            return constant(value.args[0], value.dtype, lanes)
        return self.splat(self.use(value), value.dtype, lanes)

    def count_from(self, first: str, lanes: int) -> str:
        """Print a vector of consecutive integers, with ``first`` in the first lane."""
        spread = self.splat(first, "int64", lanes)
        steps = ", ".join(f"i64 {i}" for i in range(lanes))
        return self.emit(f"add <{lanes} x i64> {spread}, <{steps}>")

    def remainder_mask(self, index: str, stop: str, lanes: int) -> str:
        """Print the mask of the lanes whose index is less than ``stop``."""
        left = self.emit(f"sub i64 {stop}, {index}")
        narrow = self.emit(f"trunc i64 {left} to i32")
        spread = self.splat(narrow, "int32", lanes)
        steps = ", ".join(f"i32 {i}" for i in range(lanes))
        return self.emit(f"icmp slt <{lanes} x i32> <{steps}>, {spread}")

    def addresses(self, buffer: Buffer, offsets: str, lanes: int) -> str:
        """Print the addresses of a buffer's elements at a vector of offsets."""
        return self.emit(
            f"getelementptr {memory_type(buffer.dtype)}, ptr {self.buffer(buffer)}, "
            f"<{lanes} x i64> {offsets}"
        )

    def load(self, dtype: str, address: str, lanes: int, mask: str | None) -> str:
        """Print a load of consecutive elements."""
        kind, size = f"<{lanes} x {memory_type(dtype)}>", itemsize(dtype)
        if mask is None:
            return self._truth(self.emit(f"load {kind}, ptr {address}, align {size}"), dtype, kind)
        name = f"@llvm.masked.load.{suffix(dtype, lanes)}.p0"
        self.declare(f"declare {kind} {name}(ptr, i32, <{lanes} x i1>, {kind})")
        raw = self.emit(
            f"call {kind} {name}(ptr {address}, i32 {size}, "
            f"<{lanes} x i1> {mask}, {kind} zeroinitializer)"
        )
        return self._truth(raw, dtype, kind)

    def load_each(self, buffer: Buffer, offsets: Sequence[str], lanes: int) -> str:
        """Print a load of the elements at the offsets, with one instruction for each."""
        memory, pointer = memory_type(buffer.dtype), self.buffer(buffer)
        kind, vector = f"<{lanes} x {memory}>", "poison"
        for k, offset in enumerate(offsets):
            own = self.emit(f"getelementptr {memory}, ptr {pointer}, i64 {offset}")
            element = self.emit(f"load {memory}, ptr {own}, align {itemsize(buffer.dtype)}")
            vector = self.emit(f"insertelement {kind} {vector}, {memory} {element}, i32 {k}")
        return self._truth(vector, buffer.dtype, kind)

    def load_apart(self, dtype: str, address: str, stride: int, lanes: int) -> str:
        """Print a load of elements that are ``stride`` elements apart, with one instruction for each."""
        memory = memory_type(dtype)
        kind, vector = f"<{lanes} x {memory}>", "poison"
        for k in range(lanes):
            own = self.emit(f"getelementptr {memory}, ptr {address}, i64 {k * stride}")
            element = self.emit(f"load {memory}, ptr {own}, align {itemsize(dtype)}")
            vector = self.emit(f"insertelement {kind} {vector}, {memory} {element}, i32 {k}")
        return self._truth(vector, dtype, kind)

    def gather(self, dtype: str, addresses: str, lanes: int, mask: str | None) -> str:
        """Print a load of the elements at a vector of addresses."""
        kind = f"<{lanes} x {memory_type(dtype)}>"
        name = f"@llvm.masked.gather.{suffix(dtype, lanes)}.v{lanes}p0"
        self.declare(f"declare {kind} {name}(<{lanes} x ptr>, i32, <{lanes} x i1>, {kind})")
        raw = self.emit(
            f"call {kind} {name}(<{lanes} x ptr> {addresses}, i32 {itemsize(dtype)}, "
            f"<{lanes} x i1> {mask or _ALL}, {kind} zeroinitializer)"
        )
        return self._truth(raw, dtype, kind)

    def _truth(self, raw: str, dtype: str, kind: str) -> str:
        return self.emit(f"icmp ne {kind} {raw}, zeroinitializer") if dtype == "bool" else raw

    def stored(self, value: str, dtype: str, lanes: int) -> str:
        """Print the conversion of a vector from registers to the form that it has in memory."""
        if dtype != "bool":
            return value
        return self.emit(f"zext <{lanes} x i1> {value} to <{lanes} x {memory_type(dtype)}>")

    def store(self, dtype: str, address: str, value: str, lanes: int, mask: str | None) -> None:
        """Print a store of consecutive elements; ``value`` has the form of memory."""
        kind, size = f"<{lanes} x {memory_type(dtype)}>", itemsize(dtype)
        if mask is None:
            self.line(f"store {kind} {value}, ptr {address}, align {size}")
            return
        name, masks = f"@llvm.masked.store.{suffix(dtype, lanes)}.p0", f"<{lanes} x i1>"
        self.declare(f"declare void {name}({kind}, ptr, i32, {masks})")
        self.line(f"call void {name}({kind} {value}, ptr {address}, i32 {size}, {masks} {mask})")

    def scatter(self, dtype: str, addresses: str, value: str, lanes: int, mask: str | None) -> None:
        """Print a store of elements at a vector of addresses; ``value`` has the form of memory."""
        kind, size = f"<{lanes} x {memory_type(dtype)}>", itemsize(dtype)
        name, masks = f"@llvm.masked.scatter.{suffix(dtype, lanes)}.v{lanes}p0", f"<{lanes} x i1>"
        self.declare(f"declare void {name}({kind}, <{lanes} x ptr>, i32, {masks})")
        self.line(
            f"call void {name}({kind} {value}, "
            f"<{lanes} x ptr> {addresses}, i32 {size}, {masks} {mask or _ALL})"
        )
