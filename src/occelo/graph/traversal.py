"""Walks over graphs and orders of nodes, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_graph.ir.traversal import ancestors as ancestors
from occelo_graph.ir.traversal import apply_ancestors as apply_ancestors
from occelo_graph.ir.traversal import apply_depends_on as apply_depends_on
from occelo_graph.ir.traversal import applys_between as applys_between
from occelo_graph.ir.traversal import explicit_graph_inputs as explicit_graph_inputs
from occelo_graph.ir.traversal import general_toposort as general_toposort
from occelo_graph.ir.traversal import get_var_by_name as get_var_by_name
from occelo_graph.ir.traversal import graph_inputs as graph_inputs
from occelo_graph.ir.traversal import io_toposort as io_toposort
from occelo_graph.ir.traversal import orphans_between as orphans_between
from occelo_graph.ir.traversal import toposort as toposort
from occelo_graph.ir.traversal import toposort_with_orderings as toposort_with_orderings
from occelo_graph.ir.traversal import truncated_graph_inputs as truncated_graph_inputs
from occelo_graph.ir.traversal import variable_depends_on as variable_depends_on
from occelo_graph.ir.traversal import vars_between as vars_between
from occelo_graph.ir.traversal import walk as walk

variable_ancestors = ancestors
walk_toposort = general_toposort

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
