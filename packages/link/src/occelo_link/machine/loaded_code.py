"""Loads object code into this process without LLVM: `LoadedCode` is an image (`machine.elf_image`) that can be run.

To load LLVM's library takes longer than everything else that a function from the cache needs. `units.engine` loads code
with this module where `fits` says so, and with LLVM elsewhere.
"""

from __future__ import annotations

import ctypes
import functools
import os
import struct
import sys
from collections.abc import Callable
from typing import Any

from occelo_link.machine.elf_image import Image

_READ, _WRITE, _RUN = 1, 2, 4
_PRIVATE, _ANONYMOUS = 2, 0x20
_FAILED = ctypes.c_void_p(-1).value


@functools.cache
def fits() -> bool:
    """Whether this process runs such images: on Linux, on x86-64, with pointers of 64 bits."""
    return sys.platform == "linux" and sys.maxsize > 2**32 and os.uname().machine == "x86_64"


@functools.cache
def _process() -> Any:
    """The functions of this process, with the types of those that map memory."""
    library = ctypes.CDLL(None, use_errno=True)
    address, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    library.mmap.restype = address
    library.mmap.argtypes = [address, size, number, number, number, ctypes.c_long]
    library.mprotect.argtypes = [address, size, number]
    library.munmap.argtypes = [address, size]
    return library


class LoadedCode:
    """An image in memory. The code stays loaded as long as this object exists.

    The memory is private: a forked process gets its own copy of what is written. Raises AttributeError if the image calls a
    function that this process lacks, and OSError if the system has no memory, or lets no process run code that it wrote.
    """

    __slots__ = ("_functions", "_size", "_start", "_unmap")

    def __init__(self, image: Image) -> None:
        c = _process()
        self._functions = image.symbols
        self._unmap = c.munmap
        self._size = len(image.code) + image.writable
        self._start = 0
        start = c.mmap(None, self._size, _READ | _WRITE, _PRIVATE | _ANONYMOUS, -1, 0)
        if start == _FAILED:
            raise OSError(ctypes.get_errno(), "There is no memory for code")
        self._start = start
        ctypes.memmove(start, image.code, len(image.code))
        for name, slot in image.imports.items():
            address = ctypes.cast(c[name], ctypes.c_void_p).value or 0
            ctypes.memmove(start + slot, struct.pack("<Q", address), 8)
        # no page is writable and executable at the same time
        if c.mprotect(start, len(image.code), _READ | _RUN) != 0:
            raise OSError(ctypes.get_errno(), "The system refuses to run code")

    def address(self, function: str) -> int:
        """Return the address of a function in the loaded code, or 0 if the code does not define it."""
        place = self._functions.get(function)
        return 0 if place is None else self._start + place

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # when the interpreter ends, finalizers of other objects may still call the code
        if self._start and not is_finalizing():
            self._unmap(self._start, self._size)
