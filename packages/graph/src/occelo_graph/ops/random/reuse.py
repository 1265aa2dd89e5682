"""`reused_state`: finds two draws with the same state of a generator, which are not independent.

`occelo_compile.collect` warns of such draws when a function is compiled.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations

from occelo_graph.errors import describe
from occelo_graph.fgraph.frozen import FrozenFunctionGraph
from occelo_graph.ir.clone import equal_computations
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.regions import divide
from occelo_graph.ir.traversal import toposort
from occelo_graph.ops.random.generator_type import RandomGeneratorType

__all__ = ["reused_state"]

_Branch = dict[Apply, int]
"""The branches around a node: the node with regions, and the position of the region."""


def reused_state(outputs: Sequence[Variable], inputs: Collection[Variable] = ()) -> str | None:
    """A message about the first state that two different draws use, also within loops; None if there is no such state.

    Draws in different branches may share a state, since only one of them runs.
    """
    order = toposort(outputs, inputs)
    for node in order:
        body = getattr(node.op, "body", None)
        if isinstance(body, FrozenFunctionGraph):
            message = reused_state(body.outputs)
            if message is not None:
                return message
    branches: dict[Apply, _Branch] | None = None
    for state, draws in _draws_by_state(order, outputs).items():
        for one, other in combinations(draws, 2):
            if _same_draws(one, other) and equal_computations(one.inputs, other.inputs):
                continue
            if branches is None:
                branches = _branches(order, outputs)
            mine, its = branches.get(one, {}), branches.get(other, {})
            if any(its.get(owner, region) != region for owner, region in mine.items()):
                continue
            return _message(state, one, other)
    return None


def _same_draws(one: Apply, other: Apply) -> bool:
    """Whether two nodes make the same draws if their inputs are equal.

    A loop and the loop that its gradient repeats do, since they take the same steps.
    """
    same_steps = getattr(one.op, "same_steps", None)
    return one.op == other.op or (
        same_steps is not None and type(one.op) is type(other.op) and same_steps(other.op)
    )


def _draws_by_state(
    order: Sequence[Apply], outputs: Sequence[Variable]
) -> dict[Variable, list[Apply]]:
    """The nodes that change each state: draws, and loops that carry the state.

    Draws of which only the shape is read are left out.
    """
    read = set(outputs)
    for node in order:
        if not node.op.of_shapes:
            read.update(node.inputs)
    found: dict[Variable, list[Apply]] = {}
    for node in order:
        if node.op.lazy or read.isdisjoint(node.outputs):
            continue
        if not any(isinstance(v.type, RandomGeneratorType) for v in node.outputs):
            continue
        for variable in dict.fromkeys(node.inputs):
            if isinstance(variable.type, RandomGeneratorType):
                found.setdefault(variable, []).append(node)
    return found


def _branches(order: Sequence[Apply], outputs: Sequence[Variable]) -> dict[Apply, _Branch]:
    """For each node in branches, all the branches around it."""
    inside = divide(order, outputs).inside
    # an owner of inner branches precedes the owner of the branch that contains it
    found: dict[Apply, _Branch] = {}
    for owner in reversed(order):
        for region, nodes in enumerate(inside.get(owner, ())):
            for node in nodes:
                found[node] = {**found.get(owner, {}), owner: region}
    return found


def _message(state: Variable, one: Apply, other: Apply) -> str:
    lines: Iterator[str] = (f"  {describe(node.outputs[-1])}" for node in (one, other))
    return "\n".join(
        [
            f"The generator {describe(state)} is used for two draws:",
            *lines,
            "They come from the same state, so they are not independent; draw the second with the generator "
            "that the first gives: next_rng, x = rng.normal()",
        ]
    )
