"""`is_moved`: whether an integer variable is computed as another variable plus a number.

The rules in `steps` and the modules for padded tensors call it for positions of elements and for numbers of steps.
"""

from __future__ import annotations

from occelo_graph import Variable
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_rewrite.constants import number_of


def is_moved(after: Variable, before: Variable, number: int) -> bool:
    """Whether ``after`` is computed as ``before + number``."""
    owner = after.owner
    if owner is None or not isinstance(owner.op, Elemwise) or len(owner.inputs) != 2:
        return False
    (one, other), name = owner.inputs, owner.op.scalar_op.name
    if name == "add" and other is before:
        one, other = other, one
    added = number_of(other)
    if one is not before or added is None or name not in ("add", "sub"):
        return False
    return bool(added == (number if name == "add" else -number))
