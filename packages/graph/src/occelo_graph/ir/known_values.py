"""`known_integers`: infers the values of integer variables, such as lengths, while a graph is built.

The values follow from static shapes and constants. For example, ``x.shape[0] + 1`` is 4 if x has the static shape (3,).

Ops with lengths or indices as inputs use the values to infer static shapes. Loops use the values for numbers of steps.
`ops.specialization` uses them to write known lengths as constants in the copy of a graph that is compiled.
"""

from __future__ import annotations

from typing import Any

from occelo_graph.ir.nodes import Constant, Variable

_MOST_STEPS = 64


def known_integer(value: Any) -> int | None:
    """The static value of a number or an integer scalar. None if it is known only at run time."""
    if isinstance(value, Variable):
        integers = known_integers(value)
        return integers if isinstance(integers, int) else None
    return int(value)


def known_integers(variable: Variable) -> Any:
    """The static value of an integer scalar or vector: an int, or a tuple in which None is an unknown element.

    None if nothing is known. The inference stops after `_MOST_STEPS` nodes.
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
