"""Trees: nested dicts, lists, tuples, named tuples and dataclasses of variables or values.

`occelo.function`, `occelo.grad` and others take trees and give trees.
"""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_arrays.ops.raveling import ravel as ravel
from occelo_graph.ir.trees import Structure as Structure
from occelo_graph.ir.trees import flatten as flatten
from occelo_graph.ir.trees import is_tree as is_tree
from occelo_graph.ir.trees import leaves as leaves
from occelo_graph.ir.trees import map as map
from occelo_graph.ir.trees import register as register

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
