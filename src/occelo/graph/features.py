"""Features of function graphs, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_compile import BadOptimization as BadOptimization
from occelo_graph.errors import ReplacementDidNotRemoveError as ReplacementDidNotRemoveError
from occelo_graph.fgraph.features import AlreadyThere as AlreadyThere
from occelo_graph.fgraph.features import Bookkeeper as Bookkeeper
from occelo_graph.fgraph.features import Feature as Feature
from occelo_graph.fgraph.features import History as History
from occelo_graph.fgraph.features import ReplaceValidate as ReplaceValidate
from occelo_graph.fgraph.features import Validator as Validator
from occelo_rewrite.features.observers import FullHistory as FullHistory
from occelo_rewrite.features.observers import NodeFinder as NodeFinder
from occelo_rewrite.features.observers import (
    PreserveVariableAttributes as PreserveVariableAttributes,
)
from occelo_rewrite.features.observers import PrintListener as PrintListener
from occelo_rewrite.features.protection import NoOutputFromInplace as NoOutputFromInplace
from occelo_rewrite.features.protection import NoOutputInplaceOnInput as NoOutputInplaceOnInput

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
