"""Inference of facts about products of matrices.

`assumptions.inference` applies them at `Dot` nodes when a rule asks for a fact.
"""

from __future__ import annotations

from occelo_graph import Apply, TensorApply
from occelo_graph.ops.blas.products import Dot
from occelo_rewrite.assumptions.inference import Ask, infers
from occelo_rewrite.assumptions.shape import is_transposition

__all__: list[str] = []


@infers("symmetric", Dot)
def _gram(node: TensorApply[Dot], ask: Ask) -> bool | None:
    x, y = node.inputs
    for a, b in ((x, y), (y, x)):
        if b.owner is not None and is_transposition(b.owner.op) and b.owner.inputs[0] is a:
            return True
    return None


def _closed_under_product(fact: str) -> None:
    @infers(fact, Dot)
    def product(node: Apply, ask: Ask) -> bool | None:
        two = all(v.type.ndim == 2 for v in node.inputs)
        return True if two and all(ask(v, fact) for v in node.inputs) else None


for _fact in (
    "diagonal",
    "lower_triangular",
    "upper_triangular",
    "orthogonal",
    "permutation",
    "selection",
):
    _closed_under_product(_fact)
