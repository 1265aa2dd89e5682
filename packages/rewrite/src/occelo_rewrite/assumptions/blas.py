"""Inference of facts about products of matrices.

A matrix times its transpose is symmetric, and times its conjugate transpose positive semidefinite. Products of
diagonal, triangular, orthogonal, permutation and selection matrices are such matrices again; products of triangular
matrices on the same side keep a unit diagonal. `assumptions.inference` applies them at `Dot` and `MatMul` nodes when a
rule asks for a fact.
"""

from __future__ import annotations

from occelo_graph import TensorApply, Variable
from occelo_graph import tensor as ot
from occelo_graph.ops.blas.products import Dot, MatMul
from occelo_rewrite.assumptions.inference import Ask, infers, infers_many
from occelo_rewrite.assumptions.shape import is_transposition

__all__: list[str] = []


def _turned(variable: Variable) -> tuple[Variable, bool] | None:
    """The matrix that a variable transposes, and whether the variable also conjugates it; None for other variables."""
    inner = _conjugated(variable)
    turned = variable if inner is None else inner
    if turned.owner is None or not is_transposition(turned.owner.op):
        return None
    source = turned.owner.inputs[0]
    # conj(x.T) may also be written conj(x).T
    before = None if inner is not None else _conjugated(source)
    return (source, inner is not None) if before is None else (before, True)


def _conjugated(variable: Variable) -> Variable | None:
    """The variable that this one is the complex conjugate of; None for others."""
    owner = variable.owner
    return owner.inputs[0] if owner is not None and owner.op == ot.conj else None


def _is_gram(node: TensorApply, hermitian: bool) -> bool:
    """Whether a matrix is multiplied by its transpose, or by its conjugate transpose if ``hermitian``."""
    x, y = node.inputs
    real = not x.type.dtype.startswith("complex")
    for a, b in ((x, y), (y, x)):
        found = _turned(b)
        if found is not None and found[0] is a and (real or found[1] is hermitian):
            return True
    return False


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
