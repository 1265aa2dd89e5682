"""Inference of facts about products of matrices.

A matrix times its transpose is symmetric, and times its conjugate transpose positive semidefinite. If both factors are
diagonal, lower triangular, upper triangular, orthogonal, permutation or selection matrices, so is the product. If both are
lower triangular, or both upper triangular, with a unit diagonal, the product has a unit diagonal. `assumptions.inference`
applies them at `Dot` and `MatMul` nodes when a rule asks for a fact.
"""

from __future__ import annotations

from occelo_graph import TensorApply
from occelo_graph.ops.blas.products import Dot, MatMul
from occelo_rewrite.assumptions.inference import Ask, infers, infers_many
from occelo_rewrite.assumptions.shape import are_transposes

__all__: list[str] = []


def _is_gram(node: TensorApply, hermitian: bool) -> bool:
    """Whether a matrix is multiplied by its transpose, or by its conjugate transpose if ``hermitian``."""
    x, y = node.inputs
    return are_transposes(x, y, hermitian)


@infers("symmetric", Dot, MatMul)
def _gram(node: TensorApply, ask: Ask) -> bool | None:
    return True if _is_gram(node, False) else None


@infers("positive_semidefinite", Dot, MatMul)
def _hermitian_gram(node: TensorApply, ask: Ask) -> bool | None:
    return True if _is_gram(node, True) else None


_CLOSED = (
    "diagonal",
    "lower_triangular",
    "upper_triangular",
    "orthogonal",
    "permutation",
    "selection",
)


@infers_many(Dot, MatMul)
def _product(node: TensorApply, fact: str, ask: Ask) -> bool | None:
    if any(v.type.ndim < 2 for v in node.inputs):
        return None
    if fact == "unit_diagonal":
        for triangle in ("lower_triangular", "upper_triangular"):
            if all(ask(v, triangle) and ask(v, fact) for v in node.inputs):
                return True
    return True if fact in _CLOSED and all(ask(v, fact) for v in node.inputs) else None
