"""How much programs do and how much memory they take, as far as can be told before they run."""

from __future__ import annotations

from occelo_link.loops.ir.program import (
    Alloc,
    Block,
    For,
    Program,
    Statement,
    Value,
    While,
    itemsize,
)

__all__ = [
    "BUDGET",
    "UNKNOWN_TURNS",
    "few_turns",
    "is_known_before",
    "is_long",
    "turn_work",
    "work_memory",
]

BUDGET = 40_000_000
"""Operations that a unit does without asking whether it was interrupted: some tens of milliseconds."""
UNKNOWN_TURNS = 512
"""Turns that are assumed of a loop within a loop where its length comes from within, too."""
_FEW, _SHORT = 8, 160
"""At most so many turns, and so many statements in all of them, are printed one after the other."""
_CALL = 20
"""Operations that a function of the program counts for."""


def turn_work(loop: For | While) -> tuple[int, list[For]]:
    """About how many operations a turn does, and the loops in it, which are to be counted beside."""
    own, inner = 1, list[For]()
    for statement in loop.body:
        if isinstance(statement, For):
            inner.append(statement)
        else:
            own += _size(statement)
    return own, inner


def is_known_before(value: Value, loop: For) -> bool:
    """Whether a value is known when a loop begins."""
    return value.op == "const" or value.block.depth < loop.body.depth


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


def is_long(loop: For) -> bool:
    """Whether a loop may take more than the budget."""
    own, inner = turn_work(loop)
    known = loop.stop.op == "const" and loop.start.op == "const" and not inner
    return not known or (loop.stop.args[0] - loop.start.args[0]) * own > BUDGET
