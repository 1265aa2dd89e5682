"""Prints function calls and operations as LLVM IR, for one lane or several. It is a part of the LLVM printer
(`printer`).

Two kinds of functions are called: library functions, whose addresses are in the table, and functions that the loop
program defines. A short function of the program with few uses is inlined. Other functions, and those on cold paths, are
printed once for each number of lanes and called, so that large programs compile quickly. A long function, or one outside
of loops, is inlined only if it is used once.

`printer` makes a `Functions` object, with which `scalars` and `vector_iteration` print. `exports` makes another one for
the linker ``numba``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from occelo_link.loops.ir.operations import PRIMITIVES
from occelo_link.loops.ir.program import Function, Value, itemsize
from occelo_link.native.llvm.avx512 import Instructions
from occelo_link.native.llvm.literals import constant, element_type, literal, memory_type, type_of
from occelo_link.native.llvm.module_writer import ModuleWriter
from occelo_link.native.llvm.operations import Operations

INLINE_USES, _INLINED = 4, 200
"""A function is inlined with at most `INLINE_USES`, whose bodies have at most `_INLINED` statements altogether. A single use is
always inlined, and nothing else outside of loops.

The loops with three error functions of a model took 0.14 s to compile in place of 0.18, and their calls the same time.
"""


class Functions:
    """Prints values that have no effects: operations, loads of constants and calls of functions."""

    def __init__(self, out: ModuleWriter, operations: Operations, avx512: bool = False) -> None:
        self.out = out
        self.instructions = Instructions(out) if avx512 else None
        self.emit = out.emit
        self.operation = operations.operation

    @cached_property
    def uses(self) -> Counter[str]:
        """The number of uses of each function of the program."""
        return Counter(
            statement.args[0]
            for block in self.out.program.blocks()
            for statement in block
            if isinstance(statement, Value) and statement.op == "apply"
        )

    @cached_property
    def uses_outside_loops(self) -> Counter[str]:
        """The number of uses of each function in code that runs once, where calls cost little."""
        return Counter(
            statement.args[0]
            for statement in self.out.program.body.statements
            if isinstance(statement, Value) and statement.op == "apply"
        )

    def pure(self, value: Value, names: Sequence[str], count: int, mask: str | None = None) -> str:
        """Print the computation of a value for ``count`` lanes.

        ``names`` are the names of the value's arguments in the IR. ``mask`` selects the active lanes; None means all
        lanes. Returns the name of the result, or a literal.
        """
        if value.op == "load":
            return self.constant_load(value, names[0])
        if value.op == "call":
            return self.call(value.args[0], value.dtype, value.args[1:], names, count)
        if value.op == "unlikely":
            return self.unlikely(value, names, count, mask)
        if value.op == "apply":
            return self.apply(value, names, count, mask)
        return self.operation(value, names, count)

    def call(
        self, entry: str, dtype: str, args: Sequence[Value], names: Sequence[str], count: int
    ) -> str:
        """Print calls of a scalar library function, one for each lane."""
        function = self.out.entries[entry]
        scalar = element_type(dtype)
        if count == 1:
            listed = ", ".join(
                f"{element_type(a.dtype)} {n}" for a, n in zip(args, names, strict=True)
            )
            return self.emit(f"call {scalar} {function}({listed})")
        kind, result = type_of(dtype, count), "poison"
        for lane in range(count):
            parts: list[str] = []
            for a, n in zip(args, names, strict=True):
                whole = type_of(a.dtype, count)
                element = self.emit(f"extractelement {whole} {n}, i32 {lane}")
                parts.append(f"{element_type(a.dtype)} {element}")
            called = self.emit(f"call {scalar} {function}({', '.join(parts)})")
            result = self.emit(f"insertelement {kind} {result}, {scalar} {called}, i32 {lane}")
        return result

    def unlikely(self, value: Value, names: Sequence[str], count: int, mask: str | None) -> str:
        """Print a value that has a cold branch: a condition, a usual value, and a function of the program.

        In lanes where the condition holds, the result is that of the function. In all other lanes it is the usual
        value. The function is called only if the condition holds in at least one lane.
        """
        function = self.out.program.functions[value.args[2]]
        kind, truth = type_of(value.dtype, count), type_of("bool", count)
        condition, usual, *rest = names
        out, bits, some = self.out, "", condition
        if count > 1:
            if mask is not None:
                condition = self.emit(f"and {truth} {condition}, {mask}")
            bits = self.emit(f"bitcast {truth} {condition} to i{count}")
            some = self.emit(f"icmp ne i{count} {bits}, 0")
        before, cold, done = out.label, out.new_label("unlikely"), out.new_label("done")
        out.line(f"br i1 {some}, label %{cold}, label %{done}")
        out.start_block(cold)
        if count == 1:
            chosen = self.call_own(function, rest, 1)
        else:
            chosen = self.lane_by_lane(function, bits, usual, rest, count)
        cold = out.label
        out.line(f"br label %{done}")
        out.start_block(done)
        return self.emit(f"phi {kind} [ {usual}, %{before} ], [ {chosen}, %{cold} ]")

    def apply(self, value: Value, names: Sequence[str], count: int, mask: str | None) -> str:
        """Print a use of a function of the program, inlined or as a call."""
        name = value.args[0]
        function = self.out.program.functions[name]
        if name in PRIMITIVES:
            if self.instructions:
                return self.instructions.apply(name, value.dtype, names, count)
            return self.expand(function, names, count, mask)
        uses = self.uses[name]
        short = uses <= INLINE_USES and uses * len(function.body.statements) <= _INLINED
        once = value.block is self.out.program.body and self.uses_outside_loops[name] > 1
        if (short or uses == 1) and not once:
            return self.expand(function, names, count, mask)
        return self.call_own(function, names, count)

    def call_own(self, function: Function, names: Sequence[str], count: int) -> str:
        """Print a call of a function of the program. The function itself is printed at its first call."""
        key = (function.name, count)
        if key not in self.out.outlined:
            self.out.outlined[key] = ""  # a recursive call must not print it again
            self.out.outlined[key] = self.outline(function, count)
        kinds = [type_of(p.dtype, count) for p in function.params]
        listed = ", ".join(f"{k} {n}" for k, n in zip(kinds, names, strict=True))
        result = type_of(function.result.dtype, count)
        return self.emit(f"call {result} @{function.name}.{count}({listed}, ptr %table)")

    def lane_by_lane(
        self, function: Function, bits: str, usual: str, names: Sequence[str], count: int
    ) -> str:
        """Print a loop that replaces some lanes of the vector ``usual`` by results of a function. Returns the new
        vector.

        The bits set in ``bits`` select the lanes; at least one bit is set. The loop runs over these bits and calls the
        function for one lane in each iteration. So the cold code has a single call and is short.
        """
        out, result = self.out, function.result.dtype
        held = [
            self.on_stack(name, p.dtype, count)
            for p, name in zip(function.params, names, strict=True)
        ]
        chosen = self.on_stack(usual, result, count)
        first = self.emit(f"zext i{count} {bits} to i64") if count < 64 else bits
        before, head, done = out.label, out.new_label("lane"), out.new_label("lanes")
        out.line(f"br label %{head}")
        out.start_block(head)
        position, left = out.open_phi("i64", first, before)
        out.declare("declare i64 @llvm.cttz.i64(i64, i1)")
        lane = self.emit(f"call i64 @llvm.cttz.i64(i64 {left}, i1 true)")
        called = self.call_own(function, [self.element(at, d, lane) for at, d in held], 1)
        address = self.emit(f"getelementptr {memory_type(result)}, ptr {chosen[0]}, i64 {lane}")
        if result == "bool":
            called = self.emit(f"zext i1 {called} to i8")
        out.line(f"store {memory_type(result)} {called}, ptr {address}, align 1")
        less = self.emit(f"sub i64 {left}, 1")
        rest = self.emit(f"and i64 {left}, {less}")
        more = self.emit(f"icmp ne i64 {rest}, 0")
        out.close_phi(position, rest, out.label)
        out.line(f"br i1 {more}, label %{head}, label %{done}")
        out.start_block(done)
        memory = f"<{count} x {memory_type(result)}>"
        loaded = self.emit(f"load {memory}, ptr {chosen[0]}, align 8")
        return (
            self.emit(f"icmp ne {memory} {loaded}, zeroinitializer") if result == "bool" else loaded
        )

    def on_stack(self, name: str, dtype: str, count: int) -> tuple[str, str]:
        """Print code that stores a vector on the stack. Returns the vector's address and dtype."""
        kind = f"<{count} x {memory_type(dtype)}>"
        address = self.out.on_stack(kind)
        if dtype == "bool":
            name = self.emit(f"zext {type_of(dtype, count)} {name} to {kind}")
        self.out.line(f"store {kind} {name}, ptr {address}, align 8")
        return address, dtype

    def element(self, start: str, dtype: str, lane: str) -> str:
        """Print a load of one element of a vector on the stack."""
        kind = memory_type(dtype)
        address = self.emit(f"getelementptr {kind}, ptr {start}, i64 {lane}")
        raw = self.emit(f"load {kind}, ptr {address}, align 1")
        return self.emit(f"icmp ne i8 {raw}, 0") if dtype == "bool" else raw

    def constant_load(self, value: Value, offset: str) -> str:
        """Print a load of an element of a constant array."""
        buffer = value.args[0]
        kind = element_type(buffer.dtype)
        pointer = self.out.entries[buffer.entry]
        address = self.emit(f"getelementptr {kind}, ptr {pointer}, i64 {offset}")
        return self.emit(f"load {kind}, ptr {address}, align {itemsize(buffer.dtype)}")

    def expand(self, function: Function, names: Sequence[str], count: int, mask: str | None) -> str:
        """Print the body of a function in place. Returns the name of its result, or a literal."""
        bound = {p.number: n for p, n in zip(function.params, names, strict=True)}

        def name_of(value: Value) -> str:
            if value.op == "const":
                return constant(value.args[0], value.dtype, count)
            return bound[value.number]

        for value in function.body:
            assert isinstance(value, Value)
            own = [name_of(a) for a in value.args if isinstance(a, Value)]
            bound[value.number] = self.pure(value, own, count, mask)
        if function.result.op == "const" and count == 1:
            return literal(function.result.args[0], function.result.dtype)
        return name_of(function.result)

    def outline(self, function: Function, count: int) -> str:
        """Return the definition of a function of the program in LLVM IR, for ``count`` lanes."""
        kind = type_of(function.result.dtype, count)
        names = [f"%a{i}" for i in range(len(function.params))]
        kinds = [type_of(p.dtype, count) for p in function.params]
        params = ", ".join(f"{k} {n}" for k, n in zip(kinds, names, strict=True))
        head = f"define internal {kind} @{function.name}.{count}({params}, ptr %table) nounwind {{"
        out = self.out
        with out.function():
            result = self.expand(function, names, count, None)
            return "\n".join(
                [
                    head,
                    "entry:",
                    *out.allocas,
                    *out.header,
                    *out.lines,
                    f"  ret {kind} {result}",
                    "}",
                ]
            )
