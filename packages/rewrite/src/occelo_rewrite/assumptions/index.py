"""Inference of facts about diagonals, diagonal matrices, and parts of matrices.

`assumptions.inference` calls these functions when a rule looks up a fact about the result of an `AllocDiag`,
`ExtractDiag`, `Subtensor`, `AdvancedSubtensor` or `AdvancedIncSubtensor` node. They use these theorems:

- A matrix made from its main diagonal is diagonal. If the diagonal is positive (not negative), the matrix is positive
  definite (semidefinite).
- The diagonal of a real positive definite (semidefinite) matrix is positive (not negative).
- If slices select the same rows and columns of a matrix, most facts hold for the part, too: symmetric, hermitian,
  positive (semi)definite, unit_diagonal, tridiagonal, diagonal. If the step is known to be positive,
  "lower_triangular" and "upper_triangular" hold as well.
- Rows of a selection matrix form a selection matrix.
- Elements that are written at constant positions on or below the main diagonal leave a matrix lower triangular; the same
  holds for positions above it, and on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from occelo_graph import Constant, TensorApply
from occelo_graph.narrowing import is_slice
from occelo_graph.ops.control.facts import FACTS
from occelo_graph.ops.index.key import ARRAY, SCALAR
from occelo_graph.ops.index.search import AllocDiag, ExtractDiag
from occelo_graph.ops.index.subtensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    Subtensor,
)
from occelo_graph.tensors.type import is_complex
from occelo_rewrite.assumptions.inference import Ask, infers, infers_many


@infers("diagonal", AllocDiag)
def _made_diagonal(node: TensorApply[AllocDiag], ask: Ask) -> bool | None:
    return True if node.op.offset == 0 else None


@infers("positive_definite", AllocDiag)
def _with_positive_diagonal(node: TensorApply[AllocDiag], ask: Ask) -> bool | None:
    return True if node.op.offset == 0 and ask(node.inputs[0], "positive") else None


@infers("positive_semidefinite", AllocDiag)
def _with_nonnegative_diagonal(node: TensorApply[AllocDiag], ask: Ask) -> bool | None:
    return True if node.op.offset == 0 and ask(node.inputs[0], "nonnegative") else None


def _sign_of_diagonal(sign: str, fact: str) -> None:
    @infers(sign, ExtractDiag)
    def extracted(node: TensorApply[ExtractDiag], ask: Ask) -> bool | None:
        (x,) = node.inputs
        ndim = x.type.ndim
        main = node.op.offset == 0 and {node.op.axis1, node.op.axis2} == {ndim - 2, ndim - 1}
        return True if main and not is_complex(x.type.dtype) and ask(x, fact) else None


_sign_of_diagonal("positive", "positive_definite")
_sign_of_diagonal("nonnegative", "positive_semidefinite")


@infers("selection", AdvancedSubtensor)
def _chosen_rows(node: TensorApply[AdvancedSubtensor], ask: Ask) -> bool | None:
    """Whether the result is a selection matrix because it consists of rows of a selection matrix, in any order."""
    x, *indices = node.inputs
    first, *rest = node.op.key
    rows = first == ARRAY and indices[0].type.ndim == 1 and all(e == slice(None) for e in rest)
    return True if rows and x.type.ndim == 2 and ask(x, "selection") else None


_KEPT_BY_WRITES = {
    "lower_triangular": np.greater_equal,
    "upper_triangular": np.less_equal,
    "diagonal": np.equal,
}
"""The facts that a write keeps if this holds for the rows and columns of all elements that are written."""


@infers_many(AdvancedIncSubtensor)
def _written(node: TensorApply[AdvancedIncSubtensor], fact: str, ask: Ask) -> bool | None:
    """Whether a matrix is triangular or diagonal although elements were written to constant positions."""
    x, _, *indices = node.inputs
    if fact not in _KEPT_BY_WRITES or x.type.ndim != 2 or node.op.key != (ARRAY, ARRAY):
        return None
    if not all(isinstance(i, Constant) and i.type.dtype != "bool" for i in indices):
        return None
    rows, columns = (np.asarray(getattr(i, "data", None)) for i in indices)
    if rows.min(initial=0) < 0 or columns.min(initial=0) < 0:
        return None  # counted from the end
    return True if _KEPT_BY_WRITES[fact](rows, columns).all() and ask(x, fact) else None


_OF_PRINCIPAL = frozenset(
    "symmetric hermitian positive_semidefinite positive_definite unit_diagonal tridiagonal diagonal".split()
)
_OF_ORDERED = frozenset(("lower_triangular", "upper_triangular"))
_OF_SQUARE = frozenset("symmetric hermitian positive_semidefinite positive_definite".split())


@infers_many(Subtensor)
def _part(node: TensorApply[Subtensor], fact: str, ask: Ask) -> bool | None:
    """Whether a fact holds for a part of a matrix because it holds for the matrix.

    The slices must select whole matrices, or the same rows and columns.
    """
    x = node.inputs[0]
    if fact not in FACTS or not FACTS[fact].of_matrices or x.type.ndim < 2:
        return None
    rows, columns = _entries(node)[-2:]
    if not is_slice(rows) or not is_slice(columns):
        return None
    if rows == columns == slice(None):
        return ask(x, fact)
    parts, others = ([s.start, s.stop, s.step] for s in (rows, columns))
    if any(a is not b and a != b for a, b in zip(parts, others, strict=True)):
        return None
    ahead = rows.step is None or (isinstance(rows.step, int) and rows.step > 0)
    if fact not in _OF_PRINCIPAL and not (fact in _OF_ORDERED and ahead):
        return None
    # bounds that count from the end select the same rows and columns only in a square matrix
    counted = ahead and all(n is None or (isinstance(n, int) and n >= 0) for n in parts)
    n, m = x.type.shape[-2:]
    if fact not in _OF_SQUARE and not counted and (n is None or n != m):
        return None
    return True if ask(x, fact) else None


def _entries(node: TensorApply[Subtensor]) -> Sequence[Any]:
    """The entries of a node's index key. Where the op's key has a marker for an input, the entry is the input."""
    indices = iter(node.inputs[1:])

    def filled(part: Any) -> Any:
        return next(indices) if part == SCALAR else part

    return [
        slice(filled(e.start), filled(e.stop), filled(e.step)) if is_slice(e) else filled(e)
        for e in node.op.key
    ]
