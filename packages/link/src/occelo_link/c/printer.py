"""`Printer` prints a loop program as a C function. `c.source` uses this class, and `c.divided` derives from it.

The C functions have the same interface as units of the LLVM printer (see `occelo_link.units.frame`) and compute the
same bits. For that, helper functions define every operation that C leaves undefined.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

from occelo_link.c.literals import TYPES, literal, memory_type
from occelo_link.c.operations import Operations
from occelo_link.loops.ir import cost
from occelo_link.loops.ir import program as ir
from occelo_link.loops.ir.operations import PRIMITIVES
from occelo_link.loops.ir.uses import captured_by, constants_of, live_values, scratch_of
from occelo_link.loops.ir.visitor import Visitor
from occelo_link.units import frame

INLINE_USES = 8
PARALLEL_TYPE = """\
typedef i64 (*parallel_fn)(i64 (*part)(void *env, i64 start, i64 stop, void **table), void *env, i64 start, i64 stop,
                           void **table, i64 *frame, i64 work, i64 length, i64 threads, i64 *own);"""
"""The type of the service `frame.PARALLEL`."""
_WORD = re.compile(r"\w+")


def words_of(lines: Iterable[str]) -> set[str]:
    """Return all words of printed lines, among them the names that the lines use."""
    return {word for line in lines for word in _WORD.findall(line)}


class Printer(Visitor[None]):
    """Prints one program as one C function. ``helpers`` collects helper functions, which several programs share.

    If ``threads`` is true, loops may run in several threads.
    """

    def __init__(
        self, program: ir.Program, function: str, helpers: dict[str, str], threads: bool = False
    ) -> None:
        self.program = program
        self.function_name = function
        self.threads = threads
        self.helpers = helpers
        self.own: dict[str, str] = {}
        self.lines: list[str] = []
        self.depth = 1
        self.nesting = 0
        self.commented = True
        alternates = any(b.holds.startswith("complex") for b in program.outputs)
        self.operations = Operations(helpers, alternates)
        self.declarations: dict[ir.Buffer, str] = {}
        self.rooms: dict[ir.Buffer, str] = {}
        self.names: dict[int, str] = {}
        self.count = 0
        self.live = live_values(program)

    def run(self) -> str:
        self.block(self.program.body)
        declared = [*self.declarations.values(), *self.rooms.values()]
        buffers = [*self.program.inputs, *constants_of(self.program)]
        words = words_of(self.lines)  # of some buffers, lines use only lengths or elements
        declared += [self.given(buffer) for buffer in buffers if buffer.name in words]
        return "\n".join([*self.own.values(), *self.unit(declared)])

    def declared(self, value: ir.Value) -> str:
        """Return the start of a value's declaration: its type and name, and a mark if nothing uses it."""
        unused = "" if value.number in self.live else " UNUSED"
        return f"{TYPES[value.dtype]} v{value.number}{unused}"

    def unit(self, declared: Sequence[str]) -> list[str]:
        """Return the lines of the unit, with the given declarations at its start."""
        head = f"i64 {self.function_name}(i64 *frame UNUSED, void **table UNUSED) {{"
        return [head, *(f"  {text}" for text in declared), *self.lines, "  return 0;", "}", ""]

    def given(self, buffer: ir.Buffer) -> str:
        """Return the declaration of the pointer to an input or a constant."""
        kind = memory_type(buffer.dtype)
        if buffer.space == "input":
            source = f"frame[{frame.FIRST_INPUT + frame.INPUT_SLOTS * buffer.position}]"
        else:
            source = f"table[{frame.table_slot(self.program, buffer.entry)}]"
        return f"{kind} *{buffer.name} = ({kind} *){source};"

    # text

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def fresh(self, hint: str) -> str:
        self.count += 1
        return f"{hint}{self.count}"

    def use(self, value: ir.Value) -> str:
        if value.op == "const":
            return literal(value.args[0], value.dtype)
        return self.names.get(value.number, f"v{value.number}")

    # statements

    def block(self, block: ir.Block) -> None:
        self.statements(block)

    def statements(self, statements: Iterable[ir.Statement]) -> None:
        last, methods = -1, self.methods
        for statement in statements:
            if statement.node not in (last, -1) and self.commented:
                last = statement.node
                op = str(getattr(self.program.nodes[last], "op", "")).replace("*/", "* /")
                self.line(f"/* {last}: {op} */")
            methods[type(statement)](self, statement)

    def inner(self, block: ir.Block) -> None:
        self.depth += 1
        self.block(block)
        self.depth -= 1

    def store(self, statement: ir.Store) -> None:
        value = self.use(statement.value)
        self.line(f"{statement.buffer.name}[{self.use(statement.offset)}] = {value};")

    def check(self, statement: ir.Check) -> None:
        self.line(f"if (!{self.use(statement.condition)}) return {statement.site + 1};")

    def value(self, value: ir.Value) -> None:
        if value.number not in self.live:
            return
        name = f"v{value.number}"
        kind = TYPES[value.dtype]
        if value.op == "unlikely":
            condition, usual, function, *args = value.args
            self.line(f"{kind} {name} = {self.use(usual)};")
            call = f"{self.function(function)}({', '.join(self.use(a) for a in args)}, table)"
            self.line(f"if (__builtin_expect({self.use(condition)}, 0)) {name} = {call};")
            return
        self.line(f"{kind} {name} = {self.expression(value)};")

    def expression(self, value: ir.Value) -> str:
        args = value.args
        if value.op == "load" and args[0].space == "constant":
            slot = frame.table_slot(self.program, args[0].entry)
            element = f"(({memory_type(value.dtype)} *)table[{slot}])[{self.use(args[1])}]"
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
        return self.operations.operation(
            value.op, args[-1].dtype, value.dtype, [self.use(a) for a in args]
        )

    def function(self, name: str) -> str:
        """Return the C name of a function of the program. At its first use the function is printed."""
        c_name = f"{self.function_name}_{name}"
        if c_name in self.own:
            return c_name
        function = self.program.functions[name]
        lines, depth, names = self.lines, self.depth, self.names
        self.lines, self.depth, self.names = [], 1, {}
        self.own[c_name] = ""  # known from here on, since the function may call itself
        self.commented = False  # several nodes may use the function
        self.block(function.body)
        self.commented = True
        kind = TYPES[function.result.dtype]
        params = ", ".join([*map(self.declared, function.params), "void **table UNUSED"])
        head = f"static inline {self.inline_attribute(name)}{kind} {c_name}({params}) {{"
        self.line(f"return {self.use(function.result)};")
        del self.own[c_name]  # moved behind the functions that it calls
        self.own[c_name] = "\n".join([head, *self.lines, "}"])
        self.lines, self.depth, self.names = lines, depth, names
        return c_name

    def inline_attribute(self, name: str) -> str:
        """Return the inlining attribute of a function of the program, or an empty string.

        A function with few uses is always inlined, so that loops around the calls can be vectorized.
        """
        if name in PRIMITIVES:
            return "ALWAYS_INLINE "
        own = self.program.functions[name].body
        if any(isinstance(s, ir.Value) and s.op == "unlikely" and s.args[2] == name for s in own):
            return ""  # a recursive function cannot be inlined
        uses = INLINE_USES * name.endswith("_huge") + sum(
            isinstance(s, ir.Value) and s.op == "apply" and s.args[0] == name
            for block in self.program.blocks()
            for s in block
        )
        return "ALWAYS_INLINE " if uses <= INLINE_USES else ""

    def header(self, value: ir.Value) -> str:
        buffer, axis = value.args
        which = 1 if value.op == "length" else 2
        slot = frame.FIRST_INPUT + frame.INPUT_SLOTS * buffer.position + which
        entry = f"((i64 *)frame[{slot}])[{axis}]"
        return entry if which == 1 else f"{entry} / {ir.itemsize(buffer.dtype)}"

    def call(self, entry: str, dtype: str, args: Sequence[ir.Value]) -> str:
        kinds = ", ".join(TYPES[a.dtype] for a in args)
        listed = ", ".join(self.use(a) for a in args)
        slot = frame.table_slot(self.program, entry)
        return f"(({TYPES[dtype]} (*)({kinds}))table[{slot}])({listed}) /* {entry} */"

    # memory and calls

    def alloc(self, statement: ir.Alloc) -> None:
        buffer = statement.buffer
        kind = memory_type(buffer.dtype)
        name = buffer.name
        taken = statement.reuse
        unused = "" if taken is None else " UNUSED"  # perhaps only another name of the memory
        self.declarations.setdefault(buffer, f"{kind} *{name}{unused} = 0;")
        if taken is not None and not statement.updates_input:
            self.line(f"{name} = {taken.name};")
            return
        if taken is not None:
            size = f"{self.use(statement.size)} * {ir.itemsize(buffer.dtype)}"
            take = f"((take_fn)table[{frame.TAKE}])(frame, {buffer.position}, {taken.position}, {size})"
            self.line(f"{name} = ({kind} *){take};")
        elif buffer.space == "output":
            lengths = ", ".join(self.use(n) for n in statement.lengths) or "0"
            dims = self.fresh("dims")
            self.line(f"i64 {dims}[] = {{{lengths}}};")
            call = (
                f"((alloc_output_fn)table[{frame.ALLOC_OUTPUT}])(frame, {buffer.position}, {dims})"
            )
            self.line(f"{name} = ({kind} *){call};")
        else:
            size = f"({self.use(statement.size)} * {ir.itemsize(buffer.dtype)} + 127) & -64"
            bytes_ = self.fresh("bytes")
            self.line(f"i64 {bytes_} = {size};")
            grow = f"((grow_fn)table[{frame.GROW}])(frame, {bytes_})"
            if self.depth > 1 or buffer.space == "carried":
                self.grow_buffer(buffer, bytes_)
                return
            fits = f"frame[{frame.ARENA}] + {bytes_} <= frame[{frame.ARENA_END}]"
            take = f"{name} = ({kind} *)frame[{frame.ARENA}]; frame[{frame.ARENA}] += {bytes_};"
            self.line(f"if ({fits}) {{ {take} }}")
            self.line(f"else {name} = ({kind} *){grow};")
        self.line(f"if (!{name}) return -1;")

    def grow_buffer(self, buffer: ir.Buffer, bytes_: str) -> None:
        """Print code that makes sure that a buffer has ``bytes_`` bytes.

        If it has fewer, the code allocates new memory, at least twice as much as before.
        """
        name, room, kind = buffer.name, f"{buffer.name}_room", memory_type(buffer.dtype)
        self.rooms[buffer] = f"i64 {room} = 0;"
        self.line(f"if ({bytes_} > {room}) {{")
        self.line(f"  {room} = {bytes_} > 2 * {room} ? {bytes_} : 2 * {room};")
        self.line(f"  {name} = ({kind} *)((grow_fn)table[{frame.GROW}])(frame, {room});")
        self.line(f"  if (!{name}) return -1;")
        self.line("}")

    def swap(self, statement: ir.Swap) -> None:
        first, second = statement.first, statement.second
        kind, held = memory_type(first.dtype), self.fresh("held")
        self.line(f"{kind} *{held} = {first.name};")
        self.line(f"{first.name} = {second.name}; {second.name} = {held};")
        size = self.fresh("size")
        self.line(f"i64 {size} = {first.name}_room;")
        self.line(f"{first.name}_room = {second.name}_room; {second.name}_room = {size};")
        for buffer in (first, second):
            self.rooms[buffer] = f"i64 {buffer.name}_room = 0;"

    def invoke(self, statement: ir.Invoke) -> None:
        kinds: list[str] = []
        listed: list[str] = []
        for argument in statement.args:
            if isinstance(argument, ir.Value):
                kinds.append(TYPES[argument.dtype])
                listed.append(self.use(argument))
            elif isinstance(argument, ir.Pointer):
                kinds.append("void *")
                listed.append(f"{argument.buffer.name} + {self.use(argument.offset)}")
            else:
                kinds.append("void *")
                name = self.fresh("ref")
                self.line(f"{TYPES[argument.value.dtype]} {name} = {self.use(argument.value)};")
                listed.append(f"&{name}")
        result = statement.result
        returned = "void" if result is None else TYPES[result.dtype]
        slot = frame.table_slot(self.program, statement.entry)
        left = "" if result is None else f"{self.declared(result)} = "
        pointer = f"(({returned} (*)({', '.join(kinds)}))table[{slot}])"
        self.line(f"{left}{pointer}({', '.join(listed)}); /* {statement.entry} */")

    # control

    def branch(self, statement: ir.If) -> None:
        for result, _, _ in statement.results:
            self.line(f"{self.declared(result)};")
        self.line(f"if ({self.use(statement.condition)}) {{")
        for block, which in ((statement.then, 1), (statement.orelse, 2)):
            self.inner(block)
            self.depth += 1
            for results in statement.results:
                self.line(f"v{results[0].number} = {self.use(results[which])};")
            self.depth -= 1
            self.line("} else {" if which == 1 else "}")

    def declare_carried(self, carried: Sequence[ir.Carried]) -> None:
        for each in carried:
            self.line(f"{self.declared(each.param)} = {self.use(each.initial)};")
            self.names[each.result.number] = f"v{each.param.number}"

    def advance(self, carried: Sequence[ir.Carried]) -> None:
        """Print the end of an iteration, which assigns the next values to all carried scalars at once."""
        self.depth += 1
        names = [self.fresh("next") for _ in carried]
        for each, name in zip(carried, names, strict=True):
            self.line(f"{TYPES[each.param.dtype]} {name} = {self.use(each.following)};")
        for each, name in zip(carried, names, strict=True):
            self.line(f"v{each.param.number} = {name};")
        self.depth -= 1

    def while_loop(self, loop: ir.While) -> None:
        self.declare_carried(loop.carried)
        counter = "" if self.nesting else self.fresh("iteration")
        if counter:
            self.line(f"i64 {counter} = 0;")
        self.line("for (;;) {")
        self.inner(loop.test)
        self.depth += 1
        self.line(f"if (!{self.use(loop.condition)}) break;")
        if counter:
            every = cost.iterations_between_polls(loop)
            self.line(
                f"if (++{counter} % {every} == 0 && {self.poll()}) return {frame.INTERRUPTED};"
            )
        self.depth -= 1
        self.nested(loop.body)
        self.advance(loop.carried)
        self.line("}")

    def loop(self, loop: ir.For) -> None:
        if self.threads and cost.may_be_divided(loop, self.nesting > 0):
            self.in_threads(loop)
            return
        if loop.lanes > 1 and loop.carried:
            self.lanes_loop(loop)
            return
        self.declare_carried(loop.carried)
        index, start = f"v{loop.index.number}", self.use(loop.start)
        if self.is_strip_mined(loop):
            first = self.fresh("first")
            self.line(f"i64 {first} = {start};")
            with self.strips(loop, first) as limit:
                self.plain_loop(loop, index, first, limit)
                self.line(f"{first} = {limit};")
        else:
            self.plain_loop(loop, index, start, self.use(loop.stop))

    def in_threads(self, loop: ir.For) -> None:
        """Print code that calls the function of a loop, or in a step of another loop runs it here if it has little work."""
        start, stop, work = self.use(loop.start), self.use(loop.stop), self.fresh("work")
        each = cost.work_text(cost.parallel_work(loop), self.use)
        self.line(f"i64 {work} = ({stop} - {start}) * ({each});")
        if not (self.nesting and cost.may_be_small(loop)):
            self.divided_loop(loop, work)
            return
        self.line(f"if ({work} <= {cost.least_work(loop)}) {{")
        threads, self.threads = self.threads, False
        self.loop(loop)
        self.threads = threads
        self.line("} else {")
        self.divided_loop(loop, work)
        self.line("}")

    def divided_loop(self, loop: ir.For, work: str) -> None:
        """Print a loop as a function of its own, and code that calls the function, in several threads if there is enough
        work.
        """
        start, stop = self.use(loop.start), self.use(loop.stop)
        part, env = self.fresh(f"{self.function_name}_part"), self.fresh("env")
        held = ", ".join(self.part(loop, part))
        use, own = self.use, "0"
        self.line(f"struct {part}_env {env} = {{{held}}};")
        scratch = scratch_of(loop)
        if scratch is not None:
            own = self.fresh("own")
            sizes = "".join(f", {use(n)} * {size}" for n, size in scratch)
            self.line(f"i64 {own}[] = {{sizeof {env}, {len(scratch)}{sizes}}};")
        entries = map(self.program.entry, (frame.PARALLEL, frame.THREAD_LIMIT))
        service, limit = (f"table[{frame.table_slot(self.program, e)}]" for e in entries)
        length = stop if loop.non_interruptible else cost.poll_interval_text(loop, use, "/")
        args = f"&{env}, {start}, {stop}, table"
        self.helpers["parallel_fn"] = PARALLEL_TYPE
        several = f"{part}, {args}, frame, {work}, {length}, (i64){limit}, {own}"
        call = f"{work} <= {cost.least_work(loop)} ? {part}({args}) : ((parallel_fn){service})({several})"
        self.line(f"{{ i64 status = {call}; if (status) return status; }}")

    def part(self, loop: ir.For, name: str) -> list[str]:
        """Print the function ``name`` of a loop. Returns what its struct holds: the values and addresses from outside."""
        held = {"frame": ("i64 *", "frame")}
        for each in captured_by(loop):
            if isinstance(each, ir.Buffer):
                held[each.name] = f"{memory_type(each.dtype)} *", each.name
            elif each.number in self.live:
                held[f"v{each.number}"] = f"{TYPES[each.dtype]} ", self.use(each)
        outer = self.lines, self.names, self.depth, self.threads
        self.lines, self.names, self.depth, self.threads = [], {}, 1, False
        self.plain_loop(loop, f"v{loop.index.number}", "start", "stop")
        fields = " ".join(f"{kind}{field};" for field, (kind, _) in held.items())
        starts = [f"  {kind}{field} UNUSED = e->{field};" for field, (kind, _) in held.items()]
        self.own[name] = "\n".join(
            [
                f"struct {name}_env {{ {fields} }};",
                f"static NOT_INLINED i64 {name}(void *env, i64 start, i64 stop, void **table UNUSED) {{",
                f"  struct {name}_env *e = env;",
                *starts,
                *self.lines,
                "  return 0;",
                "}",
            ]
        )
        self.lines, self.names, self.depth, self.threads = outer
        return [text for _, text in held.values()]

    def plain_loop(self, loop: ir.For, index: str, start: str, stop: str) -> None:
        if loop.lanes > 1:
            self.independent(loop)
        self.line(f"for (i64 {index} = {start}; {index} < {stop}; ++{index}) {{")
        self.nested(loop.body)
        if loop.carried:
            self.advance(loop.carried)
        self.line("}")

    def independent(self, loop: ir.For) -> None:
        """Print a line before a loop that lets the C compiler vectorize the loop."""
        self.line("INDEPENDENT")

    def nested(self, block: ir.Block) -> None:
        """Print the body of a loop."""
        self.nesting += 1
        self.inner(block)
        self.nesting -= 1

    # polling for interrupts

    def is_strip_mined(self, loop: ir.For) -> bool:
        """Whether a loop is divided into strips, between which it polls for interrupts.

        Only long interruptible loops outside of all other loops are divided.
        """
        return not self.nesting and not loop.non_interruptible and cost.is_long(loop)

    def poll(self) -> str:
        return f"((poll_fn)table[{frame.POLL}])(frame)"

    @contextmanager
    def strips(self, loop: ir.For, first: str) -> Generator[str]:
        """Print the loop over strips, with a poll after each strip. The ``with`` block prints the loop over one strip.

        Yields the name of a C variable, the limit of the strip: a strip has the indices from the C variable ``first``
        up to that limit.
        """
        limit, step, stop = self.fresh("limit"), self.fresh("step"), self.use(loop.stop)
        self.line(f"i64 {step} = {cost.poll_interval_text(loop, self.use, '/')};")
        self.line("for (;;) {")
        self.depth += 1
        self.line(f"i64 {limit} = {first} + {step} < {stop} ? {first} + {step} : {stop};")
        yield limit
        self.line(f"if ({limit} >= {stop}) break;")
        self.line(f"if ({self.poll()}) return {frame.INTERRUPTED};")
        self.depth -= 1
        self.line("}")

    def lanes_loop(self, loop: ir.For) -> None:
        """Print a loop with several accumulators. Each carried scalar becomes a C array with an element for each lane.

        The printed code has two loops. The first one runs the iterations in groups with one iteration for each lane.
        The second one runs the remaining iterations, which are fewer than the lanes. Then the lanes are combined.
        """
        lanes = loop.lanes
        arrays: list[str] = []
        for each in loop.carried:
            name = self.fresh("lanes")
            arrays.append(name)
            self.line(f"{TYPES[each.param.dtype]} {name}[{lanes}];")
            self.line(f"for (i64 l = 0; l < {lanes}; ++l) {name}[l] = {self.use(each.initial)};")
        first, stop = self.fresh("first"), self.use(loop.stop)
        self.line(f"i64 {first} = {self.use(loop.start)};")
        if self.is_strip_mined(loop):
            with self.strips(loop, first) as limit:
                self.groups(loop, arrays, first, limit)
        else:
            self.groups(loop, arrays, first, stop)
        self.lane_loop(loop, arrays, first, f"{stop} - {first}")
        for each, name in zip(loop.carried, arrays, strict=True):
            half = lanes // 2
            combined = self.operations.operation(
                each.combine or "",
                each.param.dtype,
                each.param.dtype,
                [f"{name}[l]", f"{name}[l + h]"],
            )
            self.line(f"for (i64 h = {half}; h > 0; h /= 2)")
            self.line(f"  for (i64 l = 0; l < h; ++l) {name}[l] = {combined};")
            self.names[each.result.number] = f"{name}[0]"

    def groups(self, loop: ir.For, arrays: Sequence[str], first: str, stop: str) -> None:
        lanes = loop.lanes
        self.line(f"for (; {first} + {lanes} <= {stop}; {first} += {lanes}) {{")
        self.depth += 1
        self.lane_loop(loop, arrays, first, str(lanes))
        self.depth -= 1
        self.line("}")

    def lane_loop(self, loop: ir.For, arrays: Sequence[str], first: str, count: str) -> None:
        self.independent(loop)
        lane = self.fresh("l")
        self.line(f"for (i64 {lane} = 0; {lane} < {count}; ++{lane}) {{")
        self.depth += 1
        self.line(f"{self.declared(loop.index)} = {first} + {lane};")
        for each, name in zip(loop.carried, arrays, strict=True):
            self.line(f"{self.declared(each.param)} = {name}[{lane}];")
        self.block(loop.body)
        for each, name in zip(loop.carried, arrays, strict=True):
            self.line(f"{name}[{lane}] = {self.use(each.following)};")
        self.depth -= 1
        self.line("}")
