"""The machine code that all C functions share: it runs a unit, and gives it memory.

The wrappers (`wrapper`) call ``run``. The other functions are the services that units call (`units.frame`). The source of
the code is ``services.c``, and ``services.ll`` is made from it (``packages/link/llvm_from_c.py``).
"""

from __future__ import annotations

import ctypes
import functools
import sys
from pathlib import Path

from occelo_link.cache.objects import object_code
from occelo_link.units.engine import Unit, compile_module, load_object


@functools.cache
def services() -> Unit:
    """Return the loaded code. It is compiled once, and then kept in the cache of object code."""
    text = Path(__file__).with_name("services.ll").read_text(encoding="utf-8")
    return load_object(object_code(text, lambda: compile_module(text)), "run")


def service_addresses() -> list[int]:
    """Return the addresses of the services, in the order of the slots of a unit's table (`units.frame`)."""
    return [services().find(name) for name in ("alloc_output", "grow", "poll", "take")]


@functools.cache
def memory_functions() -> tuple[int, int]:
    """Return the addresses of ``malloc`` and ``free`` of the C library."""
    library = ctypes.CDLL(None) if sys.platform != "win32" else ctypes.CDLL("ucrtbase")
    malloc, free = (ctypes.cast(f, ctypes.c_void_p).value for f in (library.malloc, library.free))
    assert malloc is not None
    assert free is not None
    return malloc, free
