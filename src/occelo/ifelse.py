"""Conditions, at PyTensor's place. In every order of imports `occelo.ifelse` is the function."""

from typing import TYPE_CHECKING, Any

from occelo.places import stands_at as _stands_at
from occelo_graph.ops.control import IfElse as IfElse
from occelo_graph.ops.control import ifelse as ifelse

if TYPE_CHECKING:

    class IfElseFunction:
        """What type checkers know of the function: how it is called, and its attributes."""

        IfElse = IfElse

        def __call__(
            self, condition: Any, then_branch: Any, else_branch: Any, name: str | None = None
        ) -> Any: ...


_stands_at(__name__, ifelse)
