"""Prints the body of a vector loop as LLVM IR: one iteration, which computes all lanes.

It is a part of the LLVM printer (`printer`); `vector_loops` uses it.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_link.loops.ir.program import Buffer, For, Statement, Store, Value
from occelo_link.loops.ir.visitor import Visitor
from occelo_link.native.llvm.functions import Functions
from occelo_link.native.llvm.interleaved_complex import Interleaved, base_and_part
from occelo_link.native.llvm.literals import type_of
from occelo_link.native.llvm.module_writer import ModuleWriter
from occelo_link.native.llvm.operations import Operations
from occelo_link.native.llvm.scalars import Scalars
from occelo_link.native.llvm.vectors import Vectors


class PrinterParts:
    """The parts of the LLVM printer that a vector iteration uses."""

    def __init__(
        self,
        out: ModuleWriter,
        operations: Operations,
        functions: Functions,
        scalars: Scalars,
        vectors: Vectors,
        interleaved: Interleaved,
    ) -> None:
        self.out = out
        self.operations = operations
        self.functions = functions
        self.scalars = scalars
        self.vectors = vectors
        self.interleaved = interleaved


class VectorIteration(Visitor[None]):
    """Prints one vector iteration of a loop.

    ``first`` is the index in the first lane. ``mask`` selects the active lanes; None means all lanes. ``lanes`` is the
    number of lanes if it differs from that of the loop. Index arithmetic is printed where it is used, as scalars or as
    vectors.
    """

    def __init__(
        self, parts: PrinterParts, loop: For, first: str, mask: str | None, lanes: int = 0
    ) -> None:
        self.parts = parts
        self.whole = loop
        self.carried = loop.carried
        self.lanes = lanes or loop.lanes
        self.body = loop.body
        self.index = loop.index
        self.first = first
        self.mask = mask
        self.vectors: dict[int, str] = {}
        self.scalars: dict[int, str] = {loop.index.number: first}
        self.strides: dict[int, int | None] = {loop.index.number: 1}
        self.both: dict[tuple[Buffer, int], str] = {}
        self.pending: dict[tuple[Buffer, int], tuple[Store, str]] = {}

    def run(self, accumulators: Sequence[str]) -> list[str]:
        """Print the body of the loop.

        ``accumulators`` are the names of the accumulators before the iteration. Returns their names after it.
        """
        for each, name in zip(self.carried, accumulators, strict=True):
            self.vectors[each.param.number] = name
        methods = self.methods
        for statement in self.body.statements:
            methods[type(statement)](self, statement)
        for waiting, name in self.pending.values():
            self.store_vector(waiting, name)
        result: list[str] = []
        for each in self.carried:
            name = self.vector(each.following)
            if self.mask is not None:
                kind, truth = (type_of(d, self.lanes) for d in (each.param.dtype, "bool"))
                old = self.vectors[each.param.number]
                name = self.parts.out.emit(
                    f"select {truth} {self.mask}, {kind} {name}, {kind} {old}"
                )
            result.append(name)
        return result

    def value(self, value: Value) -> None:
        if value.dtype != "int64" or value.op == "load":
            self.vector(value)

    def store(self, statement: Store) -> None:
        """Print a store of a vector. The real and the imaginary part of complex outputs are stored together."""
        buffer = statement.buffer
        value = self.vector(statement.value)
        two = buffer.space == "output" and self.stride(statement.offset) == 2
        place = base_and_part(buffer, statement.offset) if two else None
        if place is None:
            self.store_vector(statement, value)
            return
        base, part = place
        other = self.pending.pop((buffer, base.number), None)
        if other is None:
            self.pending[buffer, base.number] = (statement, value)
            return
        re, im = (other[1], value) if part else (value, other[1])
        first = self.first_lane(base)
        self.parts.interleaved.store_both(buffer, first, re, im, self.lanes, self.mask)

    def refused(self, statement: Statement, /) -> None:
        raise TypeError(f"{type(statement).__name__} in a loop with lanes")

    loop = while_loop = branch = check = alloc = swap = invoke = refused

    # values as vectors

    def is_outside(self, value: Value) -> bool:
        """Whether a value is computed outside of the body. Such a value is the same in all lanes."""
        return value.op == "const" or value.block.depth < self.body.depth

    def vector(self, value: Value) -> str:
        """Return the name of a value as a vector of all lanes. Its computation is printed at the first use."""
        name = self.vectors.get(value.number)
        if name is not None:
            return name
        parts = self.parts
        if value.op == "const":
            return parts.vectors.spread(value, self.lanes)
        if value is self.index:
            vector = parts.vectors.count_from(self.first, self.lanes)
        elif self.is_outside(value):
            vector = parts.vectors.spread(value, self.lanes)
        elif value.op == "load":
            vector = self.load(value)
        else:
            names = [self.vector(a) for a in value.args if isinstance(a, Value)]
            vector = parts.functions.pure(value, names, self.lanes, self.mask)
        self.vectors[value.number] = vector
        return vector

    def stride(self, value: Value) -> int | None:
        """Return the difference of an integer between one lane and the next, or None if that is not static."""
        if self.is_outside(value):
            return 0
        if value.number in self.strides:
            return self.strides[value.number]
        stride: int | None = None
        if value.op in ("add", "sub"):
            a, b = (self.stride(v) for v in value.args)
            if a is not None and b is not None:
                stride = a + b if value.op == "add" else a - b
        elif value.op == "mul":
            for a, b in (value.args, value.args[::-1]):
                inner = self.stride(a)
                if b.op == "const" and inner is not None:
                    stride = inner * b.args[0]
        self.strides[value.number] = stride
        return stride

    def first_lane(self, value: Value) -> str:
        """Return the name of an integer's value in the first lane, as a scalar."""
        if self.is_outside(value):
            return self.parts.scalars.use(value)
        name = self.scalars.get(value.number)
        if name is None:
            args = [self.first_lane(a) for a in value.args]
            name = self.scalars[value.number] = self.parts.operations.operation(value, args, 1)
        return name

    # memory

    def load(self, value: Value) -> str:
        buffer, offset = value.args
        scalars, vectors = self.parts.scalars, self.parts.vectors
        stride = self.stride(offset)
        if stride == 0:
            uniform = scalars.load(buffer, self.first_lane(offset))
            return vectors.splat(uniform, buffer.dtype, self.lanes)
        place = base_and_part(buffer, offset) if stride == 2 else None
        if place is not None:
            return self.load_part(buffer, *place)
        if stride == 1:
            address = scalars.address(buffer, self.first_lane(offset))
            return vectors.load(buffer.dtype, address, self.lanes, self.mask)
        if stride is not None and self.mask is None:
            # faster than a gather instruction, which also waits for stores to the same elements
            address = scalars.address(buffer, self.first_lane(offset))
            return vectors.load_apart(buffer.dtype, address, stride, self.lanes)
        if self.mask is None:
            return vectors.load_each(buffer, self.offsets(offset), self.lanes)
        addresses = vectors.addresses(buffer, self.vector(offset), self.lanes)
        return vectors.gather(buffer.dtype, addresses, self.lanes, self.mask)

    def offsets(self, offset: Value) -> list[str]:
        """Print the offsets of all lanes as scalars."""
        emit, lanes = self.parts.out.emit, range(self.lanes)
        if offset.op == "load" and self.stride(offset.args[1]) == 1:
            first = self.parts.scalars.address(offset.args[0], self.first_lane(offset.args[1]))
            places = [emit(f"getelementptr i64, ptr {first}, i64 {k}") for k in lanes]
            return [emit(f"load i64, ptr {place}, align 8") for place in places]
        kind, vector = type_of("int64", self.lanes), self.vector(offset)
        return [emit(f"extractelement {kind} {vector}, i32 {k}") for k in lanes]

    def load_part(self, buffer: Buffer, base: Value, part: int) -> str:
        """Print a load of the real or the imaginary parts of complex numbers in all lanes.

        Both parts are always loaded together. If the memory is read-only, a later load of the other part prints no
        load.
        """
        interleaved, key = self.parts.interleaved, (buffer, base.number)
        both = self.both.get(key)
        if both is None:
            both = interleaved.load_both(buffer, self.first_lane(base), self.lanes, self.mask)
            if buffer.space in ("input", "constant"):
                self.both[key] = both
        return interleaved.part_of(both, buffer.dtype, part, self.lanes)

    def store_vector(self, statement: Store, value: str) -> None:
        buffer, offset, vectors = statement.buffer, statement.offset, self.parts.vectors
        value = vectors.stored(value, buffer.dtype, self.lanes)
        if self.stride(offset) == 1:
            address = self.parts.scalars.address(buffer, self.first_lane(offset))
            vectors.store(buffer.dtype, address, value, self.lanes, self.mask)
        else:
            addresses = vectors.addresses(buffer, self.vector(offset), self.lanes)
            vectors.scatter(buffer.dtype, addresses, value, self.lanes, self.mask)
