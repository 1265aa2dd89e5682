"""`image_of` puts object code together: one piece of machine code that runs at any address, without a linker.

The object code is in the ELF format, as LLVM makes it. Sections lie one after the other: first those that are only read
and run, and from a page boundary on those that are written. References between them are offsets, which are resolved here.
A reference to a function of the C library becomes a jump through a writable slot, whose address the reader fills in.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from occelo_export.saved.file_format import ALIGNMENT
from occelo_graph.frozen_dataclasses import frozen_dataclass

_HEADER = np.dtype(
    [("name", "<u4"), ("type", "<u4"), ("flags", "<u8"), ("address", "<u8"), ("offset", "<u8"), ("size", "<u8"),
     ("link", "<u4"), ("info", "<u4"), ("align", "<u8"), ("entry", "<u8")]
)  # fmt: skip
_SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
)  # fmt: skip
_RELOCATION = np.dtype([("offset", "<u8"), ("kind", "<u4"), ("symbol", "<u4"), ("addend", "<i8")])
_SYMBOLS, _RELOCATIONS, _ZEROS = 2, 4, 8
_WRITABLE, _LOADED = 1, 2
_RELATIVE = {2, 4}
"""R_X86_64_PC32 and R_X86_64_PLT32: a 32-bit offset from the place of the reference."""
_JUMP = b"\xff\x25"
"""``jmp`` through the slot at a 32-bit offset from the next instruction."""


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
    """A file of object code: its headers, names, and the offset of each loaded section in the image."""

    def __init__(self, content: bytes) -> None:
        if content[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", content, 18) != (62,):
            raise TypeError("Saved functions are for Linux on x86-64 only, and this code is not")
        self.content = content
        (start,) = struct.unpack_from("<Q", content, 40)
        (count,) = struct.unpack_from("<H", content, 60)
        self.headers: Any = np.frombuffer(content, _HEADER, count, start)
        table = next(h for h in self.headers if h["type"] == _SYMBOLS)
        self.symbols: Any = self._rows(table, _SYMBOL)
        self._names = self._bytes(self.headers[table["link"]])
        self.places: dict[int, int] = {}

    def _bytes(self, header: Any) -> bytes:
        start = int(header["offset"])
        return self.content[start : start + int(header["size"])]

    def _rows(self, header: Any, kind: Any) -> Any:
        return np.frombuffer(self._bytes(header), kind)

    def name(self, symbol: Any) -> str:
        start = int(symbol["name"])
        return self._names[start : self._names.index(b"\0", start)].decode()

    def sections(self, writable: bool) -> list[int]:
        """The sections that are loaded and are, or are not, written."""
        flags = self.headers["flags"].tolist()
        return [k for k, f in enumerate(flags) if f & _LOADED and bool(f & _WRITABLE) == writable]

    def section(self, k: int) -> bytes:
        header = self.headers[k]
        return b"" if header["type"] == _ZEROS else self._bytes(header)

    def relocations(self) -> list[tuple[int, Any]]:
        """Each relocation with the section that it changes."""
        return [
            (int(h["info"]), row)
            for h in self.headers
            if h["type"] == _RELOCATIONS and int(h["info"]) in self.places
            for row in self._rows(h, _RELOCATION)
        ]


def image_of(contents: Mapping[str, bytes]) -> Image:
    """Return the image of several files of object code. The keys are prefixes for the names of their functions.

    TypeError for object code that is not for Linux on x86-64, or that needs its own address.
    """
    objects = {prefix: _Object(content) for prefix, content in contents.items()}
    made = bytearray()
    for each in objects.values():
        for k in each.sections(writable=False):
            made += bytes(-len(made) % max(int(each.headers[k]["align"]), 16))
            each.places[k] = len(made)
            made += each.section(k)
    outside = _outside(objects.values())
    jumps = {name: len(made) + 8 * k for k, name in enumerate(outside)}
    made += bytes(8 * len(outside))
    made += bytes(-len(made) % ALIGNMENT)
    end = len(made)
    imports = {name: end + 8 * k for k, name in enumerate(outside)}
    size = 8 * len(outside)
    for each in objects.values():
        for k in each.sections(writable=True):
            if any(each.section(k)):
                raise TypeError("The code has variables with values of their own")
            size += -size % 64
            each.places[k] = end + size
            size += int(each.headers[k]["size"])
    for name, place in jumps.items():
        made[place : place + 6] = _JUMP + struct.pack("<i", imports[name] - place - 6)
    for each in objects.values():
        _resolve(made, each, jumps)
    symbols = {
        prefix + each.name(s): each.places[int(s["section"])] + int(s["value"])
        for prefix, each in objects.items()
        for s in each.symbols
        if s["info"] >> 4 and int(s["section"]) in each.places
    }
    return Image(bytes(made), size, symbols, imports)


def _outside(objects: Any) -> list[str]:
    """The names of outside functions, sorted."""
    return sorted({o.name(s) for o in objects for s in o.symbols[1:] if not s["section"]})


def _resolve(made: bytearray, each: _Object, jumps: Mapping[str, int]) -> None:
    """Write the offsets of all references of a file."""
    for section, row in each.relocations():
        if int(row["kind"]) not in _RELATIVE:
            raise TypeError(f"The code needs its own address (relocation {int(row['kind'])})")
        place = each.places[section] + int(row["offset"])
        symbol = each.symbols[int(row["symbol"])]
        if symbol["section"]:
            target = each.places[int(symbol["section"])] + int(symbol["value"])
        else:
            target = jumps[each.name(symbol)]
        made[place : place + 4] = struct.pack("<i", target + int(row["addend"]) - place)
