"""Ops for control: branches, run-time checks, copies and views, Python functions as ops, observers."""

from __future__ import annotations

from occelo_graph.ops.control.branches import IfElse, ifelse
from occelo_graph.ops.control.checks import Assert, CheckAndRaise, assert_op
from occelo_graph.ops.control.identities import ASSUMPTIONS, Assume, DeepCopyOp, ViewOp, assume

__all__ = [
    "ASSUMPTIONS",
    "Assert",
    "Assume",
    "CheckAndRaise",
    "DeepCopyOp",
    "IfElse",
    "ViewOp",
    "assert_op",
    "assume",
    "ifelse",
]
