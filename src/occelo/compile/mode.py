"""Modes, at PyTensor's place. Those with a name, such as ``JAX``, are made when they are asked for."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo.places import made_modes as _made_modes
from occelo_compile import Mode as Mode
from occelo_compile import get_default_mode as get_default_mode
from occelo_compile import get_mode as get_mode
from occelo_compile import register_mode as register_mode
from occelo_link import register_linker as register_linker
from occelo_rewrite import RewriteDatabaseQuery as _Query
from occelo_rewrite import optdb as optdb
from occelo_rewrite import register_optimizer as register_optimizer

if TYPE_CHECKING:
    C: Mode
    CVM: Mode
    FAST_COMPILE: Mode
    FAST_RUN: Mode
    JAX: Mode
    NUMBA: Mode
    PYTORCH: Mode
    VM: Mode
    OPT_FAST_COMPILE: _Query
    OPT_FAST_RUN: _Query
    OPT_FAST_RUN_STABLE: _Query
    OPT_MERGE: _Query
    OPT_MINIMUM: _Query
    OPT_NONE: _Query
    OPT_O2: _Query
    OPT_O3: _Query
    OPT_STABILIZE: _Query
    OPT_UNSAFE: _Query
    predefined_modes: dict[str, Mode]
    predefined_optimizers: dict[str | None, _Query]
else:
    __getattr__ = _hints_about(__name__, _made_modes)
