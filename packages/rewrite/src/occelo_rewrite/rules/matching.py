"""What rules look at: which op computes a variable."""

from __future__ import annotations

from typing import Any

from occelo_graph import Apply, Variable
from occelo_graph.ops.elemwise.op import Elemwise

__all__ = ["computed_by"]


def computed_by(variable: Variable, function: Any) -> Apply | None:
    """The node, if ``variable`` is computed by an elementwise function; else None."""
    owner = variable.owner
    if owner is not None and isinstance(owner.op, Elemwise):
        if owner.op is function:
            return owner
        return owner if owner.op.scalar_op == function.scalar_op and not owner.op.inplace else None
    return None
