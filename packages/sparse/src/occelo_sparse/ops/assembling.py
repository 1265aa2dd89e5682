"""The two ops that sparse matrices need: `CSM` makes a matrix of its parts, and `CSMProperties` takes it apart.

All other functions are graphs over the parts, which are dense tensors. The cotangent of a sparse matrix is a vector with
a cotangent for each stored value: a gradient has the structure of its variable.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.errors import describe
from occelo_graph.ir.nodes import Apply, Constant, Variable, is_node
from occelo_graph.ir.op import Cotangents, Op, Tangents, op
from occelo_graph.ops.cast import cast
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.create import zeros
from occelo_graph.ops.elemwise.arithmetic import eq
from occelo_graph.ops.length_inputs import lengths_of as static_lengths_of
from occelo_graph.ops.shape.reading import Shape_i
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import is_tensor
from occelo_graph.tensors.type import TensorType
from occelo_sparse.ops.types import SparseTensorType, is_sparse, is_sparse_value

if TYPE_CHECKING:
    from occelo_sparse.ops.variable import SparseVariable

__all__ = [
    "CSC",
    "CSM",
    "CSR",
    "CSMProperties",
    "as_sparse",
    "as_sparse_or_tensor_variable",
    "as_sparse_variable",
    "as_symbolic_sparse",
    "constant",
    "csm_data",
    "csm_indices",
    "csm_indptr",
    "csm_properties",
    "csm_shape",
]


@op
class _OfParts(Op):
    """Base class of ops between a matrix and its parts, of which only the values have derivatives."""

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        raise NotImplementedError(
            f"{self} has no batches: a sparse matrix has two dimensions; batches of vectors are columns of a dense matrix"
        )


@op
class CSMProperties(_OfParts):
    """The parts of a sparse matrix: values, indices, offsets and extent (`occelo_sparse.ops.types`)."""

    view_map = {0: [0], 1: [0], 2: [0]}

    def infer(self, kind: Any) -> tuple[TensorType, ...]:
        if not isinstance(kind, SparseTensorType):
            raise TypeError(f"Expected a sparse matrix, got {kind}")
        return kind.parts()

    def evaluate(self, matrix: Any) -> Any:
        return matrix.data, matrix.indices, matrix.indptr, np.empty((*matrix.shape, 0), bool)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True, False, False, False]]

    def pullback(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Cotangents
    ) -> Cotangents:
        return [cotangents[0]]

    def pushforward(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], tangents: Tangents
    ) -> Tangents:
        return [tangents[0], None, None, None]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        # there is an index for each value, so both have one length
        measured = [node.outputs[1], *node.outputs[1:]]
        return [
            tuple(Shape_i(i)(v) if n is None else n for i, n in enumerate(v.type.shape or ()))
            for v in measured
        ]


@op
class CSM(_OfParts):
    """A sparse matrix of the ``format`` "csr" or "csc", from its values, indices, offsets and extent.

    In Python the arrays are copied.
    """

    format: str

    def infer(self, data: Any, indices: Any, indptr: Any, extent: Any) -> SparseTensorType:
        for name, kind in (("values", data), ("indices", indices), ("offsets", indptr)):
            if not isinstance(kind, TensorType) or kind.ndim != 1:
                raise TypeError(f"The {name} of a sparse matrix are a vector, got {kind}")
        for name, kind in (("indices", indices), ("offsets", indptr)):
            if kind.dtype != "int32":
                raise TypeError(f"The {name} of a sparse matrix are int32, got {kind}")
        fits = isinstance(extent, TensorType) and extent.ndim == 3 and extent.shape[2] == 0
        if not fits or extent.dtype != "bool":
            raise TypeError(
                f"The extent of a sparse matrix is bool (rows, columns, 0), got {extent}"
            )
        return SparseTensorType(self.format, data.dtype, extent.shape[:2])

    def evaluate(self, data: Any, indices: Any, indptr: Any, extent: Any) -> Any:
        kind = SparseTensorType(self.format, data.dtype)
        copies = [np.array(part) for part in (data, indices, indptr)]
        return kind.from_parts([*copies, extent])

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True], [False], [False], [False]]

    def pullback(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Cotangents
    ) -> Cotangents:
        return [cotangents[0], None, None, None]

    def pushforward(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], tangents: Tangents
    ) -> Tangents:
        return [tangents[0]]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [tuple(input_shapes[3][:2])]


def _compressed(format: str, data: Any, indices: Any, indptr: Any, shape: Any) -> SparseVariable:
    extent = extent_of(shape)
    offsets = _int32(indptr, "offsets")
    (more,), lines = offsets.type.shape, extent.type.shape[0 if format == "csr" else 1]
    if None not in (more, lines) and more != lines + 1:
        raise ValueError(f"A {format} matrix of {lines} lines has {lines + 1} offsets, got {more}")
    values = as_tensor_variable(data)
    matrix: SparseVariable = CSM(format)(values, _int32(indices, "indices"), offsets, extent)
    return matrix


def CSR(data: Any, indices: Any, indptr: Any, shape: Any) -> SparseVariable:
    """A CSR matrix: ``data`` are its stored values, ``indices`` their columns, and row ``i`` has those from ``indptr[i]`` to before ``indptr[i + 1]``.

    ``shape`` is a pair of lengths, or a vector of two integers. Indices of any integer dtype are cast to int32. The last offset is the number of
    values. TypeError if a part is no vector, ValueError for another number of offsets than rows and one more.
    """
    return _compressed("csr", data, indices, indptr, shape)


def CSC(data: Any, indices: Any, indptr: Any, shape: Any) -> SparseVariable:
    """A CSC matrix of ``data``, ``indices``, ``indptr`` and ``shape``: as `CSR`, but indices are rows, and offsets are those of columns."""
    return _compressed("csc", data, indices, indptr, shape)


COMPRESSED = {"csr": CSR, "csc": CSC}
"""The functions that make matrices of their parts, by format."""


def _int32(part: Any, name: str) -> Any:
    vector = as_tensor_variable(part)
    if vector.type.ndim != 1 or np.dtype(vector.dtype).kind not in "iu":
        raise TypeError(
            f"The {name} of a sparse matrix are a vector of integers, got {describe(vector)}"
        )
    return cast(vector, "int32")


def extent_of(shape: Any) -> Any:
    """The extent of a matrix of a shape: a pair of lengths, a vector, or an extent already."""
    if is_tensor(shape) and shape.type.ndim == 3:
        return shape
    if is_tensor(shape) and shape.type.shape == (None,):
        shape = shape.specify_shape((2,))
    lengths = static_lengths_of(shape)
    if len(lengths) != 2:
        raise ValueError(f"The shape of a sparse matrix is a pair of lengths, got {len(lengths)}")
    return zeros([*lengths, 0], "bool")


def constant(x: Any, name: str | None = None) -> Any:
    """A sparse constant named ``name``, with a copy of ``x``, a matrix or an array of `scipy.sparse`.

    Values in other formats than CSC become CSR. TypeError for anything else, and for dtypes that sparse matrices have not.
    """
    if not is_sparse_value(x):
        raise TypeError(f"Expected a matrix of scipy.sparse, got {type(x).__name__}")
    kind = SparseTensorType("csc" if x.format == "csc" else "csr", x.dtype, x.shape)
    return kind.make_constant(kind.copy(kind.filter(x)), name)


def as_sparse_variable(
    x: Any, name: str | None = None, ndim: int | None = None, **options: Any
) -> SparseVariable:
    """``x`` as a sparse variable: a sparse variable as it is, a node's output, or a constant named ``name``.

    ``ndim`` and further options are ignored. TypeError if ``x`` is dense; `csr_from_dense` and `csc_from_dense` convert dense matrices.
    """
    if is_node(x):
        return as_sparse_variable(x.default_output(), name)
    if isinstance(x, Variable):
        if not is_sparse(x):
            raise TypeError(
                f"Expected a sparse matrix, got {describe(x)}; csr_from_dense makes one of a dense matrix"
            )
        same: Any = x
        return same
    return constant(x, name)


as_sparse = as_symbolic_sparse = as_sparse_variable


def as_sparse_or_tensor_variable(x: Any, name: str | None = None) -> Any:
    """``x`` as a sparse variable if it is sparse, else as a tensor; a constant gets the ``name``."""
    if is_sparse(x) or is_sparse_value(x):
        return as_sparse_variable(x, name)
    return as_tensor_variable(x, name)


def properties(x: Any) -> list[Any]:
    """The parts of a sparse variable: values, indices, offsets and extent. Those of a `CSM` are its inputs."""
    if x.owner is not None and isinstance(x.owner.op, CSM):
        return list(x.owner.inputs)
    if isinstance(x, Constant):
        return [as_tensor_variable(part) for part in x.type.to_parts(x.data)]
    parts: list[Any] = CSMProperties()(x, return_list=True)
    return parts


def lengths_of(x: Any) -> list[Any]:
    """The numbers of rows and columns of a sparse variable: integers where they are known, else int64 scalars."""
    extent = properties(x)[3]
    return [extent.shape[i] if n is None else n for i, n in enumerate(x.type.shape)]


def where_equal(part: Any, n: Any, m: Any, message: str) -> Any:
    """``part``, with a check that two lengths are equal: ValueError with the message, at once if both are known."""
    if isinstance(n, int) and isinstance(m, int):
        if n != m:
            raise ValueError(f"{message}, got {n} and {m}")
        return part
    return CheckAndRaise(ValueError, message)(part, eq(n, m))


def with_values(x: Any, values: Any) -> SparseVariable:
    """A matrix of the structure of ``x`` with other values."""
    matrix: SparseVariable = CSM(x.type.format)(values, *properties(x)[1:])
    return matrix


def csm_properties(csm: Any) -> list[Any]:
    """The stored values, indices, offsets and shape of a sparse matrix ``csm``, dense vectors. The first has derivatives."""
    *arrays, extent = properties(as_sparse_variable(csm))
    return [*arrays, extent.shape[:2]]


def csm_data(csm: Any) -> Any:
    """The stored values of ``csm``, in the order of its indices."""
    return csm_properties(csm)[0]


def csm_indices(csm: Any) -> Any:
    """The columns (CSR) or rows (CSC) of the stored values of ``csm``, an int32 vector."""
    return csm_properties(csm)[1]


def csm_indptr(csm: Any) -> Any:
    """The offsets at which the rows (CSR) or columns (CSC) of ``csm`` begin, an int32 vector; the last is the number of values."""
    return csm_properties(csm)[2]


def csm_shape(csm: Any) -> Any:
    """The shape of ``csm``, an int64 vector."""
    return csm_properties(csm)[3]
