"""The type whose only value is None, and this value as a constant, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_graph.ir.types import NoneTypeT as NoneTypeT
from occelo_graph.ir.types import none_type as none_type_t

NoneConst = none_type_t.make_constant(None)

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
