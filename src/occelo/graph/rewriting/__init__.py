"""Rewriting graphs, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.graph.rewriting import basic as basic
from occelo.graph.rewriting import db as db
from occelo.graph.rewriting import unify as unify
from occelo.graph.rewriting import utils as utils
from occelo.places import hints_about as _hints_about
from occelo_rewrite import graph_rewriter as graph_rewriter
from occelo_rewrite import node_rewriter as node_rewriter
from occelo_rewrite import rewrite_graph as rewrite_graph

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
