"""The complete LLVM IR of the machine-code entry, assembled from its parts.

`entry_loading` calls `entry_text` and compiles the result.
"""

from __future__ import annotations

from occelo_link.units import entry_context as context
from occelo_link.units import object_layout
from occelo_link.units.entry_arguments import ARGUMENTS_CODE, FRAME_CODE
from occelo_link.units.entry_results import RESULTS_CODE, RUN_CODE
from occelo_link.units.entry_services import GROW_CODE, HELPERS_CODE, SERVICES_CODE
from occelo_link.units.frame import (
    ARENA,
    ARENA_END,
    CALLER,
    FIRST_INPUT,
    INPUT_SLOTS,
    INTERRUPTED,
    OVERFLOW,
    THREAD,
)
from occelo_link.units.memory_code import COPY_CODE

_STACK_SLOTS = 384
_RELEASE_GIL_ABOVE = 16384
"""If the inputs have more elements than this, the unit runs without the global interpreter lock (GIL)."""
_ARENA_LIMIT = 64 * 2**20
_LARGE_PAGES_FROM = 4 * 2**20
"""Working memory of at least this many bytes gets large pages if the system has them. NumPy does the same for its
arrays.
"""
_MADV_HUGEPAGE = 14


_COUNTING = """
  %calls = load i64, ptr @calls
  %calls.left = sub i64 %calls, 1
  store i64 %calls.left, ptr @calls
  %calls.some = icmp sge i64 %calls.left, 0
  br i1 %calls.some, label %counted, label %slow
counted:
"""
_COUNT = """
@calls = internal global i64 {calls}
define i64 @calls_left() {{
  %left = load i64, ptr @calls
  ret i64 %left
}}
"""
_PARTS = (
    COPY_CODE,
    SERVICES_CODE,
    GROW_CODE,
    HELPERS_CODE,
    FRAME_CODE,
    ARGUMENTS_CODE,
    RUN_CODE,
    RESULTS_CODE,
)


def entry_text(calls: int | None = None) -> str:
    """The LLVM IR of the entry and its services.

    If ``calls`` is passed, the code counts the calls of all functions. After ``calls`` calls, each call takes the slow
    path, in which `entry_loading` replaces this code by optimized code.
    """
    names = {
        "counting": "" if calls is None else _COUNTING,
        "inputs": context.CTX_INPUTS,
        "outputs": context.CTX_OUTPUTS,
        "args": context.CTX_ARGS,
        "record": context.RECORD,
        "first": context.CTX_FIRST_RECORD,
        "input_slots": INPUT_SLOTS,
        "first_input": FIRST_INPUT,
        "out_ndim": context.OUT_NDIM,
        "out_spare": context.OUT_SPARE,
        "out_cell": context.OUT_CELL,
        "incref": context.CTX_INCREF,
        "decref": context.CTX_DECREF,
        "new_array": context.CTX_NEW_ARRAY,
        "new_list": context.CTX_NEW_LIST,
        "array_type": context.CTX_ARRAY_TYPE,
        "malloc": context.CTX_MALLOC,
        "advise": context.CTX_ADVISE,
        "large": _LARGE_PAGES_FROM,
        "huge_pages": _MADV_HUGEPAGE,
        "free": context.CTX_FREE,
        "overflow": OVERFLOW,
        "arena": ARENA,
        "arena_end": ARENA_END,
        "arena_slot": context.CTX_ARENA,
        "arena_limit": _ARENA_LIMIT,
        "stack_slots": _STACK_SLOTS,
        "table": context.CTX_TABLE,
        "results": context.CTX_RESULTS,
        "kind": context.CTX_KIND,
        "slow": context.CTX_SLOW,
        "vectorcall": context.CTX_VECTORCALL,
        "clear_error": context.CTX_CLEAR_ERROR,
        "save_thread": context.CTX_SAVE_THREAD,
        "restore_thread": context.CTX_RESTORE_THREAD,
        "acquire": context.CTX_ACQUIRE,
        "release": context.CTX_RELEASE,
        "locks": context.CTX_LOCKS,
        "lock_count": context.CTX_LOCK_COUNT,
        "check_signals": context.CTX_CHECK_SIGNALS,
        "thread_ident": context.CTX_THREAD_IDENT,
        "main_thread": context.CTX_MAIN_THREAD,
        "much_work": _RELEASE_GIL_ABOVE,
        "thread": THREAD,
        "float_type": context.CTX_FLOAT_TYPE,
        "float64_type": context.CTX_FLOAT64_TYPE,
        "long_type": context.CTX_LONG_TYPE,
        "long_value": context.CTX_LONG_VALUE,
        "floats": context.FLOATS,
        "singles": context.SINGLES,
        "exact": 2**53,
        "interrupted": INTERRUPTED,
        "in_which": context.IN_WHICH,
        "in_type": context.IN_TYPE,
        "in_other": context.IN_OTHER,
        "in_ndim": context.IN_NDIM,
        "in_dims": context.IN_DIMS,
        "in_scalars": context.IN_SCALARS,
        "in_descr": context.IN_DESCR,
        "object_type": object_layout.OBJECT_TYPE,
        "float_value": object_layout.FLOAT_VALUE,
        "list_items": object_layout.LIST_ITEMS,
        "array_data": object_layout.ARRAY_DATA,
        "array_ndim": object_layout.ARRAY_NDIM,
        "array_dims": object_layout.ARRAY_DIMS,
        "array_strides": object_layout.ARRAY_STRIDES,
        "array_descr": object_layout.ARRAY_DESCR,
        "array_flags": object_layout.ARRAY_FLAGS,
        "descr_byteorder": object_layout.DESCR_BYTEORDER,
        "descr_type_num": object_layout.DESCR_TYPE_NUM,
    }
    assert CALLER == 0
    code = "".join(_PARTS).format(**names)
    return code if calls is None else _COUNT.format(calls=calls) + code
