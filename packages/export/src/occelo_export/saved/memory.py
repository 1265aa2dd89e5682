"""`Code`: the image of a saved function in memory that the processor may run."""

from __future__ import annotations

import ctypes
import mmap
import struct
from collections.abc import Mapping

from occelo_export.saved.libraries import c_library, of_c_library


class Code:
    """An image in memory. ``address`` is that of its first byte; the memory is freed with this object.

    ``imports`` has the offset of the slot for each function of the C library that the code calls. Raises OSError if the
    system lets no process run memory that it has written.
    """

    def __init__(self, image: bytes, writable: int, imports: Mapping[str, int]) -> None:
        self._memory = mmap.mmap(
            -1, len(image) + writable + 1, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        )
        self._memory[: len(image)] = image
        for name, slot in imports.items():
            self._memory[slot : slot + 8] = struct.pack("<Q", of_c_library(name))
        self._first = ctypes.c_char.from_buffer(self._memory)
        self.address = ctypes.addressof(self._first)
        protect = c_library().mprotect
        protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        # the pages of the code are never writable and executable at the same time
        if protect(self.address, len(image), mmap.PROT_READ | mmap.PROT_EXEC) != 0:
            raise OSError("The system refuses to run the code of a saved function (mprotect)")
