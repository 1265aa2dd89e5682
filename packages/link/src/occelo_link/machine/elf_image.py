"""`image_of` puts object code together: one piece of machine code that runs at any address, without a linker.

The object code is for x86-64, in the ELF format, as LLVM makes it. Sections lie one after the other: first those that are
only read and run, and from a page boundary on those that are written. References between them are offsets, which are
resolved here. A reference to a function of the C library becomes a jump through a writable slot, whose address the reader
fills in. Tables for unwinding are left out, since compiled code raises no C++ exceptions.

`machine.loaded_code` loads images into this process, and `occelo_export` writes them to files.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from occelo_graph.frozen_dataclasses import frozen_dataclass

PAGE = 4096
"""The alignment of the writable part of an image: the size of x86-64's pages."""
_HEADER = np.dtype(
    [("name", "<u4"), ("type", "<u4"), ("flags", "<u8"), ("address", "<u8"), ("offset", "<u8"), ("size", "<u8"),
     ("link", "<u4"), ("info", "<u4"), ("align", "<u8"), ("entry", "<u8")]
)  # fmt: skip
_SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
)  # fmt: skip
_RELOCATION = np.dtype([("offset", "<u8"), ("kind", "<u4"), ("symbol", "<u4"), ("addend", "<i8")])
_SYMBOLS, _RELOCATIONS, _ZEROS, _UNWINDING = 2, 4, 8, 0x7000_0001
_PLAIN = {1, _ZEROS}
"""The types of the sections that an image may have: contents, and zeros. Others are run by linkers, such as constructors."""
_WRITABLE, _LOADED, _OF_THREADS = 1, 2, 0x400
_PC32, _PLT32 = 2, 4
"""Kinds of relocations: a 32-bit offset from the place of the reference."""
_JUMP = b"\xff\x25"
"""``jmp`` through the slot at a 32-bit offset from the next instruction."""
_BYTES = np.arange(4)


@frozen_dataclass(eq=False)
class Image:
    """Machine code: ``code``, and after it ``writable`` bytes of zeros. ``code`` ends at a page boundary.

    ``symbols`` has the offset of each global function by its name, and ``imports`` the offset of the slot for the address of
    each outside function.
    """

    code: bytes
    writable: int
    symbols: dict[str, int]
    imports: dict[str, int]


class _Object:
    """A file of object code: its headers, symbols, and the offset of each loaded section in the image."""

    def __init__(self, content: bytes) -> None:
        if content[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", content, 18) != (62,):
            raise TypeError("Images are made of object code for x86-64 in the ELF format only")
        self._content = content
        (start,) = struct.unpack_from("<Q", content, 40)
        (count,) = struct.unpack_from("<H", content, 60)
        # rows as tuples, which Python reads faster than NumPy's rows
        self._headers = np.frombuffer(content, _HEADER, count, start).tolist()
        table = next((h for h in self._headers if h[1] == _SYMBOLS), None)
        if table is None:
            raise TypeError("The object code has no symbols")
        names = self._headers[table[6]][4]
        self.symbols: list[tuple[bytes, int, int, int]] = [
            (self._text(names + name), info, section, value)
            for name, info, _, section, value, _ in self._rows(table, _SYMBOL).tolist()
        ]
        """The name, kind, section and place in the section of each symbol. Symbols of other objects have section 0."""
        self.places: dict[int, int] = {}

    def _text(self, start: int) -> bytes:
        return self._content[start : self._content.index(b"\0", start)]

    def _rows(self, header: tuple[int, ...], kind: Any) -> Any:
        return np.frombuffer(self._content, kind, header[5] // kind.itemsize, header[4])

    def sections(self, writable: bool) -> list[tuple[int, int, bytes | None, int]]:
        """The number, alignment, content and size of each loaded section that is, or is not, written."""
        rows: list[tuple[int, int, bytes | None, int]] = []
        for k, (_, kind, flags, _, offset, size, _, _, align, _) in enumerate(self._headers):
            if not flags & _LOADED or bool(flags & _WRITABLE) != writable or kind == _UNWINDING:
                continue
            if size and (kind not in _PLAIN or flags & _OF_THREADS):
                raise TypeError(f"The code needs a linker (a section of type {kind})")
            content = None if kind == _ZEROS else self._content[offset : offset + size]
            rows.append((k, align, content, size))
        return rows

    def relocations(self) -> list[tuple[int, Any]]:
        """The references of each section of the image, by its offset."""
        return [
            (self.places[h[7]], self._rows(h, _RELOCATION))
            for h in self._headers
            if h[1] == _RELOCATIONS and h[7] in self.places
        ]


def image_of(contents: Mapping[str, bytes]) -> Image:
    """Return the image of several files of object code. The keys are prefixes for the names of their functions.

    TypeError for object code that is not for x86-64 in the ELF format, or that needs its own address or a linker.
    """
    objects = {prefix: _Object(content) for prefix, content in contents.items()}
    image = bytearray()
    for each in objects.values():
        for k, align, content, size in each.sections(writable=False):
            image += bytes(-len(image) % max(align, 16))
            each.places[k] = len(image)
            image += bytes(size) if content is None else content
    outside = sorted({s[0] for each in objects.values() for s in each.symbols[1:] if not s[2]})
    jumps = {name: len(image) + 8 * k for k, name in enumerate(outside)}
    image += bytes(8 * len(outside))
    image += bytes(-len(image) % PAGE)
    end = len(image)
    imports = {name: end + 8 * k for k, name in enumerate(outside)}
    writable = 8 * len(outside)
    for each in objects.values():
        for k, _, content, size in each.sections(writable=True):
            if content and any(content):
                raise TypeError("The code has variables with values of their own")
            writable += -writable % 64
            each.places[k] = end + writable
            writable += size
    for name, place in jumps.items():
        image[place : place + 6] = _JUMP + struct.pack("<i", imports[name] - place - 6)
    for each in objects.values():
        _resolve(image, each, jumps)
    symbols = {
        prefix + name.decode(): each.places[section] + value
        for prefix, each in objects.items()
        for name, info, section, value in each.symbols
        if info >> 4 and section in each.places
    }
    return Image(bytes(image), writable, symbols, {n.decode(): at for n, at in imports.items()})


def _resolve(content: bytearray, each: _Object, jumps: Mapping[bytes, int]) -> None:
    """Write the offsets of all references of a file."""
    targets = np.array(
        [
            each.places.get(section, -1) + value if section else jumps.get(name, -1)
            for name, _, section, value in each.symbols
        ]
    )
    image = np.frombuffer(content, np.uint8)
    for start, rows in each.relocations():
        kinds = rows["kind"]
        if not ((kinds == _PC32) | (kinds == _PLT32)).all():
            raise TypeError(f"The code needs its own address (relocations {set(kinds.tolist())})")
        places = start + rows["offset"].astype(np.int64)
        to = targets[rows["symbol"]]
        if (to < 0).any():
            raise TypeError("The code refers to something that is not loaded")
        offsets = (to + rows["addend"] - places).astype("<i4")
        image[places[:, None] + _BYTES] = offsets.view(np.uint8).reshape(-1, 4)
