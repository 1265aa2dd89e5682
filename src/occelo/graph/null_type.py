"""The type of gradients that do not exist, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_graph.ir.types import NullType as NullType

null_type = NullType()

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
