"""`SparseVariable`: the class of symbolic sparse matrices, with operators and methods; constants and shared matrices."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from occelo_graph.config import FLOAT_X
from occelo_graph.ir.nodes import Constant, NominalVariable, Variable
from occelo_graph.ir.shared import SharedVariable, shared_constructor
from occelo_graph.ir.types import Type
from occelo_graph.ops.create import zeros_like
from occelo_graph.tensors.variable import TensorSharedVariable, TensorVariable
from occelo_sparse.ops import arithmetic, conversions, elementwise, indexing, multiplying
from occelo_sparse.ops.assembling import csm_data, csm_shape, with_values
from occelo_sparse.ops.types import SparseTensorType, is_sparse_value

__all__ = [
    "SparseConstant",
    "SparseTensorSharedVariable",
    "SparseVariable",
    "sparse_constructor",
]


if TYPE_CHECKING:

    class _Dense(Variable):
        """What a sparse variable is for type checkers: it shares no methods with dense ones."""

        type: Any

    _Shared = SharedVariable
else:
    _Dense, _Shared = TensorVariable, TensorSharedVariable


class SparseVariable(_Dense):
    """A symbolic sparse matrix.

    It is a tensor variable only by its class, so that Python asks it first for ``dense + sparse``; functions of dense
    tensors refuse it. TypeError if the name is no string.
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

    def sum(self, axis: int | None = None, sparse_grad: bool = False) -> TensorVariable:
        """The sum of all elements, or along ``axis``; ``sparse_grad`` changes nothing."""
        return indexing.sp_sum(self, axis, sparse_grad)

    def diagonal(self) -> TensorVariable:
        """The main diagonal, a dense vector."""
        return indexing.diag(self)

    def zeros_like(self, dtype: Any = None) -> SparseVariable:
        """A matrix of this shape without stored values."""
        zeros = conversions.sp_zeros_like(self)
        return zeros if dtype is None else zeros.astype(dtype)

    def ones_like(self, dtype: Any = None) -> SparseVariable:
        """A matrix of ones where this one has stored values."""
        ones = conversions.sp_ones_like(self)
        return ones if dtype is None else ones.astype(dtype)

    def copy(self, name: str | None = None) -> SparseVariable:
        """A matrix with these values, and a ``name``."""
        copied = self.with_values(csm_data(self))
        copied.name = name
        return copied

    def __matmul__(self, other: Any) -> TensorVariable:
        return multiplying.dot(self, other)

    def __rmatmul__(self, other: Any) -> TensorVariable:
        return multiplying.dot(other, self)

    __dot__ = __matmul__
    __rdot__ = __rmatmul__

    def __neg__(self) -> SparseVariable:
        return elementwise.neg(self)

    def __abs__(self) -> SparseVariable:
        return elementwise.abs(self)

    def __ceil__(self) -> SparseVariable:
        return elementwise.ceil(self)

    def __floor__(self) -> SparseVariable:
        return elementwise.floor(self)

    def __trunc__(self) -> SparseVariable:
        return elementwise.trunc(self)

    def __add__(self, other: Any) -> Any:
        return arithmetic.add(self, other)

    def __radd__(self, other: Any) -> Any:
        return arithmetic.add(other, self)

    def __sub__(self, other: Any) -> Any:
        return arithmetic.subtract(self, other)

    def __rsub__(self, other: Any) -> Any:
        return arithmetic.subtract(other, self)

    def __mul__(self, other: Any) -> SparseVariable:
        return arithmetic.multiply(self, other)

    def __rmul__(self, other: Any) -> SparseVariable:
        return arithmetic.multiply(other, self)

    def __truediv__(self, other: Any) -> SparseVariable:
        return arithmetic.divide(self, other)

    def __lt__(self, other: Any) -> Any:
        return arithmetic.lt(self, other)

    def __le__(self, other: Any) -> Any:
        return arithmetic.le(self, other)

    def __gt__(self, other: Any) -> Any:
        return arithmetic.gt(self, other)

    def __ge__(self, other: Any) -> Any:
        return arithmetic.ge(self, other)

    def eq(self, other: Any) -> Any:
        """Whether elements are equal, as uint8."""
        return arithmetic.eq(self, other)

    def neq(self, other: Any) -> Any:
        """Whether elements differ, as uint8."""
        return arithmetic.neq(self, other)

    def __getitem__(self, key: Any) -> Any:
        return indexing.getitem(self, key)

    def __len__(self) -> int:
        raise TypeError("The length of a sparse matrix is ambiguous; use shape[0] or csm_data")

    def __iter__(self) -> Any:
        raise TypeError("There are no sparse vectors to iterate over; use toarray()")

    __hash__ = Variable.__hash__


_STRUCTURED = (
    "abs arcsin arcsinh arctan arctanh ceil conj conjugate deg2rad expm1 floor log1p rad2deg sign sin sinh sqrt tan tanh trunc"
).split()
"""Methods that are structured functions: those whose value at 0 is 0."""
_DENSE = (
    "all any arccos arccosh argmax argmin argsort choose clip compress cos cosh cumprod cumsum dimshuffle exp exp2 fill "
    "flatten join_with log log10 log2 max mean min nonzero nonzero_values norm prod ptp ravel repeat reshape round sort "
    "specify_shape squeeze std swapaxes take trace var __and__ __divmod__ __floordiv__ __mod__ __or__ __pow__ __rtruediv__ "
    "__xor__ __rpow__ __rmod__ __rfloordiv__ __rdivmod__ __rand__ __ror__ __rxor__"
).split()
"""Methods of dense tensors, which convert the matrix first, with a warning, as in PyTensor."""


def _structured_method(name: str) -> Callable[[Any], SparseVariable]:
    def method(self: Any) -> SparseVariable:
        matrix: SparseVariable = getattr(elementwise, name)(self)
        return matrix

    return method


def _dense_method(name: str) -> Callable[..., Any]:
    def method(self: Any, *arguments: Any, **options: Any) -> Any:
        warnings.warn(
            f"Sparse matrices have no {name}: the matrix becomes a dense one; use toarray() to say so",
            stacklevel=2,
        )
        return getattr(self.toarray(), name)(*arguments, **options)

    return method


for _name in _STRUCTURED:
    setattr(SparseVariable, _name, _structured_method(_name))
for _name in _DENSE:
    setattr(SparseVariable, _name, _dense_method(_name))


class SparseConstant(SparseVariable, Constant):
    """A sparse matrix with a fixed value. TypeError if the type does not accept the value."""

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


class SparseTensorSharedVariable(SparseVariable, _Shared):
    """A shared variable whose value is a sparse matrix. TypeError if the type does not accept the value."""

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

    ``format`` is that of the value by default, or CSR for values that are neither CSR nor CSC. ``name``, ``strict``,
    ``allow_downcast`` and ``borrow`` are those of `shared`. TypeError for values that are not sparse.
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
