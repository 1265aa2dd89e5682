"""Shared variables, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_graph import SharedVariable as SharedVariable
from occelo_graph import collect_new_shareds as collect_new_shareds
from occelo_graph import shared as shared
from occelo_graph.ir.shared import shared_constructor as shared_constructor

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
