"""`Ranges`: bounds of the integers of a program, as far as they follow from static bounds of loops.

The LLVM printer (`native.llvm.printer`) leaves out a check, for instance of an index, if the bounds show that its
condition always holds.
"""

from __future__ import annotations

from occelo_link.loops.ir.program import Carried, For, Program, Value

Range = tuple[int, int]
"""The least and the largest number that a value may have."""

_DEPTH = 6
"""The number of operations through which a range or a condition is followed back."""
_LIMIT = 2**62
"""Ranges are known only for smaller numbers, so that no operation on them overflows int64."""


class Ranges:
    """The ranges of the int64 values of a program.

    A range holds wherever the value is computed: the index of a loop has a range, though the loop may not run at all.
    """

    def __init__(self, program: Program) -> None:
        self._params: dict[int, Range] = {}
        for block in program.blocks():
            for statement in block.statements:
                if isinstance(statement, For):
                    self._add_loop(statement)

    def _add_loop(self, loop: For) -> None:
        start, stop = self.of(loop.start), self.of(loop.stop)
        if start is None or stop is None or start[0] >= stop[1]:
            return
        self._params[loop.index.number] = start[0], stop[1] - 1
        for carried in loop.carried:
            self._add_carried(carried, stop[1] - start[0])

    def _add_carried(self, carried: Carried, iterations: int) -> None:
        """Add the ranges of a carried integer that each iteration changes by the same number. There are at most
        ``iterations`` iterations.
        """
        initial, step = self.of(carried.initial), _step(carried)
        if initial is None or step is None:
            return
        for value, steps in ((carried.param, iterations - 1), (carried.result, iterations)):
            interval = _valid(initial[0] + min(0, step * steps), initial[1] + max(0, step * steps))
            if interval is not None:
                self._params[value.number] = interval

    def of(self, value: Value, depth: int = _DEPTH) -> Range | None:
        """Return the range of a value, or None if it is not known."""
        if value.dtype != "int64":
            return None
        if value.op == "const":
            number = value.args[0]
            return _valid(number, number)
        if value.op == "param":
            return self._params.get(value.number)
        if not depth:
            return None
        if value.op == "select":
            return self._of_select(value, depth - 1)
        if value.op not in ("add", "sub", "min", "max"):
            return None
        x, y = (self.of(v, depth - 1) for v in value.args)
        if x is None or y is None:
            return None
        if value.op == "add":
            return _valid(x[0] + y[0], x[1] + y[1])
        if value.op == "sub":
            return _valid(x[0] - y[1], x[1] - y[0])
        least = min if value.op == "min" else max
        return least(x[0], y[0]), least(x[1], y[1])

    def _of_select(self, value: Value, depth: int) -> Range | None:
        condition, *choices = value.args
        truth = self.truth(condition, depth)
        if truth is not None:
            return self.of(choices[0 if truth else 1], depth)
        x, y = (self.of(v, depth) for v in choices)
        return None if x is None or y is None else (min(x[0], y[0]), max(x[1], y[1]))

    def truth(self, value: Value, depth: int = _DEPTH) -> bool | None:
        """Whether a condition always holds (True) or never holds (False); None if that is not known."""
        if value.op == "const":
            return bool(value.args[0])
        if not depth:
            return None
        if value.op in ("and", "or") and value.dtype == "bool":
            parts = [self.truth(v, depth - 1) for v in value.args]
            decides = value.op == "or"
            if decides in parts:
                return decides
            return None if None in parts else not decides
        if value.op not in ("lt", "le"):
            return None
        x, y = (self.of(v, depth - 1) for v in value.args)
        if x is None or y is None:
            return None
        more = value.op == "le"
        if x[1] < y[0] + more:
            return True
        return False if x[0] >= y[1] + more else None


def _valid(low: int, high: int) -> Range | None:
    return (low, high) if -_LIMIT < low <= high < _LIMIT else None


def _step(carried: Carried) -> int | None:
    """The number by which each iteration changes a carried integer, or None if it is not static."""
    following, param = carried.following, carried.param
    if param.dtype != "int64" or carried.combine is not None:
        return None
    if following is param:
        return 0
    if following.op == "add" and param in following.args:
        other = following.args[1 if following.args[0] is param else 0]
        return other.args[0] if other.op == "const" else None
    if following.op == "sub" and following.args[0] is param and following.args[1].op == "const":
        return -following.args[1].args[0]
    return None
