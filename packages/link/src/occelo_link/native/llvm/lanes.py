"""Loops with lanes, as explicit vectors.

A loop over whole vectors, and one turn under a mask for what is left, so that no pass of LLVM's
optimizer is needed.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_link.loops.ir.program import Buffer, For, Store, Value, itemsize
from occelo_link.loops.ir.work import few_turns
from occelo_link.native.llvm.emission import element_type, memory_type
from occelo_link.native.llvm.interleaved import Interleaved, base_and_part, suffix

__all__ = ["Lanes"]


class _Turn:
    """Printing one turn of a loop with lanes: what is known in it as vectors and as scalars."""

    def __init__(self, loop: For, first: str, mask: str | None) -> None:
        self.loop = loop
        self.first = first
        self.mask = mask
        self.vectors: dict[int, str] = {}
        self.scalars: dict[int, str] = {loop.index.number: first}
        self.strides: dict[int, int | None] = {loop.index.number: 1}
        self.both: dict[tuple[Buffer, int], str] = {}
        self.held: dict[tuple[Buffer, int], tuple[Store, str]] = {}


class Lanes(Interleaved):
    """Loops with lanes."""

    def lanes_loop(self, loop: For) -> None:
        lanes = loop.lanes
        turns = few_turns(loop)
        if turns is not None:
            self.vectors_in_a_row(loop, turns)
            return
        start, stop = self.use(loop.start), self.use(loop.stop)
        head, body, rest, tail, done = (
            self.new_label(h) for h in ("vector", "body", "rest", "tail", "done")
        )
        kinds = ["i64", *(self.type_of(each.param.dtype, lanes) for each in loop.carried)]
        initial = [start, *(self.constant_or_splat(e.initial, lanes) for e in loop.carried)]
        pause = self.open_pause(loop, stop, list(zip(kinds, initial, strict=True)))
        bound, leave = stop, rest
        if pause is not None:
            initial, bound, leave = pause.carried, pause.limit, pause.label
        before = self.label
        self.line(f"br label %{head}")
        self.place(head)
        phis: list[tuple[int, str]] = []
        for kind, first in zip(kinds, initial, strict=True):
            name = self.fresh()
            phis.append((len(self.lines), name))
            self.lines.append(f"  {name} = phi {kind} [ {first}, %{before} ], ")
        index, *carried = [name for _, name in phis]
        ahead = self.emit(f"add i64 {index}, {lanes}")
        more = self.emit(f"icmp sle i64 {ahead}, {bound}")
        self.line(f"br i1 {more}, label %{body}, label %{leave}")
        self.place(body)
        following = self.turn(loop, _Turn(loop, index, None), carried)
        for (position, _), name in zip(phis, [ahead, *following], strict=True):
            self.lines[position] += f"[ {name}, %{self.label} ]"
        self.line(f"br label %{head}")
        if pause is not None:
            index, *carried = self.close_pause(pause, stop, head, rest, [index, *carried])
        self.place(rest)
        left = self.emit(f"icmp slt i64 {index}, {stop}")
        self.line(f"br i1 {left}, label %{tail}, label %{done}")
        self.place(tail)
        mask = self.tail_mask(index, stop, lanes)
        ended = self.turn(loop, _Turn(loop, index, mask), carried)
        end = self.label
        self.line(f"br label %{done}")
        self.place(done)
        vectors: list[str] = []
        for each, name, masked in zip(loop.carried, carried, ended, strict=True):
            kind = self.type_of(each.param.dtype, lanes)
            vectors.append(self.emit(f"phi {kind} [ {name}, %{rest} ], [ {masked}, %{end} ]"))
        self.combine_all(loop, vectors)

    def vectors_in_a_row(self, loop: For, turns: range) -> None:
        """A loop of a known small number of turns, without the loop."""
        lanes = loop.lanes
        vectors = [self.constant_or_splat(each.initial, lanes) for each in loop.carried]
        for first in range(turns.start, turns.stop, lanes):
            left = turns.stop - first
            steps = ", ".join(f"i1 {'true' if i < left else 'false'}" for i in range(lanes))
            mask = None if left >= lanes else f"<{steps}>"
            vectors = self.turn(loop, _Turn(loop, str(first), mask), vectors)
        self.combine_all(loop, vectors)

    def combine_all(self, loop: For, vectors: Sequence[str]) -> None:
        for each, merged in zip(loop.carried, vectors, strict=True):
            assert each.combine is not None
            self.names[each.result.number] = self.combine_lanes(
                each.combine, each.param, merged, loop.lanes
            )

    def constant_or_splat(self, value: Value, lanes: int) -> str:
        if value.op == "const":
            return self.constant(value.args[0], value.dtype, lanes)
        return self.splat(self.use(value), value.dtype, lanes)

    def splat(self, name: str, dtype: str, lanes: int) -> str:
        kind, scalar = self.type_of(dtype, lanes), element_type(dtype)
        first = self.emit(f"insertelement {kind} poison, {scalar} {name}, i32 0")
        zeros = f"<{lanes} x i32> zeroinitializer"
        return self.emit(f"shufflevector {kind} {first}, {kind} poison, {zeros}")

    def tail_mask(self, index: str, stop: str, lanes: int) -> str:
        left = self.emit(f"sub i64 {stop}, {index}")
        narrow = self.emit(f"trunc i64 {left} to i32")
        spread = self.splat(narrow, "int32", lanes)
        steps = ", ".join(f"i32 {i}" for i in range(lanes))
        return self.emit(f"icmp slt <{lanes} x i32> <{steps}>, {spread}")

    def combine_lanes(self, op: str, param: Value, vector: str, lanes: int) -> str:
        dtype = param.dtype
        while lanes > 1:
            kind = self.type_of(dtype, lanes)
            half = lanes // 2
            halves: list[str] = []
            for first in (0, half):
                picks = ", ".join(f"i32 {first + i}" for i in range(half))
                halves.append(
                    self.emit(
                        f"shufflevector {kind} {vector}, {kind} poison, <{half} x i32> <{picks}>"
                    )
                )
            if half == 1:
                one = self.type_of(dtype, 1)
                halves = [self.emit(f"extractelement <1 x {one}> {h}, i32 0") for h in halves]
            pair = Value(-1, dtype, op, (param, param), param.block)
            vector = self.operation(pair, halves, half)
            lanes = half
        return vector

    def turn(self, loop: For, lanes: _Turn, accumulators: Sequence[str]) -> list[str]:
        """The body once, for as many elements as there are lanes; returns the accumulators."""
        for each, name in zip(loop.carried, accumulators, strict=True):
            lanes.vectors[each.param.number] = name
        for statement in loop.body.statements:
            if isinstance(statement, Value):
                # index arithmetic is printed where it is needed, as scalars or as vectors
                if statement.dtype != "int64" or statement.op == "load":
                    self.vector(statement, lanes)
            elif isinstance(statement, Store):
                self.vector_store(statement, lanes)
            else:
                raise TypeError(f"{type(statement).__name__} in a loop with lanes")
        for waiting, name in lanes.held.values():
            self.store_vector(waiting, name, lanes)
        result: list[str] = []
        for each in loop.carried:
            name = self.vector(each.following, lanes)
            if lanes.mask is not None:
                kind, truth = (self.type_of(d, loop.lanes) for d in (each.param.dtype, "bool"))
                kept = lanes.vectors[each.param.number]
                name = self.emit(f"select {truth} {lanes.mask}, {kind} {name}, {kind} {kept}")
            result.append(name)
        return result

    def vector(self, value: Value, lanes: _Turn) -> str:
        found = lanes.vectors.get(value.number)
        if found is not None:
            return found
        count = lanes.loop.lanes
        if value.op == "const":
            return self.constant(value.args[0], value.dtype, count)
        if value is lanes.loop.index:
            made = self.index_vector(lanes)
        elif value.block is not lanes.loop.body:
            made = self.splat(self.use(value), value.dtype, count)
        elif value.op == "load":
            made = self.vector_load(value, lanes)
        else:
            names = [self.vector(a, lanes) for a in value.args if isinstance(a, Value)]
            made = self.pure(value, names, count, lanes.mask)
        lanes.vectors[value.number] = made
        return made

    def index_vector(self, lanes: _Turn) -> str:
        count = lanes.loop.lanes
        spread = self.splat(lanes.first, "int64", count)
        steps = ", ".join(f"i64 {i}" for i in range(count))
        return self.emit(f"add <{count} x i64> {spread}, <{steps}>")

    def stride(self, value: Value, lanes: _Turn) -> int | None:
        """By how much an integer grows from lane to lane, if that is a known number."""
        if value.op == "const" or (
            value.block is not lanes.loop.body and value is not lanes.loop.index
        ):
            return 0
        if value.number in lanes.strides:
            return lanes.strides[value.number]
        found: int | None = None
        if value.op in ("add", "sub"):
            a, b = (self.stride(v, lanes) for v in value.args)
            if a is not None and b is not None:
                found = a + b if value.op == "add" else a - b
        elif value.op == "mul":
            for a, b in (value.args, value.args[::-1]):
                inner = self.stride(a, lanes)
                if b.op == "const" and inner is not None:
                    found = inner * b.args[0]
        lanes.strides[value.number] = found
        return found

    def first_lane(self, value: Value, lanes: _Turn) -> str:
        """An integer of the body as a scalar, for the first lane."""
        if value.op == "const" or (
            value.block is not lanes.loop.body and value is not lanes.loop.index
        ):
            return self.use(value)
        found = lanes.scalars.get(value.number)
        if found is None:
            args = [self.first_lane(a, lanes) for a in value.args]
            found = lanes.scalars[value.number] = self.operation(value, args, 1)
        return found

    def lane_addresses(self, buffer: Buffer, offset: Value, lanes: _Turn) -> str:
        count = lanes.loop.lanes
        offsets = self.vector(offset, lanes)
        pointer = self.buffer(buffer)
        return self.emit(
            f"getelementptr {memory_type(buffer.dtype)}, ptr {pointer}, <{count} x i64> {offsets}"
        )

    def vector_load(self, value: Value, lanes: _Turn) -> str:
        buffer, offset = value.args
        count = lanes.loop.lanes
        memory = memory_type(buffer.dtype)
        kind, size = f"<{count} x {memory}>", itemsize(buffer.dtype)
        stride = self.stride(offset, lanes)
        if stride == 0:
            uniform = self.scalar_load(buffer, self.first_lane(offset, lanes))
            return self.splat(uniform, buffer.dtype, count)
        ending = suffix(buffer.dtype, count)
        found = base_and_part(buffer, offset) if stride == 2 else None
        if found is not None:
            return self.complex_load(buffer, *found, lanes)
        if stride == 1:
            address = self.address(buffer, self.first_lane(offset, lanes))
            if lanes.mask is None:
                raw = self.emit(f"load {kind}, ptr {address}, align {size}")
            else:
                self.declare(
                    f"declare {kind} @llvm.masked.load.{ending}.p0(ptr, i32, <{count} x i1>, {kind})"
                )
                raw = self.emit(
                    f"call {kind} @llvm.masked.load.{ending}.p0(ptr {address}, i32 {size}, "
                    f"<{count} x i1> {lanes.mask}, {kind} zeroinitializer)"
                )
        else:
            addresses = self.lane_addresses(buffer, offset, lanes)
            mask = lanes.mask or "splat (i1 true)"
            self.declare(
                f"declare {kind} @llvm.masked.gather.{ending}.v{count}p0"
                f"(<{count} x ptr>, i32, <{count} x i1>, {kind})"
            )
            raw = self.emit(
                f"call {kind} @llvm.masked.gather.{ending}.v{count}p0(<{count} x ptr> "
                f"{addresses}, i32 {size}, <{count} x i1> {mask}, {kind} zeroinitializer)"
            )
        if buffer.dtype == "bool":
            return self.emit(f"icmp ne {kind} {raw}, zeroinitializer")
        return raw

    def complex_load(self, buffer: Buffer, base: Value, part: int, lanes: _Turn) -> str:
        """One part of complex numbers; what is never written is loaded once for both."""
        count, key = lanes.loop.lanes, (buffer, base.number)
        both = lanes.both.get(key)
        if both is None:
            both = self.load_both(buffer, self.first_lane(base, lanes), count, lanes.mask)
            if buffer.space in ("input", "constant"):
                lanes.both[key] = both
        return self.part_of(both, buffer.dtype, part, count)

    def vector_store(self, statement: Store, lanes: _Turn) -> None:
        """Store a vector; parts of complex numbers wait for each other."""
        buffer = statement.buffer
        value = self.vector(statement.value, lanes)
        two = buffer.space == "output" and self.stride(statement.offset, lanes) == 2
        found = base_and_part(buffer, statement.offset) if two else None
        if found is None:
            self.store_vector(statement, value, lanes)
            return
        base, part = found
        other = lanes.held.pop((buffer, base.number), None)
        if other is None:
            lanes.held[buffer, base.number] = (statement, value)
            return
        re, im = (other[1], value) if part else (value, other[1])
        first = self.first_lane(base, lanes)
        self.store_both(buffer, first, re, im, lanes.loop.lanes, lanes.mask)

    def store_vector(self, statement: Store, value: str, lanes: _Turn) -> None:
        buffer = statement.buffer
        count = lanes.loop.lanes
        memory = memory_type(buffer.dtype)
        kind, size = f"<{count} x {memory}>", itemsize(buffer.dtype)
        if buffer.dtype == "bool":
            value = self.emit(f"zext <{count} x i1> {value} to {kind}")
        ending = suffix(buffer.dtype, count)
        mask = f"<{count} x i1>"
        if self.stride(statement.offset, lanes) == 1:
            address = self.address(buffer, self.first_lane(statement.offset, lanes))
            if lanes.mask is None:
                self.line(f"store {kind} {value}, ptr {address}, align {size}")
                return
            self.declare(f"declare void @llvm.masked.store.{ending}.p0({kind}, ptr, i32, {mask})")
            self.line(
                f"call void @llvm.masked.store.{ending}.p0"
                f"({kind} {value}, ptr {address}, i32 {size}, {mask} {lanes.mask})"
            )
            return
        addresses = self.lane_addresses(buffer, statement.offset, lanes)
        self.declare(
            f"declare void @llvm.masked.scatter.{ending}.v{count}p0"
            f"({kind}, <{count} x ptr>, i32, {mask})"
        )
        self.line(
            f"call void @llvm.masked.scatter.{ending}.v{count}p0({kind} {value}, "
            f"<{count} x ptr> {addresses}, i32 {size}, {mask} {lanes.mask or 'splat (i1 true)'})"
        )
