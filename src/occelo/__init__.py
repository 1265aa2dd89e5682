"""Occelo: a compiler for symbolic tensor expressions.

>>> import occelo as oc
>>> import occelo.tensor as ot
>>> x = ot.dvector("x")
>>> f = oc.function([x], oc.grad((x**2).sum(), x))
>>> f([1, 2, 3])
array([2., 4., 6.])

Users import this package. It only collects names from the packages `occelo_graph`, `occelo_rewrite`, `occelo_link` and
`occelo_compile`, and from the families `occelo_arrays`, `occelo_linalg`, `occelo_loops`, `occelo_random`, `occelo_signal`,
`occelo_sorting`, `occelo_sparse`, `occelo_special`, `occelo_stats`, `occelo_dims`, `occelo_networks` and `occelo_optimize`; many of them are imported at their first use.
"""

from __future__ import annotations

import gc as _gc
import sys
from typing import TYPE_CHECKING, Any

# Modules make no garbage. To look for it would take a tenth of the time of this import. So nothing is collected meanwhile, and
# then all objects are old: the next collections need not look at them.
_collects = _gc.isenabled()
_gc.disable()
try:
    import occelo_printing as occelo_printing
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
        GradientError,
        MissingInputError,
        NullTypeGradError,
        OcceloError,
        Op,
        SharedVariable,
        Type,
        UnusedInputError,
        Variable,
        clone_replace,
        collect_new_shareds,
        config,
        graph_replace,
        op,
        shared,
        vectorize,
        vectorize_graph,
        vmap,
    )
    from occelo_graph.errors import set_hints as _set_hints
    from occelo_graph.families import announce as _announce
    from occelo_graph.lazy_names import at_first_call as _at_first_call
    from occelo_graph.lazy_names import deferred
    from occelo_graph.ops.control import Assert, CheckAndRaise
    from occelo_link import Linker, WrapLinker, available_linkers, register_linker
finally:
    if _collects:
        _gc.enable()
if not _gc.get_freeze_count():
    _gc.freeze()
    _gc.unfreeze()

__all__ = [
    "AliasedMemoryError",
    "Apply",
    "Assert",
    "CheckAndRaise",
    "Constant",
    "Container",
    "DebugMode",
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
    "MonitorMode",
    "NanGuardMode",
    "NullTypeGradError",
    "OcceloError",
    "Op",
    "OpFromGraph",
    "Out",
    "PdbBreakpoint",
    "Print",
    "ProfileStats",
    "Rop",
    "SharedVariable",
    "Type",
    "UnusedInputError",
    "Variable",
    "WrapLinker",
    "as_jax",
    "as_numba",
    "as_op",
    "as_symbolic",
    "as_torch",
    "associative_scan",
    "available_linkers",
    "available_modes",
    "bisect",
    "checkpoint",
    "clone_replace",
    "collect_new_shareds",
    "config",
    "debugprint",
    "digest",
    "dims",
    "disconnected_grad",
    "dprint",
    "draw",
    "evaluate",
    "explain",
    "export",
    "foldl",
    "foldr",
    "fori_loop",
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
    "jvp",
    "load",
    "load_dump",
    "loop",
    "minimize",
    "nn",
    "node_rewriter",
    "numeric_grad",
    "op",
    "optdb",
    "optimize",
    "pp",
    "pprint",
    "pullback",
    "pushforward",
    "pydotprint",
    "register_linker",
    "register_mode",
    "register_optimizer",
    "rewrite_graph",
    "rewrite_profile",
    "save",
    "scan",
    "scan_checkpoints",
    "shared",
    "stop_gradient",
    "subgraph_grad",
    "supports",
    "switch_case",
    "tensor",
    "to_dot",
    "to_latex",
    "to_python",
    "trees",
    "undefined_grad",
    "until",
    "updates",
    "value_and_grad",
    "vectorize",
    "vectorize_graph",
    "verify_grad",
    "view_rewriting",
    "vjp",
    "vmap",
    "while_loop",
    "wrap_jax",
    "wrap_py",
    "xtensor",
    "zero_grad",
]
__version__ = "0.1.0"

_FAMILIES = (
    "occelo_arrays",
    "occelo_linalg",
    "occelo_loops",
    "occelo_optimize",
    "occelo_random",
    "occelo_signal",
    "occelo_sorting",
    "occelo_sparse",
    "occelo_special",
    "occelo_stats",
)
_announce(*_FAMILIES)

