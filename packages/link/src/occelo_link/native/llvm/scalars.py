"""Single elements: loads, stores, calls."""

from __future__ import annotations

from occelo_link.loops.ir.program import Buffer, Store, Value, itemsize
from occelo_link.native.llvm.emission import literal, memory_type
from occelo_link.native.llvm.functions import Functions
from occelo_link.units.frame import FIRST_INPUT, INPUT_SLOTS

__all__ = ["Scalars"]


class Scalars(Functions):
    """What loops without lanes are made of."""

    def use(self, value: Value) -> str:
        if value.op == "const":
            return literal(value.args[0], value.dtype)
        return self.names[value.number]

    def buffer(self, buffer: Buffer) -> str:
        if buffer in self.slots:
            return self.emit(f"load ptr, ptr {self.slots[buffer]}, align 8")
        if buffer.space == "input" and buffer not in self.pointers:
            slot = FIRST_INPUT + INPUT_SLOTS * buffer.position
            address = self.emit(f"getelementptr i64, ptr %frame, i64 {slot}")
            return self.emit(f"load ptr, ptr {address}, align 8")
        if buffer.space == "constant" and buffer not in self.pointers:
            self.pointers[buffer] = self.functions[buffer.entry]
        return self.pointers[buffer]

    def address(self, buffer: Buffer, offset: str) -> str:
        pointer = self.buffer(buffer)
        if offset == "0":
            return pointer
        return self.emit(f"getelementptr {memory_type(buffer.dtype)}, ptr {pointer}, i64 {offset}")

    def scalar_load(self, buffer: Buffer, offset: str) -> str:
        address = self.address(buffer, offset)
        raw = self.emit(
            f"load {memory_type(buffer.dtype)}, ptr {address}, align {itemsize(buffer.dtype)}"
        )
        return self.emit(f"icmp ne i8 {raw}, 0") if buffer.dtype == "bool" else raw

    def scalar_operation(self, value: Value) -> str:
        if value.op == "load":
            return self.scalar_load(value.args[0], self.use(value.args[1]))
        if value.op in ("length", "stride"):
            return self.input_header(value)
        names = [self.use(a) for a in value.args if isinstance(a, Value)]
        return self.pure(value, names, 1)

    def input_header(self, value: Value) -> str:
        buffer, axis = value.args
        which = 1 if value.op == "length" else 2
        slot = FIRST_INPUT + INPUT_SLOTS * buffer.position + which
        address = self.emit(f"getelementptr i64, ptr %frame, i64 {slot}")
        array = self.emit(f"load ptr, ptr {address}, align 8")
        entry = self.emit(f"getelementptr i64, ptr {array}, i64 {axis}")
        number = self.emit(f"load i64, ptr {entry}, align 8")
        size = itemsize(buffer.dtype)
        if which == 2 and size > 1:
            number = self.emit(f"ashr exact i64 {number}, {size.bit_length() - 1}")
        return number

    def scalar_store(self, statement: Store) -> None:
        value = self.use(statement.value)
        dtype = statement.buffer.dtype
        address = self.address(statement.buffer, self.use(statement.offset))
        if dtype == "bool":
            value = self.emit(f"zext i1 {value} to i8")
        self.line(f"store {memory_type(dtype)} {value}, ptr {address}, align {itemsize(dtype)}")
