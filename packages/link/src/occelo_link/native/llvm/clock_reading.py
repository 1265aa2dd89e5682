"""Prints loop programs as LLVM IR with readings of the clock before and after each loop and library call.

`occelo_link.native.timing` compiles the printed text.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from occelo_link.loops.ir.program import Block, Program, Statement, Value
from occelo_link.loops.ir.visitor import Visitor
from occelo_link.native.llvm.module_writer import fixed_function
from occelo_link.native.llvm.printer import Printer

_CLOCK = "libm:clock_gettime"


def _nodes(statement: Statement) -> Iterator[int]:
    """Iterate over the numbers of the nodes that a statement and its inner statements belong to."""
    yield statement.node
    for block in statement.blocks:
        for inner in block:
            yield from _nodes(inner)


class _TimingVisitor(Visitor[None]):
    """Prints the statements of a program's body, with readings of the clock around loops and calls.

    ``times`` is the table entry of an array with one element for each loop or call. The code adds the measured times to
    this array. ``nodes_of_loops`` lists the numbers of the nodes of each loop or call.
    """

    def __init__(self, printer: Printer, times: str) -> None:
        self.printer = printer
        self.times = times
        self.nodes_of_loops: list[list[int]] = []

    def block(self, block: Block) -> None:
        for statement in block:
            self.statement(statement)

    def plain(self, statement: Statement, /) -> None:
        self.printer.statement(statement)

    def timed(self, statement: Statement, /) -> None:
        out = self.printer.out
        number = len(self.nodes_of_loops)
        self.nodes_of_loops.append(sorted({k for k in _nodes(statement) if k >= 0}))
        clock, times = out.entries[_CLOCK], out.entries[self.times]
        ticks = f"call i64 @ticks(ptr {clock}, i32 {time.CLOCK_MONOTONIC})"
        before = out.emit(ticks)
        self.printer.statement(statement)
        after = out.emit(ticks)
        taken = out.emit(f"sub i64 {after}, {before}")
        slot = out.emit(f"getelementptr i64, ptr {times}, i64 {number}")
        sum_before = out.emit(f"load i64, ptr {slot}, align 8")
        total = out.emit(f"add i64 {sum_before}, {taken}")
        out.line(f"store i64 {total}, ptr {slot}, align 8")

    value = store = check = alloc = swap = plain
    loop = while_loop = branch = invoke = timed


def print_timed(program: Program, threads: bool = False) -> tuple[str, list[list[int]], Any]:
    """Print a program. Returns the LLVM IR, the numbers of the nodes of each loop or call, and the array of times.

    The printed code adds times in nanoseconds to the array, which becomes a constant of the program. Raises OSError on
    systems without ``clock_gettime``.
    """
    if not hasattr(time, "CLOCK_MONOTONIC"):
        raise OSError("Loops are timed by clock_gettime, which this system has not")
    count = sum(not isinstance(s, Value) for s in program.body)
    times = np.zeros(count, np.int64)
    entry = program.entry(f"constant{len(program.constants)}")
    program.constants.append(times)
    program.entry(_CLOCK)
    printer = Printer(program, threads)
    timing = _TimingVisitor(printer, entry)
    text = f"{printer.unit(timing.block)}\n{fixed_function('ticks')}\n"
    return text, timing.nodes_of_loops, times
