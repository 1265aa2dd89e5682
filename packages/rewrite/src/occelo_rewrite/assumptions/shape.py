"""Inference of facts about transposed matrices from facts about the matrices (`Fact.transposed`).

`assumptions.inference` applies it at `DimShuffle` nodes when a rule asks for a fact. `assumptions.blas` and
`rules.linalg` recognise transposed matrices by `is_transposition`.
"""

from __future__ import annotations

from occelo_graph import Apply, Op, TensorVariable, computed_by
from occelo_graph.ops.control.facts import FACTS
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_rewrite.assumptions.inference import Ask, infers_many

__all__ = ["is_transposition", "spread_vector"]


def is_transposition(op: Op) -> bool:
    """Whether an op exchanges the last two dimensions, and keeps all others."""
    if not isinstance(op, DimShuffle):
        return False
    order, n = op.new_order, op.input_ndim
    return n >= 2 and order == (*range(n - 2), n - 1, n - 2)


@infers_many(DimShuffle)
def _transposed(node: Apply, fact: str, ask: Ask) -> bool | None:
    of = FACTS[fact].transposed if fact in FACTS else None
    return ask(node.inputs[0], of) if of is not None and is_transposition(node.op) else None


def spread_vector(variable: TensorVariable) -> tuple[TensorVariable, tuple[int | str, ...]] | None:
    """The vector that ``variable`` is with new dimensions, and their order; None for other variables."""
    spread = computed_by(variable, DimShuffle)
    if spread is None or spread.inputs[0].type.ndim != 1:
        return None
    return spread.inputs[0], spread.op.new_order
