"""Lowerings of ops to the arrays of another library; shared by all that trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from occelo_graph import Apply, Op, Variable

if TYPE_CHECKING:
    from occelo_link.traced.tracer import Tracer

__all__ = ["Lowering", "NeedsValue", "find_lowering", "lowers"]

Lowering = Callable[["Tracer", Apply, list[Any]], Sequence[Any]]
"""From a tracer, a node and the values of its inputs to those of its outputs.

A value is a NumPy array where it is known while tracing, else an array of the library.
"""

_lowerings: dict[type[Op], Lowering] = {}


class NeedsValue(Exception):
    """Tracing cannot go on without the value of a variable, on which a shape depends."""

    def __init__(self, variable: Variable, node: Apply) -> None:
        super().__init__(f"{node.op} needs the value of {variable}")
        self.variable = variable
        self.node = node


def lowers(*classes: type[Op]) -> Callable[[Lowering], Lowering]:
    """Register the lowering of op classes."""

    def register(function: Lowering) -> Lowering:
        for cls in classes:
            _lowerings[cls] = function
        return function

    return register


def find_lowering(op: Op) -> Lowering | None:
    """The lowering of an op; None if it has none, as one that computes something else than its base."""
    for cls in type(op).__mro__:
        found = _lowerings.get(cls)
        if found is not None:
            alike = all(
                getattr(type(op), method) is getattr(cls, method)
                for method in ("evaluate", "kernel", "perform")
            )
            return found if alike else None
    return None
