"""Occelo's linkers: from a rewritten graph to something that runs."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from occelo_graph.provenance import register_internal
from occelo_link.linker import VM, Linker, WrapLinker
from occelo_link.native.linker import NativeLinker
from occelo_link.registry import available_linkers, make_linker, register_linker
from occelo_link.vm import NodeThunk, PerformLinker, PythonVM, VMLinker

if TYPE_CHECKING:
    from occelo_link.c.linker import CLinker, OpWiseCLinker

__all__ = [
    "VM",
    "CLinker",
    "Linker",
    "NativeLinker",
    "NodeThunk",
    "OpWiseCLinker",
    "PerformLinker",
    "PythonVM",
    "VMLinker",
    "WrapLinker",
    "available_linkers",
    "make_linker",
    "register_linker",
]
__version__ = "0.1.0"

register_internal(os.path.dirname(__file__))


def __getattr__(name: str) -> Any:
    # running a compiler needs modules that are slow to import
    if name in ("CLinker", "OpWiseCLinker"):
        return getattr(importlib.import_module("occelo_link.c.linker"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
