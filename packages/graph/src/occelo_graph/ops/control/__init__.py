"""Ops for control: branches, run-time checks, copies, views, stated facts, Python functions as ops, observers.

Users find them in `occelo` and `occelo.tensor`. Rules, inference of facts and lowerings handle the ops. `Blockwise` and
`OpFromGraph` belong to the family, but are in modules of the top level, since they need gradients.
"""

from __future__ import annotations

from occelo_graph.ops.control.branches import IfElse, ifelse
from occelo_graph.ops.control.checks import Assert, CheckAndRaise, assert_op
from occelo_graph.ops.control.facts import Fact, register_fact
from occelo_graph.ops.control.identities import Assume, DeepCopyOp, ViewOp, assume

__all__ = [
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
