"""Printing loop programs as Python that Numba compiles.

A unit takes its inputs and constants as arrays in C order and returns a status (0, or 1 + the number of the
check that failed) and its outputs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from occelo_link.loops.ir.operations import is_float, width
from occelo_link.loops.ir.program import (
    Alloc,
    Block,
    Buffer,
    Carried,
    Check,
    For,
    If,
    Invoke,
    Pointer,
    Program,
    Statement,
    Store,
    Value,
    While,
    itemsize,
)

__all__ = ["External", "print_numba"]

External = tuple[str, str, tuple[str, ...]]
"""A function of the table that a program calls: its entry, what it returns ("" if nothing), what it takes."""
_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|", "xor": "^"}
_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<="}
_NUMPY = ("sqrt", "floor", "ceil", "trunc", "rint", "copysign")


def literal(number: Any, dtype: str) -> str:
    """A constant of a dtype as Python and NumPy write it."""
    if dtype == "bool":
        return "True" if number else "False"
    if is_float(dtype):
        text = (
            "np.nan"
            if math.isnan(number)
            else ("-np.inf" if number < 0 else "np.inf")
            if math.isinf(number)
            else repr(float(number))
        )
        return text if dtype == "float64" else f"np.float32({text})"
    return f"np.{dtype}({int(number)})"


class _Printer:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.functions: dict[str, str] = {}
        self.externals: dict[External, str] = {}
        self.lines: list[str] = []
        self.depth = 1
        self.names: dict[int, str] = {}
        self.count = 0

    def run(self) -> str:
        program = self.program
        inputs = [f"{b.name}_given" for b in program.inputs]
        constants = [f"constant{i}" for i in range(len(program.constants))]
        for buffer, given in zip(program.inputs, inputs, strict=True):
            self.line(f"{buffer.name} = {given}.reshape({given}.size)")
        for buffer in program.outputs:
            empty = ", ".join("0" for _ in range(buffer.ndim))
            shape = f"({empty},)" if buffer.ndim else "()"
            self.line(f"{buffer.name}_made = np.empty({shape}, np.{_dtype(buffer)})")
            self.line(f"{buffer.name} = {buffer.name}_made.reshape({buffer.name}_made.size)")
        self.block(program.body)
        self.line(self.returned("0"))
        head = f"def unit({', '.join([*inputs, *constants])}):"
        return "\n".join([*self.functions.values(), head, *self.lines, ""])

    def returned(self, status: str) -> str:
        outputs = "".join(f"{b.name}_made, " for b in self.program.outputs)
        return f"return (np.int64({status}), {outputs})"

    # text

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def fresh(self, hint: str) -> str:
        self.count += 1
        return f"{hint}{self.count}"

    def use(self, value: Value) -> str:
        if value.op == "const":
            return literal(value.args[0], value.dtype)
        return self.names.get(value.number, f"v{value.number}")

    # statements

    def block(self, block: Block) -> None:
        for statement in block:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        if isinstance(statement, Value):
            self.line(f"v{statement.number} = {self.expression(statement)}")
        elif isinstance(statement, Store):
            value = self.use(statement.value)
            self.line(f"{statement.buffer.name}[{self.use(statement.offset)}] = {value}")
        elif isinstance(statement, For):
            self.loop(statement)
        elif isinstance(statement, If):
            self.branch(statement)
        elif isinstance(statement, While):
            self.while_loop(statement)
        elif isinstance(statement, Check):
            self.line(f"if not {self.use(statement.condition)}:")
            self.line(f"    {self.returned(str(statement.site + 1))}")
        elif isinstance(statement, Alloc):
            self.alloc(statement)
        else:
            self.invoke(statement)

    def expression(self, value: Value) -> str:
        args = value.args
        if value.op == "load":
            name = args[0].entry if args[0].space == "constant" else args[0].name
            return f"{name}[{self.use(args[1])}]"
        if value.op == "length":
            return f"np.int64({args[0].name}_given.shape[{args[1]}])"
        if value.op == "stride":
            return f"np.int64({args[0].name}_given.strides[{args[1]}] // {itemsize(args[0].dtype)})"
        if value.op == "call":
            name = self.external(args[0], value.dtype, [a.dtype for a in args[1:]])
            return f"np.{_plain(value.dtype)}({name}({', '.join(self.use(a) for a in args[1:])}))"
        if value.op == "apply":
            return f"{self.function(args[0])}({', '.join(self.use(a) for a in args[1:])})"
        if value.op == "rarely":
            condition, usual, function, *given = args
            call = f"{self.function(function)}({', '.join(self.use(a) for a in given)})"
            return f"{call} if {self.use(condition)} else {self.use(usual)}"
        return self.operation(value.op, args[-1].dtype, value.dtype, [self.use(a) for a in args])

    def external(self, entry: str, result: str, takes: Sequence[str]) -> str:
        key = (entry, result, tuple(takes))
        return self.externals.setdefault(key, f"external{len(self.externals)}")

    def function(self, name: str) -> str:
        """One of the program's functions, as one of the module."""
        made = f"f_{name}"
        if made in self.functions:
            return made
        function = self.program.functions[name]
        lines, depth, names = self.lines, self.depth, self.names
        self.lines, self.depth, self.names = [], 1, {}
        self.block(function.body)
        self.line(f"return {self.use(function.result)}")
        params = ", ".join(f"v{p.number}" for p in function.params)
        self.functions[made] = "\n".join(["@njit", f"def {made}({params}):", *self.lines, ""])
        self.lines, self.depth, self.names = lines, depth, names
        return made

    def operation(self, op: str, dtype: str, result: str, args: Sequence[str]) -> str:
        if op in _INFIX:
            text = f"{args[0]} {_INFIX[op]} {args[1]}"
            if dtype == "bool":
                return f"bool({text})"
            # narrow integers are computed as wider ones
            return (
                text if is_float(dtype) or dtype in ("int64", "uint64") else f"np.{dtype}({text})"
            )
        if op in _COMPARE:
            return f"{args[0]} {_COMPARE[op]} {args[1]}"
        if op == "select":
            return f"{args[1]} if {args[0]} else {args[2]}"
        if op in _NUMPY:
            return f"np.{op}({', '.join(args)})"
        if op == "fma":
            return f"fma({', '.join(args)})"
        if op == "neg":
            return f"-{args[0]}" if is_float(dtype) else f"np.{dtype}(np.{dtype}(0) - {args[0]})"
        if op == "not":
            return f"not {args[0]}" if dtype == "bool" else f"np.{dtype}(~{args[0]})"
        if op == "abs" and is_float(dtype):
            return f"np.fabs({args[0]})"
        if op in ("min", "max"):
            return f"{op}imum({', '.join(args)})"
        if op == "cast":
            return self.cast(args[0], dtype, result)
        if op == "bits":
            return (
                f"bits_{dtype}_{result}({args[0]})"
                if dtype[0] == "f" or result[0] == "f"
                else f"np.{result}({args[0]})"
            )
        return f"{op}_{dtype}({', '.join(args)})"

    def cast(self, arg: str, source: str, target: str) -> str:
        if target == "bool":
            return f"{arg} != {literal(0, source)}"
        if is_float(source) and not is_float(target):
            if target == "uint64":
                return f"uint64_of_{source}({arg})"
            bits = 32 if width(target) < 32 or target == "int32" else 64
            return f"np.{target}(int{bits}_of_{source}({arg}))"
        return f"np.{target}({arg})"

    # memory and calls

    def alloc(self, statement: Alloc) -> None:
        buffer = statement.buffer
        if buffer.space == "output":
            lengths = "".join(f"{self.use(n)}, " for n in statement.lengths)
            self.line(f"{buffer.name}_made = np.empty(({lengths}), np.{_dtype(buffer)})")
            self.line(f"{buffer.name} = {buffer.name}_made.reshape({buffer.name}_made.size)")
        else:
            # a dead buffer that could be reused may be of another dtype; Numba frees it soon enough
            self.line(f"{buffer.name} = np.empty({self.use(statement.size)}, np.{_dtype(buffer)})")

    def invoke(self, statement: Invoke) -> None:
        kinds: list[str] = []
        listed: list[str] = []
        for argument in statement.args:
            if isinstance(argument, Value):
                kinds.append(argument.dtype)
                listed.append(self.use(argument))
            elif isinstance(argument, Pointer):
                kinds.append("pointer")
                buffer = argument.buffer
                name = buffer.entry if buffer.space == "constant" else buffer.name
                offset = f"{self.use(argument.offset)} * {itemsize(buffer.dtype)}"
                listed.append(f"np.int64({name}.ctypes.data) + {offset}")
            else:
                kinds.append("pointer")
                name = self.fresh("ref")
                self.line(f"{name} = np.empty(1, np.{_plain(argument.value.dtype)})")
                self.line(f"{name}[0] = {self.use(argument.value)}")
                listed.append(f"np.int64({name}.ctypes.data)")
        result = statement.result
        name = self.external(statement.entry, "" if result is None else result.dtype, kinds)
        call = f"{name}({', '.join(listed)})"
        if result is not None:
            call = f"v{result.number} = np.{_plain(result.dtype)}({call})"
        self.line(call)

    # control

    def branch(self, statement: If) -> None:
        self.line(f"if {self.use(statement.condition)}:")
        for block, which in ((statement.then, 1), (statement.orelse, 2)):
            self.depth += 1
            before = len(self.lines)
            self.block(block)
            for results in statement.results:
                self.line(f"v{results[0].number} = {self.use(results[which])}")
            if len(self.lines) == before:
                self.line("pass")
            self.depth -= 1
            if which == 1:
                self.line("else:")

    def declare_carried(self, carried: Sequence[Carried]) -> None:
        for each in carried:
            self.line(f"v{each.param.number} = {self.use(each.initial)}")
            self.names[each.result.number] = f"v{each.param.number}"

    def advance(self, carried: Sequence[Carried]) -> None:
        """All carried scalars take their next values at once."""
        names = [self.fresh("next") for _ in carried]
        for each, name in zip(carried, names, strict=True):
            self.line(f"{name} = {self.use(each.following)}")
        for each, name in zip(carried, names, strict=True):
            self.line(f"v{each.param.number} = {name}")

    def while_loop(self, loop: While) -> None:
        self.declare_carried(loop.carried)
        self.line("while True:")
        self.depth += 1
        self.block(loop.test)
        self.line(f"if not {self.use(loop.condition)}:")
        self.line("    break")
        self.block(loop.body)
        self.advance(loop.carried)
        self.depth -= 1

    def loop(self, loop: For) -> None:
        if loop.lanes > 1 and loop.carried:
            self.lanes_loop(loop)
            return
        self.declare_carried(loop.carried)
        index = f"v{loop.index.number}"
        self.line(f"for {index} in range({self.use(loop.start)}, {self.use(loop.stop)}):")
        self.depth += 1
        before = len(self.lines)
        self.block(loop.body)
        self.advance(loop.carried)
        if len(self.lines) == before:
            self.line("pass")
        self.depth -= 1

    def lanes_loop(self, loop: For) -> None:
        """Partial results in arrays: whole groups of turns first, then what is left."""
        lanes = loop.lanes
        arrays: list[str] = []
        for each in loop.carried:
            name = self.fresh("lanes")
            arrays.append(name)
            self.line(f"{name} = np.empty({lanes}, np.{_plain(each.param.dtype)})")
            self.line(f"{name}[:] = {self.use(each.initial)}")
        first, stop, lane = self.fresh("first"), self.use(loop.stop), self.fresh("lane")
        start = self.use(loop.start)
        whole = f"{start} + ({stop} - {start}) // {lanes} * {lanes}"
        for lower, upper, step, count in (
            (start, whole, str(lanes), str(lanes)),
            (whole, stop, str(lanes), f"{stop} - {first}"),
        ):
            self.line(f"for {first} in range({lower}, {upper}, {step}):")
            self.line(f"    for {lane} in range({count}):")
            self.depth += 2
            self.line(f"v{loop.index.number} = {first} + {lane}")
            for each, name in zip(loop.carried, arrays, strict=True):
                self.line(f"v{each.param.number} = {name}[{lane}]")
            self.block(loop.body)
            for each, name in zip(loop.carried, arrays, strict=True):
                self.line(f"{name}[{lane}] = {self.use(each.following)}")
            self.depth -= 2
        for each, name in zip(loop.carried, arrays, strict=True):
            half = lanes // 2
            while half:
                kind = each.param.dtype
                pair = [f"{name}[l]", f"{name}[l + {half}]"]
                self.line(f"for l in range({half}):")
                self.line(f"    {name}[l] = {self.operation(each.combine or '', kind, kind, pair)}")
                half //= 2
            self.names[each.result.number] = f"{name}[0]"


def _plain(dtype: str) -> str:
    return "bool_" if dtype == "bool" else dtype


def _dtype(buffer: Buffer) -> str:
    return _plain(buffer.dtype)


def print_numba(program: Program) -> tuple[str, dict[External, str]]:
    """The text of a module with the function ``unit``, and the functions of the table that it calls."""
    printer = _Printer(program)
    return printer.run(), printer.externals
