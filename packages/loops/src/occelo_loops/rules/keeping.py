"""The rule that keeps parts of a scan's steps which another scan would compute again at a higher cost.

`pipeline` puts it into the stage canonicalize. The gradient of a loop computes parts of each step again. What takes longer
to compute than to store and read becomes a trace of the loop, if the loop computes it too, or most of it: a softmax, and the
logarithm of a sum of exponentials, share all exponentials. Costs come from the decompositions of ops.
"""

from __future__ import annotations

from typing import Any

from occelo_graph import Apply, Constant, FunctionGraph, Variable
from occelo_graph.ir.decomposing import decomposition
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.reductions import ByReduction
from occelo_loops.ops.scan_op import Scan
from occelo_loops.rules.sharing import (
    computed_always,
    elements,
    needed_of,
    other_scans,
    reading,
    same_values,
    traced,
)
from occelo_rewrite.constants import number_of
from occelo_rewrite.merge import constant_key
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter

FUNCTION = 8
"""The cost of an element of an elementary function such as exp; that of a sum, a product or a comparison is 1."""
KEPT = 4
"""The cost of an element that is stored in one scan and read in the other."""
MOST_BYTES = 2**18
"""The size of all traces that one scan gets: they stay in a processor's second cache."""
MOST_KEPT = 8
"""The most values of a step that are kept: each is a trace for which code is compiled."""


@node_rewriter([Scan])
def costly_parts_kept(fgraph: FunctionGraph, node: Apply[Scan]) -> Replacements:
    """Values of a scan that cost more to compute than to keep = traces of another scan, which computes most of them too.

    The scan must read the states of the other one, and the lengths of the values must be static. All traces together
    have at most 256 KB, or if the number of steps is unknown at most as many elements as the states; none is kept of a step with
    more than `MOST_KEPT` such values.
    """
    if node.op.stops:
        return None
    prices = {each.outputs[0]: _price(each) for each in computed_always(node.op)}
    sizes = {v: elements([v]) or 0 for v in prices}
    if not any(0 < KEPT * size < prices[v] for v, size in sizes.items()):
        return None
    for other in other_scans(fgraph, node):
        there, more = _computable(node, other)
        worth = {
            v
            for v, size in sizes.items()
            if v in there and 0 < KEPT * size < prices[v] - more.get(v, 0)
        }
        chosen = needed_of(node.op, worth)
        if 0 < len(chosen) <= MOST_KEPT and sum(sizes[v] for v in chosen) <= _room(node, other):
            return reading(node, chosen, traced(other, [there[v] for v in chosen]))
    return None


def _room(node: Apply[Scan], other: Apply[Scan]) -> int:
    """The most elements that a step may keep."""
    steps: int | None = number_of(node.inputs[0])
    if steps is None:
        return elements(other.op.body.inputs[: other.op.carried]) or 0
    return MOST_BYTES // 8 // max(steps, 1)


def _computable(
    node: Apply[Scan], other: Apply[Scan]
) -> tuple[dict[Variable, Variable], dict[Variable, int]]:
    """The values of the body of ``node`` that the body of ``other`` could compute, and what those cost that it does not."""
    there = same_values(node, other)
    parts = _Parts()
    for each in computed_always(other.op):
        parts.add(each)
    more: dict[Variable, int] = {}
    for each in computed_always(node.op):
        operands = [v if isinstance(v, Constant) else there.get(v) for v in each.inputs]
        known = [v for v in operands if v is not None]
        same_types = [v.type for v in known] == [v.type for v in each.inputs]
        if not same_types or not each.op.pure or each.outputs[0] in there:
            continue
        twin = each.op.make_node(*known)
        cost = parts.add(twin) + sum(more.get(v, 0) for v in each.inputs)
        for v, w in zip(each.outputs, twin.outputs, strict=True):
            if v.type == w.type:
                there[v], more[v] = w, cost
    return there, more


class _Parts:
    """The values that a step computes, as parts of decompositions: equal parts of several ops are computed once."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self._of: dict[Variable, int] = {}

    def add(self, node: Apply) -> int:
        """Add a node, and return the cost of its parts that were not there."""
        return self._added(node, self._of)

    def _number(self, key: Any) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def _added(self, node: Apply, of: dict[Variable, int]) -> int:
        for v in node.inputs:
            if v not in of:
                of[v] = self._number(constant_key(v) or v)
        numbers = [of[v] for v in node.inputs]
        made_of = decomposition(node)
        if made_of is not None:
            inside = dict(zip(made_of.inputs, numbers, strict=True))
            cost = sum(self._added(each, inside) for each in made_of.order)
            of.update((o, inside[v]) for o, v in zip(node.outputs, made_of.outputs, strict=True))
            return cost
        key = (node.op, *(sorted(numbers) if node.op.commutative else numbers))
        cost = 0 if (key, 0) in self._numbers else _price(node)
        of.update((v, self._number((key, i))) for i, v in enumerate(node.outputs))
        return cost


def _price(node: Apply) -> int:
    """The cost of a node; 0 for ops that are neither elementwise, nor a reduction, nor made of these."""
    made_of = decomposition(node)
    if made_of is not None:
        return sum(_price(each) for each in made_of.order)
    if isinstance(node.op, Elemwise):
        scalar = node.op.scalar_op
        easy = scalar.arithmetic or scalar.linear or scalar.holomorphic is False
        return (elements(node.outputs) or 0) * (1 if easy or scalar.moves else FUNCTION)
    return (elements(node.inputs) or 0) if isinstance(node.op, ByReduction) else 0


CANONICALIZE = RuleSet((costly_parts_kept,), "looping keeping")
