"""Rules for sorting: what is in order stays as it is.

`occelo_rewrite.pipeline` registers them when sorting is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from occelo_graph import FunctionGraph, TensorApply
from occelo_graph import tensor as ot
from occelo_rewrite import call, rule, wild
from occelo_rewrite.family_rules import USUAL, StageRules
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter
from occelo_sorting.ops.order_statistics import ArgOrderStatistics, OrderStatistics
from occelo_sorting.ops.orders import ArgSort, Sort

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

x = wild("x")


@rule(call(Sort, call(Sort, x)), on="any")
def sort_of_sort(x: TensorVariable) -> TensorVariable:
    """sort(sort(x)) = sort(x)."""
    ordered: TensorVariable = Sort()(x)
    return ordered


@rule(call(ArgSort, call(Sort, x)), on="any", same_dtype=False)
def argsort_of_sort(x: TensorVariable) -> TensorVariable:
    """argsort(sort(x)) = 0, 1, 2, ... in each row."""
    return ot.zeros_like(x, "int64") + ot.arange(x.shape[-1])


@node_rewriter([Sort, ArgSort])
def order_of_one(fgraph: FunctionGraph, node: TensorApply[Sort | ArgSort]) -> Replacements:
    """sort(x) = x and argsort(x) = 0 for rows of at most one element."""
    (x,) = node.inputs
    length = x.type.shape[-1]
    if length is None or length > 1:
        return None
    return [x if isinstance(node.op, Sort) else ot.zeros_like(x, "int64")]


@node_rewriter([OrderStatistics, ArgOrderStatistics])
def read_of_sorted_rows(
    fgraph: FunctionGraph, node: TensorApply[OrderStatistics | ArgOrderStatistics]
) -> Replacements:
    """Elements of sorted rows are read from rows that are sorted anyway: sort(x)[..., i]."""
    x, positions = node.inputs
    whole = node.op.whole(x)
    if (
        isinstance(node.op, OrderStatistics)
        and x.owner is not None
        and isinstance(x.owner.op, Sort)
    ):
        return [node.op.read(x, positions)]
    for client, _ in fgraph.clients[x]:
        if client.op == whole.owner.op:
            return [node.op.read(client.outputs[0], positions)]
    return None


_CANONICALIZE = RuleSet(
    (read_of_sorted_rows, sort_of_sort, argsort_of_sort, order_of_one), "sorting"
)
RULES = (StageRules("canonicalize", _CANONICALIZE, USUAL),)
