"""Single elements: loads, stores, calls."""

from __future__ import annotations

from collections.abc import Sequence

from occelo_link.loops.ir.program import Buffer, Store, Value, itemsize
from occelo_link.native.frame import FIRST_INPUT, INPUT_SLOTS
from occelo_link.native.llvm.emission import element_type, literal, memory_type
from occelo_link.native.llvm.operations import Operations

__all__ = ["Scalars"]


class Scalars(Operations):
    """What loops without lanes are made of."""

    def use(self, value: Value) -> str:
        if value.op == "const":
            return literal(value.args[0], value.dtype)
        return self.names[value.number]

    def buffer(self, buffer: Buffer) -> str:
        if buffer in self.slots:
            return self.emit(f"load ptr, ptr {self.slots[buffer]}, align 8")
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
        if value.op == "call":
            return self.scalar_call(value.args[0], value.dtype, [
                (element_type(a.dtype), self.use(a)) for a in value.args[1:]
            ])  # fmt: skip
        if value.op == "rarely":
            return self.scalar_rarely(value)
        return self.operation(value, [self.use(a) for a in value.args], 1)

    def scalar_call(self, entry: str, dtype: str, args: Sequence[tuple[str, str]]) -> str:
        listed = ", ".join(f"{t} {v}" for t, v in args)
        return self.emit(f"call {element_type(dtype)} {self.functions[entry]}({listed})")

    def scalar_rarely(self, value: Value) -> str:
        condition, usual, entry, *args = value.args
        before, rare, done = self.label, self.new_label("rare"), self.new_label("done")
        usual_name = self.use(usual)
        self.line(f"br i1 {self.use(condition)}, label %{rare}, label %{done}")
        self.place(rare)
        called = self.scalar_call(
            entry, value.dtype, [(element_type(a.dtype), self.use(a)) for a in args]
        )
        self.line(f"br label %{done}")
        self.place(done)
        return self.emit(
            f"phi {element_type(value.dtype)} [ {usual_name}, %{before} ], [ {called}, %{rare} ]"
        )

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
