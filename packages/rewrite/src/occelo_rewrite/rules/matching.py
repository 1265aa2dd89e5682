"""What rules look at: which op computes a variable, and what is known of its sign."""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_graph import Apply, Constant, Variable
from occelo_graph.ops.elemwise.op import Elemwise

__all__ = ["computed_by", "is_nonnegative"]


def computed_by(variable: Variable, function: Any) -> Apply | None:
    """The node, if ``variable`` is computed by an elementwise function; else None."""
    owner = variable.owner
    if owner is not None and isinstance(owner.op, Elemwise):
        if owner.op is function:
            return owner
        return owner if owner.op.scalar_op == function.scalar_op and not owner.op.inplace else None
    return None


_NONNEGATIVE = frozenset(("exp", "exp2", "sigmoid", "softplus", "abs", "sqr", "sqrt", "erfc", "erfcx", "cosh"))
_KEEPS_SIGN = frozenset(("add", "mul", "true_div", "maximum", "sqrt", "second", "identity"))
_DEPTH = 4


def is_nonnegative(variable: Any, depth: int = _DEPTH) -> bool:
    """Whether a real variable is known to have no negative element (NaN aside)."""
    if isinstance(variable, Constant):
        return bool(np.all(variable.data >= 0)) if np.size(variable.data) <= 64 else False  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    owner = variable.owner
    if owner is None or not isinstance(owner.op, Elemwise) or not variable.type.dtype.startswith("float"):
        return False
    name = owner.op.scalar_op.name
    if name in _NONNEGATIVE:
        return all(v.type.dtype.startswith("float") for v in owner.inputs)
    if name not in _KEEPS_SIGN or depth == 0:
        return False
    return all(is_nonnegative(v, depth - 1) for v in owner.inputs)
