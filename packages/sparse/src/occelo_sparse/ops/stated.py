"""Facts about sparse matrices, and the ops that carry them: `OrderedIndices` and `SymmetricValues`.

Graphs of sparse matrices are graphs of their parts. So a fact about a matrix stands at a part: an op returns the part as it
is, and has as further inputs the other parts that the fact is about. Rules look facts up (`occelo_sparse.facts`), and
drop these ops at last.

| fact | what is so |
|---|---|
| sorted_indices | in each line, indices do not decrease |
| canonical | in each line, indices increase: in order, and one stored value for each place |
| symmetric | the matrix equals its transpose, value by value: no place is stored more than once unless its transposed place is so, too |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import op
from occelo_graph.ops.control.facts import FACTS, Fact
from occelo_graph.ops.control.identities import Unchanged
from occelo_sparse.ops.assembling import CSM, as_sparse_variable, properties

if TYPE_CHECKING:
    from occelo_sparse.ops.variable import SparseVariable

__all__ = ["assume"]

FACTS.setdefault("sorted_indices", Fact("sorted_indices"))
FACTS.setdefault("canonical", Fact("canonical", True, ("sorted_indices",)))


ORDERS = ("sorted_indices", "canonical")
"""The facts about the order of stored values."""


class _Known(Unchanged):
    """Base class of ops that return their first input, of which something is known beside the other ones."""

    def infer(self, x: Any, *others: Any) -> Any:
        return x

    def evaluate(self, x: Any, *others: Any) -> Any:
        return x

    def decompose(self, x: Any, *others: Any) -> Sequence[Any]:
        return [x]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[i == 0] for i in range(len(node.inputs))]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return [inputs[0]]


@op
class OrderedIndices(_Known):
    """The indices of a matrix, from these, its offsets, and the indices and offsets of other matrices.

    ``facts`` hold for the matrix. Those of ``inherited`` hold if they hold for all of the other matrices.
    """

    facts: tuple[str, ...] = ()
    inherited: tuple[str, ...] = ()


@op
class SymmetricValues(_Known):
    """The values of a matrix, from these, its indices and offsets, and the parts of other matrices.

    The matrix is symmetric if all the others are, of which there may be none.
    """


def arranged(
    x: Any, *sources: Any, facts: tuple[str, ...] = (), inherited: tuple[str, ...] = ()
) -> SparseVariable:
    """``x``, for which ``facts`` are known, and those of ``inherited`` if they hold for all matrices ``sources``."""
    values, indices, offsets, extent = properties(x)
    others = [part for each in sources for part in properties(each)[1:3]]
    known = OrderedIndices(facts, inherited)(indices, offsets, *others)
    matrix: SparseVariable = CSM(x.type.format)(values, known, offsets, extent)
    return matrix


def of_symmetric(x: Any, *sources: Any) -> SparseVariable:
    """``x``, of which it is known that it is symmetric if all matrices ``sources`` are."""
    values, indices, offsets, extent = properties(x)
    others = [part for each in sources for part in properties(each)]
    known = SymmetricValues()(values, indices, offsets, *others)
    matrix: SparseVariable = CSM(x.type.format)(known, indices, offsets, extent)
    return matrix


def assume(
    x: Any,
    *,
    symmetric: bool = False,
    sorted_indices: bool = False,
    canonical: bool = False,
) -> SparseVariable:
    """State facts about the sparse matrix ``x``, on which rewriting relies without a check.

    In a matrix with ``sorted_indices``, the indices of each row (CSR) or column (CSC) do not decrease. In a ``canonical`` one they
    increase, so that no place is stored twice. A ``symmetric`` matrix equals its transpose. If a fact is wrong, results are undefined.
    Facts of constants are found without it. TypeError if nothing is stated, or if ``x`` is dense; ValueError for a ``symmetric`` matrix
    that is known to have other numbers of rows than of columns.
    """
    matrix = as_sparse_variable(x)
    order = "canonical" if canonical else "sorted_indices" if sorted_indices else None
    if order is None and not symmetric:
        raise TypeError("assume needs something to assume, such as symmetric=True")
    rows, columns = matrix.type.shape
    if symmetric and None not in (rows, columns) and rows != columns:
        raise ValueError(f"A symmetric matrix is square, got the shape {(rows, columns)}")
    if order is not None:
        matrix = arranged(matrix, facts=(order,))
    if symmetric:
        matrix = of_symmetric(matrix)
    return matrix
