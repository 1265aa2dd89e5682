"""Loads the machine-code entry: unoptimized code at first, optimized code after many calls.

`units.entry` gets the machine code of the entry from `entry_code`. This code also contains the services, which are
functions that a unit calls, for instance to allocate results. `units.unit` gets their addresses from `entry_services`.
The file ``entry.c`` is the source of the code, and ``entry.ll`` is made from it (``packages/link/llvm_from_c.py``).

With optimization, LLVM takes several times as long to compile the entry. Without optimization, each call takes some ten
nanoseconds more. The unoptimized code counts the calls of all functions. After `CALLS` calls it takes the slow path.
The slow path compiles optimized code, caches it for later processes, and makes all existing functions run it.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
import weakref
from collections.abc import Callable
from typing import Any

from occelo_link.cache.objects import object_code, stored_object
from occelo_link.units.engine import Unit, compile_module, load_object

CALLS = 100_000
"""The number of calls after which optimized code is worth compiling."""
ENDLESS = 2**62
"""The number of calls of what need not be replaced."""
_SERVICES = ("alloc_output", "grow", "poll", "take")


@functools.cache
def _text() -> str:
    """The LLVM IR of the entry and its services."""
    with open(os.path.join(os.path.dirname(__file__), "entry.ll"), encoding="utf-8") as file:
        return file.read()


class MethodDef(ctypes.Structure):
    """Python's ``PyMethodDef``: the definition of a builtin function."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("method", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )
    counted: bool
    """Whether calls are counted until the function's unit is optimized."""


class EntryCode:
    """The loaded code of the entry. As long as the code is plain (unoptimized), it can be replaced."""

    def __init__(self) -> None:
        text = _text()
        code = stored_object(text)
        self.is_plain = code is None
        self._lock = threading.Lock()
        self._replacing: dict[int, int] = {}
        """The thread that compiles optimized code, by its process: no thread of another process does."""
        self._running: weakref.WeakValueDictionary[int, MethodDef] = weakref.WeakValueDictionary()
        if code is None:
            # code for any processor of this architecture takes less time to compile
            code = object_code(_plain(text), lambda: compile_module(text, "", "", level=0))
        self._use(code, CALLS if self.is_plain else ENDLESS)
        self._replaced: Unit | None = None
        self.services = [self._unit.find(name) for name in _SERVICES]

    def _use(self, code: bytes, calls: int) -> None:
        self._unit = load_object(code, "entry")
        address = ctypes.CFUNCTYPE(ctypes.c_void_p)(self._unit.find("calls_left"))()
        self._calls = ctypes.c_int64.from_address(address or 0)
        self._calls.value = calls

    @property
    def calls_left(self) -> int:
        """The number of calls that plain (unoptimized) code still runs. If it is 0 or less, calls take the slow path."""
        return self._calls.value

    def run(self, definition: MethodDef, counted: bool) -> None:
        """Make a builtin function run the entry, which counts calls in the function's context if ``counted`` is true."""
        with self._lock:
            definition.counted = counted
            self._set(definition)
            if self.is_plain:
                self._running[id(definition)] = definition

    def _set(self, definition: MethodDef) -> None:
        counts = self.is_plain or definition.counted
        definition.method = self._unit.find("counted_entry") if counts else self._unit.address

    def replaceable(self, slow: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap the slow path of an entry: compile optimized code if it is time to do so, then call ``slow``."""
        return functools.partial(self._slow, slow) if self.is_plain else slow

    def _slow(self, slow: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if self.is_plain and self.calls_left <= 0:
            self.replace()
        return slow(*args, **kwargs)

    def replace(self) -> None:
        """Compile optimized code, and make all entries run it. If another thread does so, calls go on with plain code."""
        # LLVM runs without the lock: nothing would release it in a process that is forked meanwhile
        me = threading.get_ident()
        if self._replacing.setdefault(os.getpid(), me) != me:
            return
        try:
            if self.is_plain:
                text = _text()
                self._replace_by(object_code(text, lambda: compile_module(text)))
        finally:
            self._replacing.clear()

    def _replace_by(self, code: bytes) -> None:
        with self._lock:
            # the plain code is kept, since functions may be running it, and units continue to use its services
            self._replaced = self._unit
            self._use(code, ENDLESS)
            self.is_plain = False
            for definition in self._running.values():
                self._set(definition)
            self._running.clear()


def _plain(text: str) -> str:
    """The key of unoptimized code in the cache of object code."""
    return f"plain\n{text}"


def entry_at_hand() -> bool:
    """Whether the code of the entry is loaded in this process, or is in the cache.

    If not, a function's first call does without it (`units.python_entry`): compiling it takes longer than most calls.
    """
    if entry_code.cache_info().currsize > 0:
        return True
    return any(stored_object(text) is not None for text in (_plain(_text()), _text()))


@functools.cache
def entry_code() -> EntryCode:
    """The code of the entry in this process."""
    return EntryCode()


def entry_services() -> list[int]:
    """The addresses of the services, for the tables of units that the entry calls."""
    return entry_code().services
