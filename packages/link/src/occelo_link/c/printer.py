"""Printing loop programs as C.

The text needs no header. A unit has the interface of the LLVM printer's (see
`occelo_link.units.frame`). What C leaves undefined is spelled out in small functions that stand in
front, so that both printers' units give the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from occelo_link.loops.ir.operations import is_float, is_signed, width
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
    Swap,
    Value,
    While,
    itemsize,
)
from occelo_link.loops.ir.work import BUDGET, UNKNOWN_TURNS, is_known_before, is_long, turn_work
from occelo_link.units.frame import (
    ALLOC_OUTPUT,
    ARENA,
    ARENA_END,
    FIRST_INPUT,
    GROW,
    INPUT_SLOTS,
    INTERRUPTED,
    POLL,
    TAKE,
    table_slot,
)

__all__ = ["print_c"]

_TYPES = {
    "bool": "_Bool",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "float32": "float",
    "float64": "double",
}
_PRELUDE = """\
typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

typedef void *(*alloc_output_fn)(i64 *frame, i64 position, i64 *lengths);
typedef void *(*grow_fn)(i64 *frame, i64 bytes);
typedef i64 (*poll_fn)(i64 *frame);
typedef void *(*take_fn)(i64 *frame, i64 position, i64 input, i64 bytes);

/* independent turns: loops marked so may be vectorised */
#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define INDEPENDENT _Pragma("GCC ivdep")
#else
#define INDEPENDENT
#endif
#if defined(__GNUC__) || defined(__clang__)
#define ALWAYS_INLINE __attribute__((always_inline))
#else
#define ALWAYS_INLINE
#endif

/* a product that is rounded: where sums and differences of products alternate, as for complex
   numbers, GCC from 12 on makes one rounding of two, whatever -ffp-contract says */
