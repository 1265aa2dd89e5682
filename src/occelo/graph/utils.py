"""Errors of graphs, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_graph import MissingInputError as MissingInputError
from occelo_graph.errors import InconsistencyError as InconsistencyError
from occelo_graph.errors import MethodNotDefined as MethodNotDefined

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
