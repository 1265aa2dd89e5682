"""Ops for control: branches, run-time checks, copies, views, stated facts, observers, and Python functions as ops.

Users call the functions, such as `ifelse`, from `occelo` and `occelo.tensor`. `Blockwise` and `OpFromGraph` belong to
the family, too. They are in the modules `blockwise` and `inner_graph` outside of `ops`, since they call `gradient`, and
`gradient` imports `ops`.
"""

from __future__ import annotations

from occelo_graph.ops.control.branches import IfElse, ifelse
from occelo_graph.ops.control.checks import Assert, CheckAndRaise, assert_op
from occelo_graph.ops.control.facts import Fact, register_fact
from occelo_graph.ops.control.identities import After, Assume, DeepCopyOp, ViewOp, assume

__all__ = [
    "After",
    "Assert",
    "Assume",
    "CheckAndRaise",
    "DeepCopyOp",
    "Fact",
    "IfElse",
    "ViewOp",
    "assert_op",
    "assume",
    "ifelse",
    "register_fact",
]
