"""Occelo's graphs: types, variables, ops, gradients, vectorization, function graphs, the interpreter, trees of nodes, saving.

This is the lowest of Occelo's packages; the other ones import it. It exports the most used names of its modules.
`occelo_graph.tensor` has the functions of tensors. `occelo` exports most of these names to users.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

# first, so that few frames are active while NumPy is imported: with as many as the modules below have, calls of
# functions cross the end of a block of Python's stack, and each takes and returns memory (6 ms of 90)
import numpy as numpy

from occelo_graph import tensor
from occelo_graph.canonical.encoding import register_coder
from occelo_graph.canonical.names import register_loadable
from occelo_graph.config import config
from occelo_graph.errors import (
    DisconnectedInputError,
    GradientError,
    InconsistencyError,
    MethodNotDefined,
    MissingInputError,
    NullTypeGradError,
    OcceloError,
    ReplacementDidNotRemoveError,
    SavedGraphError,
    UnusedInputError,
    WrongResultError,
)
from occelo_graph.ir.clone import (
    clone,
    clone_get_equiv,
    clone_replace,
    equal_computations,
    graph_replace,
)
from occelo_graph.ir.container import Container
from occelo_graph.ir.nodes import Apply, AtomicVariable, Constant, NominalVariable, Variable
from occelo_graph.ir.op import ZERO, Cotangent, Op, op, set_default_converter
from occelo_graph.ir.shared import SharedVariable, collect_new_shareds, shared
from occelo_graph.ir.traits import EVERY, FIRST
from occelo_graph.ir.traversal import (
    ancestors,
    apply_ancestors,
    apply_depends_on,
    applys_between,
    explicit_graph_inputs,
    general_toposort,
    get_var_by_name,
    graph_inputs,
    io_toposort,
    orphans_between,
    toposort,
    toposort_with_orderings,
    truncated_graph_inputs,
    variable_depends_on,
    vars_between,
    walk,
)
from occelo_graph.ir.types import DisconnectedType, NullType, Type
from occelo_graph.lazy_names import deferred
from occelo_graph.ops.elemwise.op import elementwise
from occelo_graph.ops.elemwise.scalar import (
    boolean_of,
    first_dtype,
    float_like,
    inexact,
    promoted,
    special_float,
    ufunc_rule,
)
from occelo_graph.ops.reduction_table import register_reduction
from occelo_graph.tensors.nodes import TensorApply, computed_by, is_tensor
from occelo_graph.tensors.type import TensorType
from occelo_graph.tensors.variable import TensorConstant, TensorSharedVariable, TensorVariable
from occelo_graph.vectorize import vectorize, vectorize_graph, vmap

__all__ = [
    "EVERY", "FIRST", "ZERO", "AlreadyThere", "Apply", "AtomicVariable", "Blockwise", "Bookkeeper", "Constant", "Container",
    "Cotangent", "DisconnectedInputError", "DisconnectedType", "Feature", "FrozenFunctionGraph", "FunctionGraph",
    "GradientError", "History", "InconsistencyError", "Lop", "MethodNotDefined", "MissingInputError", "NominalVariable",
    "NullType", "NullTypeGradError", "OcceloError", "Op", "Output", "ReplaceValidate", "ReplacementDidNotRemoveError",
    "Rop", "SavedGraph", "SavedGraphError", "SharedVariable", "TensorApply", "TensorConstant", "TensorSharedVariable",
    "TensorType", "TensorVariable", "Type", "UnusedInputError", "Validator", "Variable", "WrongResultError", "ancestors",
    "apply_ancestors", "apply_depends_on", "applys_between", "boolean_of", "clone", "clone_get_equiv", "clone_replace",
    "collect_new_shareds", "computed_by", "config", "debugprint", "digest", "disconnected_grad", "disconnected_type",
    "dprint", "elementwise", "equal_computations", "evaluate", "explicit_graph_inputs", "first_dtype", "float_like",
    "freeze", "general_toposort", "get_var_by_name", "grad", "grad_clip", "grad_not_implemented", "grad_scale",
    "grad_undefined", "graph_inputs", "graph_replace", "hessian", "hessian_vector_product", "inexact", "io_toposort",
    "is_tensor", "jacobian", "load", "numeric_grad", "op", "orphans_between", "promoted", "pullback", "pushforward",
    "pushforward_through_pullback", "register_coder", "register_loadable", "register_reduction", "save",
    "set_default_converter", "shared", "special_float", "subgraph_grad", "tensor", "toposort", "toposort_with_orderings",
    "truncated_graph_inputs", "ufunc_rule", "undefined_grad", "variable_depends_on", "vars_between", "vectorize",
    "vectorize_graph", "verify_grad", "vmap", "walk", "zero_grad",
]  # fmt: skip
__version__ = "0.1.0"

# imported at their first use, since building a graph needs none of them
_LATER = {
    "Blockwise": "occelo_graph.blockwise",
    "digest": "occelo_graph.canonical.document",
    "SavedGraph": "occelo_graph.canonical.saving",
    "load": "occelo_graph.canonical.saving",
    "save": "occelo_graph.canonical.saving",
    "AlreadyThere": "occelo_graph.fgraph.features",
    "Bookkeeper": "occelo_graph.fgraph.features",
    "Feature": "occelo_graph.fgraph.features",
    "History": "occelo_graph.fgraph.features",
    "ReplaceValidate": "occelo_graph.fgraph.features",
    "Validator": "occelo_graph.fgraph.features",
    "FrozenFunctionGraph": "occelo_graph.fgraph.frozen",
    "freeze": "occelo_graph.fgraph.frozen",
    "FunctionGraph": "occelo_graph.fgraph.graph",
    "Output": "occelo_graph.fgraph.graph",
    "disconnected_grad": "occelo_graph.gradient.barriers",
    "disconnected_type": "occelo_graph.gradient.barriers",
    "grad_clip": "occelo_graph.gradient.barriers",
    "grad_not_implemented": "occelo_graph.gradient.barriers",
    "grad_scale": "occelo_graph.gradient.barriers",
    "grad_undefined": "occelo_graph.gradient.barriers",
    "undefined_grad": "occelo_graph.gradient.barriers",
    "zero_grad": "occelo_graph.gradient.barriers",
    "Rop": "occelo_graph.gradient.forward",
    "pushforward": "occelo_graph.gradient.forward",
    "pushforward_through_pullback": "occelo_graph.gradient.forward",
    "hessian": "occelo_graph.gradient.jacobians",
    "hessian_vector_product": "occelo_graph.gradient.jacobians",
    "jacobian": "occelo_graph.gradient.jacobians",
    "numeric_grad": "occelo_graph.gradient.numeric",
    "verify_grad": "occelo_graph.gradient.numeric",
    "Lop": "occelo_graph.gradient.reverse",
    "grad": "occelo_graph.gradient.reverse",
    "pullback": "occelo_graph.gradient.reverse",
    "subgraph_grad": "occelo_graph.gradient.reverse",
    "evaluate": "occelo_graph.interpret",
    "debugprint": "occelo_graph.node_trees",
    "dprint": "occelo_graph.node_trees",
}

if TYPE_CHECKING:
    from occelo_graph.blockwise import Blockwise
    from occelo_graph.canonical.document import digest
    from occelo_graph.canonical.saving import SavedGraph, load, save
    from occelo_graph.fgraph.features import (
        AlreadyThere,
        Bookkeeper,
        Feature,
        History,
        ReplaceValidate,
        Validator,
    )
    from occelo_graph.fgraph.frozen import FrozenFunctionGraph, freeze
    from occelo_graph.fgraph.graph import FunctionGraph, Output
    from occelo_graph.gradient.barriers import (
        disconnected_grad,
        disconnected_type,
        grad_clip,
        grad_not_implemented,
        grad_scale,
        grad_undefined,
        undefined_grad,
        zero_grad,
    )
    from occelo_graph.gradient.forward import Rop, pushforward, pushforward_through_pullback
    from occelo_graph.gradient.jacobians import hessian, hessian_vector_product, jacobian
    from occelo_graph.gradient.numeric import numeric_grad, verify_grad
    from occelo_graph.gradient.reverse import Lop, grad, pullback, subgraph_grad
    from occelo_graph.interpret import evaluate
    from occelo_graph.node_trees import debugprint, dprint
else:  # so that type checkers report unknown names
    __getattr__, __dir__ = deferred(__name__, _LATER)
