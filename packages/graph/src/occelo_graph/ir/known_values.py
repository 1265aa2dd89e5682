"""What types and constants alone say of integers, such as lengths, when a graph is built."""

from __future__ import annotations

from typing import Any

from occelo_graph.ir.nodes import Constant, Variable

__all__ = ["known_integer", "known_integers"]

_MOST_STEPS = 64


def known_integer(value: Any) -> int | None:
    """The integer that a number or a scalar variable surely is; None where only running tells."""
    if isinstance(value, Variable):
        found = known_integers(value)
        return found if isinstance(found, int) else None
    return int(value)


def known_integers(variable: Variable) -> Any:
    """What is known of integers: an int of a scalar, a tuple with ints and Nones of a vector, or None.

    Ops say so by their method of this name. Only so many nodes are looked at.
    """
    left = _MOST_STEPS

    def of(each: Variable) -> Any:
        nonlocal left
        node = each.owner
        if node is not None:
            left -= 1
            return node.op.known_integers(node, of) if left >= 0 else None
        if not isinstance(each, Constant):
            return None
        data: Any = each.data
        if getattr(getattr(data, "dtype", None), "kind", "f") not in "biu" or data.ndim > 1:
            return None
        if data.ndim == 0:
            return int(data)
        return tuple(data.tolist()) if data.size <= _MOST_STEPS else None

    return of(variable)
