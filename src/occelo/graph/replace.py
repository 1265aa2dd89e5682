"""Replacing variables in graphs, and batching graphs, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_graph import clone_replace as clone_replace
from occelo_graph import graph_replace as graph_replace
from occelo_graph import vectorize as vectorize
from occelo_graph import vectorize_graph as vectorize_graph

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
