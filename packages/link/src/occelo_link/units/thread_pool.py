"""Loads the pool of threads among which large loops are divided (``thread_pool.c``), when the first unit needs it.

`units.python_entry` writes the address of its service to the tables of units that were compiled for several threads.
"""

from __future__ import annotations

import ctypes
import functools
import os

from occelo_link.cache.objects import object_code
from occelo_link.machine.symbol_addresses import address_of, blas_library
from occelo_link.machine.threads import counted_processors
from occelo_link.units.engine import compile_module, load_object

WORTH = 500_000
"""The operations of a loop (`loops.ir.cost.parallel_work`) for which one more thread is woken, about 25 us."""
_OF_PYTHON = {
    "new_lock": "PyThread_allocate_lock",
    "acquire": "PyThread_acquire_lock",
    "release": "PyThread_release_lock",
    "start_thread": "PyThread_start_new_thread",
    "this_thread": "PyThread_get_thread_ident",
}
_OTHERS = ("allocate", "deallocate", "get_blas", "set_blas")


class ThreadPool(ctypes.Structure):
    """The first members of the pool: functions of Python, C and BLAS, limits, and how many loops were divided.

    ``service`` is the address of the service `frame.PARALLEL`, and ``with_limit`` of a unit that runs another one, whose address
    is two slots before its table, with at most the number of threads of BLAS that is in the slot between.
    """

    _fields_ = (
        *((name, ctypes.c_void_p) for name in (*_OF_PYTHON, *_OTHERS)),
        *((name, ctypes.c_int64) for name in ("processors", "worth", "loops")),
    )
    service: int
    with_limit: int


@functools.cache
def thread_pool() -> ThreadPool:
    """The pool of this process. Its threads start when a loop first needs them."""
    path = os.path.join(os.path.dirname(__file__), "thread_pool.ll")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    # level 1 takes 22 ms longer, in the first call of a machine, and threads run little of this code
    code = object_code(f"plain\n{text}", lambda: compile_module(text, "", "", level=0))
    unit = load_object(code, "parallel")
    # threads sleep in this code, also while the interpreter ends
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(unit))
    address = ctypes.CFUNCTYPE(ctypes.c_void_p)(unit.find("thread_pool"))()
    pool = ThreadPool.from_address(address or 0)
    pool.service, pool.with_limit = unit.address, unit.find("with_limit")
    for name, function in _OF_PYTHON.items():  # these need no GIL
        setattr(pool, name, ctypes.cast(getattr(ctypes.pythonapi, function), ctypes.c_void_p))
    memory = (address_of(name, ()) for name in ("libm:malloc", "libm:free"))
    for name, address in zip(_OTHERS, (*memory, *blas_library().thread_functions()), strict=True):
        setattr(pool, name, address)
    pool.processors, pool.worth = counted_processors(), WORTH
    if hasattr(os, "register_at_fork"):
        # machine code, in the midst of which no handler of a signal runs
        hold, resume, forget = (
            ctypes.CFUNCTYPE(None)(unit.find(name))
            for name in ("hold_chunks", "resume_chunks", "forget_threads")
        )
        os.register_at_fork(before=hold, after_in_parent=resume, after_in_child=forget)
    return pool
