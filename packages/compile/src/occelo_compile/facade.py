"""`facade`: an object through which lower modules of this package reach classes and functions of higher modules.

The module `mode` gets the class `FunctionMaker` from it. The module `maker` gets the class `Function`, and the
functions that load and store compiled functions in the cache. `wiring` fills the fields.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from occelo_compile.calling import Function
    from occelo_compile.maker import FunctionMaker, Linked

__all__ = ["Facade", "facade"]


@dataclass(init=False, slots=True, eq=False, repr=False)
class Facade:
    """Classes and functions of the compile package that its lower modules need."""

    maker: type[FunctionMaker]
    """The class of makers, for modes."""
    function: type[Function]
    """The class of compiled functions, for makers."""
    load: Callable[[FunctionMaker], Linked | None]
    """Loads a linked function from the cache; None if there is none."""
    keep: Callable[[FunctionMaker, Linked], None]
    """Stores a linked function in the cache."""


facade = Facade()
