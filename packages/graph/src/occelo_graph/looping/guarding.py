"""Hoisting of computations out of the steps of a loop: which nodes can be moved, and guards for those that may fail.

A guarded computation runs only if the loop has a step. `building` uses this module while it builds a loop, and so does
the rule in `occelo_rewrite.rules.looping.hoisting`.
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

__all__ = ["alike_in_all_steps", "guarded", "lengths_of", "surely_steps"]


def surely_steps(steps: Variable) -> bool:
    """Whether the number of steps is known, and above 0."""
    known = known_integer(steps)
    return known is not None and known > 0


def alike_in_all_steps(
    order: Iterable[Apply],
    results: Sequence[Variable],
    changing: Iterable[Variable],
    stay: Collection[Apply] = (),
) -> set[Apply]:
    """The nodes of a body, given in topological order, that can be computed once for all steps.

    They depend neither on variables that are ``changing`` nor on nodes that ``stay``. A node in a branch can be moved
    only if the node that owns the branch can be moved, too.
    """
    nodes = list(order)
    lazily = divide(nodes, results).outermost
    inside = set(changing)
    found: set[Apply] = set()
    for node in nodes:
        free = node.op.pure and not node.op.destroy_map and node not in stay
        if free and inside.isdisjoint(node.inputs):
            found.add(node)
        else:
            inside.update(node.outputs)
    return {n for n in found if n not in lazily or lazily[n] in found}


def guarded(steps: Variable, values: Sequence[Variable], among: Collection[Apply]) -> list[Any]:
    """The ``values`` that a loop reads, guarded: computed only if the loop has a step.

    A value is guarded if it depends on a node in ``among`` that may fail. If the loop has no step, such a value is a
    tensor of zeros of the same shape. If this shape is not known without computing the value, the entry of the result
    is None.
    """
    if surely_steps(steps):
        return list(values)
    risky = {n for n in among if n.op.may_fail(n)}
    if not risky:
        return list(values)
    # the search ends at variables from outside of these nodes
    first = {v for n in among for v in n.inputs if v.owner not in among}
    found: list[Any] = list(values)
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
            found[i] = None
        else:
            others.append(alloc(np.zeros((), v.type.dtype), *lengths))
    whole = [i for i in chosen if found[i] is not None]
    if whole:
        made = ifelse(gt(steps, 0), [values[i] for i in whole], others)
        for i, v in zip(whole, made, strict=True):
            found[i] = v
    return found


def lengths_of(variable: Variable, first: Iterable[Variable]) -> Sequence[Any]:
    """The lengths of a tensor, computed from the lengths of the variables ``first`` where that is possible."""
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
