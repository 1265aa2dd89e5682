"""Ops that raise errors, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_graph.ops.control import Assert as Assert
from occelo_graph.ops.control import CheckAndRaise as CheckAndRaise
from occelo_graph.ops.control import assert_op as assert_op

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
