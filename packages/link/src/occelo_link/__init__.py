"""Occelo's linkers: from a rewritten graph to something that runs."""

from __future__ import annotations

import os

from occelo_graph.provenance import register_internal
from occelo_link.c.linker import CLinker, OpWiseCLinker
from occelo_link.linker import VM, Linker, WrapLinker
from occelo_link.native.linker import NativeLinker
from occelo_link.registry import available_linkers, make_linker, register_linker
from occelo_link.vm import NodeThunk, PerformLinker, PythonVM, VMLinker

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
