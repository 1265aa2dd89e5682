"""The mode that calls functions before and after each node, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_compile import MonitorMode as MonitorMode
from occelo_compile import detect_nan as detect_nan

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
