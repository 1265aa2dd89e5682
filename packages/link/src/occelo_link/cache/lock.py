"""Locks on directories, which only one process at a time can hold.

Users get `lock_ctx` from `occelo.cache`, to keep several processes from doing the same work at the same time. The cache
itself needs no locks, because it writes files atomically.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from occelo_link.cache.directory import compile_directory
from occelo_link.options import LOCK_TIMEOUT

_NAME = ".lock"
_locks: dict[tuple[int, Path], Any] = {}
_enabled = [True]


def set_lock_status(use_lock: bool) -> None:
    """Switch locking on or off for this process; `lock_ctx` does nothing while it is off."""
    _enabled[0] = use_lock


@contextmanager
def lock_ctx(
    lock_dir: str | os.PathLike[str] | None = None, *, timeout: float | None = None
) -> Generator[None]:
    """A context manager that holds the lock of a directory, by default of the compile directory.

    A process that already holds the lock can acquire it again. ``timeout`` is in seconds; -1 means no limit, and the
    default is the option ``compile__timeout``. Raises TimeoutError if the lock is not free in time.
    """
    if not _enabled[0]:
        yield
        return
    import filelock  # slow to import, and only needed here

    directory = compile_directory() if lock_dir is None else Path(lock_dir)
    directory.mkdir(parents=True, exist_ok=True)
    key = (os.getpid(), directory.resolve())
    lock = _locks.get(key)
    if lock is None:
        lock = _locks[key] = filelock.FileLock(directory / _NAME, thread_local=False)
    try:
        lock.acquire(timeout=LOCK_TIMEOUT.get() if timeout is None else timeout)
    except filelock.Timeout:
        raise TimeoutError(f"Another process holds the lock of {directory}") from None
    try:
        yield
    finally:
        lock.release()


def force_unlock(lock_dir: str | os.PathLike[str] | None = None) -> None:
    """Remove the lock of a directory, even if another process holds it. The default is the compile directory."""
    directory = compile_directory() if lock_dir is None else Path(lock_dir)
    lock = _locks.pop((os.getpid(), directory.resolve()), None)
    if lock is not None:
        lock.release(force=True)
    (directory / _NAME).unlink(missing_ok=True)