# imported at their first use, since most programs need none of them
_LATER = {
    **dict(zip(_FAMILIES, _FAMILIES, strict=True)),
    **dict.fromkeys(
        (
            "FunctionGraph",
            "Lop",
            "Rop",
            "debugprint",
            "digest",
            "disconnected_grad",
            "dprint",
            "evaluate",
            "grad",
            "grad_clip",
            "grad_scale",
            "hessian",
            "hessian_vector_product",
            "jacobian",
            "load",
            "numeric_grad",
            "pullback",
            "pushforward",
            "save",
            "subgraph_grad",
            "undefined_grad",
            "verify_grad",
            "zero_grad",
        ),
        "occelo_graph",
    ),
    **dict.fromkeys(
        ("draw", "pp", "pprint", "pydotprint", "to_dot", "to_latex", "to_python"), "occelo_printing"
    ),
    **dict.fromkeys(
        ("jvp", "stop_gradient", "value_and_grad", "vjp"), f"{__name__}.transformations"
    ),
    "as_jax": "occelo_link.jax.calling",
    "wrap_jax": "occelo_link.jax.wrapping",
    "as_numba": "occelo_link.numba.calling",
    "as_torch": "occelo_link.torch.calling",
    "supports": "occelo_link.capabilities",
    **dict.fromkeys(
        ("node_rewriter", "optdb", "register_optimizer", "rewrite_graph"), "occelo_rewrite"
    ),
    "AliasedMemoryError": "occelo_compile",
    "load_dump": "occelo_compile.debugging.dumping",
    "DebugMode": "occelo_compile.debugging.debug_mode",
    "MonitorMode": "occelo_compile.debugging.monitor",
    "NanGuardMode": "occelo_compile.debugging.nan_guard",
    "OpFromGraph": "occelo_graph.inner_graph",
    "PdbBreakpoint": "occelo_graph.ops.control.observing",
    "Print": "occelo_graph.ops.control.observing",
    "ProfileStats": "occelo_compile.profiling",
    "as_symbolic": "occelo_arrays.ops.parts.slice_values",
    "as_op": "occelo_graph.ops.control.python_function",
    "wrap_py": "occelo_graph.ops.control.python_function",
    "bisect": "occelo_compile.debugging.bisection",
    # modules, and functions that have the names of modules
    **{
        name: f"{__name__}.{name}"
        for name in (
            "breakpoint",
            "compile",
            "configdefaults",
            "dims",
            "export",
            "gradient",
            "graph",
            "ifelse",
            "link",
            "nn",
            "optimize",
            "places",
            "printing",
            "raise_op",
            "scan",
            "sparse",
            "trees",
            "typed_list",
            "updates",
            "xtensor",
        )
    },
    "scan_checkpoints": "occelo_loops.ops.building.classic",
    "until": "occelo_loops.ops.building.classic",
    "map": "occelo_loops.ops.building.classic",
    "reduce": "occelo_loops.ops.building.classic",
    "foldl": "occelo_loops.ops.building.classic",
    "foldr": "occelo_loops.ops.building.classic",
    "filter": "occelo_loops.ops.building.classic",
    "loop": "occelo_loops.ops.building.loops",
    "fori_loop": "occelo_loops.ops.building.loops",
    "while_loop": "occelo_loops.ops.building.loops",
    "associative_scan": "occelo_loops.ops.building.associative",
    "checkpoint": "occelo_loops.ops.building.recomputing",
    "switch_case": "occelo_loops.ops.building.switching",
    "minimize": "occelo_networks.minimizing",
    "explain": "occelo_rewrite.records.explaining",
    "rewrite_profile": "occelo_rewrite.records.explaining",
    "view_rewriting": "occelo_rewrite.records.viewer",
}


class _LatePlaces:
    """A finder of modules, for names for which no file is there: the first one imports `occelo.places`, which knows more."""

    @staticmethod
    def find_spec(fullname: str, path: Any, target: Any = None) -> Any:
        if not fullname.startswith("occelo."):
            return None
        from occelo.places import FINDER  # slow to import, and most programs need none of its names

        return FINDER.find_spec(fullname, path, target)


_finder: Any = _LatePlaces
sys.meta_path.append(_finder)

