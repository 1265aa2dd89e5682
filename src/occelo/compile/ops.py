"""Ops of Python functions, copies and views, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_graph.ops.control import DeepCopyOp as DeepCopyOp
from occelo_graph.ops.control import ViewOp as ViewOp
from occelo_graph.ops.control.python_function import FromFunctionOp as FromFunctionOp
from occelo_graph.ops.control.python_function import as_op as as_op
from occelo_graph.ops.control.python_function import wrap_py as wrap_py

deep_copy_op = DeepCopyOp()
view_op = ViewOp()

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
