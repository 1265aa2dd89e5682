"""`SparseVariable`: the class of symbolic sparse matrices, with operators and methods; constants and shared matrices."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from occelo_graph.config import FLOAT_X
from occelo_graph.ir.nodes import Constant, NominalVariable, Variable
from occelo_graph.ir.shared import shared_constructor
from occelo_graph.ir.types import Type
from occelo_graph.ops.create import zeros_like
from occelo_graph.tensors.variable import TensorSharedVariable, TensorVariable
from occelo_sparse.ops import conversions, multiplying
from occelo_sparse.ops.assembling import csm_data, csm_shape, with_values
from occelo_sparse.ops.types import SparseTensorType, is_sparse_value

__all__ = [
    "SparseConstant",
    "SparseTensorSharedVariable",
    "SparseVariable",
    "sparse_constructor",
]


if TYPE_CHECKING:

    class _Dense(TensorVariable):
        """`TensorVariable` for type checkers, with any type."""

        type: Any
else:
    _Dense = TensorVariable


class SparseVariable(_Dense):
    """A symbolic sparse matrix.

    It is a tensor variable only by its class, so that Python asks it first for ``dense + sparse``; functions of dense
    tensors refuse it.
    """

    __slots__ = ()

    @property
    def format(self) -> str:
        """The format, "csr" or "csc"."""
        return self.type.format

    @property
    def shape(self) -> Any:
        """The numbers of rows and columns, as an int64 vector."""
        return csm_shape(self)

    @property
    def T(self) -> SparseVariable:
        """The transpose."""
        return conversions.transpose(self)

    def transpose(self, *axes: Any) -> SparseVariable:
        """The transpose. ``axes`` are those of a matrix, (1, 0), or none."""
        if axes not in ((), (1, 0), ((1, 0),), (None,)):
            raise ValueError(f"The axes of a transposed sparse matrix are (1, 0), got {axes}")
        return conversions.transpose(self)

    def with_values(self, values: Any) -> SparseVariable:
        """A matrix with the structure of this one and other stored ``values``; None is zeros.

        Zeros for a matrix of integers are of the dtype floatX, as the gradients by it.
        """
        if values is None:
            dtype = FLOAT_X.get() if self.type.is_discrete else self.type.dtype
            values = zeros_like(csm_data(self), dtype)
        return with_values(self, values)

    def toarray(self) -> TensorVariable:
        """The dense matrix of these elements."""
        return conversions.dense_from_sparse(self)

    def astype(self, dtype: Any) -> SparseVariable:
        """The matrix with another dtype."""
        return conversions.cast(self, dtype)

    def tocsr(self) -> SparseVariable:
        """The matrix in CSR."""
        return conversions.tocsr(self)

    def tocsc(self) -> SparseVariable:
        """The matrix in CSC."""
        return conversions.tocsc(self)

    def dot(self, right: Any) -> TensorVariable:
        """The dense product with ``right``."""
        return multiplying.dot(self, right)

    def __matmul__(self, other: Any) -> TensorVariable:
        return multiplying.dot(self, other)

    def __rmatmul__(self, other: Any) -> TensorVariable:
        return multiplying.dot(other, self)

    __hash__ = Variable.__hash__


class SparseConstant(SparseVariable, Constant):
    """A sparse matrix with a fixed value."""

    __slots__ = ()

    def __init__(self, type: SparseTensorType, data: Any, name: str | None = None) -> None:
        Constant.__init__(self, type, data, name)

    def clone(self, name: str | None = None) -> Any:
        return self


class _SparseNominal(SparseVariable, NominalVariable):
    """A sparse matrix that is an input of an inner graph."""

    __slots__ = ()

    def __init__(self, id: int, type: Type) -> None:
        NominalVariable.__init__(self, id, type)

    def clone(self, name: str | None = None) -> Any:
        return self


class SparseTensorSharedVariable(SparseVariable, TensorSharedVariable):
    """A shared variable whose value is a sparse matrix."""

    __slots__ = ()


SparseTensorType.variable_class = SparseVariable
SparseTensorType.constant_class = SparseConstant
SparseTensorType.nominal_class = _SparseNominal


def sparse_constructor(
    value: Any,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
    format: str | None = None,
) -> SparseTensorSharedVariable:
    """A shared variable whose value is a sparse matrix; `shared` calls it for matrices of SciPy.

    ``format`` is that of the value by default, or CSR for values that are neither CSR nor CSC. The other arguments are
    those of `shared`. TypeError for values that are not sparse.
    """
    if not is_sparse_value(value):
        raise TypeError(f"Expected a matrix of scipy.sparse, got {type(value).__name__}")
    if format is None:
        format = "csc" if value.format == "csc" else "csr"
    kind = SparseTensorType(format, value.dtype)
    return SparseTensorSharedVariable(
        kind, value if borrow else copy.deepcopy(value), strict, allow_downcast, None, name
    )


shared_constructor(is_sparse_value, sparse_constructor)
