"""Compiles LLVM IR to object code, and loads object code.

The linkers ``native`` and ``numba`` call this module for their units, `units.entry_loading` for the entry, `units.unit`
for units from the cache, and `dumping` for assembly text.

Object code refers to no outside symbols, except a few functions of the C library that LLVM may insert. So the code can
be cached and loaded by another process. When a `Unit` is dropped, its code is freed.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from occelo_link.machine.elf_image import image_of
from occelo_link.machine.loaded_code import LoadedCode, fits
from occelo_link.machine.processor import host_target, llvm


def _target(cpu: str | None, features: str | None) -> tuple[str, str, str]:
    triple, host, host_features = host_target()
    return (triple, host if cpu is None else cpu, host_features if features is None else features)


def compile_module(
    text: str, cpu: str | None = None, features: str | None = None, level: int = 1
) -> bytes:
    """Compile a module of LLVM IR to object code.

    By default the code is for the processor of this machine. ``cpu`` and ``features`` name another processor of the
    same architecture. ``level`` is LLVM's level of optimization, from 0 to 3.
    """
    return llvm().compile(text, _target(cpu, features), level)


def assembly(text: str, cpu: str | None = None, features: str | None = None, level: int = 1) -> str:
    """Compile a module of LLVM IR to assembly text, the text of the object code that `compile_module` returns."""
    return llvm().compile(text, _target(cpu, features), level, assembly=True).decode()


class Unit:
    """Loaded object code, with the address of one of its functions. The code is freed with this object."""

    __slots__ = ("_engine", "address")

    def __init__(self, engine: Any, address: int) -> None:
        self._engine = engine
        self.address = address

    def find(self, function: str) -> int:
        """The address of another function in the same code."""
        address: int = self._engine.address(function)
        return address


_ELF64 = b"\x7fELF\x02\x01"
_SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8", 2)]
)
_SECTION = np.dtype([("name", "<u4"), ("type", "<u4"), ("rest", "<u8", 7)])
_SYMBOL_TABLE = 2


def stands_alone(code: bytes) -> bool:
    """Whether object code is in the 64-bit ELF format and refers to no undefined symbol.

    The format is described in the System V Application Binary Interface, chapter 4: section headers, then symbols. An
    undefined symbol has the section number 0. The first symbol is always empty.
    """
    if not code.startswith(_ELF64):
        return False
    (start,) = struct.unpack_from("<Q", code, 40)
    (count,) = struct.unpack_from("<H", code, 60)
    for section in np.frombuffer(code, _SECTION, count, start):
        if section["type"] == _SYMBOL_TABLE:
            _, _, offset, size, *_ = section["rest"].tolist()
            symbols = np.frombuffer(code, _SYMBOL, size // _SYMBOL.itemsize, offset)
            return bool(symbols["section"][1:].all())
    return True


def load_object(code: bytes, function: str = "unit") -> Unit:
    """Load object code. The unit has the address of ``function``. ValueError if the code does not define this function."""
    engine = _load_image(code) or _load_by_llvm(code)
    address = engine.address(function)
    if not address:
        raise ValueError(f"The object code does not define {function}")
    return Unit(engine, address)


def _load_image(code: bytes) -> Any:
    """Load object code without LLVM. Returns None if that is not possible: on other systems, and for code that needs more
    than offsets between its sections.
    """
    if not fits():
        return None
    try:
        return LoadedCode(image_of({"": code}))
    except (TypeError, AttributeError, OSError):
        return None


def _load_by_llvm(code: bytes) -> Any:
    triple = host_target()[0]
    # sections must be adjacent, since code reaches its constants by offsets of 32 bits; llvmlite's memory manager makes
    # them adjacent, but has no room for the addresses of outside functions, except on 64-bit ARM
    adjacent = stands_alone(code) or triple.startswith(("aarch64", "arm64"))
    return llvm().load(code, triple, adjacent)
