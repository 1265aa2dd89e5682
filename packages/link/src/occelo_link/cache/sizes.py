"""How many bytes the store holds, counted without listing its entries.

The first two digits of a key choose one of 256 parts of the store. A file has a number for the bytes of each part.
Writers add to it, and a part that is listed is counted again. So a number may be wrong after a writer was killed, after
two processes wrote at the same moment, or after somebody deleted entries, until the part is listed again.
"""

from __future__ import annotations

import os
import struct
from contextlib import suppress

PARTS = 256
_NUMBERS = struct.Struct(f"<{PARTS + 1}q")
_ONE = struct.Struct("<q")
_FLAGS = os.O_RDWR | os.O_CREAT | sum(getattr(os, f"O_{n}", 0) for n in ("NOFOLLOW", "BINARY"))


class Sizes:
    """The bytes of each part, in a file. Without a file that can be read and written, all numbers are 0."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path

    def of_parts(self) -> list[int]:
        """The bytes of each part."""
        return self._changed({}, is_sum=True)[:PARTS]

    def add(self, part: int, size: int) -> int:
        """Add to the bytes of a part. Returns the bytes of all parts."""
        return sum(self._changed({part: size}, is_sum=True)[:PARTS])

    def put(self, sizes: dict[int, int]) -> int:
        """Set the bytes of parts that were counted. Returns the bytes of all parts."""
        return sum(self._changed(sizes, is_sum=False)[:PARTS])

    def next_part(self) -> int:
        """A part that was not listed for long: each call returns another one, until all parts had their turn."""
        return (self._changed({PARTS: 1}, is_sum=True)[PARTS]) % PARTS

    def _changed(self, numbers: dict[int, int], is_sum: bool) -> list[int]:
        sizes = [0] * (PARTS + 1)
        with suppress(OSError):
            handle = os.open(self._path, _FLAGS, 0o600)
            try:
                data = os.read(handle, _NUMBERS.size)
                if not data:
                    os.chmod(self._path, 0o600)  # whatever the umask is
                sizes = [max(n, 0) for n in _NUMBERS.unpack(data.ljust(_NUMBERS.size, b"\0"))]
                for position, number in numbers.items():
                    sizes[position] = number + (sizes[position] if is_sum else 0)
                    os.lseek(handle, position * _ONE.size, os.SEEK_SET)
                    os.write(handle, _ONE.pack(sizes[position]))
            finally:
                os.close(handle)
        return sizes
