"""The layout of what a unit is called with.

``frame`` is an array of 8-byte slots: one pointer for whoever calls the unit, the arena for working
memory and its end, the list of further pieces of memory, the state of the thread if it has let go of the
interpreter's lock, and for each input the addresses of its
data, lengths and strides (in bytes). ``table`` holds addresses of the services and of what the
program names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from occelo_link.loops.ir.program import Program

__all__ = [
    "ALLOC_OUTPUT",
    "ARENA",
    "ARENA_END",
    "CALLER",
    "FIRST_INPUT",
    "GROW",
    "INPUT_SLOTS",
    "INTERRUPTED",
    "OVERFLOW",
    "POLL",
    "SERVICES",
    "TAKE",
    "THREAD",
    "table_slot",
]

CALLER = 0
ARENA = 1
ARENA_END = 2
OVERFLOW = 3
THREAD = 4
FIRST_INPUT = 5
INPUT_SLOTS = 3

ALLOC_OUTPUT = 0
"""``ptr (ptr frame, i64 position, ptr lengths)``: memory of an output; null with an error set."""
GROW = 1
"""``ptr (ptr frame, i64 bytes)``: working memory beyond the arena, aligned to 64 bytes."""
POLL = 2
"""``i64 (ptr frame)``: not 0 if the call is to end, with an error set. It lets go of the interpreter's lock."""
TAKE = 3
"""``ptr (ptr frame, i64 position, i64 input, i64 bytes)``: memory of an output with what is in an input, which it
updates: the same memory if nobody else can see it. The call holds the interpreter's lock from then on.
"""
SERVICES = 4

INTERRUPTED = -2
"""What a unit returns that was told to end; it is -1 without memory, and more than 0 if a check failed."""


def table_slot(program: Program, name: str) -> int:
    """The slot of a named address."""
    return SERVICES + program.table[name]
