"""Functions to hoist nodes out of a loop: they find the nodes that can be hoisted, and guard those that may fail.

A guarded node runs only if the loop has a step. So it does not fail where the loop would not have run it. `building`
hoists nodes while it builds a loop, and the rule in `occelo_loops.rules.hoisting` does so while rewriting.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from occelo_graph.errors import MethodNotDefined
from occelo_graph.ir.known_values import known_integer
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.regions import divide
from occelo_graph.ir.traversal import ancestors, toposort
from occelo_graph.ops.control.branches import ifelse
from occelo_graph.ops.create import alloc
from occelo_graph.ops.elemwise.arithmetic import gt
from occelo_graph.ops.shape.reading import Shape_i
from occelo_graph.tensors.nodes import is_tensor


def surely_steps(steps: Variable) -> bool:
    """Whether the number of steps is known statically to be positive."""
    number = known_integer(steps)
    return number is not None and number > 0


def alike_in_all_steps(
    order: Iterable[Apply],
    results: Sequence[Variable],
    changing: Iterable[Variable],
    stay: Collection[Apply] = (),
) -> set[Apply]:
    """The nodes of a body that can be computed once for all steps.

    - ``order``: the nodes of the body in topological order.
    - ``results``: the outputs of the body.
    - ``changing``: variables that differ between steps. A node that depends on one of them is not returned.
    - ``stay``: nodes that must stay in the body. A node that depends on one of them is not returned.

    A node in a branch is returned only if the node that owns the branch is returned, too.
    """
    nodes = list(order)
    lazily = divide(nodes, results).outermost
    inside = set(changing)
    alike: set[Apply] = set()
    for node in nodes:
        free = node.op.pure and not node.op.destroy_map and node not in stay
        if free and inside.isdisjoint(node.inputs):
            alike.add(node)
        else:
            inside.update(node.outputs)
    return {n for n in alike if n not in lazily or lazily[n] in alike}


def guarded(steps: Variable, values: Sequence[Variable], among: Collection[Apply]) -> list[Any]:
    """Guard ``values`` that a loop reads from outside, so that they are computed only if the loop has a step.

    A value is guarded only if it depends on a node that is in ``among`` and may fail. Other values are returned as they
    are. If the loop has no step, a guarded value is a tensor of zeros of the same shape. The result has None for a
    value whose shape cannot be found without computing the value.
    """
    if surely_steps(steps):
        return list(values)
    risky = {n for n in among if n.op.may_fail(n)}
    if not risky:
        return list(values)
    # the search for failing nodes ends at inputs of `among` that other nodes compute
    first = {v for n in among for v in n.inputs if v.owner not in among}
    results: list[Any] = list(values)
    chosen = [
        i
        for i, v in enumerate(values)
        if not risky.isdisjoint(toposort([v], blockers=frozenset(first)))
    ]
    others: list[Any] = []
    for i in chosen:
        v = values[i]
        lengths = lengths_of(v, first)
        read = ancestors([n for n in lengths if isinstance(n, Variable)], list(first))
        if not is_tensor(v) or any(r.owner in risky for r in read):
            results[i] = None
        else:
            others.append(alloc(np.zeros((), v.type.dtype), *lengths))
    whole = [i for i in chosen if results[i] is not None]
    if whole:
        conditional = ifelse(gt(steps, 0), [values[i] for i in whole], others)
        for i, v in zip(whole, conditional, strict=True):
            results[i] = v
    return results


def lengths_of(variable: Variable, first: Iterable[Variable]) -> Sequence[Any]:
    """The lengths of a tensor, inferred from the lengths of the variables ``first`` as far as possible."""
    shapes: dict[Variable, Sequence[Any]] = {}

    def shape(v: Variable) -> Sequence[Any]:
        if v not in shapes:
            shapes[v] = _own_lengths(v)
        return shapes[v]

    for node in toposort([variable], blockers=frozenset(first)):
        try:
            said = node.op.shapes(node, [shape(v) for v in node.inputs])
        except MethodNotDefined:
            continue
        for v, lengths in zip(node.outputs, said, strict=True):
            if lengths is not None and v.type.is_array:
                shapes[v] = [
                    o if isinstance(o, int) or n is None else n
                    for o, n in zip(_own_lengths(v), lengths, strict=True)
                ]
    return shape(variable)


def _own_lengths(variable: Variable) -> Sequence[Any]:
    shape = variable.type.shape or ()
    return [Shape_i(i)(variable) if n is None else n for i, n in enumerate(shape)]
