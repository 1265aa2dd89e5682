"""The machine-code entry: a builtin function that checks its arguments and runs a unit.

`units.unit` calls `make_entry`, and the result becomes the ``__call__`` of a compiled function. One piece of machine
code serves all functions. It reads an `EntryContext`, which has the types of the inputs, the destinations of the
results and the address of the unit. If the entry cannot handle a call, it calls a Python function, the slow path, with
the same arguments. Examples are keywords, conversions, arrays that are not in C order, and failures.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from occelo_graph.frozen_dataclasses import mutable_dataclass
from occelo_link.units import entry_context as ctx
from occelo_link.units import object_layout
from occelo_link.units.entry_loading import ENDLESS, EntryCode, MethodDef, entry_code
from occelo_link.units.plain_units import PlainUnit


@mutable_dataclass
class InputRule:
    """The type and the source of an input. ``source`` is the position of an argument, or a cell.

    If ``scalars`` is True, Python and NumPy numbers are accepted for a tensor without dimensions. If ``in_either_order``
    is True, so are matrices as `Buffer.in_either_order` describes them.
    """

    dtype: str
    shape: tuple[int | None, ...]
    source: int | list[Any]
    scalars: bool = False
    in_either_order: bool = False


@mutable_dataclass
class OutputRule:
    """The type of an output. If ``cell`` is not None, the output is stored in it, otherwise it is returned."""

    dtype: str
    ndim: int
    cell: list[Any] | None = None


class EntryContext(np.ndarray[Any, Any]):
    """The array of slots that an entry reads. ``kept`` are objects that must live as long as the array."""

    kept: list[Any] | None

    def run(self) -> None:
        """Let the entry count no more calls: the unit is optimized."""
        assert self.kept
        self[ctx.CTX_CALLS_LEFT] = ENDLESS
        entry_code().run(self.kept[-1], counted=False)

    def __del__(self) -> None:
        if getattr(self, "kept", None) is None:
            return
        free, decref = _release_functions()
        inputs, outputs = int(self[ctx.CTX_INPUTS]), int(self[ctx.CTX_OUTPUTS])
        for i in range(inputs, inputs + outputs):
            record = ctx.CTX_FIRST_RECORD + ctx.RECORD * i
            for spare in (self[record + ctx.OUT_SPARE], self[record + ctx.OUT_OLDER]):
                if spare:
                    decref(ctypes.cast(int(spare), ctypes.py_object))
        if self[ctx.CTX_ARENA]:
            free(int(self[ctx.CTX_ARENA]))


_METHOD_FLAGS = 0x80 | 0x02  # METH_FASTCALL | METH_KEYWORDS


@functools.cache
def _process_slots() -> dict[int, int]:
    """The slots whose values are the same in all contexts of this process."""
    api = ctypes.pythonapi
    # working memory is allocated by the C library, which needs no GIL
    library = ctypes.CDLL(None) if sys.platform != "win32" else ctypes.CDLL("ucrtbase")
    array_type, new_from_descr = object_layout.array_api()
    functions = {
        ctx.CTX_NEW_LIST: api.PyList_New,
        ctx.CTX_INCREF: api.Py_IncRef,
        ctx.CTX_DECREF: api.Py_DecRef,
        ctx.CTX_VECTORCALL: api.PyObject_Vectorcall,
        ctx.CTX_MALLOC: library.malloc,
        ctx.CTX_FREE: library.free,
        ctx.CTX_LONG_VALUE: api.PyLong_AsLongLongAndOverflow,
        ctx.CTX_CLEAR_ERROR: api.PyErr_Clear,
        ctx.CTX_SAVE_THREAD: api.PyEval_SaveThread,
        ctx.CTX_RESTORE_THREAD: api.PyEval_RestoreThread,
        ctx.CTX_ACQUIRE: api.PyThread_acquire_lock,
        ctx.CTX_RELEASE: api.PyThread_release_lock,
        ctx.CTX_CHECK_SIGNALS: api.PyErr_CheckSignals,
        ctx.CTX_THREAD_IDENT: api.PyThread_get_thread_ident,
    }
    slots = {k: ctypes.cast(f, ctypes.c_void_p).value or 0 for k, f in functions.items()}
    # each new page costs a page fault, which often takes longer than computing with its contents
    advise = library.madvise if sys.platform == "linux" else None
    slots[ctx.CTX_ADVISE] = ctypes.cast(advise, ctypes.c_void_p).value or 0 if advise else 0
    slots[ctx.CTX_ARRAY_TYPE] = array_type
    slots[ctx.CTX_NEW_ARRAY] = new_from_descr
    slots[ctx.CTX_FLOAT_TYPE] = id(float)
    slots[ctx.CTX_FLOAT64_TYPE] = id(np.float64)
    slots[ctx.CTX_LONG_TYPE] = id(int)
    slots[ctx.CTX_MAIN_THREAD] = threading.main_thread().ident or 0
    return slots


@functools.cache
def _release_functions() -> tuple[Any, Any]:
    slots = _process_slots()
    free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(slots[ctx.CTX_FREE])
    decref = ctypes.pythonapi.Py_DecRef
    decref.argtypes, decref.restype = [ctypes.py_object], None
    return free, decref


_SAME_SIZE = {"int64": ("l", "q"), "uint64": ("L", "Q"), "int32": ("i", "l"), "uint32": ("I", "L")}


@functools.cache
def _type_numbers(dtype: str) -> tuple[int, int]:
    """NumPy's type numbers for a dtype. Some dtypes have two, since C has two integer types of their size. Others have
    one, which is returned twice.
    """
    plain = np.dtype(dtype)
    letters = [np.dtype(c) for c in _SAME_SIZE.get(dtype, ())]
    numbers = [d.num for d in letters if d.itemsize == plain.itemsize and d.num != plain.num]
    return plain.num, numbers[0] if numbers else plain.num


def _accepted(rule: InputRule) -> int:
    if rule.in_either_order:
        return ctx.EITHER_ORDER | (ctx.SINGLES if rule.dtype == "float32" else 0)
    if rule.shape or not rule.scalars or not isinstance(rule.source, int):
        return 0
    return {"float64": ctx.FLOATS, "float32": ctx.FLOATS | ctx.SINGLES, "int64": ctx.INTEGERS}.get(
        rule.dtype, 0
    )


def make_entry(
    unit: Any,
    address: int,
    table: Any,
    inputs: Sequence[InputRule],
    outputs: Sequence[OutputRule],
    kind: int,
    slow: Callable[..., Any],
    locks: Sequence[int] = (),
    name: str = "call",
) -> Callable[..., Any]:
    """Make a builtin function that runs a unit. If it cannot handle a call, it calls ``slow`` with the same arguments.

    ``address`` is the address of the machine code of ``unit``, or of what runs it. ``table`` is the second argument of the unit, the array
    of addresses of services, functions and constants (`units.frame`). The function keeps both objects alive. Outputs
    without a cell, which are returned, come first. ``kind`` says in which form they are returned (`entry_kinds`).
    ``locks`` are the addresses of locks that a call holds. If another call holds one of these locks, ``slow`` is
    called.
    """
    size = ctx.CTX_FIRST_RECORD + ctx.RECORD * (len(inputs) + len(outputs))
    context = np.zeros(size, dtype=np.int64).view(EntryContext)
    slots = dict(_process_slots())
    slots[ctx.CTX_UNIT] = address
    slots[ctx.CTX_TABLE] = table.ctypes.data
    slots[ctx.CTX_ARGS] = sum(isinstance(rule.source, int) for rule in inputs)
    slots[ctx.CTX_INPUTS] = len(inputs)
    slots[ctx.CTX_OUTPUTS] = len(outputs)
    slots[ctx.CTX_RESULTS] = sum(rule.cell is None for rule in outputs)
    slots[ctx.CTX_KIND] = kind
    held = np.array(locks, dtype=np.int64)
    slots[ctx.CTX_LOCKS] = held.ctypes.data
    slots[ctx.CTX_LOCK_COUNT] = len(locks)
    slots[ctx.CTX_CALLS_LEFT] = ENDLESS
    code = entry_code()
    slow = code.replaceable(slow)
    counted = unit.counted(context, slow) if isinstance(unit, PlainUnit) and unit.source else None
    if counted is not None:
        slow = counted
        slots[ctx.CTX_CALLS_LEFT] = 0
    slots[ctx.CTX_SLOW] = id(slow)
    for slot, value in slots.items():
        context[slot] = value
    alive: list[Any] = [unit, table, slow, held, code]
    for i, rule in enumerate(inputs):
        first, other = _type_numbers(rule.dtype)
        dims = None
        if any(n is not None for n in rule.shape):
            dims = np.array([-1 if n is None else n for n in rule.shape], dtype=np.int64)
        source = (0, rule.source) if isinstance(rule.source, int) else (1, id(rule.source))
        lengths = len(rule.shape), 0 if dims is None else dims.ctypes.data
        record = [*source, first, other, *lengths, _accepted(rule), id(np.dtype(rule.dtype))]
        alive += [dims, rule.source, np.dtype(rule.dtype)]
        at = ctx.CTX_FIRST_RECORD + ctx.RECORD * i
        context[at : at + len(record)] = record
    for i, out in enumerate(outputs):
        at = ctx.CTX_FIRST_RECORD + ctx.RECORD * (len(inputs) + i)
        context[at + ctx.OUT_DESCR] = id(np.dtype(out.dtype))
        context[at + ctx.OUT_NDIM] = out.ndim
        context[at + ctx.OUT_CELL] = 0 if out.cell is None else id(out.cell)
        alive += [np.dtype(out.dtype), out.cell]
    entry = _builtin(code, context, alive, name, counted is not None)
    if counted is not None:
        counted.entry = weakref.ref(entry)
        if not unit.source:
            context.run()  # another thread has optimized the unit meanwhile
    return entry


def _builtin(
    code: EntryCode, context: EntryContext, alive: list[Any], name: str, counted: bool
) -> Callable[..., Any]:
    definition = MethodDef(name.encode(), None, _METHOD_FLAGS, None)
    code.run(definition, counted)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    # the function keeps the context alive, and the context keeps all objects alive that the code reads
    context.kept = [*alive, definition]
    entry: Callable[..., Any] = make(ctypes.addressof(definition), context, None)
    return entry
