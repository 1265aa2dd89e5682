"""Occelo's compiler: `function` and what it needs."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from occelo_compile.cached import explain_miss
from occelo_compile.calling import DUPLICATE, Function
from occelo_compile.collect import Collected, collect, construct_function_ins_and_outs
from occelo_compile.errors import AliasedMemoryError
from occelo_compile.function import function, function_dump
from occelo_compile.maker import FunctionMaker, Linked, Rewritten
from occelo_compile.memory import DeepCopyOp, ViewOp, insert_deepcopy
from occelo_compile.mode import Mode, available_modes, get_default_mode, get_mode, register_mode
from occelo_compile.symbolic_io import In, Out, SymbolicInput, SymbolicOutput
from occelo_graph import shared
from occelo_graph.config import config
from occelo_graph.provenance import register_internal

__all__ = [
    "DUPLICATE",
    "AliasedMemoryError",
    "Collected",
    "Culprit",
    "DeepCopyOp",
    "Function",
    "FunctionMaker",
    "In",
    "Linked",
    "Mode",
    "Out",
    "ProfileStats",
    "Rewritten",
    "SymbolicInput",
    "SymbolicOutput",
    "ViewOp",
    "available_modes",
    "bisect",
    "collect",
    "config",
    "construct_function_ins_and_outs",
    "explain_miss",
    "function",
    "function_dump",
    "get_default_mode",
    "get_mode",
    "insert_deepcopy",
    "register_mode",
    "shared",
]
__version__ = "0.1.0"

# loaded by the first use, since most programs need none of them
_LATER = {
    "ProfileStats": "occelo_compile.profiling",
    "Culprit": "occelo_compile.bisection",
    "bisect": "occelo_compile.bisection",
}

if TYPE_CHECKING:
    from occelo_compile.bisection import Culprit as Culprit
    from occelo_compile.bisection import bisect as bisect
    from occelo_compile.profiling import ProfileStats as ProfileStats


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(_LATER[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


register_internal(os.path.dirname(__file__))
config.check_sources()
