"""Errors about tensors, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_graph.tensors.constant_values import NotScalarConstantError as NotScalarConstantError

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
