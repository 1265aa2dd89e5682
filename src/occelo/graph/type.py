"""Types of variables, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_graph import Type as Type
from occelo_graph.ir.types import GenericType as GenericType
from occelo_graph.ir.types import generic as generic

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
