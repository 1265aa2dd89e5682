"""Locks on updates of shared variables.

`occelo_compile.calling` and the VMs of blocks and of traced graphs hold the locks during a call. So calls that update
shared variables may release the global interpreter lock (GIL).

There are 64 locks; the address of a cell decides which of them the cell uses. Machine code also uses these locks, so
they are locks of CPython's C interface. All code acquires locks in the order of their addresses. Machine code does not
wait: if another call holds a lock, machine code passes its own call on to Python, which waits.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from collections.abc import Iterable
from typing import Any

_LOCKS = 64
_TIMEOUT = 100_000
"""How many microseconds a thread waits for a lock at a time. In between, the interpreter can run signal handlers."""


class _Acquired(threading.local):
    """For each lock, how many times this thread has acquired it in Python and not yet released it."""

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}


_acquired = _Acquired()


@functools.cache
def _functions() -> tuple[Any, Any, Any]:
    """Return three C functions. The first tries to acquire a lock.

    The second waits for a lock, with the GIL released. The third releases a lock.
    """
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
    locks: list[int] = [make() for _ in range(_LOCKS)]
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_release_all)
    return locks


def _release_all() -> None:
    """Release all locks in a forked process, except those that its own thread holds.

    The threads that held the other locks do not exist in the forked process.
    """
    try_acquire, _, release = _functions()
    for lock in _locks():
        if not _acquired.counts.get(lock):
            try_acquire(lock, 0)
            release(lock)


class UpdateLocks:
    """A context manager that holds the locks of some cells. A thread may acquire locks that it already holds.

    ``addresses`` are the sorted addresses of the locks, which machine code reads.
    """

    def __init__(self, cells: Iterable[list[Any]]) -> None:
        # the addresses of two objects differ by at least 16
        self.addresses = sorted({_locks()[(id(cell) >> 4) % _LOCKS] for cell in cells})

    def __enter__(self) -> None:
        try_acquire, acquire, _ = _functions()
        counts = _acquired.counts
        count = 0
        try:
            for lock in self.addresses:
                if not counts.get(lock):
                    # another thread holds it, or a signal handler has interrupted machine code of this thread that
                    # holds it
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
