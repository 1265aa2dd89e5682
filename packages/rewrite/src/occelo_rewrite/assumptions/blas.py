"""Inference of facts about products of matrices.

`assumptions.inference` calls these functions when a rule looks up a fact about the result of a `Dot`, `MatMul` or
`Gemm` node. They use these theorems:

- ``A D A^T`` is symmetric if D is symmetric, and ``A D A^H`` is positive semidefinite if D is positive semidefinite.
- ``A A^T`` is symmetric, and ``A A^H`` is positive semidefinite.
- D may also be a vector s in place of a diagonal matrix: ``A * s`` scales the columns of A.
- If both factors of a product are diagonal, lower triangular, upper triangular, orthogonal, permutation or selection
  matrices, the product is such a matrix, too.
- If both factors are lower triangular with a unit diagonal, or both are upper triangular with a unit diagonal, the
  product has a unit diagonal.
"""

from __future__ import annotations

from occelo_graph import TensorApply, TensorVariable, computed_by
from occelo_graph import tensor as ot
from occelo_graph.ops.blas.products import Dot, MatMul
from occelo_graph.ops.blas.updates import Gemm
from occelo_graph.tensors.nodes import tensors
from occelo_rewrite.assumptions.inference import Ask, infers, infers_many
from occelo_rewrite.assumptions.shape import are_transposes

_SEMI, _DEFINITE = "positive_semidefinite", "positive_definite"
_TRIANGLES = ("lower_triangular", "upper_triangular")


def _is_congruent(x: TensorVariable, y: TensorVariable, fact: str, ask: Ask) -> bool:
    """Whether ``x y`` has the fact because it is ``A A^H``, or ``A D A^H`` with a D that has the fact.

    For "symmetric", ``A^T`` takes the place of ``A^H``. For "positive_definite", A must also be known to have an
    inverse.
    """
    hermitian = fact != "symmetric"
    if are_transposes(x, y, hermitian):
        return fact != _DEFINITE or _is_regular(x, ask)
    for whole, other in ((x, y), (y, x)):
        inner = computed_by(whole, Dot, MatMul)
        if inner is not None:
            part, middle = inner.inputs if whole is x else inner.inputs[::-1]
            fits = part.type.ndim >= 2 and are_transposes(part, other, hermitian)
            if fits and ask(middle, fact):
                return fact != _DEFINITE or _is_regular(part, ask)
    return _is_scaled_gram(x, y, fact, ask)


def _is_scaled_gram(x: TensorVariable, y: TensorVariable, fact: str, ask: Ask) -> bool:
    """Whether ``x y`` has the fact because it is ``A diag(s) A^H``.

    The diagonal matrix is written as a vector s that multiplies the columns of A or the rows of ``A^H``. For
    "positive_semidefinite" the elements of s must not be negative. For "positive_definite" they must be positive, and
    for "symmetric" they may be any numbers.
    """
    for whole, other, axis in ((x, y, -2), (y, x, -1)):
        inner = whole.owner
        if inner is None or inner.op != ot.mul:
            continue
        factors = tensors(inner.inputs)
        for matrix in factors:
            rest = [v for v in factors if v is not matrix]
            if any(v.type.ndim >= -axis and v.type.shape[axis] != 1 for v in rest):
                continue
            if not are_transposes(matrix, other, fact != "symmetric"):
                continue
            if fact == "symmetric":
                return True
            sign = "positive" if fact == _DEFINITE else "nonnegative"
            if all(ask(v, sign) for v in rest):
                return fact != _DEFINITE or _is_regular(matrix, ask)
    return False


def _is_regular(x: TensorVariable, ask: Ask) -> bool:
    """Whether a matrix (or each matrix of a batch) is known to have an inverse."""
    if ask(x, "orthogonal") or ask(x, _DEFINITE):
        return True
    return bool(ask(x, "unit_diagonal") and any(ask(x, t) for t in _TRIANGLES))


def _congruence(fact: str) -> None:
    @infers(fact, Dot, MatMul)
    def product(node: TensorApply, ask: Ask) -> bool | None:
        x, y = node.inputs
        if x.type.ndim < 2 or y.type.ndim < 2:
            return None
        return True if _is_congruent(x, y, fact, ask) else None

    @infers(fact, Gemm)
    def accumulated(node: TensorApply[Gemm], ask: Ask) -> bool | None:
        z, alpha, x, y, beta = node.inputs
        inner = "symmetric" if fact == "symmetric" else _SEMI
        if not ask(z, fact) or not _is_congruent(x, y, inner, ask):
            return None
        if fact == "symmetric":
            return True
        sign = "positive" if fact == _DEFINITE else "nonnegative"
        return True if ask(alpha, "nonnegative") and ask(beta, sign) else None


for _fact in ("symmetric", _SEMI, _DEFINITE):
    _congruence(_fact)


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
        for triangle in _TRIANGLES:
            if all(ask(v, triangle) and ask(v, fact) for v in node.inputs):
                return True
    return True if fact in _CLOSED and all(ask(v, fact) for v in node.inputs) else None
