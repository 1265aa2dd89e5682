"""The memory that the machine code of C functions shares: contexts, and records of outputs.

A *context* belongs to one set of values of the data. It is an array of 8-byte slots: the ``CTX_...`` below, and then
two slots for each input of the unit that is no argument, the address of its elements and the address of its lengths.

The *records* of a call lie on its stack, and the slot `CALLER` of the frame (`units.frame`) has their address: the slots
``CALL_...``, and then a record for each output of the unit, with the slots ``OUT_...``.
"""

from __future__ import annotations

CTX_UNIT, CTX_TABLE, CTX_MALLOC, CTX_FREE, CTX_WORK, CTX_DATA = range(6)
"""``CTX_WORK`` is the number of bytes of working memory that calls have needed until now."""
CALL_CONTEXT, CALL_OUTPUTS, CALL_STATUS, CALL_RECORDS = range(4)
"""The context, the number of outputs up to the last one that is copied at the end, and the code of a failure that a
service has found.
"""
OUT_MEMORY, OUT_LENGTHS, OUT_NDIM, OUT_SIZE, OUT_ROOM, OUT_LATER, OUT_HELD, RECORD = range(8)
"""The caller's memory, the caller's lengths (null if they are static), the number of dimensions, the size of an element
in bytes, the number of elements for which there is room (if lengths are null), whether the result is copied to the
caller's memory only after the unit has succeeded, and the memory of such a result.
"""

BAD_LENGTH = -3
NO_ROOM = -4
CODES = {
    0: "success",
    -1: "an allocation of memory failed",
    BAD_LENGTH: "an argument does not have the lengths that its type has",
    NO_ROOM: "the memory for an output is too small: its lengths are now those of the result",
}
"""The codes that every C function has. Positive codes are the checks of the function."""
