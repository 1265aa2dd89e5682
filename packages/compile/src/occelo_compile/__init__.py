"""Occelo's compiler: `function` compiles a graph into a callable, in a mode that says how.

`occelo` exports the names of this package to users. Names that few programs need are imported at their first use: the
modes for debugging and their errors, `detect_nan`, `ProfileStats`, `bisect`, `Culprit` and `load_dump`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import occelo_printing as occelo_printing  # error messages show formulas from now on
from occelo_compile.calling import DUPLICATE, Function
from occelo_compile.collect import Collected, collect, construct_function_ins_and_outs
from occelo_compile.function import function, function_dump
from occelo_compile.maker import FunctionMaker, Linked, Rewritten
from occelo_compile.memory import DeepCopyOp, ViewOp, insert_deepcopy
from occelo_compile.mode import Mode, available_modes, get_default_mode, get_mode, register_mode
from occelo_compile.symbolic_io import In, Out, SymbolicInput, SymbolicOutput
from occelo_graph import shared
from occelo_graph.config import config
from occelo_graph.lazy_names import deferred

__all__ = [
    "DUPLICATE",
    "AliasedMemoryError",
    "BadDestroyMap",
    "BadOptimization",
    "BadThunkOutput",
    "BadTrait",
    "BadViewMap",
    "Collected",
    "Culprit",
    "DebugMode",
    "DebugModeError",
    "DeepCopyOp",
    "Function",
    "FunctionMaker",
    "In",
    "InvalidValueError",
    "Linked",
    "Mode",
    "MonitorMode",
    "NanGuardMode",
    "Out",
    "OutputGuardError",
    "ProfileStats",
    "Rewritten",
    "StochasticOrder",
    "SymbolicInput",
    "SymbolicOutput",
    "ViewOp",
    "available_modes",
    "bisect",
    "collect",
    "config",
    "construct_function_ins_and_outs",
    "detect_nan",
    "explain_miss",
    "function",
    "function_dump",
    "get_default_mode",
    "get_mode",
    "insert_deepcopy",
    "load_dump",
    "register_mode",
    "shared",
]
__version__ = "0.1.0"

# imported at first use, since most programs need none of them
_LATER = {
    "explain_miss": "occelo_compile.function_cache",
    "AliasedMemoryError": "occelo_compile.errors",
    "load_dump": "occelo_compile.debugging.dumping",
    "BadDestroyMap": "occelo_compile.debugging.errors",
    "BadOptimization": "occelo_compile.debugging.errors",
    "BadThunkOutput": "occelo_compile.debugging.errors",
    "BadTrait": "occelo_compile.debugging.errors",
    "BadViewMap": "occelo_compile.debugging.errors",
    "DebugMode": "occelo_compile.debugging.debug_mode",
    "DebugModeError": "occelo_compile.debugging.errors",
    "InvalidValueError": "occelo_compile.debugging.errors",
    "MonitorMode": "occelo_compile.debugging.monitor",
    "NanGuardMode": "occelo_compile.debugging.nan_guard",
    "OutputGuardError": "occelo_compile.debugging.errors",
    "StochasticOrder": "occelo_compile.debugging.errors",
    "detect_nan": "occelo_compile.debugging.monitor",
    "ProfileStats": "occelo_compile.profiling",
    "Culprit": "occelo_compile.debugging.bisection",
    "bisect": "occelo_compile.debugging.bisection",
}

if TYPE_CHECKING:
    from occelo_compile.debugging.bisection import Culprit as Culprit
    from occelo_compile.debugging.bisection import bisect as bisect
    from occelo_compile.debugging.debug_mode import DebugMode as DebugMode
    from occelo_compile.debugging.dumping import load_dump as load_dump
    from occelo_compile.debugging.errors import BadDestroyMap as BadDestroyMap
    from occelo_compile.debugging.errors import BadOptimization as BadOptimization
    from occelo_compile.debugging.errors import BadThunkOutput as BadThunkOutput
    from occelo_compile.debugging.errors import BadTrait as BadTrait
    from occelo_compile.debugging.errors import BadViewMap as BadViewMap
    from occelo_compile.debugging.errors import DebugModeError as DebugModeError
    from occelo_compile.debugging.errors import InvalidValueError as InvalidValueError
    from occelo_compile.debugging.errors import OutputGuardError as OutputGuardError
    from occelo_compile.debugging.errors import StochasticOrder as StochasticOrder
    from occelo_compile.debugging.monitor import MonitorMode as MonitorMode
    from occelo_compile.debugging.monitor import detect_nan as detect_nan
    from occelo_compile.debugging.nan_guard import NanGuardMode as NanGuardMode
    from occelo_compile.errors import AliasedMemoryError as AliasedMemoryError
    from occelo_compile.function_cache import explain_miss as explain_miss
    from occelo_compile.profiling import ProfileStats as ProfileStats
else:  # so that type checkers report unknown names
    __getattr__, __dir__ = deferred(__name__, _LATER)

config.check_sources()
