"""Prints loop programs as LLVM IR with readings of the clock before and after each loop and library call.

`occelo_link.timing` compiles the printed text. `work_counting` prints counts of operations and bytes, too.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_link.loops.ir.cost import may_be_divided
from occelo_link.loops.ir.program import Block, For, Invoke, Program, Statement
from occelo_link.native.llvm.printer import Printer

_CLOCK = "libm:clock_gettime"


@frozen_dataclass(eq=False)
class Place:
    """A loop, a branch or a library call that is timed. ``outer`` is the number of the place that contains it, or None.

    ``nodes`` are the numbers of the nodes that it computes, with those of places inside.
    """

    statement: Statement
    outer: int | None
    nodes: tuple[int, ...]


def places(program: Program) -> list[Place]:
    """List what is timed: loops and calls in the program's body, and those in the bodies of the user's loops and branches.

    A place comes before those inside of it. Nothing is timed inside of a loop that several threads may run.
    """
    listed: list[Place] = []

    def visit(block: Block, outer: int | None) -> None:
        for statement in block:
            if not statement.blocks and not isinstance(statement, Invoke):
                continue
            nodes = tuple(sorted({k for k in _nodes(statement) if k >= 0}))
            number = len(listed)
            listed.append(Place(statement, outer, nodes))
            if _is_of_user(program, statement, nodes):
                for inner in statement.blocks:
                    visit(inner, number)

    visit(program.body, None)
    return listed


def _nodes(statement: Statement) -> Iterator[int]:
    """Iterate over the numbers of the nodes that a statement and its inner statements belong to."""
    yield statement.node
    for block in statement.blocks:
        for inner in block:
            yield from _nodes(inner)


def _is_of_user(program: Program, statement: Statement, nodes: tuple[int, ...]) -> bool:
    """Whether a statement runs the nodes of a loop or a branch that the user's graph contains."""
    divided = isinstance(statement, For) and may_be_divided(statement, False)
    if divided or statement.node < 0 or len(nodes) < 2:
        return False
    node = program.nodes[statement.node]
    return bool(node.op.loops or node.op.regions(node))


class TimedPrinter(Printer):
    """Prints a program with readings of the clock around its `places`.

    The printed code adds times in nanoseconds to ``times``, a constant of the program with an element for each place.
    Raises OSError on systems without ``clock_gettime``.
    """

    def __init__(self, program: Program, threads: bool) -> None:
        if not hasattr(time, "CLOCK_MONOTONIC"):
            raise OSError("Loops are timed by clock_gettime, which this system has not")
        super().__init__(program, threads)
        self.places = places(program)
        self.numbers = {id(place.statement): k for k, place in enumerate(self.places)}
        self.times_entry, self.times = self.counters(len(self.places))
        program.entry(_CLOCK)

    def counters(self, count: int) -> tuple[str, Any]:
        """Add an array of ``count`` integers, all 0, to the program. Returns its entry in the table, and the array."""
        program, array = self.out.program, np.zeros(count, np.int64)
        entry = program.entry(f"constant{len(program.constants)}")
        program.constants.append(array)
        return entry, array

    def block(self, block: Block) -> None:
        for statement in block.statements:
            with self.measured(statement):
                self.methods[type(statement)](self, statement)

    @contextmanager
    def measured(self, statement: Statement) -> Generator[None]:
        """A context in which a statement is printed, with readings of the clock if it is a place."""
        number = self.numbers.get(id(statement))
        if number is None:
            yield
            return
        before = self.ticks()
        yield
        taken = self.out.emit(f"sub i64 {self.ticks()}, {before}")
        self.add(self.times_entry, number, taken)

    def ticks(self) -> str:
        """Print a reading of the clock. Returns its name."""
        clock = f"ptr {self.out.entries[_CLOCK]}, i32 {time.CLOCK_MONOTONIC}"
        return self.out.emit(f"call i64 @ticks({clock})")

    def add(self, entry: str, position: int, amount: str) -> None:
        """Print code that adds ``amount`` to an element of an array of counters."""
        emit = self.out.emit
        slot = emit(f"getelementptr i64, ptr {self.out.entries[entry]}, i64 {position}")
        before = emit(f"load i64, ptr {slot}, align 8")
        self.out.line(f"store i64 {emit(f'add i64 {before}, {amount}')}, ptr {slot}, align 8")
