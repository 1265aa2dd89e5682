"""Graphs as text and pictures, and printing when a function runs, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_graph import debugprint as debugprint
from occelo_graph import dprint as dprint
from occelo_graph.ops.control.observing import Print as Print
from occelo_printing import pp as pp
from occelo_printing import pprint as pprint
from occelo_printing import pydotprint as pydotprint

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
