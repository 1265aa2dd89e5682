"""Variables, nodes, ops and graphs, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.graph import basic as basic
from occelo.graph import destroyhandler as destroyhandler
from occelo.graph import features as features
from occelo.graph import fg as fg
from occelo.graph import null_type as null_type
from occelo.graph import op as op
from occelo.graph import replace as replace
from occelo.graph import rewriting as rewriting
from occelo.graph import traversal as traversal
from occelo.graph import type as type
from occelo.graph import utils as utils
from occelo.places import hints_about as _hints_about
from occelo_graph import Apply as Apply
from occelo_graph import Constant as Constant
from occelo_graph import FunctionGraph as FunctionGraph
from occelo_graph import Op as Op
from occelo_graph import SharedVariable as SharedVariable
from occelo_graph import Type as Type
from occelo_graph import Variable as Variable
from occelo_graph import ancestors as ancestors
from occelo_graph import clone_replace as clone_replace
from occelo_graph import graph_replace as graph_replace
from occelo_graph import vectorize_graph as vectorize_graph
from occelo_graph.ir.clone import clone as clone
from occelo_graph.ir.traversal import explicit_graph_inputs as explicit_graph_inputs
from occelo_graph.ir.traversal import graph_inputs as graph_inputs
from occelo_rewrite import RewriteDatabaseQuery as RewriteDatabaseQuery
from occelo_rewrite import graph_rewriter as graph_rewriter
from occelo_rewrite import node_rewriter as node_rewriter
from occelo_rewrite import rewrite_graph as rewrite_graph

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
