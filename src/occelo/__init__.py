"""Occelo: a compiler for symbolic tensor expressions.

>>> import occelo as oc
>>> import occelo.tensor as ot
>>> x = ot.dvector("x")
>>> f = oc.function([x], oc.grad((x**2).sum(), x))
>>> f([1, 2, 3])
array([2., 4., 6.])
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from occelo import tensor
from occelo_compile import (
    Function,
    FunctionMaker,
    In,
    Mode,
    Out,
    available_modes,
    function,
    function_dump,
    get_default_mode,
    get_mode,
    register_mode,
)
from occelo_graph import (
    Apply,
    Constant,
    Container,
    DisconnectedInputError,
    FunctionGraph,
    GradientError,
    Lop,
    MissingInputError,
    NullTypeGradError,
    OcceloError,
    Op,
    Rop,
    SharedVariable,
    Type,
    UnusedInputError,
    Variable,
    clone_replace,
    config,
    debugprint,
    digest,
    disconnected_grad,
    dprint,
    evaluate,
    grad,
    grad_clip,
    grad_scale,
    graph_replace,
    hessian,
    hessian_vector_product,
    jacobian,
    load,
    numeric_grad,
    op,
    pp,
    pprint,
    pullback,
    pushforward,
    pydotprint,
    save,
    shared,
    subgraph_grad,
    to_dot,
    to_python,
    undefined_grad,
    vectorize,
    vectorize_graph,
    verify_grad,
    zero_grad,
)
from occelo_graph.ops.control import ifelse
from occelo_graph.provenance import register_internal
from occelo_link import Linker, WrapLinker, available_linkers, register_linker
from occelo_rewrite import node_rewriter, optdb, rewrite_graph

__all__ = [
    "Apply",
    "Constant",
    "Container",
    "DisconnectedInputError",
    "Function",
    "FunctionGraph",
    "FunctionMaker",
    "GradientError",
    "In",
    "Linker",
    "Lop",
    "MissingInputError",
    "Mode",
    "NullTypeGradError",
    "OcceloError",
    "Op",
    "Out",
    "Rop",
    "SharedVariable",
    "Type",
    "UnusedInputError",
    "Variable",
    "WrapLinker",
    "available_linkers",
    "available_modes",
    "bisect",
    "clone_replace",
    "config",
    "debugprint",
    "digest",
    "disconnected_grad",
    "dprint",
    "evaluate",
    "explain",
    "function",
    "function_dump",
    "get_default_mode",
    "get_mode",
    "grad",
    "grad_clip",
    "grad_scale",
    "graph_replace",
    "hessian",
    "hessian_vector_product",
    "ifelse",
    "jacobian",
    "load",
    "node_rewriter",
    "numeric_grad",
    "op",
    "optdb",
    "pp",
    "pprint",
    "pullback",
    "pushforward",
    "pydotprint",
    "register_linker",
    "register_mode",
    "rewrite_graph",
    "rewrite_profile",
    "save",
    "shared",
    "subgraph_grad",
    "tensor",
    "to_dot",
    "to_python",
    "undefined_grad",
    "vectorize",
    "vectorize_graph",
    "verify_grad",
    "view_rewriting",
    "zero_grad",
]
__version__ = "0.1.0"

# loaded by the first use, since most programs need none of them
_LATER = {
    "bisect": "occelo_compile.bisection",
    "explain": "occelo_rewrite.explaining",
    "rewrite_profile": "occelo_rewrite.explaining",
    "view_rewriting": "occelo_rewrite.viewer",
}

if TYPE_CHECKING:
    from occelo_compile.bisection import bisect as bisect
    from occelo_rewrite.explaining import explain as explain
    from occelo_rewrite.explaining import rewrite_profile as rewrite_profile
    from occelo_rewrite.viewer import view_rewriting as view_rewriting


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(_LATER[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


register_internal(os.path.dirname(__file__))
