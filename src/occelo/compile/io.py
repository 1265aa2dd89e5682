"""Inputs and outputs of functions, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_compile import In as In
from occelo_compile import Out as Out
from occelo_compile import SymbolicInput as SymbolicInput
from occelo_compile import SymbolicOutput as SymbolicOutput

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
