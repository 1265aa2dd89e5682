"""Helpers that the rules of linear algebra share: transposes, products, diagonals and facts of matrices.

The functions also accept batches of matrices. All other modules of `occelo_linalg.rules` use them.
"""

from __future__ import annotations

from collections.abc import Iterator

from occelo_graph import Apply, FunctionGraph, TensorApply, TensorVariable, computed_by
from occelo_graph import tensor as ot
from occelo_graph.ir.nodes import is_node
from occelo_graph.ops.blas.products import Dot, MatMul
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.index.search import AllocDiag
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.tensors.type import is_complex
from occelo_rewrite.assumptions import assumptions_of
from occelo_rewrite.assumptions.shape import is_transposition
from occelo_rewrite.shapes import shapes_of


def has(fgraph: FunctionGraph, x: TensorVariable, fact: str) -> bool:
    """Whether the fact is known to hold for ``x``."""
    return assumptions_of(fgraph).holds(fgraph, x, fact) is True


def is_square(fgraph: FunctionGraph, x: TensorVariable) -> bool:
    """Whether ``x`` is known to have as many rows as columns."""
    rows, columns = shapes_of(fgraph).shape_of(fgraph, x)[-2:]
    return rows is columns or (isinstance(rows, int) and rows == columns)


def is_only_reader(fgraph: FunctionGraph, x: TensorVariable) -> bool:
    """Whether a variable has exactly one user."""
    return len(fgraph.clients.get(x, ())) == 1


def adjoint(x: TensorVariable) -> TensorVariable:
    """The conjugate transpose."""
    turned = ot.matrix_transpose(x)
    return turned.conj() if is_complex(x.type.dtype) else turned


def transposed_of(x: TensorVariable) -> TensorVariable | None:
    """The input of the transposition that computes ``x``; None if no transposition computes it."""
    owner = computed_by(x, DimShuffle)
    return owner.inputs[0] if owner is not None and is_transposition(owner.op) else None


def untransposed(x: TensorVariable) -> tuple[TensorVariable, int]:
    """Return the matrix ``m`` whose transpose ``x`` is, and a number: 1 if ``x`` is ``m.T``, 2 if it is ``conj(m.T)``.

    If ``x`` is no transpose, return ``x`` itself and 0.
    """
    owner = computed_by(x, Elemwise)
    if owner is not None and owner.op == ot.conj:
        inner = transposed_of(owner.inputs[0])
        return (x, 0) if inner is None else (inner, 2)
    inner = transposed_of(x)
    return (x, 0) if inner is None else (inner, 1)


def readers_of_transposes(
    fgraph: FunctionGraph, x: TensorVariable
) -> Iterator[tuple[Apply | str, int]]:
    """The users of ``x``, of its transpose and of its conjugate transpose.

    Each user is a pair, as in ``fgraph.clients``: a node (or "output") and the position of its input.
    """
    for reader, position in fgraph.clients.get(x, ()):
        yield reader, position
        if not is_node(reader) or not is_transposition(reader.op):
            continue
        for second, place in fgraph.clients.get(reader.outputs[0], ()):
            yield second, place
            if is_node(second) and second.op == ot.conj:
                yield from fgraph.clients.get(second.outputs[0], ())


def diagonal_of(x: TensorVariable) -> TensorVariable:
    """The diagonal of a matrix, or of each matrix of a batch."""
    return ot.diagonal(x, 0, x.type.ndim - 2, x.type.ndim - 1)


def ascending_order(values: TensorVariable) -> TensorVariable:
    """The permutation that sorts a vector in ascending order, like ``argsort``."""
    n = values.shape[0]
    return ot.zeros(n, "int64")[preceding(values)].set(ot.arange(n))


def preceding(values: TensorVariable) -> TensorVariable:
    """For each element of a vector, how many other elements come before it in ascending order.

    Equal elements keep their order.
    """
    place = ot.arange(values.shape[-1])
    mine, others = ot.expand_dims(values, -1), ot.expand_dims(values, -2)
    earlier = ot.lt(place, ot.expand_dims(place, -1))
    before = ot.or_(ot.lt(others, mine), ot.and_(ot.eq(others, mine), earlier))
    return before.sum(axis=-1)


def with_diagonal(d: TensorVariable) -> TensorVariable:
    """The matrix with the diagonal ``d`` and zeros elsewhere."""
    matrix: TensorVariable = AllocDiag()(d)
    return matrix


def product(x: TensorVariable, y: TensorVariable) -> TensorVariable:
    """The product of two matrices, or of batches of matrices."""
    return Dot()(x, y) if x.type.ndim == y.type.ndim == 2 else MatMul()(x, y)


def is_vector_product(node: TensorApply) -> bool:
    """Whether a factor of a product is a vector."""
    return any(v.type.ndim == 1 for v in node.inputs)
