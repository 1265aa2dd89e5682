"""How much loops do, as far as can be told before they run: what is worth a thread, what must be interruptible."""

from __future__ import annotations

from occelo_link.loops.ir.program import For, Value, While

__all__ = ["BUDGET", "UNKNOWN_TURNS", "is_known_before", "is_long", "turn_work"]

BUDGET = 40_000_000
"""Operations that a unit does without asking whether it was interrupted: some tens of milliseconds."""
UNKNOWN_TURNS = 512
"""Turns that are assumed of a loop within a loop where its length comes from within, too."""
_CALL = 20
"""Operations that a function of the program counts for."""


def turn_work(loop: For | While) -> tuple[int, list[For]]:
    """About how many operations a turn does, and the loops in it, which are to be counted beside."""
    own, inner = 1, list[For]()
    for statement in loop.body:
        if isinstance(statement, For):
            inner.append(statement)
        elif isinstance(statement, Value):
            own += _CALL if statement.op in ("apply", "call", "rarely") else 1
        else:
            own += 1
    return own, inner


def is_known_before(value: Value, loop: For) -> bool:
    """Whether a value is known when a loop begins."""
    return value.op == "const" or value.block.depth < loop.body.depth


def is_long(loop: For) -> bool:
    """Whether a loop may take more than the budget."""
    own, inner = turn_work(loop)
    known = loop.stop.op == "const" and loop.start.op == "const" and not inner
    return not known or (loop.stop.args[0] - loop.start.args[0]) * own > BUDGET
