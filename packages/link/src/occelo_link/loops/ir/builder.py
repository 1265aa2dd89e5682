"""`Builder`: builds loop programs, and at the same time eliminates common subexpressions and hoists loop invariants.

All lowerings and kernels write their code with the builder. Equal operations on equal values become one value. Each
value is computed in the outermost block where its operands are known, so loop invariants leave their loops. A loaded
element is reused until the next write to its buffer.

A load leaves a loop if its offset is known outside, and if no earlier statement of the loop writes to its buffer. The
builder does not know what later statements will write. So if a loop loads from an offset that is known outside of it,
and a later statement of the loop writes to the same buffer, the caller must pass ``fixed=True`` to `Builder.loop` or to
`Builder.load`. The verifier finds programs in which this was forgotten (`reused_loads`).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from occelo_link.loops.ir.operations import OPERATIONS
from occelo_link.loops.ir.program import (
    Alloc,
    Block,
    Buffer,
    Carried,
    Check,
    For,
    Function,
    If,
    Invoke,
    Pointer,
    Program,
    Reference,
    Store,
    Swap,
    Value,
    While,
)

if TYPE_CHECKING:
    import numpy.typing as npt

_FLOAT_KEY = struct.Struct("<d").pack
_FLOAT32 = struct.Struct("<f")


class Loop:
    """A loop under construction, with its index. Lowerings call `carry` to add carried scalars."""

    def __init__(self, builder: Builder, statement: For) -> None:
        self._builder = builder
        self.statement = statement
        self.index = statement.index

    def carry(self, initial: Value, combine: str | None = None) -> Carried:
        """Add a carried scalar to the loop. The caller must set `Carried.following` before the loop is closed."""
        builder = self._builder
        param = builder.param(initial.dtype, self.statement.body)
        parent = self.statement.body.parent
        assert parent is not None
        result = builder.param(initial.dtype, parent)
        carried = Carried(param, initial, param, result, combine)
        self.statement.carried.append(carried)
        return carried


class Builder:
    """Builds the statements of a `Program`."""

    def __init__(self, name: str = "unit") -> None:
        root = Block(None, fixed=True)
        self.program = Program(name, root)
        self.stack: list[Block] = [root]
        self._count = 0
        self._buffers = 0
        self._tables: dict[str, Buffer] = {}
        self._integers: dict[int, Value] = {}
        """The int64 constants of the outermost block."""
        self.unfinished: set[str] = set()
        """The names of the program's functions whose bodies are under construction. Such a body may call its own
        function.
        """
        self.node = -1
        """The node to which new statements belong: its position among the nodes of the program."""
        self.threads = 0
        """Which loops may run in several threads (`machine.threads.divided_loops`)."""
        self.non_interruptible = False
        """Whether loops that are opened now must not poll for interrupts."""
        self.foreign: dict[str, None] = {}
        """The names of the ops whose lowerings are from other packages. If there are any, the program is verified."""
        self.epoch = 0
        """The number of writes, so far, to buffers that had available values."""

    @property
    def block(self) -> Block:
        """The block under construction."""
        return self.stack[-1]

    @property
    def at_top(self) -> bool:
        """Whether the block under construction is the body of the program, outside of all loops and branches."""
        return len(self.stack) == 1

    @property
    def in_threads(self) -> bool:
        """Whether a loop that is opened now may run in several threads."""
        return self.threads > 0 and (self.at_top or (self.threads > 1 and self.block.is_step))

    # values

    def _value(self, dtype: str, op: str, args: tuple[Any, ...], block: Block) -> Value:
        self._count += 1
        return Value(self._count, dtype, op, args, block, self.node)

    def fresh(self, dtype: str, op: str, args: tuple[Any, ...], block: Block) -> Value:
        """A new value, which the caller appends to a block."""
        return self._value(dtype, op, args, block)

    def param(self, dtype: str, block: Block) -> Value:
        """A new value that a statement defines, such as the index of a loop."""
        return self._value(dtype, "param", (), block)

    def const(self, number: Any, dtype: str) -> Value:
        """A constant number. Constants belong to no block."""
        if dtype[0] == "f":
            number = _float32(number) if dtype == "float32" else float(number)
            key: tuple[object, ...] = (dtype, _FLOAT_KEY(number))
        elif dtype == "bool":
            number = bool(number)
            key = (dtype, number)
        else:
            number = int(number)
            key = (dtype, number)
        root = self.stack[0]
        value = root.known.get(key)
        if value is None:
            self._count += 1
            value = Value(self._count, dtype, "const", (number,), root, self.node)
            root.known[key] = value
        return value

    def i64(self, number: int) -> Value:
        """An int64 constant. OverflowError if int64 does not hold the number."""
        value = self._integers.get(number)
        if value is None:
            if number != _wrap(number):
                raise OverflowError(f"int64 does not hold {number}")
            value = self._integers[number] = self.const(number, "int64")
        return value

    def op(self, name: str, *args: Value, dtype: str | None = None) -> Value:
        """The result of an operation on values. The operations ``cast`` and ``bits`` need the ``dtype`` of the result."""
        if dtype is None:
            operation = OPERATIONS.get(name)
            if operation is None:
                raise ValueError(f"Loop programs have no operation {name!r}")
            dtype = args[-1].dtype if operation.gives == "same" else operation.gives
        key = (name, dtype, args)
        stack = self.stack
        depth = stack[-1].floor
        for a in args:
            if a.block.depth > depth:
                depth = a.block.depth
        block = stack[depth]
        value = block.known.get(key)
        if value is None:
            self._count += 1
            value = block.known[key] = Value(self._count, dtype, name, args, block, self.node)
            block.statements.append(value)
        return value

    # integers, with the constant folding that index arithmetic needs

    def add(self, x: Value, y: Value) -> Value:
        """The sum. A term 0 is dropped, integer constants are folded, and one integer constant is the second term."""
        if x.dtype == "int64" and (x.op == "const" or y.op == "const"):
            if x.op == y.op:
                return self.i64(_wrap(x.args[0] + y.args[0]))
            x, y = (y, x) if x.op == "const" else (x, y)
            if y.args[0] == 0:
                return x
        return self.op("add", x, y)

    def sub(self, x: Value, y: Value) -> Value:
        """The difference. A term 0 is dropped, and integer constants are folded."""
        if x.dtype == "int64" and y.op == "const":
            if x.op == "const":
                return self.i64(_wrap(x.args[0] - y.args[0]))
            if y.args[0] == 0:
                return x
        return self.op("sub", x, y)

    def mul(self, x: Value, y: Value) -> Value:
        """The product. Factors 0 and 1 are dropped, and integer constants are folded."""
        if x.dtype == "int64" and (x.op == "const" or y.op == "const"):
            if x.op == y.op:
                return self.i64(_wrap(x.args[0] * y.args[0]))
            a, other = (x, y) if x.op == "const" else (y, x)
            number = a.args[0]
            if number == 0:
                return a
            if number == 1:
                return other
        return self.op("mul", x, y)

    def cast(self, x: Value, dtype: str) -> Value:
        """The value, converted to another dtype."""
        if x.dtype == dtype:
            return x
        if x.op == "const" and dtype == "int64" and x.dtype[0] != "f":
            return self.i64(_wrap(int(x.args[0])))
        return self.op("cast", x, dtype=dtype)

    def eq(self, x: Value, y: Value) -> Value:
        """Whether x = y. Integer constants are folded."""
        if x.op == "const" and y.op == "const" and x.dtype == "int64":
            return self.const(x.args[0] == y.args[0], "bool")
        return self.op("eq", x, y)

    def lt(self, x: Value, y: Value) -> Value:
        """Whether x < y. Integer constants are folded."""
        if x.op == "const" and y.op == "const" and x.dtype == "int64":
            return self.const(x.args[0] < y.args[0], "bool")
        return self.op("lt", x, y)

    def select(self, condition: Value, x: Value, y: Value) -> Value:
        """``x`` if the condition holds, else ``y``. A constant condition is folded."""
        if condition.op == "const":
            return x if condition.args[0] else y
        return x if x is y else self.op("select", condition, x, y)

    def product(self, factors: Sequence[Value]) -> Value:
        """The product of int64 values."""
        total = self.i64(1)
        for factor in factors:
            total = self.mul(total, factor)
        return total

    # memory

    def buffer(
        self,
        dtype: str,
        space: str,
        *,
        position: int = -1,
        ndim: int = 0,
        entry: str = "",
        holds: str | None = None,
    ) -> Buffer:
        """A new buffer with a unique name."""
        self._buffers += 1
        prefix = {
            "input": "in",
            "output": "out",
            "work": "tmp",
            "carried": "kept",
            "constant": "const",
        }[space]
        name = f"{prefix}{self._buffers}"
        return Buffer(name, dtype, space, position, ndim, entry, holds)

    def scratch(self, dtype: str, size: Value, ndim: int = 1) -> Buffer:
        """New working memory of ``size`` elements, of which several threads have a copy each."""
        buffer = self.buffer(dtype, "work", ndim=ndim)
        buffer.scratch = size
        block = self.stack[0] if size.op == "const" else self.block  # once, before all loops
        block.statements.append(Alloc(buffer, size, node=self.node))
        return buffer

    def constant_table(self, name: str, array: npt.NDArray[Any]) -> Buffer:
        """The buffer of a constant array. Calls with the same name return the same buffer."""
        table = self._tables.get(name)
        if table is None:
            entry = self.program.entry(f"constant{len(self.program.constants)}")
            self.program.constants.append(array)
            table = self._tables[name] = self.buffer(
                array.dtype.name, "constant", ndim=array.ndim, entry=entry
            )
        return table

    def load(self, buffer: Buffer, offset: Value, *, fixed: bool = False) -> Value:
        """The element at ``offset``. If ``fixed`` is True, the load is neither hoisted nor reused."""
        if fixed:
            block = self.stack[-1]
            fresh = self._value(buffer.dtype, "load", (buffer, offset), block)
            block.statements.append(fresh)
            return fresh
        depth = max(self.stack[-1].floor, offset.block.depth)
        for deeper in range(len(self.stack) - 1, depth, -1):
            if buffer in self.stack[deeper].writes:
                depth = deeper
                break
        block = self.stack[depth]
        key = ("load", buffer, buffer.version, offset)
        value = block.known.get(key)
        if value is None:
            value = block.known[key] = self._value(buffer.dtype, "load", (buffer, offset), block)
            block.statements.append(value)
        self.use(buffer, value)
        return value

    def use(self, buffer: Buffer, value: Value) -> None:
        """Record that an available value replaces a load from a buffer, in the block under construction."""
        buffer.read = buffer.version
        block = self.stack[-1]
        after = block.statements[-1] if block.statements else None
        block.uses.append((after, buffer, value))

    def _written(self, buffer: Buffer) -> None:
        """Invalidate the available values of a buffer."""
        if buffer.read == buffer.version:
            self.epoch += 1
        buffer.version += 1
        for block in self.stack:
            block.writes.add(buffer)

    def input_length(self, buffer: Buffer, axis: int) -> Value:
        """The length of a dimension of an input."""
        return self._header("length", buffer, axis)

    def input_stride(self, buffer: Buffer, axis: int) -> Value:
        """The stride of a dimension of an input, in elements."""
        return self._header("stride", buffer, axis)

    def _header(self, op: str, buffer: Buffer, axis: int) -> Value:
        root = self.stack[0]
        key = (op, buffer, axis)
        value = root.known.get(key)
        if value is None:
            value = root.known[key] = self._value("int64", op, (buffer, axis), root)
            root.statements.append(value)
        return value

    def store(self, buffer: Buffer, offset: Value, value: Value) -> None:
        """Write an element to a buffer."""
        self.block.statements.append(Store(buffer, offset, value, self.node))
        self._written(buffer)

    def alloc(
        self,
        buffer: Buffer,
        size: Value,
        lengths: Sequence[Value] = (),
        reuse: Buffer | None = None,
        keeps: bool = False,
    ) -> Alloc:
        """Allocate memory for a buffer; see `Alloc`."""
        self._written(buffer)
        statement = Alloc(buffer, size, lengths, reuse, keeps, self.node)
        self.block.statements.append(statement)
        return statement

    def swap(self, first: Buffer, second: Buffer) -> None:
        """Exchange the memory of two buffers; see `Swap`."""
        self._written(first)
        self._written(second)
        self.block.statements.append(Swap(first, second, self.node))

    # effects

    def check(self, condition: Value, site: int) -> None:
        """Write a check: if the condition does not hold, the program stops with the error of a site."""
        if condition.op == "const" and condition.args[0]:
            return
        key = ("check", condition.number)
        for block in self.stack:
            if key in block.memo:
                return
        self.block.memo[key] = True
        self.block.statements.append(Check(condition, site, self.node))

    def call(self, entry: str, dtype: str, *args: Value) -> Value:
        """The result of a pure function of scalars, which has the name ``entry`` in the program's table."""
        self.program.entry(entry)
        key = ("call", entry, args)
        depth = max(self.stack[-1].floor, *(a.block.depth for a in args))
        block = self.stack[depth]
        value = block.known.get(key)
        if value is None:
            value = block.known[key] = self._value(dtype, "call", (entry, *args), block)
            block.statements.append(value)
        return value

    def apply(self, name: str, make: Callable[..., Value], *args: Value) -> Value:
        """The result of a function of scalars that belongs to the program. If needed, ``make(builder, *params)``
        defines it first.
        """
        function = self.program.functions.get(name)
        if function is None:
            function = self.program.functions[name] = self._function(name, make, args)
        key = ("apply", name, args)
        block = self.stack[max(self.stack[-1].floor, *(a.block.depth for a in args))]
        value = block.known.get(key)
        if value is None:
            dtype = function.result.dtype
            value = block.known[key] = self._value(dtype, "apply", (name, *args), block)
            block.statements.append(value)
        return value

    def _function(self, name: str, make: Callable[..., Value], args: Sequence[Value]) -> Function:
        outer, integers = self.stack, self._integers
        body = Block(None, fixed=True)
        self.stack, self._integers = [body], {}
        self.unfinished.add(name)
        params = [self.param(a.dtype, body) for a in args]
        result = make(self, *params)
        self.unfinished.remove(name)
        self.stack, self._integers = outer, integers
        return Function(name, params, body, result)

    def unlikely(
        self, condition: Value, usual: Value, name: str, make: Callable[..., Value], *args: Value
    ) -> Value:
        """The result of a function of scalars if an unlikely condition holds, else ``usual``.

        As in `apply`, ``make`` defines the function if needed. The function may call itself with `unlikely`.
        """
        if name not in self.program.functions and name not in self.unfinished:
            self.program.functions[name] = self._function(name, make, args)
        values = (condition, usual, *args)
        depth = max(self.stack[-1].floor, *(v.block.depth for v in values))
        block = self.stack[depth]
        key = ("unlikely", name, values)
        value = block.known.get(key)
        if value is None:
            arguments = (condition, usual, name, *args)
            value = block.known[key] = self._value(usual.dtype, "unlikely", arguments, block)
            block.statements.append(value)
        return value

    def invoke(
        self,
        entry: str,
        args: Sequence[Value | Pointer | Reference],
        dtype: str | None = None,
        writes: Sequence[Buffer] = (),
    ) -> Value | None:
        """Call a function of the program's table for its effect. ``writes`` are the buffers that it may write."""
        self.program.entry(entry)
        result = None if dtype is None else self.param(dtype, self.block)
        self.block.statements.append(Invoke(entry, args, result, writes, self.node))
        for buffer in writes:
            self._written(buffer)
        return result

    # blocks

    @contextmanager
    def loop(
        self,
        stop: Value,
        *,
        start: Value | None = None,
        lanes: int = 1,
        parallel: bool = False,
        fixed: bool = False,
    ) -> Generator[Loop]:
        """A context manager for the loop ``for index in range(start, stop)``, which is appended when its body is
        complete.

        The loop has at most ``lanes`` lanes, and fewer lanes if it has few iterations. If ``fixed`` is True, nothing is
        hoisted out of the loop.
        """
        if stop.op == "const" and (start is None or start is self.i64(0)):
            # a masked store delays the next load of the same memory by many cycles
            while lanes > 2 and lanes // 2 >= stop.args[0]:
                lanes //= 2
        body = Block(self.block, fixed)
        index = self._value("int64", "param", (), body)
        first = self.i64(0) if start is None else start
        statement = For(index, first, stop, body, lanes, parallel, node=self.node)
        statement.non_interruptible = self.non_interruptible
        statement.in_step = self.threads > 1 and not self.at_top and self.block.is_step
        self.stack.append(body)
        yield Loop(self, statement)
        self.stack.pop()
        self.block.statements.append(statement)

    def branch(
        self,
        condition: Value,
        then: Callable[[], Sequence[Value]],
        orelse: Callable[[], Sequence[Value]],
    ) -> list[Value]:
        """Run one of two blocks. Returns the values of the block that runs."""
        blocks: list[Block] = []
        values: list[Sequence[Value]] = []
        for make in (then, orelse):
            block = Block(self.block, fixed=True)
            self.stack.append(block)
            values.append(make())
            self.stack.pop()
            blocks.append(block)
        statement = If(condition, blocks[0], blocks[1], node=self.node)
        for a, b in zip(*values, strict=True):
            statement.results.append((self.param(a.dtype, self.block), a, b))
        self.block.statements.append(statement)
        return [r for r, _, _ in statement.results]

    def repeat_while(
        self,
        initial: Sequence[Value],
        test: Callable[[Sequence[Value]], Value],
        body: Callable[[Sequence[Value]], Sequence[Value]],
    ) -> list[Value]:
        """Replace values by ``body(values)`` while ``test(values)`` holds. Returns the last values."""
        outer = self.block
        testing = Block(outer, fixed=True)
        params = [self.param(v.dtype, testing) for v in initial]
        self.stack.append(testing)
        condition = test(params)
        inner = Block(testing, fixed=True)
        self.stack.append(inner)
        following = body(params)
        self.stack.pop()
        self.stack.pop()
        carried = [
            Carried(p, i, f, self.param(i.dtype, outer))
            for p, i, f in zip(params, initial, following, strict=True)
        ]
        outer.statements.append(While(testing, condition, inner, carried, self.node))
        return [c.result for c in carried]


def _float32(number: Any) -> float:
    try:
        rounded: float = _FLOAT32.unpack(_FLOAT32.pack(number))[0]
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")
    return rounded


def _wrap(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63
