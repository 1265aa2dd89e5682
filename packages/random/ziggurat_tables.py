"""Writes the tables of NumPy's ziggurats, as C: ``python packages/random/ziggurat_tables.py``.

The numbers that NumPy's generators draw depend on every bit of these tables, and NumPy's tables for the normal distribution
differ from the exact ones in last digits. So they are read from the static library that NumPy's wheels have, from the
symbols ``wi_double`` and so on. The file is checked in, and
tests compare ten million draws with those of the installed NumPy.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np

HEADER = Path(__file__).parent / "src" / "occelo_random" / "streams" / "ziggurat_tables.h"
TABLES = {
    "normal_width": ("wi_double", "<f8"),
    "normal_limit": ("ki_double", "<u8"),
    "normal_density": ("fi_double", "<f8"),
    "exponential_width": ("we_double", "<f8"),
    "exponential_limit": ("ke_double", "<u8"),
    "exponential_density": ("fe_double", "<f8"),
}
"""The names of our tables, and the symbols of NumPy with their dtypes."""
_SYMBOL = struct.Struct("<IBBHQQ")
_SECTION = struct.Struct("<IIQQQQIIQQ")


def members(archive: bytes) -> dict[str, bytes]:
    """The files of a static library (``ar``) by their names."""
    files: dict[str, bytes] = {}
    names, at = b"", 8
    while at < len(archive):
        name, size = archive[at : at + 16].strip(), int(archive[at + 48 : at + 58])
        content = archive[at + 60 : at + 60 + size]
        if name == b"//":
            names = content
        elif name[:1] == b"/" and name[1:].isdigit():
            start = int(name[1:])
            files[names[start : names.index(b"/", start)].decode()] = content
        else:
            files[name.rstrip(b"/").decode()] = content
        at += 60 + size + size % 2
    return files


def tables(code: bytes) -> dict[str, Any]:
    """The tables in object code of the ELF format, by our names."""
    (start,), (count,) = struct.unpack_from("<Q", code, 40), struct.unpack_from("<H", code, 60)
    sections: list[Any] = [_SECTION.unpack_from(code, start + 64 * k) for k in range(count)]
    symbols: Any = next(s for s in sections if s[1] == 2)
    texts: int = sections[symbols[6]][4]
    places: dict[str, int] = {}
    for at in range(symbols[4], symbols[4] + symbols[5], _SYMBOL.size):
        name, _, _, section, value, _ = _SYMBOL.unpack_from(code, at)
        if 0 < section < count:
            text = code[texts + name : code.index(b"\0", texts + name)].decode()
            places[text] = sections[section][4] + value
    return {
        ours: np.frombuffer(code, dtype, 256, places[name])
        for ours, (name, dtype) in TABLES.items()
    }


def header(rows: dict[str, Any]) -> str:
    """The text of the C header."""
    lines = [
        "/* The tables of NumPy's ziggurats, written by packages/random/ziggurat_tables.py. */",
        "",
    ]
    for name, table in rows.items():
        numbers = [float(x).hex() for x in table]
        lines.append(f"static const double {name}[256] = {{")
        lines += [f"  {', '.join(numbers[k : k + 6])}," for k in range(0, 256, 6)]
        lines += ["};", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    library = Path(np.__file__).parent / "random" / "lib" / "libnpyrandom.a"
    code = next(c for n, c in members(library.read_bytes()).items() if "distributions.c" in n)
    HEADER.write_text(header(tables(code)))
