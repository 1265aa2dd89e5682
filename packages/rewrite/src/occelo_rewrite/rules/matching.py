"""What rules look at: which op computes a variable, and patterns over floats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from occelo_graph import Apply, Variable
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_rewrite.pattern import Call
from occelo_rewrite.pattern_rule import PatternRule, rule

__all__ = ["computed_by", "rule_of_floats"]


def rule_of_floats(
    *patterns: Call, on: str = "float", same_dtype: bool = True, **options: Any
) -> Callable[[Callable[..., Any]], PatternRule]:
    """`rule` for laws that hold for real floats of one dtype, if nothing else is said."""
    return rule(*patterns, on=on, same_dtype=same_dtype, **options)


def computed_by(variable: Variable, function: Any) -> Apply | None:
    """The node, if ``variable`` is computed by an elementwise function; else None."""
    owner = variable.owner
    if owner is not None and isinstance(owner.op, Elemwise):
        if owner.op is function:
            return owner
        return owner if owner.op.scalar_op == function.scalar_op and not owner.op.inplace else None
    return None
