"""Taking turns at updating shared variables, in Python and in machine code.

A cell has one of a fixed number of locks of the interpreter's own kind, chosen by where the cell lies. Machine code
takes the locks of all the cells that it updates, in the order of their addresses, or leaves the call to Python, which
waits. So calls with updates need not hold the interpreter's lock while they compute.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from collections.abc import Iterable
from typing import Any

__all__ = ["Turns"]

_LOCKS = 64
_PATIENCE = 100_000
"""Microseconds to wait before signals are looked at."""


class _Held(threading.local):
    """How often this thread has taken each lock in Python."""

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}


_held = _Held()


@functools.cache
def _functions() -> tuple[Any, Any, Any]:
    """Trying to take a lock, waiting for it without the interpreter's lock, and giving it back."""
    api = ctypes.pythonapi
    attempt, give = api.PyThread_acquire_lock, api.PyThread_release_lock
    attempt.argtypes, attempt.restype = [ctypes.c_void_p, ctypes.c_int], ctypes.c_int
    give.argtypes, give.restype = [ctypes.c_void_p], None
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_longlong, ctypes.c_int)
    address = ctypes.cast(api.PyThread_acquire_lock_timed, ctypes.c_void_p).value
    assert address is not None
    return attempt, kind(address), give


@functools.cache
def _locks() -> list[int]:
    make = ctypes.pythonapi.PyThread_allocate_lock
    make.restype = ctypes.c_void_p
    made: list[int] = [make() for _ in range(_LOCKS)]
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_give_back_all)
    return made


def _give_back_all() -> None:
    """In a forked process: the threads that held these locks are not there any more."""
    attempt, _, give = _functions()
    for lock in _locks():
        if not _held.counts.get(lock):
            attempt(lock, 0)
            give(lock)


class Turns:
    """The right to update cells: a context manager, which a thread may enter again.

    ``locks`` are the addresses for machine code, in order.
    """

    def __init__(self, cells: Iterable[list[Any]]) -> None:
        # objects lie 16 bytes apart, at least
        self.locks = sorted({_locks()[(id(cell) >> 4) % _LOCKS] for cell in cells})

    def __enter__(self) -> None:
        attempt, wait, _ = _functions()
        counts = _held.counts
        taken = 0
        try:
            for lock in self.locks:
                if not counts.get(lock):
                    # another thread's lock, or this one's, taken by machine code that a signal interrupted
                    while not attempt(lock, 0) and wait(lock, _PATIENCE, 0) != 1:
                        pass
                counts[lock] = counts.get(lock, 0) + 1
                taken += 1
        except BaseException:
            self._give(self.locks[:taken])
            raise

    def __exit__(self, *_: object) -> None:
        self._give(self.locks)

    @staticmethod
    def _give(locks: list[int]) -> None:
        give = _functions()[2]
        counts = _held.counts
        for lock in reversed(locks):
            counts[lock] -= 1
            if not counts[lock]:
                give(lock)
