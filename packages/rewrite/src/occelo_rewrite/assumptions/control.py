"""Functions that find the `Assume` nodes of a graph and read the facts that these nodes state.

Users make `Assume` nodes with `assume`. `AssumptionFeature` and the stage ``drain_assumptions`` call these functions.
The module also registers inferences for `Assume` nodes, and for checks: the result of a check has the facts of the
checked value.
"""

from __future__ import annotations

from typing import Any, cast

from occelo_graph import Apply, FunctionGraph, TensorApply
from occelo_graph.ops.control import After, Assume
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_rewrite.assumptions.inference import Ask, infers_many

Statement = Apply[Assume]


def statements(fgraph: FunctionGraph) -> list[Statement]:
    """The `Assume` nodes of a graph, in topological order. (Most graphs have none, which is found quickly.)"""
    if not any(isinstance(node.op, Assume) for node in fgraph.apply_nodes):
        return []
    return [cast("Statement", n) for n in fgraph.toposort() if isinstance(n.op, Assume)]


def said_by(node: Statement) -> tuple[tuple[str, bool], ...]:
    """The facts that an `Assume` node states, as pairs of the name of a fact and whether it holds."""
    return node.op.facts


@infers_many(After, CheckAndRaise)
def _checked(node: TensorApply[Any], fact: str, ask: Ask) -> bool | None:
    return ask(node.inputs[0], fact)


@infers_many(Assume)
def _stated(node: Statement, fact: str, ask: Ask) -> bool | None:
    """What the node states about the fact. If it states nothing, whether the fact holds for the node's input."""
    stated = dict(node.op.facts).get(fact)
    return ask(node.inputs[0], fact) if stated is None else stated
