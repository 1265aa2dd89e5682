"""Functions, modes and shared variables, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.compile import builders as builders
from occelo.compile import debug as debug
from occelo.compile import executor as executor
from occelo.compile import io as io
from occelo.compile import maker as maker
from occelo.compile import mode as mode
from occelo.compile import ops as ops
from occelo.compile import sharedvalue as sharedvalue
from occelo.compile.ops import deep_copy_op as deep_copy_op
from occelo.compile.ops import view_op as view_op
from occelo.places import hints_about as _hints_about
from occelo.places import made_modes as _made_modes
from occelo_compile import AliasedMemoryError as AliasedMemoryError
from occelo_compile import DebugMode as DebugMode
from occelo_compile import Function as Function
from occelo_compile import FunctionMaker as FunctionMaker
from occelo_compile import In as In
from occelo_compile import Mode as Mode
from occelo_compile import MonitorMode as MonitorMode
from occelo_compile import NanGuardMode as NanGuardMode
from occelo_compile import Out as Out
from occelo_compile import ProfileStats as ProfileStats
from occelo_compile import SymbolicInput as SymbolicInput
from occelo_compile import SymbolicOutput as SymbolicOutput
from occelo_compile import function as function
from occelo_compile import function_dump as function_dump
from occelo_compile import get_default_mode as get_default_mode
from occelo_compile import get_mode as get_mode
from occelo_compile import insert_deepcopy as insert_deepcopy
from occelo_compile import register_mode as register_mode
from occelo_graph import SharedVariable as SharedVariable
from occelo_graph import UnusedInputError as UnusedInputError
from occelo_graph import collect_new_shareds as collect_new_shareds
from occelo_graph import shared as shared
from occelo_graph.inner_graph import OpFromGraph as OpFromGraph
from occelo_graph.ir.shared import shared_constructor as shared_constructor
from occelo_graph.ops.control import DeepCopyOp as DeepCopyOp
from occelo_graph.ops.control import ViewOp as ViewOp
from occelo_graph.ops.control.python_function import FromFunctionOp as FromFunctionOp
from occelo_graph.ops.control.python_function import as_op as as_op
from occelo_graph.ops.control.python_function import wrap_py as wrap_py
from occelo_link import register_linker as register_linker
from occelo_rewrite import optdb as optdb
from occelo_rewrite import register_optimizer as register_optimizer
from occelo_rewrite.features.protection import Supervisor as Supervisor

if TYPE_CHECKING:
    from occelo.compile.mode import CVM as CVM
    from occelo.compile.mode import FAST_COMPILE as FAST_COMPILE
    from occelo.compile.mode import FAST_RUN as FAST_RUN
    from occelo.compile.mode import JAX as JAX
    from occelo.compile.mode import NUMBA as NUMBA
    from occelo.compile.mode import PYTORCH as PYTORCH
    from occelo.compile.mode import C as C
else:
    from occelo.function_with_names import with_names as _with_names

    function = _with_names(function, f"{__name__}.function")
    __getattr__ = _hints_about(__name__, _made_modes)
