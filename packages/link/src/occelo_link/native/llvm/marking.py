"""Printing programs whose loops and calls read the clock before and after."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from occelo_link.loops.ir.program import (
    For,
    If,
    Invoke,
    Program,
    Statement,
    Value,
    While,
)
from occelo_link.native.llvm.printer import Printer

__all__ = ["print_marked"]

_CLOCK = "libm:clock_gettime"
_TICKS = """\
define internal i64 @ticks(ptr %clock) {{
  %time = alloca i64, i32 2, align 8
  %status = call i32 %clock(i32 {clock}, ptr %time)
  %seconds = load i64, ptr %time, align 8
  %rest.p = getelementptr i64, ptr %time, i64 1
  %rest = load i64, ptr %rest.p, align 8
  %whole = mul i64 %seconds, 1000000000
  %total = add i64 %whole, %rest
  ret i64 %total
}}"""


def _nodes(statement: Statement) -> Iterator[int]:
    """The numbers of the nodes of a statement and those within it."""
    yield statement.node
    for block in statement.blocks:
        for inner in block:
            yield from _nodes(inner)


class _Marking(Printer):
    """A printer of marked programs; ``marks`` are the nodes of each statement that is timed."""

    def __init__(self, program: Program, entry: str) -> None:
        super().__init__(program)
        self.entry = entry
        self.marks: list[list[int]] = []

    def body(self) -> None:
        for statement in self.program.body:
            if isinstance(statement, For | If | While | Invoke):
                self.marked(statement)
            else:
                self.statement(statement)

    def marked(self, statement: Statement) -> None:
        number = len(self.marks)
        self.marks.append(sorted({k for k in _nodes(statement) if k >= 0}))
        clock, times = self.functions[_CLOCK], self.functions[self.entry]
        before = self.emit(f"call i64 @ticks(ptr {clock})")
        self.statement(statement)
        after = self.emit(f"call i64 @ticks(ptr {clock})")
        taken = self.emit(f"sub i64 {after}, {before}")
        slot = self.emit(f"getelementptr i64, ptr {times}, i64 {number}")
        sum_before = self.emit(f"load i64, ptr {slot}, align 8")
        total = self.emit(f"add i64 {sum_before}, {taken}")
        self.line(f"store i64 {total}, ptr {slot}, align 8")


def print_marked(program: Program) -> tuple[str, list[list[int]], Any]:
    """A module of LLVM IR, the nodes of each loop and call, and the array of their times in nanoseconds.

    The array is a constant of the program from now on. OSError where the system has no such clock.
    """
    if not hasattr(time, "CLOCK_MONOTONIC"):
        raise OSError("Loops are timed by clock_gettime, which this system has not")
    count = sum(not isinstance(s, Value) for s in program.body)
    times = np.zeros(count, np.int64)
    entry = program.entry(f"constant{len(program.constants)}")
    program.constants.append(times)
    program.entry(_CLOCK)
    printer = _Marking(program, entry)
    text = printer.run() + "\n" + _TICKS.format(clock=time.CLOCK_MONOTONIC) + "\n"
    return text, printer.marks, times
