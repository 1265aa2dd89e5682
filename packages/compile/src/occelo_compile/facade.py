"""An object through which lower modules of this package reach classes and functions of higher modules.

`wiring` fills the fields of `facade` when the package is imported. `mode` gets the class `FunctionMaker` from it.
`maker` gets the class `Function` from it, and the functions that load compiled functions from the cache and store them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from occelo_compile.calling import Function
    from occelo_compile.maker import FunctionMaker, Linked


@dataclass(init=False, slots=True, eq=False, repr=False)
class Facade:
    """The classes and functions of higher modules that lower modules need."""

    maker: type[FunctionMaker]
    """The class of makers; `mode` needs it."""
    function: type[Function]
    """The class of compiled functions; `maker` needs it."""
    load: Callable[[FunctionMaker], Linked | None]
    """Returns a linked function from the cache, or None if the cache does not have it."""
    keep: Callable[[FunctionMaker, Linked], None]
    """Stores a linked function in the cache."""


facade = Facade()
