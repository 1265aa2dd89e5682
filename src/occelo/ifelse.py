"""Conditions, at PyTensor's place. In every order of imports `occelo.ifelse` is the function."""

from occelo.places import stands_at as _stands_at
from occelo_graph.ops.control import IfElse as IfElse
from occelo_graph.ops.control import ifelse as ifelse

_stands_at(__name__, ifelse)
