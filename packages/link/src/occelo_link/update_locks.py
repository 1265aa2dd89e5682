"""Locks on updates of shared variables, acquired in Python and in machine code.

`occelo_compile.calling` and the VMs of blocks and of traced graphs hold them during a call. Each cell has one of a
fixed number of locks, chosen by the address of the cell. The locks are those of CPython's C interface. Machine code
tries to acquire the locks of all cells that it updates, in the order of the locks' addresses. If another call holds one
of the locks, machine code passes the call on to Python, which waits. So calls with updates may release the global
interpreter lock (GIL).
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from collections.abc import Iterable
from typing import Any

__all__ = ["UpdateLocks"]

_LOCKS = 64
_TIMEOUT = 100_000
"""A thread waits for a lock so many microseconds at a time; in between the interpreter can run signal handlers."""


class _Acquired(threading.local):
    """How often this thread has acquired each lock in Python."""

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}


_acquired = _Acquired()


@functools.cache
def _functions() -> tuple[Any, Any, Any]:
    """Three C functions: one tries to acquire a lock, one acquires it with the GIL released, and one releases it."""
    api = ctypes.pythonapi
    try_acquire, release = api.PyThread_acquire_lock, api.PyThread_release_lock
    try_acquire.argtypes, try_acquire.restype = [ctypes.c_void_p, ctypes.c_int], ctypes.c_int
    release.argtypes, release.restype = [ctypes.c_void_p], None
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_longlong, ctypes.c_int)
    address = ctypes.cast(api.PyThread_acquire_lock_timed, ctypes.c_void_p).value
    assert address is not None
    return try_acquire, kind(address), release


@functools.cache
def _locks() -> list[int]:
    make = ctypes.pythonapi.PyThread_allocate_lock
    make.restype = ctypes.c_void_p
    made: list[int] = [make() for _ in range(_LOCKS)]
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_release_all)
    return made


def _release_all() -> None:
    """In a forked process, release all locks except those of its own thread, since the threads that held the others do
    not exist there.
    """
    try_acquire, _, release = _functions()
    for lock in _locks():
        if not _acquired.counts.get(lock):
            try_acquire(lock, 0)
            release(lock)


class UpdateLocks:
    """The locks of some cells, as a context manager that a thread may enter again while it is in it.

    ``addresses`` are the addresses of the locks, for machine code, in order.
    """

    def __init__(self, cells: Iterable[list[Any]]) -> None:
        # addresses of objects differ by 16 bytes at least
        self.addresses = sorted({_locks()[(id(cell) >> 4) % _LOCKS] for cell in cells})

    def __enter__(self) -> None:
        try_acquire, acquire, _ = _functions()
        counts = _acquired.counts
        count = 0
        try:
            for lock in self.addresses:
                if not counts.get(lock):
                    # held by another thread, or by machine code of this one that a signal interrupted
                    while not try_acquire(lock, 0) and acquire(lock, _TIMEOUT, 0) != 1:
                        pass
                counts[lock] = counts.get(lock, 0) + 1
                count += 1
        except BaseException:
            self._release(self.addresses[:count])
            raise

    def __exit__(self, *_: object) -> None:
        self._release(self.addresses)

    @staticmethod
    def _release(addresses: list[int]) -> None:
        release = _functions()[2]
        counts = _acquired.counts
        for lock in reversed(addresses):
            counts[lock] -= 1
            if not counts[lock]:
                release(lock)
