"""The layout of the two arguments of a unit, the frame and the table.

All printers write units for this layout. Three callers fill the frame and call a unit: the entry in machine code
(`entry_code`), the entry in Python (`python_entry`), and functions made by `as_numba` (`numba.calling`). ``frame`` is
an array of 8-byte slots:

- a pointer for services only: the data (`Context`) of the entry that made the call;
- the start of the free part of the arena for working memory, its end, and the list of memory outside of the arena;
- the thread state while the global interpreter lock (GIL) is released;
- for each input the addresses of its data, lengths and strides (in bytes).

Entries add further slots for their own use.

``table`` has addresses: first the services (functions that a unit calls for memory and interrupts, listed below), then
the functions and constants that the program names.
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
    "NO_MEMORY",
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
"""``ptr (ptr frame, i64 position, ptr lengths)``: memory of an output. The result is null if that fails; then an error
is set.
"""
GROW = 1
"""``ptr (ptr frame, i64 bytes)``: working memory, from the arena if it has room, aligned to 64 bytes."""
POLL = 2
"""``i64 (ptr frame)``: polls for interrupts. The result is not 0 if the call must end; then an error is set. The GIL is
released meanwhile.
"""
TAKE = 3
"""``ptr (ptr frame, i64 position, i64 input, i64 bytes)``: memory for an output that updates an input. It is the memory
of the input if nothing else refers to this memory, otherwise a copy. The call holds the GIL from then on.
"""
SERVICES = 4

NO_MEMORY = -1
INTERRUPTED = -2
"""The result of an interrupted unit; it is `NO_MEMORY` if an allocation failed, and more than 0 if a check failed."""


def table_slot(program: Program, name: str) -> int:
    """The slot of a name in the table."""
    return SERVICES + program.table[name]
