"""Prints scalar code as LLVM IR: loads, stores and operations outside of vector loops.

It is a part of the LLVM printer (`printer`). A `Scalars` object also has the names of all values and buffers. The
printers of loops and memory look up the names in this object. `vectors` prints loads and stores of vectors.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from occelo_link.loops.ir.program import Buffer, Store, Value, itemsize
from occelo_link.native.llvm.functions import Functions
from occelo_link.native.llvm.literals import literal, memory_type
from occelo_link.native.llvm.module_writer import ModuleWriter
from occelo_link.units.frame import FIRST_INPUT, INPUT_SLOTS


class Scalars:
    """Prints statements outside of vector loops.

    - ``names``: maps the number of a value to the value's name in LLVM IR.
    - ``pointers``: maps a buffer to the name of its address, if the address does not change.
    - ``slots``: maps a buffer whose address changes to the name of the stack slot that holds the address.
    - ``headers``: some slots of the frame hold the address of an input's lengths or strides. ``headers`` maps such a
      slot to the name of the address.
    """

    def __init__(self, out: ModuleWriter, functions: Functions) -> None:
        self.out = out
        self.emit = out.emit
        self.pure = functions.pure
        self._begin()

    def _begin(self) -> None:
        self.names: dict[int, str] = {}
        self.pointers: dict[Buffer, str] = {}
        self.slots: dict[Buffer, str] = {}
        self.headers: dict[int, str] = {}

    @contextmanager
    def function(self) -> Generator[None]:
        """A context in which lines belong to a new function, where no value or buffer has a name yet."""
        outer = self.names, self.pointers, self.slots, self.headers
        with self.out.function():
            self._begin()
            yield
        self.names, self.pointers, self.slots, self.headers = outer

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
            self.pointers[buffer] = self.out.entries[buffer.entry]
        return self.pointers[buffer]

    def address(self, buffer: Buffer, offset: str) -> str:
        pointer = self.buffer(buffer)
        if offset == "0":
            return pointer
        return self.emit(f"getelementptr {memory_type(buffer.dtype)}, ptr {pointer}, i64 {offset}")

    def load(self, buffer: Buffer, offset: str) -> str:
        address = self.address(buffer, offset)
        raw = self.emit(
            f"load {memory_type(buffer.dtype)}, ptr {address}, align {itemsize(buffer.dtype)}"
        )
        return self.emit(f"icmp ne i8 {raw}, 0") if buffer.dtype == "bool" else raw

    def define(self, value: Value) -> None:
        """Print the computation of a value."""
        self.names[value.number] = self.operation(value)

    def operation(self, value: Value) -> str:
        if value.op == "load":
            return self.load(value.args[0], self.use(value.args[1]))
        if value.op in ("length", "stride"):
            return self.input_header(value)
        names = [self.use(a) for a in value.args if isinstance(a, Value)]
        return self.pure(value, names, 1)

    def input_header(self, value: Value) -> str:
        buffer, axis = value.args
        which = 1 if value.op == "length" else 2
        slot = FIRST_INPUT + INPUT_SLOTS * buffer.position + which
        entry = array = self.headers.get(slot)
        if array is None:
            address = self.emit(f"getelementptr i64, ptr %frame, i64 {slot}")
            entry = array = self.headers[slot] = self.emit(f"load ptr, ptr {address}, align 8")
        if axis:
            entry = self.emit(f"getelementptr i64, ptr {array}, i64 {axis}")
        number = self.emit(f"load i64, ptr {entry}, align 8")
        size = itemsize(buffer.dtype)
        if which == 2 and size > 1:
            number = self.emit(f"ashr exact i64 {number}, {size.bit_length() - 1}")
        return number

    def store(self, statement: Store) -> None:
        value = self.use(statement.value)
        dtype = statement.buffer.dtype
        address = self.address(statement.buffer, self.use(statement.offset))
        if dtype == "bool":
            value = self.emit(f"zext i1 {value} to i8")
        self.out.line(f"store {memory_type(dtype)} {value}, ptr {address}, align {itemsize(dtype)}")
