"""What modules below name and modules above define, in one object, which `wiring` fills."""

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
    """What modes make functions with."""
    function: type[Function]
    """What makers wrap VMs in."""
    load: Callable[[FunctionMaker], Linked | None]
    """What the cache has for a maker."""
    keep: Callable[[FunctionMaker, Linked], None]
    """Keeps what was linked in the cache."""


facade = Facade()
