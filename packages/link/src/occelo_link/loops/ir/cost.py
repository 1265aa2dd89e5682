"""How much programs do and how much memory they take, as far as can be told before they run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from occelo_link.loops.ir.program import (
    Alloc,
    Block,
    Check,
    For,
    If,
    Invoke,
    Program,
    Statement,
    Store,
    Swap,
    Value,
    While,
    itemsize,
)
from occelo_link.loops.ir.visitor import Visitor

__all__ = [
    "BUDGET",
    "Work",
    "asking_step",
    "asking_turns",
    "few_turns",
    "is_long",
    "known_step",
    "turn_work",
    "work_memory",
]

BUDGET = 40_000_000
"""Operations that a unit does without asking whether it was interrupted: some tens of milliseconds."""
_UNCERTAIN_TURNS = 64
"""At most so many turns are done without asking where it cannot be told how much they do."""
_FEW, _SHORT = 8, 160
"""At most so many turns, and so many statements in all of them, are printed one after the other."""
_CALL = 20
"""Operations that a function of the program counts for."""


@dataclass(frozen=True, eq=False, repr=False)
class Work:
    """Operations: a number, and others for each turn of loops from a value to one."""

    own: int
    inner: Sequence[tuple[Value, Value, Work]]


_ONE = Work(1, ())
_UNTOLD = Work(BUDGET // _UNCERTAIN_TURNS, ())


def turn_work(loop: For | While) -> Work:
    """About how many operations a turn does, as far as can be told before the loop begins.

    What cannot be told (loops to lengths that a turn computes, calls of BLAS and of Python) counts for so many that
    few turns are done at a time.
    """
    return _Works(loop.body.depth if isinstance(loop, For) else -1).block(loop.body)


class _Works(Visitor[Work]):
    """The work of statements; of lengths, those are known that are worked out above the depth ``before``."""

    def __init__(self, before: int) -> None:
        self.before = before

    def block(self, block: Block) -> Work:
        works = [self.statement(statement) for statement in block]
        own = 1 + sum(work.own for work in works)
        return Work(own, [each for work in works for each in work.inner])

    def known(self, value: Value) -> bool:
        return value.op == "const" or value.block.depth < self.before

    def loop(self, loop: For) -> Work:
        if self.known(loop.start) and self.known(loop.stop):
            return Work(0, [(loop.start, loop.stop, self.block(loop.body))])
        most = _most_turns(loop.start, loop.stop)
        if most is None:
            return _UNTOLD
        work = self.block(loop.body)
        return _UNTOLD if work.inner else Work(most * work.own, ())

    def while_loop(self, loop: While) -> Work:
        return _UNTOLD

    def invoke(self, statement: Invoke) -> Work:
        return _UNTOLD

    def branch(self, statement: If) -> Work:
        then, orelse = self.block(statement.then), self.block(statement.orelse)
        return Work(1 + then.own + orelse.own, [*then.inner, *orelse.inner])

    def value(self, value: Value) -> Work:
        return Work(_size(value), ())

    def store(self, statement: Store) -> Work:
        return _ONE

    def check(self, statement: Check) -> Work:
        return _ONE

    def alloc(self, statement: Alloc) -> Work:
        return _ONE

    def swap(self, statement: Swap) -> Work:
        return _ONE


def _most_turns(start: Value, stop: Value) -> int | None:
    """The most iterations of a loop over a part of a length, from ``start`` to ``min(start + n, length)``."""
    for end in stop.args if stop.op == "min" else (stop,):
        if end.op == "add" and start in end.args:
            size = end.args[1] if end.args[0] is start else end.args[0]
            if size.op == "const":
                return max(0, size.args[0])
    return None


def few_turns(loop: For) -> range | None:
    """The turns of a loop that is printed without the loop: few ones, of a known number."""
    if loop.start.op != "const" or loop.stop.op != "const":
        return None
    turns = range(loop.start.args[0], loop.stop.args[0])
    count = -(-len(turns) // loop.lanes)
    return turns if count <= _FEW and count * _statements(loop.body) <= _SHORT else None


def _statements(block: Block) -> int:
    """The number of statements of a block and those within it; calls count for what they may be expanded to."""
    return sum(_size(statement) + sum(map(_statements, statement.blocks)) for statement in block)


def _size(statement: Statement) -> int:
    called = isinstance(statement, Value) and statement.op in ("apply", "call", "rarely")
    return _CALL if called else 1


def work_memory(program: Program) -> list[tuple[int, Value | None]]:
    """The most working memory, in bytes: a sum of numbers times values, of which one may be without a value.

    It has twice what both of two branches make room for. Rounding up to 64 bytes is left out.
    """
    made = [
        (itemsize(statement.buffer.dtype), statement.size)
        for block in program.blocks()
        for statement in block
        if isinstance(statement, Alloc)
        and statement.buffer.space == "work"
        and statement.reuse is None
    ]
    fixed = sum(size * value.args[0] for size, value in made if value.op == "const")
    found: list[tuple[int, Value | None]] = [(fixed, None)] if fixed else []
    return found + [(size, value) for size, value in made if value.op != "const"]


def asking_step(loop: For, use: Callable[[Value], str], divided_by: str) -> str:
    """How many turns a loop does between two questions, as C and Python write it.

    ``use`` writes values, ``divided_by`` is the operator for whole numbers.
    """
    work = turn_work(loop)
    return (
        f"{BUDGET} {divided_by} ({_text(work, use)}) + 1" if work.inner else str(known_step(loop))
    )


def known_step(loop: For) -> int:
    """How many turns a loop that has none within does between two questions: a multiple of its lanes."""
    return max(1, BUDGET // turn_work(loop).own // loop.lanes) * loop.lanes


def _text(work: Work, use: Callable[[Value], str]) -> str:
    terms = (
        f" + ({use(stop)} - {use(start)}) * ({use(start)} < {use(stop)}) * ({_text(each, use)})"
        for start, stop, each in work.inner
    )
    return f"{work.own}{''.join(terms)}"


def asking_turns(loop: While) -> int:
    """How many turns a loop of an unknown number of them does between two questions."""
    return max(1, BUDGET // turn_work(loop).own)


def is_long(loop: For) -> bool:
    """Whether a loop may take more than the budget."""
    work = turn_work(loop)
    known = loop.stop.op == "const" and loop.start.op == "const" and not work.inner
    return not known or (loop.stop.args[0] - loop.start.args[0]) * work.own > BUDGET
