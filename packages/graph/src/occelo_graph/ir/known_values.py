"""Inference of integers, such as lengths, from types and constants when a graph is built.

Ops whose lengths or indices are inputs infer static shapes with these functions. `ops.specialization` finds known
lengths with them.
"""

from __future__ import annotations

from typing import Any

from occelo_graph.ir.nodes import Constant, Variable

__all__ = ["known_integer", "known_integers"]

_MOST_STEPS = 64


def known_integer(value: Any) -> int | None:
    """The static value of a number or of a scalar variable of integers; None if it is known at run time only."""
    if isinstance(value, Variable):
        found = known_integers(value)
        return found if isinstance(found, int) else None
    return int(value)


def known_integers(variable: Variable) -> Any:
    """The static value of integers: an int for a scalar, a tuple of ints and Nones for a vector, None if unknown.

    `Op.known_integers` is called for at most `_MOST_STEPS` nodes.
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
