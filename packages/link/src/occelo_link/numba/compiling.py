"""Compiles printed programs with Numba: blocks for the linker ``numba``, and whole functions for `as_numba`."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Generator
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

from occelo_link.numba.intrinsics import namespace_of, pointer_type
from occelo_link.numba.library import numba, types
from occelo_link.numba.memory_functions import memory_functions
from occelo_link.numba.printer import Printed
from occelo_link.units.engine import compile_module

_ENTRY = """
define i64 @unit(ptr %frame, ptr %table) nounwind {{
  %result = alloca i64, align 8
  %error = alloca ptr, align 8
  %status = call i32 @{name}(ptr %result, ptr %error, ptr %frame, ptr %table)
  %found = load i64, ptr %result, align 8
  ret i64 %found
}}
"""
"""LLVM IR of the unit, which calls the function that Numba compiled.

Numba's function returns Numba's status, which is always 0 here, and stores its result in memory.
"""


@contextmanager
def _deep_recursion(text: str) -> Generator[None]:
    """A context manager that raises Python's recursion limit while Numba compiles a function with the given text.

    Numba's search for definitions calls itself at most twice for each basic block. Each block has at least one line of
    ``text``. These calls do not use the C stack.
    """
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + 2 * text.count("\n"))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def dispatcher_of(printed: Printed) -> Any:
    """Compile a printed program with Numba. Returns a Numba function of a frame and a table.

    Raises RuntimeError if Numba's compiler is switched off.
    """
    if numba.config.DISABLE_JIT:
        raise RuntimeError("Numba's compiler is switched off (NUMBA_DISABLE_JIT)")
    name = f"<occelo numba {blake2b(printed.text.encode(), digest_size=8).hexdigest()}>"
    # Numba's messages and debuggers find the text here
    linecache.cache[name] = (len(printed.text), None, printed.text.splitlines(keepends=True), name)
    namespace = namespace_of(printed.calls)
    exec(compile(printed.text, name, "exec"), namespace)
    slots = pointer_type("int64")
    options = {
        "error_model": "numpy",
        "nogil": True,
        "no_cpython_wrapper": True,
        "no_cfunc_wrapper": True,
    }
    with _deep_recursion(printed.text):
        dispatcher = numba.njit([types.int64(slots, slots)], **options)(namespace["unit"])
    linecache.cache.pop(name, None)
    return dispatcher


def compile_printed(printed: Printed) -> bytes:
    """Compile a printed program to object code, which defines ``unit`` with C's calling convention."""
    (compiled,) = dispatcher_of(printed).overloads.values()
    text: str = compiled.library.get_llvm_str()
    entry = _ENTRY.format(name=compiled.fndesc.llvm_func_name)
    return compile_module(memory_functions(text) + entry)