if TYPE_CHECKING:
    import occelo_arrays as occelo_arrays
    import occelo_dims as dims
    import occelo_linalg as occelo_linalg
    import occelo_loops as occelo_loops
    import occelo_optimize as occelo_optimize
    import occelo_random as occelo_random
    import occelo_signal as occelo_signal
    import occelo_sorting as occelo_sorting
    import occelo_sparse as occelo_sparse
    import occelo_special as occelo_special
    import occelo_stats as occelo_stats
    from occelo import breakpoint as breakpoint
    from occelo import compile as compile
    from occelo import configdefaults as configdefaults
    from occelo import export as export
    from occelo import gradient as gradient
    from occelo import graph as graph
    from occelo import link as link
    from occelo import nn as nn
    from occelo import optimize as optimize
    from occelo import places as places
    from occelo import printing as printing
    from occelo import raise_op as raise_op
    from occelo import sparse as sparse
    from occelo import trees as trees
    from occelo import typed_list as typed_list
    from occelo import updates as updates
    from occelo import xtensor as xtensor
    from occelo.ifelse import IfElseFunction as _IfElse
    from occelo.scan import ScanFunction as _Scan
    from occelo.transformations import jvp as jvp
    from occelo.transformations import stop_gradient as stop_gradient
    from occelo.transformations import value_and_grad as value_and_grad
    from occelo.transformations import vjp as vjp
    from occelo_arrays.ops.parts.slice_values import as_symbolic as as_symbolic
    from occelo_compile import AliasedMemoryError as AliasedMemoryError
    from occelo_compile.debugging.bisection import bisect as bisect
    from occelo_compile.debugging.debug_mode import DebugMode as DebugMode
    from occelo_compile.debugging.dumping import load_dump as load_dump
    from occelo_compile.debugging.monitor import MonitorMode as MonitorMode
    from occelo_compile.debugging.nan_guard import NanGuardMode as NanGuardMode
    from occelo_compile.profiling import ProfileStats as ProfileStats
    from occelo_graph import (
        FunctionGraph,
        Lop,
        Rop,
        debugprint,
        digest,
        disconnected_grad,
        dprint,
        evaluate,
        grad,
        grad_clip,
        grad_scale,
        hessian,
        hessian_vector_product,
        jacobian,
        load,
        numeric_grad,
        pullback,
        pushforward,
        save,
        subgraph_grad,
        undefined_grad,
        verify_grad,
        zero_grad,
    )
    from occelo_graph.inner_graph import OpFromGraph as OpFromGraph
    from occelo_graph.ops.control.observing import PdbBreakpoint as PdbBreakpoint
    from occelo_graph.ops.control.observing import Print as Print
    from occelo_graph.ops.control.python_function import as_op as as_op
    from occelo_graph.ops.control.python_function import wrap_py as wrap_py
    from occelo_link.capabilities import supports as supports
    from occelo_link.jax.calling import as_jax as as_jax
    from occelo_link.jax.wrapping import wrap_jax as wrap_jax
    from occelo_link.numba.calling import as_numba as as_numba
    from occelo_link.torch.calling import as_torch as as_torch
    from occelo_loops.ops.building.associative import associative_scan as associative_scan
    from occelo_loops.ops.building.classic import filter as filter
    from occelo_loops.ops.building.classic import foldl as foldl
    from occelo_loops.ops.building.classic import foldr as foldr
    from occelo_loops.ops.building.classic import map as map
    from occelo_loops.ops.building.classic import reduce as reduce
    from occelo_loops.ops.building.classic import scan_checkpoints as scan_checkpoints
    from occelo_loops.ops.building.classic import until as until
    from occelo_loops.ops.building.loops import fori_loop as fori_loop
    from occelo_loops.ops.building.loops import loop as loop
    from occelo_loops.ops.building.loops import while_loop as while_loop
    from occelo_loops.ops.building.recomputing import checkpoint as checkpoint
    from occelo_loops.ops.building.switching import switch_case as switch_case
    from occelo_networks.minimizing import minimize as minimize
    from occelo_printing import draw, pp, pprint, pydotprint, to_dot, to_latex, to_python
    from occelo_rewrite import node_rewriter, optdb, register_optimizer, rewrite_graph
    from occelo_rewrite.records.explaining import explain as explain
    from occelo_rewrite.records.explaining import rewrite_profile as rewrite_profile
    from occelo_rewrite.records.viewer import view_rewriting as view_rewriting

    # each declared and set: of a name with one declaration, pyright takes the module of this name in files that import it
    ifelse: _IfElse
    ifelse = _IfElse()
    scan: _Scan
    scan = _Scan()
else:  # so that type checkers report unknown names
    __getattr__, __dir__ = deferred(__name__, _LATER)

_set_hints(
    entries=_at_first_call("occelo.hints.explanations", "entry_of"),
    names=_at_first_call("occelo.hints.words", "hint"),
    parameters=_at_first_call("occelo.hints.parameters", "hint"),
)
