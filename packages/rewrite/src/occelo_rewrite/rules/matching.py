"""Two helpers for rules: a decorator for patterns of real floats, and a test for elementwise nodes.

`rules.reduce` and several modules of `rules.elemwise` use these helpers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from occelo_graph import TensorApply, Variable, computed_by
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_rewrite.patterns.pattern import Call
from occelo_rewrite.patterns.pattern_rule import LawFunction, PatternRule, rule


def rule_of_floats(
    *patterns: Call, on: str = "float", same_dtype: bool = True, **options: Any
) -> Callable[[LawFunction], PatternRule]:
    """`rule` with other defaults: by default, the rule applies only to real floats of one dtype."""
    return rule(*patterns, on=on, same_dtype=same_dtype, **options)


def applied(variable: Variable, function: Elemwise) -> TensorApply[Elemwise] | None:
    """The node that computes ``variable``, if it applies ``function`` and does not overwrite an input; else None."""
    node = computed_by(variable, Elemwise)
    if node is None or node.op is function:
        return node
    return node if node.op.scalar_op == function.scalar_op and not node.op.inplace else None