#if defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__)
#define ROUNDED(x) __builtin_assoc_barrier(x)
#else
#define ROUNDED(x) (x)
#endif
"""
INLINE_USES = 8
_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|", "xor": "^"}
_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<="}
_BUILTINS = {
    "sqrt": "sqrt",
    "floor": "floor",
    "ceil": "ceil",
    "trunc": "trunc",
    "rint": "rint",
    "copysign": "copysign",
    "fma": "fma",
}


def _memory_type(dtype: str) -> str:
    return "u8" if dtype == "bool" else _TYPES[dtype]


def literal(number: Any, dtype: str) -> str:
    """A constant as C writes it."""
    if is_float(dtype):
        suffix = "f" if dtype == "float32" else ""
        if math.isnan(number):
            return f'__builtin_nan{suffix}("")'
        if math.isinf(number):
            return f"{'-' if number < 0 else ''}__builtin_inf{suffix}()"
        return f"{float(number).hex()}{suffix}"
    if dtype == "bool":
        return "1" if number else "0"
    if dtype == "int64" and number == -(2**63):
        return "(-9223372036854775807LL - 1)"
    if dtype == "int64":
        return f"{number}LL"
    return f"(({_TYPES[dtype]}){number}{'ULL' if dtype == 'uint64' else 'LL'})"


class _Printer:
    def __init__(self, program: Program, function: str) -> None:
        self.program = program
        self.function_name = function
        self.own: dict[str, str] = {}
        self.lines: list[str] = []
        self.depth = 1
        self.nesting = 0
        self.commented = True
        self.alternates = any(b.holds.startswith("complex") for b in program.outputs)
        self.helpers: dict[str, str] = {}
        self.declarations: dict[Buffer, str] = {}
        self.rooms: dict[Buffer, str] = {}
        self.names: dict[int, str] = {}
        self.count = 0

    def run(self) -> str:
        program = self.program
        for position, buffer in enumerate(program.inputs):
            slot = FIRST_INPUT + INPUT_SLOTS * position
            kind = _memory_type(buffer.dtype)
            self.line(f"{kind} *{buffer.name} = ({kind} *)frame[{slot}];")
        self.line(f"char *bump = (char *)frame[{ARENA}];")
        self.block(program.body)
        self.line("return 0;")
        declared = [f"  {text}" for text in (*self.declarations.values(), *self.rooms.values())]
        for buffer in self._constants():
            kind = _memory_type(buffer.dtype)
            slot = table_slot(program, buffer.entry)
            declared.append(f"  {kind} *{buffer.name} = ({kind} *)table[{slot}];")
        head = f"i64 {self.function_name}(i64 *frame, void **table)"
        unit = [f"{head} {{", *declared, *self.lines, "}", ""]
        return "\n".join([*self.own.values(), *unit])

    def _constants(self) -> list[Buffer]:
        found: dict[Buffer, None] = {}
        for block in self.program.blocks():
            for statement in block:
                if isinstance(statement, Value) and statement.op == "load":
                    found[statement.args[0]] = None
                elif isinstance(statement, Invoke):
                    for argument in statement.args:
                        if isinstance(argument, Pointer):
                            found[argument.buffer] = None
        return [b for b in found if b.space == "constant"]

    # text

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def fresh(self, hint: str) -> str:
        self.count += 1
        return f"{hint}{self.count}"

    def helper(self, name: str, text: str) -> str:
        self.helpers.setdefault(name, f"static inline {text}")
        return name

    def use(self, value: Value) -> str:
        if value.op == "const":
            return literal(value.args[0], value.dtype)
        return self.names.get(value.number, f"v{value.number}")

    # statements

    def block(self, block: Block) -> None:
        last = -1
        for statement in block:
            if statement.node not in (last, -1) and self.commented:
                last = statement.node
                op = str(getattr(self.program.nodes[last], "op", "")).replace("*/", "* /")
                self.line(f"/* {last}: {op} */")
            self.statement(statement)

    def inner(self, block: Block) -> None:
        self.depth += 1
        self.block(block)
        self.depth -= 1

    def statement(self, statement: Statement) -> None:
        if isinstance(statement, Value):
            self.value(statement)
        elif isinstance(statement, Store):
            value = self.use(statement.value)
            self.line(f"{statement.buffer.name}[{self.use(statement.offset)}] = {value};")
        elif isinstance(statement, For):
            self.loop(statement)
        elif isinstance(statement, If):
            self.branch(statement)
        elif isinstance(statement, While):
            self.while_loop(statement)
        elif isinstance(statement, Check):
            self.line(f"if (!{self.use(statement.condition)}) return {statement.site + 1};")
        elif isinstance(statement, Alloc):
            self.alloc(statement)
        elif isinstance(statement, Swap):
            self.swap(statement)
        else:
            self.invoke(statement)

    def value(self, value: Value) -> None:
        name = f"v{value.number}"
        kind = _TYPES[value.dtype]
        if value.op == "rarely":
            condition, usual, function, *args = value.args
            self.line(f"{kind} {name} = {self.use(usual)};")
            call = f"{self.function(function)}({', '.join(self.use(a) for a in args)}, table)"
            self.line(f"if (__builtin_expect({self.use(condition)}, 0)) {name} = {call};")
            return
        self.line(f"{kind} {name} = {self.expression(value)};")

    def expression(self, value: Value) -> str:
        args = value.args
        if value.op == "load" and args[0].space == "constant":
            slot = table_slot(self.program, args[0].entry)
            element = f"(({_memory_type(value.dtype)} *)table[{slot}])[{self.use(args[1])}]"
            return f"{element} != 0" if value.dtype == "bool" else element
        if value.op == "load":
            element = f"{args[0].name}[{self.use(args[1])}]"
            return f"{element} != 0" if value.dtype == "bool" else element
        if value.op in ("length", "stride"):
            return self.header(value)
        if value.op == "call":
            return self.call(args[0], value.dtype, args[1:])
        if value.op == "apply":
            name = self.function(args[0])
            return f"{name}({', '.join(self.use(a) for a in args[1:])}, table)"
        return self.operation(value.op, args[-1].dtype, value.dtype, [self.use(a) for a in args])

    def function(self, name: str) -> str:
        """One of the program's functions, as one of C."""
        made = f"{self.function_name}_{name}"
        if made in self.own:
            return made
        function = self.program.functions[name]
        lines, depth, names = self.lines, self.depth, self.names
        self.lines, self.depth, self.names = [], 1, {}
        self.commented = False  # several nodes may use it
        self.block(function.body)
        self.commented = True
        kind = _TYPES[function.result.dtype]
        params = ", ".join(f"{_TYPES[p.dtype]} v{p.number}" for p in function.params)
        head = f"static inline {self.inlining(name)}{kind} {made}({params}, void **table) {{"
        self.line(f"return {self.use(function.result)};")
        self.own[made] = "\n".join([head, *self.lines, "}"])
        self.lines, self.depth, self.names = lines, depth, names
        return made

    def inlining(self, name: str) -> str:
        """Functions that are not used often are expanded, so that loops can be vectorised."""
        uses = INLINE_USES * name.endswith("_huge") + sum(
            isinstance(s, Value) and s.op == "apply" and s.args[0] == name
            for block in self.program.blocks()
            for s in block
        )
        return "ALWAYS_INLINE " if uses <= INLINE_USES else ""

    def header(self, value: Value) -> str:
        buffer, axis = value.args
        which = 1 if value.op == "length" else 2
        slot = FIRST_INPUT + INPUT_SLOTS * buffer.position + which
        entry = f"((i64 *)frame[{slot}])[{axis}]"
        return entry if which == 1 else f"{entry} / {itemsize(buffer.dtype)}"

    def call(self, entry: str, dtype: str, args: Sequence[Value]) -> str:
        kinds = ", ".join(_TYPES[a.dtype] for a in args)
        listed = ", ".join(self.use(a) for a in args)
        slot = table_slot(self.program, entry)
        return f"(({_TYPES[dtype]} (*)({kinds}))table[{slot}])({listed}) /* {entry} */"

    def operation(self, op: str, dtype: str, result: str, args: Sequence[str]) -> str:
        kind = _TYPES[dtype]
        suffix = "f" if dtype == "float32" else ""
        if op in _INFIX:
            text = f"{args[0]} {_INFIX[op]} {args[1]}"
            if op == "mul" and is_float(dtype) and self.alternates:
                return f"ROUNDED({text})"
            # small integers are computed as int in C
            return f"({kind})({text})" if not is_float(dtype) and width(dtype) < 32 else text
        if op in _COMPARE:
            return f"{args[0]} {_COMPARE[op]} {args[1]}"
        if op == "select":
            return f"{args[0]} ? {args[1]} : {args[2]}"
        if op in _BUILTINS:
            return f"__builtin_{_BUILTINS[op]}{suffix}({', '.join(args)})"
        if op == "neg":
            return f"({kind})-{args[0]}"
        if op == "not":
            return f"!{args[0]}" if dtype == "bool" else f"({kind})~{args[0]}"
        if op == "abs" and is_float(dtype):
            return f"__builtin_fabs{suffix}({args[0]})"
        if op == "cast":
            return self.cast(args[0], dtype, result)
        name = self.defined(op, dtype, result)
        return f"{name}({', '.join(args)})"

    def defined(self, op: str, dtype: str, result: str) -> str:
        """A function for what C has no operator for."""
        kind = _TYPES[dtype]
        if op == "bits":
            target = _TYPES[result]
            return self.helper(
                f"bits_{dtype}_{result}",
                f"{target} bits_{dtype}_{result}({kind} x) {{ {target} y; "
                "__builtin_memcpy(&y, &x, sizeof y); return y; }",
            )
        name = f"{op}_{dtype}"
        bits = width(dtype)
        signed = is_signed(dtype)
        if op in ("min", "max"):
            sign = "<=" if op == "min" else ">="
            nan = " || x != x" if is_float(dtype) else ""
            body = f"return x {sign} y{nan} ? x : y;"
        elif op == "abs":
            body = f"return x < 0 ? ({kind})-x : x;"
            return self.helper(name, f"{kind} {name}({kind} x) {{ {body} }}")
        elif op == "shl":
            body = f"return y >= 0 && y < {bits} ? ({kind})((u64)x << y) : 0;"
        elif op == "shr":
            beyond = "(x < 0 ? -1 : 0)" if signed else "0"
            body = f"return y >= 0 && y < {bits} ? ({kind})(x >> y) : ({kind}){beyond};"
        else:
            body = self.division(op, kind, signed)
        return self.helper(name, f"{kind} {name}({kind} x, {kind} y) {{ {body} }}")

    def division(self, op: str, kind: str, signed: bool) -> str:
        if not signed:
            sign = "/" if op == "floordiv" else "%"
            return f"return y == 0 ? 0 : ({kind})(x {sign} y);"
        special = "0" if op == "remainder" else f"(y == 0 ? 0 : ({kind})-x)"
        start = f"if (y == 0 || y == -1) return {special}; {kind} q = x / y, r = x % y; "
        adjust = "if (r != 0 && (r ^ y) < 0) "
        if op == "remainder":
            return start + adjust + "r += y; return r;"
        return start + adjust + "q -= 1; return q;"

    def cast(self, arg: str, source: str, target: str) -> str:
        if target == "bool":
            return f"{arg} != 0"
        if is_float(source) and not is_float(target):
            return self.float_to_integer(arg, source, target)
        return f"({_TYPES[target]}){arg}"

    def float_to_integer(self, arg: str, source: str, target: str) -> str:
        kind = _TYPES[source]
        if target == "uint64":
            inner = self.float_to_integer("x", source, "int64")
            upper = self.float_to_integer("x - 0x1p63", source, "int64")
            name = self.helper(
                f"uint64_of_{source}",
                f"u64 uint64_of_{source}({kind} x) {{ return x >= 0x1p63 ? "
                f"(u64){upper} ^ 0x8000000000000000ULL : (u64){inner}; }}",
            )
            return f"{name}({arg})"
        narrow = width(target) < 32 or target == "int32"
        bits, via = (32, "i32") if narrow else (64, "i64")
        name = self.helper(
            f"{via}_of_{source}",
            f"{via} {via}_of_{source}({kind} x) {{ return x >= -0x1p{bits - 1} && "
            f"x < 0x1p{bits - 1} ? ({via})x : ({via})((u64)1 << {bits - 1}); }}",
        )
        return f"({_TYPES[target]}){name}({arg})"

    # memory and calls

    def alloc(self, statement: Alloc) -> None:
        buffer = statement.buffer
        kind = _memory_type(buffer.dtype)
        name = buffer.name
        self.declarations.setdefault(buffer, f"{kind} *{name} = 0;")
        taken = statement.reuse
        if taken is not None and taken.space != "input":
            self.line(f"{name} = {taken.name};")
            return
        if taken is not None:
            size = f"{self.use(statement.size)} * {itemsize(buffer.dtype)}"
            take = f"((take_fn)table[{TAKE}])(frame, {buffer.position}, {taken.position}, {size})"
            self.line(f"{name} = ({kind} *){take};")
        elif buffer.space == "output":
            lengths = ", ".join(self.use(n) for n in statement.lengths) or "0"
            dims = self.fresh("dims")
            self.line(f"i64 {dims}[] = {{{lengths}}};")
            call = f"((alloc_output_fn)table[{ALLOC_OUTPUT}])(frame, {buffer.position}, {dims})"
            self.line(f"{name} = ({kind} *){call};")
        else:
            size = f"({self.use(statement.size)} * {itemsize(buffer.dtype)} + 127) & -64"
            bytes_ = self.fresh("bytes")
            self.line(f"i64 {bytes_} = {size};")
            grow = f"((grow_fn)table[{GROW}])(frame, {bytes_})"
            if self.depth > 1 or buffer.space == "carried":
                self.alloc_again(buffer, bytes_)
                return
            fits = f"bump + {bytes_} <= (char *)frame[{ARENA_END}]"
            self.line(f"if ({fits}) {{ {name} = ({kind} *)bump; bump += {bytes_}; }}")
            self.line(f"else {name} = ({kind} *){grow};")
        self.line(f"if (!{name}) return -1;")

    def alloc_again(self, buffer: Buffer, bytes_: str) -> None:
        """Take more memory than a buffer has, if it needs more; twice as much, so that this is seldom."""
        name, room, kind = buffer.name, f"{buffer.name}_room", _memory_type(buffer.dtype)
        self.rooms[buffer] = f"i64 {room} = 0;"
        self.line(f"if ({bytes_} > {room}) {{")
        self.line(f"  {room} = {bytes_} > 2 * {room} ? {bytes_} : 2 * {room};")
        self.line(f"  {name} = ({kind} *)((grow_fn)table[{GROW}])(frame, {room});")
        self.line(f"  if (!{name}) return -1;")
        self.line("}")

    def swap(self, statement: Swap) -> None:
        first, second = statement.first, statement.second
        kind, held = _memory_type(first.dtype), self.fresh("held")
        self.line(f"{kind} *{held} = {first.name};")
        self.line(f"{first.name} = {second.name}; {second.name} = {held};")
        size = self.fresh("size")
        self.line(f"i64 {size} = {first.name}_room;")
        self.line(f"{first.name}_room = {second.name}_room; {second.name}_room = {size};")
        for buffer in (first, second):
            self.rooms[buffer] = f"i64 {buffer.name}_room = 0;"

    def invoke(self, statement: Invoke) -> None:
        kinds: list[str] = []
        listed: list[str] = []
        for argument in statement.args:
            if isinstance(argument, Value):
                kinds.append(_TYPES[argument.dtype])
                listed.append(self.use(argument))
            elif isinstance(argument, Pointer):
                kinds.append("void *")
                listed.append(f"{argument.buffer.name} + {self.use(argument.offset)}")
            else:
                kinds.append("void *")
                name = self.fresh("ref")
                self.line(f"{_TYPES[argument.value.dtype]} {name} = {self.use(argument.value)};")
                listed.append(f"&{name}")
        result = statement.result
        returned = "void" if result is None else _TYPES[result.dtype]
        slot = table_slot(self.program, statement.entry)
        left = "" if result is None else f"{returned} v{result.number} = "
        pointer = f"(({returned} (*)({', '.join(kinds)}))table[{slot}])"
        self.line(f"{left}{pointer}({', '.join(listed)}); /* {statement.entry} */")

    # control

    def branch(self, statement: If) -> None:
        for result, _, _ in statement.results:
            self.line(f"{_TYPES[result.dtype]} v{result.number};")
        self.line(f"if ({self.use(statement.condition)}) {{")
        for block, which in ((statement.then, 1), (statement.orelse, 2)):
            self.inner(block)
            self.depth += 1
            for results in statement.results:
                self.line(f"v{results[0].number} = {self.use(results[which])};")
            self.depth -= 1
            self.line("} else {" if which == 1 else "}")

    def declare_carried(self, carried: Sequence[Carried]) -> None:
        for each in carried:
            kind = _TYPES[each.param.dtype]
            self.line(f"{kind} v{each.param.number} = {self.use(each.initial)};")
            self.names[each.result.number] = f"v{each.param.number}"

    def advance(self, carried: Sequence[Carried]) -> None:
        """All carried scalars take their next values at once."""
        self.depth += 1
        names = [self.fresh("next") for _ in carried]
        for each, name in zip(carried, names, strict=True):
            self.line(f"{_TYPES[each.param.dtype]} {name} = {self.use(each.following)};")
        for each, name in zip(carried, names, strict=True):
            self.line(f"v{each.param.number} = {name};")
        self.depth -= 1

    def while_loop(self, loop: While) -> None:
        self.declare_carried(loop.carried)
        counter = "" if self.nesting else self.fresh("turn")
        if counter:
            self.line(f"i64 {counter} = 0;")
        self.line("for (;;) {")
        self.inner(loop.test)
        self.depth += 1
        self.line(f"if (!{self.use(loop.condition)}) break;")
        if counter:
            turns = max(1, BUDGET // turn_work(loop)[0])
            self.line(f"if (++{counter} % {turns} == 0 && {self.poll()}) return {INTERRUPTED};")
        self.depth -= 1
        self.nested(loop.body)
        self.advance(loop.carried)
        self.line("}")

    def loop(self, loop: For) -> None:
        if loop.lanes > 1 and loop.carried:
            self.lanes_loop(loop)
            return
        self.declare_carried(loop.carried)
        index, start = f"v{loop.index.number}", self.use(loop.start)
        if self.pauses(loop):
            first = self.fresh("first")
            self.line(f"i64 {first} = {start};")
            with self.limits(loop, first) as limit:
                self.turns_between(loop, index, first, limit)
                self.line(f"{first} = {limit};")
        else:
            self.turns_between(loop, index, start, self.use(loop.stop))

    def turns_between(self, loop: For, index: str, start: str, stop: str) -> None:
        if loop.lanes > 1:
            self.line("INDEPENDENT")
        self.line(f"for (i64 {index} = {start}; {index} < {stop}; ++{index}) {{")
        self.nested(loop.body)
        if loop.carried:
            self.advance(loop.carried)
        self.line("}")

    def nested(self, block: Block) -> None:
        """The body of a loop."""
        self.nesting += 1
        self.inner(block)
        self.nesting -= 1

    # interruptions

    def pauses(self, loop: For) -> bool:
        """Whether a loop asks if it was interrupted: one that no other holds, and that may run for long."""
        return not self.nesting and not loop.steady and is_long(loop)

    def poll(self) -> str:
        return f"((poll_fn)table[{POLL}])(frame)"

    def work(self, loop: For) -> str:
        """About how many operations a turn does, as an expression."""
        own, inner = turn_work(loop)
        text = ""
        for each in inner:
            if is_known_before(each.start, loop) and is_known_before(each.stop, loop):
                turns = f"({self.use(each.stop)} - {self.use(each.start)})"
                text += f" + {turns} * ({self.work(each)})"
            else:
                own += UNKNOWN_TURNS * turn_work(each)[0]
        return f"{own}{text}"

    @contextmanager
    def limits(self, loop: For, first: str) -> Generator[str]:
        """Around the turns from ``first`` to a limit: a loop over limits, where the unit asks."""
        limit, step, stop = self.fresh("limit"), self.fresh("step"), self.use(loop.stop)
        work = self.work(loop)
        known = (
            str(max(1, BUDGET // int(work) // loop.lanes) * loop.lanes) if work.isdigit() else ""
        )
        self.line(f"i64 {step} = {known or f'{BUDGET} / ({work}) + 1'};")
        self.line("for (;;) {")
        self.depth += 1
        self.line(f"i64 {limit} = {first} + {step} < {stop} ? {first} + {step} : {stop};")
        yield limit
        self.line(f"if ({limit} >= {stop}) break;")
        self.line(f"if ({self.poll()}) return {INTERRUPTED};")
        self.depth -= 1
        self.line("}")

    def lanes_loop(self, loop: For) -> None:
        """Partial results in arrays: whole groups of turns first, then what is left."""
        lanes = loop.lanes
        arrays: list[str] = []
        for each in loop.carried:
            name = self.fresh("lanes")
            arrays.append(name)
            self.line(f"{_TYPES[each.param.dtype]} {name}[{lanes}];")
            self.line(f"for (i64 l = 0; l < {lanes}; ++l) {name}[l] = {self.use(each.initial)};")
        first, stop = self.fresh("first"), self.use(loop.stop)
        self.line(f"i64 {first} = {self.use(loop.start)};")
        if self.pauses(loop):
            with self.limits(loop, first) as limit:
                self.groups(loop, arrays, first, limit)
        else:
            self.groups(loop, arrays, first, stop)
        self.turns(loop, arrays, first, f"{stop} - {first}")
        for each, name in zip(loop.carried, arrays, strict=True):
            half = lanes // 2
            combined = self.operation(
                each.combine or "",
                each.param.dtype,
                each.param.dtype,
                [f"{name}[l]", f"{name}[l + h]"],
            )
            self.line(f"for (i64 h = {half}; h > 0; h /= 2)")
            self.line(f"  for (i64 l = 0; l < h; ++l) {name}[l] = {combined};")
            self.names[each.result.number] = f"{name}[0]"

    def groups(self, loop: For, arrays: Sequence[str], first: str, stop: str) -> None:
        lanes = loop.lanes
        self.line(f"for (; {first} + {lanes} <= {stop}; {first} += {lanes}) {{")
        self.depth += 1
        self.turns(loop, arrays, first, str(lanes))
        self.depth -= 1
        self.line("}")

    def turns(self, loop: For, arrays: Sequence[str], first: str, count: str) -> None:
        self.line("INDEPENDENT")
        lane = self.fresh("l")
        self.line(f"for (i64 {lane} = 0; {lane} < {count}; ++{lane}) {{")
        self.depth += 1
        self.line(f"i64 v{loop.index.number} = {first} + {lane};")
        for each, name in zip(loop.carried, arrays, strict=True):
            self.line(f"{_TYPES[each.param.dtype]} v{each.param.number} = {name}[{lane}];")
        self.block(loop.body)
        for each, name in zip(loop.carried, arrays, strict=True):
            self.line(f"{name}[{lane}] = {self.use(each.following)};")
        self.depth -= 1
        self.line("}")


def print_c(programs: Sequence[tuple[str, Program]]) -> str:
    """A translation unit that defines one function for each named program."""
    bodies: list[str] = []
    helpers: dict[str, str] = {}
    for name, program in programs:
        printer = _Printer(program, name)
        printer.helpers = helpers
        bodies.append(printer.run())
    return "\n".join([_PRELUDE, *helpers.values(), "", *bodies])
