"""Function graphs, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_graph import FrozenFunctionGraph as FrozenFunctionGraph
from occelo_graph import FunctionGraph as FunctionGraph
from occelo_graph import MissingInputError as MissingInputError
from occelo_graph.fgraph.graph import Output as Output

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
