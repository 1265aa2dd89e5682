"""Graphs as text and pictures, and printing when a function runs, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_graph import debugprint as debugprint
from occelo_graph import dprint as dprint
from occelo_graph import pp as pp
from occelo_graph import pprint as pprint
from occelo_graph import pydotprint as pydotprint
from occelo_graph.ops.control.observing import Print as Print

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
