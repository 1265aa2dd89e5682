"""The mode "OCCELO" of PyTensor: `OcceloLinker` and as little rewriting as PyTensor's functions need.

PyTensor's clients choose rewrites by tags. Those that change what a graph computes are kept: the two by which PyMC
says what a failed check of parameters gives. They lie in a database of their own, which only this linker requires, so
that PyTensor's canonicalization need not run for them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.compile.mode import (
    Mode,
    optdb,
    predefined_linkers,
    predefined_modes,
    register_linker,
    register_mode,
)
from pytensor.graph.rewriting.basic import in2out, node_rewriter
from pytensor.graph.rewriting.db import RewriteDatabaseQuery, SequenceDB
from pytensor.raise_op import CheckAndRaise

import occelo as oc
from occelo_graph.ir.graph_like import register_holder
from occelo_pytensor import library
from occelo_pytensor.linker import Indexing32, OcceloLinker, let_loops_be_compiled

NAME = "OCCELO"
_CHECKS = "occelo_checks"


@node_rewriter([CheckAndRaise])
def _minus_infinity(fgraph: Any, node: Any) -> Any:
    """A failed check of the parameters of a log density gives -inf."""
    if not getattr(node.op, "can_be_replaced_by_ninf", False):
        return None
    value, *conditions = node.inputs
    holds = conditions[0] if len(conditions) == 1 else pt.all(conditions)
    return [pt.switch(holds, value, np.array(-np.inf, value.dtype))]


@node_rewriter([CheckAndRaise])
def _unchecked(fgraph: Any, node: Any) -> Any:
    """The parameters of a log density are not checked."""
    return [node.inputs[0]] if hasattr(node.op, "can_be_replaced_by_ninf") else None


def register() -> None:
    """Register the linker and the mode. A second call has no effect."""
    if NAME in predefined_modes:
        return
    checks = SequenceDB()
    for rule, tag in (
        (_minus_infinity, "local_check_parameter_to_ninf_switch"),
        (_unchecked, "local_remove_check_parameter"),
    ):
        checks.register(tag, in2out(rule, name=f"occelo_{tag}"), use_db_name_as_tag=False)
    optdb.register(_CHECKS, checks, "occelo", position=0.5)
    if "occelo" not in predefined_linkers:
        register_linker("occelo", OcceloLinker())
    register_mode(NAME, Mode(OcceloLinker(), RewriteDatabaseQuery(include=["minimum_compile"])))
    _let_the_option_name_it()
    let_loops_be_compiled()
    register_holder("pytensor.compile.executor.Function", _inside)
    register_holder("pymc.pytensorf.PointFunc", lambda function: function.f)
    register_holder("pymc.model.core.ValueGradFunction", lambda f: f._pytensor_function)


def _inside(function: Any) -> Any:
    """Occelo's function inside of one of PyTensor's. TypeError if it was compiled in another mode."""
    inner = function.vm.function if isinstance(function.vm, Indexing32) else function.vm
    if not isinstance(inner, oc.Function):
        raise TypeError(f"{function} was not compiled in the mode {NAME!r}")
    return inner


def _let_the_option_name_it() -> None:
    """Let ``pytensor.config.mode`` have the name of the mode; PyTensor has a fixed list of names there."""
    option: Any = type(library.theirs.config).mode
    filtered = option._apply
    option._apply = lambda value: value if value == NAME else filtered(value)
