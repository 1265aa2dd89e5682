"""Compiling LLVM IR to object code, and loading object code.

The linkers ``native`` and ``numba``, units from the cache and the entry use it. `dumping` gets assembly from it. The
only outside symbols in object code are a few functions of the C library that LLVM may insert. So object code can be
cached and loaded by another process. Dropping a `Unit` frees its code.
"""

from __future__ import annotations

import functools
import struct
from typing import Any

import numpy as np

from occelo_link.machine.processor import binding, host_target

__all__ = ["Unit", "compile_module", "load_object", "stands_alone"]


@functools.cache
def _target() -> Any:
    return binding().Target.from_triple(host_target()[0])


def _machine(cpu: str | None, features: str | None, level: int) -> Any:
    # an engine owns its machine, so each gets its own
    _, host, host_features = host_target()
    return _target().create_target_machine(
        cpu=host if cpu is None else cpu,
        features=host_features if features is None else features,
        opt=level,
        jit=True,
        codemodel="default",
        reloc="pic",
    )


def compile_module(
    text: str, cpu: str | None = None, features: str | None = None, level: int = 1
) -> bytes:
    """Object code of a module, for this machine's processor or another one of the same architecture."""
    llvm = binding()
    module = llvm.parse_assembly(text)
    module.verify()
    machine = _machine(cpu, features, level)
    module.triple = host_target()[0]
    module.data_layout = str(machine.target_data)
    code: bytes = machine.emit_object(module)
    return code


def assembly(text: str, cpu: str | None = None, features: str | None = None, level: int = 1) -> str:
    """The code that `compile_module` returns, as assembly text."""
    llvm = binding()
    module = llvm.parse_assembly(text)
    module.verify()
    machine = _machine(cpu, features, level)
    module.triple = host_target()[0]
    module.data_layout = str(machine.target_data)
    listing: str = machine.emit_assembly(module)
    return listing


class Unit:
    """Loaded object code: the address of one function, and the engine that keeps it alive."""

    __slots__ = ("_engine", "address")

    def __init__(self, engine: Any, address: int) -> None:
        self._engine = engine
        self.address = address

    def find(self, function: str) -> int:
        """The address of another function of the same code."""
        address: int = self._engine.get_function_address(function)
        return address


_ELF64 = b"\x7fELF\x02\x01"
_SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8", 2)]
)
_SECTION = np.dtype([("name", "<u4"), ("type", "<u4"), ("rest", "<u8", 7)])
_SYMBOL_TABLE = 2


def stands_alone(code: bytes) -> bool:
    """Whether object code is in the 64-bit ELF format and refers to no undefined symbol.

    The format is that of the System V Application Binary Interface, chapter 4: headers of sections, then symbols.
    Undefined symbols are in section 0. The first symbol is always empty.
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
    """Load object code; ValueError if it does not define the function."""
    llvm = binding()
    module = llvm.parse_assembly("")
    # sections must be adjacent, since code reaches its constants by offsets of 32 bits; llvmlite's memory manager
    # guarantees that, but reserves no memory for the addresses of outside functions
    adjacent = True if stands_alone(code) else None
    # nothing is compiled, and a machine with the features of this processor takes longer to make than the code to load
    engine = llvm.create_mcjit_compiler(module, _machine("", "", 0), use_lmm=adjacent)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    address: int = engine.get_function_address(function)
    if not address:
        raise ValueError(f"The object code does not define {function}")
    return Unit(engine, address)
