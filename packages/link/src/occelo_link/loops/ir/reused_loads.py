"""Checks the builder's redundant load elimination: after a write to a buffer, no older value may replace a load from
it.

The verifier calls `check_reused_loads`. The builder loads an element once, and hoists the load out of loops that do not
write the buffer. Instead of loading an element that was just stored, it uses the stored value. A loaded or stored value
is available until the next write to the buffer. `Block.uses` lists each use of an available value in place of a load.

The check walks through the program in order. Each write to a buffer gives the buffer a new version. At each use of a
value, the buffer must have the version that it had when the value was loaded or stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count

from occelo_link.loops.ir import program as ir
from occelo_link.loops.ir.visitor import Visitor


def check_reused_loads(program: ir.Program, require: Callable[[bool, str], None]) -> None:
    """Call ``require(valid, message)`` for each use of an available value in place of a load.

    ``valid`` says whether the value may be used there. ``message`` describes the error if it may not.
    """
    _Walk(require).block(program.body)


class _Written(Visitor[Iterable[ir.Buffer]]):
    """Visitor that returns the buffers that a statement or its nested blocks write."""

    def nothing(self, statement: ir.Statement, /) -> Iterable[ir.Buffer]:
        return ()

    def store(self, statement: ir.Store) -> Iterable[ir.Buffer]:
        return (statement.buffer,)

    def invoke(self, statement: ir.Invoke) -> Iterable[ir.Buffer]:
        return statement.writes

    def swap(self, statement: ir.Swap) -> Iterable[ir.Buffer]:
        return (statement.first, statement.second)

    def alloc(self, statement: ir.Alloc) -> Iterable[ir.Buffer]:
        return () if statement.keeps else (statement.buffer,)

    def within(self, statement: ir.For | ir.While | ir.If, /) -> Iterable[ir.Buffer]:
        for block in statement.blocks:
            for inner in block:
                yield from self.statement(inner)

    value = check = nothing
    loop = while_loop = branch = within


_WRITTEN = _Written()


class _Walk(Visitor[None]):
    """Visitor that walks through a program, gives a buffer a new version at each write, and checks each use."""

    def __init__(self, require: Callable[[bool, str], None]) -> None:
        self.require = require
        self.versions = count(1)
        self.memory: dict[ir.Buffer, ir.Buffer] = {}
        """Maps each buffer that took over memory to the buffer that had this memory before."""
        self.now: dict[ir.Buffer, int] = {}
        """The version of the memory of each buffer."""
        self.seen: dict[tuple[ir.Buffer, int], int] = {}
        """For each buffer and value, the version of the buffer when the value was loaded from it or stored to it."""

    def owner(self, buffer: ir.Buffer) -> ir.Buffer:
        while buffer in self.memory:
            buffer = self.memory[buffer]
        return buffer

    def version(self, buffer: ir.Buffer) -> int:
        return self.now.get(self.owner(buffer), 0)

    def written(self, buffer: ir.Buffer) -> None:
        self.now[self.owner(buffer)] = next(self.versions)

    def block(self, block: ir.Block) -> None:
        uses: dict[int, list[tuple[ir.Buffer, ir.Value]]] = {}
        for after, buffer, value in block.uses:
            uses.setdefault(id(after), []).append((buffer, value))
        self.uses(uses, None)
        for statement in block:
            self.statement(statement)
            self.uses(uses, statement)

    def uses(
        self, uses: dict[int, list[tuple[ir.Buffer, ir.Value]]], statement: ir.Statement | None
    ) -> None:
        for buffer, value in uses.get(id(statement), ()):
            # if a value is only passed on within a loop, its buffer may have no memory and no version
            seen = self.seen.get((buffer, value.number))
            self.require(
                seen is None or seen == self.version(buffer),
                f"{value} is used for an element of {buffer}, which was written since",
            )

    def value(self, value: ir.Value) -> None:
        if value.op == "load":
            buffer: ir.Buffer = value.args[0]
            self.seen[buffer, value.number] = self.version(buffer)

    def store(self, statement: ir.Store) -> None:
        self.written(statement.buffer)
        self.seen[statement.buffer, statement.value.number] = self.version(statement.buffer)

    def alloc(self, statement: ir.Alloc) -> None:
        if statement.reuse is not None:
            self.memory[statement.buffer] = self.owner(statement.reuse)
        if not statement.keeps:
            self.written(statement.buffer)

    def check(self, statement: ir.Check) -> None:
        """A check writes nothing."""

    def branch(self, statement: ir.If) -> None:
        before = dict(self.now)
        self.block(statement.then)
        self.now = before
        self.block(statement.orelse)
        self.all_written(statement)

    def repeated(self, statement: ir.For | ir.While, /) -> None:
        # an earlier iteration may have written every buffer that the body writes
        self.all_written(statement)
        for block in statement.blocks:
            self.block(block)
        self.all_written(statement)

    def all_written(self, statement: ir.Statement, /) -> None:
        for buffer in set(_WRITTEN.statement(statement)):
            self.written(buffer)

    loop = while_loop = repeated
    invoke = swap = all_written
