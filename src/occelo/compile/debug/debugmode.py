"""The mode that compares backends and checks ops, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_compile import BadDestroyMap as BadDestroyMap
from occelo_compile import BadOptimization as BadOptimization
from occelo_compile import BadThunkOutput as BadThunkOutput
from occelo_compile import BadViewMap as BadViewMap
from occelo_compile import DebugMode as DebugMode
from occelo_compile import DebugModeError as DebugModeError
from occelo_compile import InvalidValueError as InvalidValueError
from occelo_compile import StochasticOrder as StochasticOrder

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
