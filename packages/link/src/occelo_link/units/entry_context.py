"""The layout of contexts. A context is an array that describes one compiled function to the machine-code entry.

`entry` fills contexts, and the machine-code entry (``entry.c``) reads them. A context consists of 8-byte slots. First come the
slots ``CTX_...``. They are followed by a record for each input, with the slots ``IN_...``, and a record for each
output, with the slots ``OUT_...``. Each record has `RECORD` slots.
"""

from __future__ import annotations

# slots of a context
(
    CTX_UNIT,
    CTX_TABLE,
    CTX_ARGS,
    CTX_INPUTS,
    CTX_OUTPUTS,
    CTX_RESULTS,
    CTX_KIND,
    CTX_SLOW,
    CTX_ARENA,
    CTX_ARRAY_TYPE,
    CTX_NEW_ARRAY,
    CTX_NEW_LIST,
    CTX_INCREF,
    CTX_DECREF,
    CTX_VECTORCALL,
    CTX_MALLOC,
    CTX_FREE,
    CTX_FLOAT_TYPE,
    CTX_FLOAT64_TYPE,
    CTX_LONG_TYPE,
    CTX_LONG_VALUE,
    CTX_CLEAR_ERROR,
    CTX_SAVE_THREAD,
    CTX_RESTORE_THREAD,
    CTX_ACQUIRE,
    CTX_RELEASE,
    CTX_LOCKS,
    CTX_LOCK_COUNT,
    CTX_CHECK_SIGNALS,
    CTX_THREAD_IDENT,
    CTX_MAIN_THREAD,
    CTX_ADVISE,
    CTX_CALLS_LEFT,
    CTX_FIRST_RECORD,
) = range(34)
RECORD = 8
# an input: whether it is an argument (0) or a cell (1), its position or address, two type numbers, the number of
# dimensions, the address of the static lengths, what is accepted besides arrays in C order, the dtype object
(IN_KIND, IN_WHICH, IN_TYPE, IN_OTHER, IN_NDIM, IN_DIMS, IN_ACCEPTS, IN_DESCR) = range(8)
# an output: the dtype object, the number of dimensions, the cell that it updates, two arrays that may be reused
(OUT_DESCR, OUT_NDIM, OUT_CELL, OUT_SPARE, OUT_OLDER) = range(5)
FLOATS, SINGLES, INTEGERS, EITHER_ORDER = 1, 2, 4, 8
"""Flags in the slot ``IN_ACCEPTS`` of an input that accepts numbers, or a matrix in either order. They say what the dtype
of the input is.

`FLOATS` is for float64 and float32, `SINGLES` for float32 only, and `INTEGERS` for int64. With `EITHER_ORDER`, the input is
a matrix of float32 if `SINGLES` is there, and else of float64. A slot with 0 means that the input accepts only arrays in C
order.
"""
