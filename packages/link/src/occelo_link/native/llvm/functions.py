"""Calls: of functions of the table, of those that are seldom needed, of the program's own.

The program's own functions are expanded where they are used if that is not often, and printed as
functions of one lane or several otherwise, which is what keeps large programs quick to compile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from occelo_link.loops.ir.program import Function, Value, itemsize
from occelo_link.native.llvm.literals import constant, element_type, literal, type_of
from occelo_link.native.llvm.module_writer import Emission
from occelo_link.native.llvm.operations import Operations

__all__ = ["Functions"]

INLINE_USES = 4
"""Functions that are used more often than this are called instead of expanded."""


class Functions:
    """Operations and calls, for one lane or several."""

    def __init__(self, out: Emission, operations: Operations) -> None:
        self.out = out
        self.emit = out.emit
        self.operation = operations.operation

    @cached_property
    def uses(self) -> Counter[str]:
        """How often the program uses each of its functions."""
        return Counter(
            statement.args[0]
            for block in self.out.program.blocks()
            for statement in block
            if isinstance(statement, Value) and statement.op == "apply"
        )

    def pure(self, value: Value, names: Sequence[str], count: int, mask: str | None = None) -> str:
        """An operation, or a call, of arguments of the given names."""
        if value.op == "load":
            return self.constant_load(value, names[0])
        if value.op == "call":
            return self.call(value.args[0], value.dtype, value.args[1:], names, count)
        if value.op == "rarely":
            return self.rarely(value, names, count, mask)
        if value.op == "apply":
            return self.apply(value.args[0], names, count, mask)
        return self.operation(value, names, count)

    def call(
        self, entry: str, dtype: str, args: Sequence[Value], names: Sequence[str], count: int
    ) -> str:
        """A scalar function of the table, lane by lane."""
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

    def rarely(self, value: Value, names: Sequence[str], count: int, mask: str | None) -> str:
        """The usual value, or in the lanes where the condition holds what the function gives."""
        function = self.out.program.functions[value.args[2]]
        kind, truth = type_of(value.dtype, count), type_of("bool", count)
        condition, usual, *rest = names
        some = condition
        if count > 1:
            if mask is not None:
                condition = self.emit(f"and {truth} {condition}, {mask}")
            packed = self.emit(f"bitcast {truth} {condition} to i{count}")
            some = self.emit(f"icmp ne i{count} {packed}, 0")
        out = self.out
        before, rare, done = out.label, out.new_label("rare"), out.new_label("done")
        out.line(f"br i1 {some}, label %{rare}, label %{done}")
        out.place(rare)
        chosen = self.by_lanes(function, rest, count)
        if count > 1:
            chosen = self.emit(f"select {truth} {condition}, {kind} {chosen}, {kind} {usual}")
        out.line(f"br label %{done}")
        out.place(done)
        return self.emit(f"phi {kind} [ {usual}, %{before} ], [ {chosen}, %{rare} ]")

    def apply(self, name: str, names: Sequence[str], count: int, mask: str | None) -> str:
        """A function of the program."""
        function = self.out.program.functions[name]
        if self.uses[name] <= INLINE_USES:
            return self.expand(function, names, count, mask)
        return self.call_own(function, names, count)

    def call_own(self, function: Function, names: Sequence[str], count: int) -> str:
        """A call of a function of the program, which is printed once."""
        key = (function.name, count)
        if key not in self.out.outlined:
            self.out.outlined[key] = ""  # one that is being printed is not printed again
            self.out.outlined[key] = self.outline(function, count)
        kinds = [type_of(p.dtype, count) for p in function.params]
        listed = ", ".join(f"{k} {n}" for k, n in zip(kinds, names, strict=True))
        result = type_of(function.result.dtype, count)
        return self.emit(f"call {result} @{function.name}.{count}({listed}, ptr %table)")

    def by_lanes(self, function: Function, names: Sequence[str], count: int) -> str:
        """A function of the program lane by lane, where speed does not matter."""
        if count == 1:
            return self.call_own(function, names, 1)
        scalar = element_type(function.result.dtype)
        kind, result = type_of(function.result.dtype, count), "poison"
        for lane in range(count):
            parts: list[str] = []
            for p, n in zip(function.params, names, strict=True):
                whole = type_of(p.dtype, count)
                parts.append(self.emit(f"extractelement {whole} {n}, i32 {lane}"))
            called = self.call_own(function, parts, 1)
            result = self.emit(f"insertelement {kind} {result}, {scalar} {called}, i32 {lane}")
        return result

    def constant_load(self, value: Value, offset: str) -> str:
        """An element of a constant."""
        buffer = value.args[0]
        kind = element_type(buffer.dtype)
        pointer = self.out.entries[buffer.entry]
        address = self.emit(f"getelementptr {kind}, ptr {pointer}, i64 {offset}")
        return self.emit(f"load {kind}, ptr {address}, align {itemsize(buffer.dtype)}")

    def expand(self, function: Function, names: Sequence[str], count: int, mask: str | None) -> str:
        """The body of a function, with the arguments in place of its parameters."""
        known = {p.number: n for p, n in zip(function.params, names, strict=True)}

        def name_of(value: Value) -> str:
            if value.op == "const":
                return constant(value.args[0], value.dtype, count)
            return known[value.number]

        for value in function.body:
            assert isinstance(value, Value)
            own = [name_of(a) for a in value.args if isinstance(a, Value)]
            known[value.number] = self.pure(value, own, count, mask)
        if function.result.op == "const" and count == 1:
            return literal(function.result.args[0], function.result.dtype)
        return name_of(function.result)

    def outline(self, function: Function, count: int) -> str:
        """A function of the program as one of the module."""
        kind = type_of(function.result.dtype, count)
        names = [f"%a{i}" for i in range(len(function.params))]
        kinds = [type_of(p.dtype, count) for p in function.params]
        params = ", ".join(f"{k} {n}" for k, n in zip(kinds, names, strict=True))
        head = f"define internal {kind} @{function.name}.{count}({params}, ptr %table) nounwind {{"
        out = self.out
        with out.function():
            result = self.expand(function, names, count, None)
            return "\n".join(
                [head, "entry:", *out.header, *out.lines, f"  ret {kind} {result}", "}"]
            )
