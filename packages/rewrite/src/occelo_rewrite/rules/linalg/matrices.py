"""Helpers of the rules of linear algebra: transposes, products and diagonals of batches of matrices, and their facts.

All modules of this package use them.
"""

from __future__ import annotations

from occelo_graph import FunctionGraph, TensorApply, TensorVariable, computed_by
from occelo_graph import tensor as ot
from occelo_graph.ops.blas.products import Dot, MatMul
from occelo_graph.ops.index.search import AllocDiag
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.tensors.type import is_complex
from occelo_rewrite.assumptions import assumptions_of
from occelo_rewrite.assumptions.shape import is_transposition
from occelo_rewrite.shapes import shapes_of

__all__ = [
    "adjoint",
    "diagonal_of",
    "has",
    "is_only_reader",
    "is_square",
    "is_vector_product",
    "product",
    "transposed_of",
    "with_diagonal",
]


def has(fgraph: FunctionGraph, x: TensorVariable, fact: str) -> bool:
    """Whether a fact is known to hold."""
    return assumptions_of(fgraph).holds(fgraph, x, fact) is True


def is_square(fgraph: FunctionGraph, x: TensorVariable) -> bool:
    """Whether matrices are known to have as many rows as columns."""
    rows, columns = shapes_of(fgraph).shape_of(fgraph, x)[-2:]
    return rows is columns or (isinstance(rows, int) and rows == columns)


def is_only_reader(fgraph: FunctionGraph, x: TensorVariable) -> bool:
    """Whether one node alone reads a variable."""
    return len(fgraph.clients.get(x, ())) == 1


def adjoint(x: TensorVariable) -> TensorVariable:
    """The conjugate transposes of matrices."""
    turned = ot.matrix_transpose(x)
    return turned.conj() if is_complex(x.type.dtype) else turned


def transposed_of(x: TensorVariable) -> TensorVariable | None:
    """The matrices that ``x`` transposes; None if ``x`` is no transposition."""
    owner = computed_by(x, DimShuffle)
    return owner.inputs[0] if owner is not None and is_transposition(owner.op) else None


def diagonal_of(x: TensorVariable) -> TensorVariable:
    """The diagonals of matrices."""
    return ot.diagonal(x, 0, x.type.ndim - 2, x.type.ndim - 1)


def with_diagonal(d: TensorVariable) -> TensorVariable:
    """The matrices with these diagonals, and zeros elsewhere."""
    made: TensorVariable = AllocDiag()(d)
    return made


def product(x: TensorVariable, y: TensorVariable) -> TensorVariable:
    """The product of matrices, or of batches of them."""
    return Dot()(x, y) if x.type.ndim == y.type.ndim == 2 else MatMul()(x, y)


def is_vector_product(node: TensorApply) -> bool:
    """Whether one factor of a product is a vector."""
    return any(v.type.ndim == 1 for v in node.inputs)
