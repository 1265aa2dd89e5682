"""Compiles with Inductor, PyTorch's compiler, although a process that was killed may have damaged Inductor's cache.

Inductor takes a file of its cache for whole if it exists. A compiler or linker that was killed leaves an empty or
incomplete library, and each later process fails to load it, or crashes. So libraries that are not whole are deleted
before the first compilation of a process. If compiling fails all the same, it is tried with an empty cache.
"""

from __future__ import annotations

import importlib
import os
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

from occelo_link.torch.library import cache_folder, empty_cache

_Made = TypeVar("_Made")
_LIBRARIES = (".so", ".o", ".gch")
_SOURCES = (".py", ".cpp", ".h")
_ELF = b"\x7fELF\x02\x01"
"""The first bytes of a library for a little-endian processor with 64 bits, the only ones that are examined."""
_SECTIONS = struct.Struct("<Q10xHH")
"""Of a library's header, from byte 40: the place of the table of sections, the size of an entry, and their number."""

_lock = threading.Lock()
_examined: set[str] = set()


def with_whole_cache(compile_now: Callable[[], _Made]) -> _Made:
    """Return the result of ``compile_now``, which compiles with Inductor.

    If it raises an exception, it is called again: if there are broken files after they are deleted, and at last with an
    empty cache in a temporary folder, since a file may be broken in a way that cannot be seen.
    """
    folder = cache_folder()
    with _lock:
        if folder not in _examined:
            _examined.add(folder)
            delete_broken(folder)
    try:
        return compile_now()
    except Exception:
        if delete_broken(folder):
            with suppress(Exception):
                return compile_now()
        with empty_cache():
            return compile_now()


def delete_broken(folder: str) -> int:
    """Delete the broken files in a cache of Inductor, except files that a process is writing. Returns their number."""
    deleted = 0
    for path in _broken_files(folder):
        key = os.path.basename(path).partition(".")[0]
        with _Held(os.path.join(folder, "locks", f"{key}.lock")) as is_held, suppress(OSError):
            if is_held and is_broken(path):
                os.unlink(path)
                deleted += 1
    return deleted


def _broken_files(folder: str) -> Iterator[str]:
    """The libraries in a cache of Inductor that are not whole, and empty sources."""
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            if name.endswith((*_LIBRARIES, *_SOURCES)) and is_broken(path):
                yield path


def is_broken(path: str) -> bool:
    """Whether a file is empty, or a library whose end is missing. False if it cannot be read."""
    try:
        with open(path, "rb") as stream:
            start = stream.read(64)
            size = os.fstat(stream.fileno()).st_size
    except OSError:
        return False
    if not start.strip(b"\0"):
        return True
    if not path.endswith((".so", ".o")):
        return False
    if len(start) < 64:
        return _ELF.startswith(start[: len(_ELF)]) or start.startswith(_ELF)
    if not start.startswith(_ELF):
        return False
    sections, length, count = _SECTIONS.unpack_from(start, 40)
    return sections + length * count > size


class _Held:
    """A lock of Inductor, held if no other process holds it. The value of the context says whether it is."""

    def __init__(self, path: str) -> None:
        self._lock: Any = importlib.import_module("filelock").FileLock(path)
        self._is_held = False

    def __enter__(self) -> bool:
        with suppress(
            TimeoutError, OSError
        ):  # another process holds it, or the folder cannot be written
            self._lock.acquire(timeout=0)
            self._is_held = True
        return self._is_held

    def __exit__(self, *_: object) -> None:
        if self._is_held:
            self._lock.release()
