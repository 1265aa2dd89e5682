"""Inference of facts about matrices that are made from their diagonals.

They are diagonal, and positive (semi)definite if the diagonal is positive (not negative). `assumptions.inference`
applies them at `AllocDiag` nodes when a rule asks for a fact.
"""

from __future__ import annotations

from occelo_graph import TensorApply
from occelo_graph.ops.index.search import AllocDiag
from occelo_rewrite.assumptions.inference import Ask, infers

__all__: list[str] = []


@infers("diagonal", AllocDiag)
def _made_diagonal(node: TensorApply[AllocDiag], ask: Ask) -> bool | None:
    return True if node.op.offset == 0 else None


@infers("positive_definite", AllocDiag)
def _with_positive_diagonal(node: TensorApply[AllocDiag], ask: Ask) -> bool | None:
    return True if node.op.offset == 0 and ask(node.inputs[0], "positive") else None


@infers("positive_semidefinite", AllocDiag)
def _with_nonnegative_diagonal(node: TensorApply[AllocDiag], ask: Ask) -> bool | None:
    return True if node.op.offset == 0 and ask(node.inputs[0], "nonnegative") else None
