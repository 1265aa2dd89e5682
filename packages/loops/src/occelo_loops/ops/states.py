"""Functions for shared variables that the steps of a loop update, such as states of random generators and counters.

`classic` and `loops` find the updates that a step makes (`default_updates`). `building` carries the values of the
shared variables from step to step (`with_updates`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from occelo_graph.ir.clone import rebuilt
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.shared import SharedVariable
from occelo_graph.ir.traversal import ancestors
from occelo_loops.ops.building.carried import CarriedValue


def is_made_by(update: Any, nodes: Collection[Apply]) -> bool:
    """Whether one of ``nodes`` computes ``update``."""
    return isinstance(update, Variable) and update.owner is not None and update.owner in nodes


def _with_defaults(variables: Iterable[Any]) -> dict[SharedVariable, Variable]:
    """The default updates of those shared variables in ``variables`` that have one, by shared variable."""
    return {
        v: v.default_update
        for v in variables
        if isinstance(v, SharedVariable) and v.default_update is not None
    }


def default_updates(
    results: Sequence[Any], nodes: Sequence[Apply], own: bool = False
) -> dict[SharedVariable, Variable]:
    """The default updates of the shared variables that a step reads, by shared variable.

    ``results`` are the results of the step, and ``nodes`` are the nodes that it made. With ``own``, only updates that
    the step itself made are returned. Draws with a `RandomStream` make such updates.
    """
    candidates = _with_defaults([*results, *(v for node in nodes for v in node.inputs)])
    inner = set(nodes)
    if own:
        candidates = {s: u for s, u in candidates.items() if is_made_by(u, inner)}
    updates: dict[SharedVariable, Variable] = {}
    new: list[Variable] = [v for v in results if isinstance(v, Variable)]
    while candidates and new:
        reached = set(new)
        for v in ancestors(new):
            if is_made_by(v, inner) and v.owner is not None:
                reached.update(v.owner.inputs)
        # an update may read further shared variables, which then count, too
        more = {s: u for s, u in candidates.items() if s in reached and s not in updates}
        updates.update(more)
        new = list(more.values())
    return updates


def forget_updates(nodes: Sequence[Apply]) -> None:
    """Remove default updates that ``nodes`` compute. `building` does this before it calls a step function again."""
    inner = set(nodes)
    for state, update in _with_defaults(v for node in nodes for v in node.inputs).items():
        if is_made_by(update, inner):
            state.default_update = None


def with_updates(
    updates: Mapping[SharedVariable, Any],
    position: int,
    results: Sequence[Variable],
    constants: Sequence[tuple[Variable, Variable]],
) -> tuple[dict[SharedVariable, Variable], list[Variable]]:
    """Make the shared variables that a step updates carried values of the loop.

    The first result maps each shared variable to a new variable for its value before a step. The second result lists
    the ``results`` of the step, computed from these new variables, with the updated values inserted at ``position``.
    ``constants`` are pairs of a constant of the loop and the step's argument for it.

    TypeError if an update changes the dtype or the number of dimensions.
    """
    if not updates:
        return {}, list(results)
    following: list[Variable] = []
    for state, update in updates.items():
        before = CarriedValue(state, f"The shared variable {state.name or state}")
        after = state.type.filter_variable(update) if not isinstance(update, Variable) else update
        if before.adapt(after):
            # the update must keep the static lengths of the shared variable
            after = state.type.filter_variable(after)
        following.append(after)
    inner: dict[SharedVariable, Variable] = {s: s.type.make_variable(s.name) for s in updates}
    pairs: list[tuple[Variable, Variable]] = list(inner.items())
    pairs += [
        (argument, inner[outer])
        for outer, argument in constants
        if isinstance(outer, SharedVariable) and outer in inner
    ]
    everything = [*results[:position], *following, *results[position:]]
    copies = rebuilt(everything, pairs)
    return inner, copies
