"""Compiled functions, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_compile import DUPLICATE as DUPLICATE
from occelo_compile import AliasedMemoryError as AliasedMemoryError
from occelo_compile import Function as Function

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
