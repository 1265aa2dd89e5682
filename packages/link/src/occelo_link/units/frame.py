"""The layout of the two arguments of a unit, which are called frame and table.

All printers write units for this layout. Three callers fill a frame and call a unit: the entry in machine code
(``entry.c``), the entry in Python (`python_entry`), and functions made by `as_numba` (`numba.njit_functions`). ``frame`` is
an array of 8-byte slots:

- a pointer that only services read: the data of the `EntryContext` of the entry that made the call;
- the start of the free part of the arena for working memory, its end, and the list of memory outside of the arena;
- the thread state while the global interpreter lock (GIL) is released;
- for each input, the addresses of its data, lengths and strides (in bytes).

Entries add further slots for their own use.

``table`` is an array of addresses. First come the services, which are functions that a unit calls for memory and
interrupts. The constants below list them with their signatures. Then come the functions and constants that the program
names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from occelo_link.loops.ir.program import Program

CALLER = 0
ARENA = 1
ARENA_END = 2
OVERFLOW = 3
THREAD = 4
FIRST_INPUT = 5
INPUT_SLOTS = 3

ALLOC_OUTPUT = 0
"""``ptr (ptr frame, i64 position, ptr lengths)``: allocates memory for an output. If this fails, the result is null and
a Python error is set.
"""
GROW = 1
"""``ptr (ptr frame, i64 bytes)``: allocates working memory, aligned to 64 bytes, from the arena if the arena has room.
"""
POLL = 2
"""``i64 (ptr frame)``: polls for interrupts. If the result is not 0, the call must end, and a Python error is set.
After a poll the unit runs without the GIL.
"""
TAKE = 3
"""``ptr (ptr frame, i64 position, i64 input, i64 bytes)``: returns memory for an output that updates an input. If
nothing else refers to the memory of the input, the output gets this memory, and otherwise a copy. The call holds the
GIL from then on.
"""
SERVICES = 4
PARALLEL = "service:parallel"
"""The entry of the table for ``i64 (ptr part, ptr env, i64 start, i64 stop, ptr table, ptr frame, i64 work, i64 length,
i64 threads, ptr own)``, which runs a loop in several threads (``thread_pool.c``). ``part`` is the function of the loop
(`native.llvm.parallel`). ``own`` is null, or for a loop that calls BLAS or has scratch memory the number of bytes of ``env``,
how many of its slots after the first are addresses of scratch memory, and the bytes of each.
"""
THREAD_LIMIT = "service:threads"
"""The entry of the table for the most threads of a loop; 0 means the number of processors that the process may use."""

NO_MEMORY = -1
INTERRUPTED = -2
"""The result of a unit that was interrupted. Other results are 0 for success, `NO_MEMORY` if an allocation failed, and
the number of a site plus 1 if a check failed.
"""


def table_slot(program: Program, name: str) -> int:
    """The slot in the table of the program's function or constant ``name``."""
    return SERVICES + program.table[name]
