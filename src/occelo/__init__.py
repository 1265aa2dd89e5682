"""Occelo: a compiler for symbolic tensor expressions.

>>> import occelo as oc
>>> import occelo.tensor as ot
>>> x = ot.dvector("x")
>>> f = oc.function([x], oc.grad((x**2).sum(), x))
>>> f([1, 2, 3])
array([2., 4., 6.])
"""

from __future__ import annotations

import os

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

__version__ = "0.1.0"

register_internal(os.path.dirname(__file__))
