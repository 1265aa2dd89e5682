"""Prints loop programs as LLVM IR that counts the operations and the bytes of each loop and library call.

`occelo_link.timing` runs such code once. An operation is an arithmetic operation on floating-point numbers, or a
square root; comparisons, choices and conversions are none, and a multiplication by a power of two is one. Functions of the program (exp and its like) count
with all of their operations. `ROUTINES` has those of BLAS and LAPACK; calls of other functions are not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager

import numpy as np

from occelo_link.loops.ir.operations import PRIMITIVES, is_float
from occelo_link.loops.ir.program import (
    Alloc,
    Block,
    Buffer,
    For,
    Invoke,
    Pointer,
    Program,
    Reference,
    Statement,
    Store,
    Value,
    itemsize,
)
from occelo_link.native.llvm.clock_reading import TimedPrinter
from occelo_link.units.frame import FIRST_INPUT, INPUT_SLOTS

_ONCE = ("add", "sub", "mul", "div", "min", "max", "sqrt", "rint")
_COUNTED = dict.fromkeys(_ONCE, 1) | {"fma": 2}
ROUTINES: dict[str, tuple[int, int, tuple[int, ...]]] = {
    "gemm": (2, 1, (2, 3, 4)),
    "gemv": (2, 1, (1, 2)),
    "trsm": (1, 1, (4, 5, 5)),
    "potrf": (1, 3, (1, 1, 1)),
    "getrf": (2, 3, (0, 1, 1)),
    "getri": (4, 3, (0, 0, 0)),
}
"""The operations of a routine on real numbers, in the leading order (as in Golub and Van Loan, Matrix Computations): a
numerator, a denominator, and the positions of the arguments that are multiplied. All calls of trsm have the matrix on the right
side, and getrf gets square matrices.
"""


class CountingPrinter(TimedPrinter):
    """Prints a program that counts. ``counts`` is a constant of the program with a row of numbers for each place.

    A row has the number of runs, the operations, and then for each of ``buffers`` the bytes that are loaded and stored,
    without what places inside of it count. ``sizes`` has the bytes of each buffer, as last allocated. ``called`` maps
    the number of a place to the buffers that its calls may use, and ``uncounted`` are the calls whose operations are not known.
    """

    def __init__(self, program: Program) -> None:
        super().__init__(program, threads=False)
        self.buffers = _buffers(program)
        self.columns = {buffer: k for k, buffer in enumerate(self.buffers)}
        self.width = 2 + len(self.buffers)
        self.counts_entry, counts = self.counters(self.width * len(self.places))
        self.counts = counts.reshape(-1, self.width)
        self.sizes_entry, self.sizes = self.counters(len(self.buffers))
        self.called: dict[int, set[Buffer]] = {}
        self.uncounted: set[int] = set()
        self.here: int | None = None
        """The number of the place whose statements are printed. None where the counts are known already."""

    def block(self, block: Block) -> None:
        if block is self.out.program.body:
            self._input_sizes()
        if self.here is not None:
            self._count(self.here, self._own(block), "1")
        super().block(block)

    def alloc(self, statement: Alloc) -> None:
        super().alloc(statement)
        size, column = self.scalars.use(statement.size), self.columns.get(statement.buffer)
        if column is not None:
            self._set_size(column, size, itemsize(statement.buffer.dtype))

    def invoke(self, statement: Invoke) -> None:
        number = self.numbers.get(id(statement), self.here)
        if number is not None:
            buffers = [a.buffer for a in statement.args if isinstance(a, Pointer)]
            self.called.setdefault(number, set()).update(buffers)
            self._operations_of_call(number, statement)
        super().invoke(statement)

    @contextmanager
    def measured(self, statement: Statement) -> Generator[None]:
        outer, number = self.here, self.numbers.get(id(statement), self.here)
        if number is not None and number != outer:
            self._count(number, Counter({0: 1}), "1")
        self.here = number
        if number is not None and isinstance(statement, For) and _is_leaf(statement.body):
            self.out.declare("declare i64 @llvm.smax.i64(i64, i64)")
            start, stop = self.scalars.use(statement.start), self.scalars.use(statement.stop)
            length = self.out.emit(f"sub i64 {stop}, {start}")
            times = self.out.emit(f"call i64 @llvm.smax.i64(i64 {length}, i64 0)")
            self._count(number, self._own(statement.body), times)
            self.here = None
        yield
        self.here = outer

    def _own(self, block: Block) -> Counter[int]:
        """The counts of the statements of a block, without inner blocks, by column of a place's row."""
        counts = Counter[int]()
        for statement in block:
            buffer = _accessed(statement)
            if buffer is not None:
                counts[2 + self.columns[buffer]] += itemsize(buffer.dtype)
            elif isinstance(statement, Value):
                counts[1] += self._operations(statement)
        return counts

    def _operations(self, value: Value) -> int:
        """The operations of a value: those of the function, if it is a call of the program's.

        The operations of a call of another function are not known. The rare case of ``unlikely`` counts nothing.
        """
        if value.op == "apply" and value.args[0] in PRIMITIVES:
            return int(value.args[0].startswith("scale"))
        if value.op == "apply":
            body = self.out.program.functions[value.args[0]].body
            return sum(self._operations(s) for s in body if isinstance(s, Value))
        if value.op == "call" and self.here is not None:
            self.uncounted.add(self.here)
        return _COUNTED.get(value.op, 0) if is_float(value.dtype) else 0

    def _operations_of_call(self, number: int, call: Invoke) -> None:
        """Print code that counts the operations of a call of BLAS or LAPACK."""
        kind, _, name = call.entry.partition(":")
        routine = ROUTINES.get(name[1:]) if kind in ("blas", "lapack") else None
        if routine is None:
            self.uncounted.add(number)
            return
        numerator, denominator, positions = routine
        emit = self.out.emit
        total = str(numerator * (4 if name[0] in "cz" else 1))
        for argument in (call.args[k] for k in positions):
            assert isinstance(argument, Reference)
            value, length = argument.value, self.scalars.use(argument.value)
            if value.dtype != "int64":
                length = emit(f"sext i32 {length} to i64")
            total = emit(f"mul i64 {total}, {length}")
        self.add(
            self.counts_entry, self.width * number + 1, emit(f"sdiv i64 {total}, {denominator}")
        )

    def _count(self, number: int, counts: Counter[int], times: str) -> None:
        """Print code that adds counts, each multiplied by ``times``, to the row of a place."""
        for column, count in counts.items():
            if count:
                amount = self.out.emit(f"mul i64 {times}, {count}")
                self.add(self.counts_entry, self.width * number + column, amount)

    def _input_sizes(self) -> None:
        """Print code that notes the sizes of the inputs."""
        emit = self.out.emit
        for buffer, column in self.columns.items():
            if buffer.space == "input":
                size, slot = "1", FIRST_INPUT + INPUT_SLOTS * buffer.position + 1
                lengths = self.out.load_at_start("%frame", slot)
                for axis in range(buffer.ndim):
                    at = emit(f"getelementptr i64, ptr {lengths}, i64 {axis}")
                    size = emit(f"mul i64 {size}, {emit(f'load i64, ptr {at}, align 8')}")
                self._set_size(column, size, np.dtype(buffer.holds).itemsize)

    def _set_size(self, column: int, elements: str, each: int) -> None:
        slot = self.out.emit(
            f"getelementptr i64, ptr {self.out.entries[self.sizes_entry]}, i64 {column}"
        )
        self.out.line(
            f"store i64 {self.out.emit(f'mul i64 {elements}, {each}')}, ptr {slot}, align 8"
        )


def _buffers(program: Program) -> list[Buffer]:
    """The buffers that a program accesses, in the order of their first use."""
    used: dict[Buffer | None, None] = {}
    for statement in (statement for block in program.blocks() for statement in block):
        used[_accessed(statement)] = None
        if isinstance(statement, Invoke):
            used.update((a.buffer, None) for a in statement.args if isinstance(a, Pointer))
    return [buffer for buffer in used if buffer is not None]


def _accessed(statement: Statement) -> Buffer | None:
    """The buffer that a load or a store accesses."""
    if isinstance(statement, Store):
        return statement.buffer
    if isinstance(statement, Value) and statement.op == "load":
        return statement.args[0]
    return None


def _is_leaf(block: Block) -> bool:
    """Whether a block contains neither blocks nor calls of libraries."""
    return not any(statement.blocks or isinstance(statement, Invoke) for statement in block)
