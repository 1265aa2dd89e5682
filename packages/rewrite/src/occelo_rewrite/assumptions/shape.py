"""Inference of facts about transposed matrices.

`assumptions.inference` applies them at `DimShuffle` nodes when a rule asks for a fact.
"""

from __future__ import annotations

from occelo_graph import Apply, Op
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_rewrite.assumptions.inference import Ask, infers

__all__ = ["is_transposition"]


def is_transposition(op: Op) -> bool:
    """Whether an op exchanges the dimensions of a matrix."""
    return isinstance(op, DimShuffle) and op.new_order == (1, 0)


def _transposed(fact: str, of: str) -> None:
    @infers(fact, DimShuffle)
    def turned(node: Apply, ask: Ask) -> bool | None:
        return ask(node.inputs[0], of) if is_transposition(node.op) else None


for _fact in ("diagonal", "symmetric", "positive_definite", "orthogonal", "permutation"):
    _transposed(_fact, _fact)
_transposed("lower_triangular", "upper_triangular")
_transposed("upper_triangular", "lower_triangular")
