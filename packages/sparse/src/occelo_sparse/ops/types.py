"""`SparseTensorType`: the type of sparse matrices in the formats CSR and CSC.

A value is a matrix of `scipy.sparse`. In graphs and compiled code it consists of four arrays: the stored values, their
positions along the minor axis (columns for CSR, rows for CSC), the offsets at which each row or column begins, and the
extent. The extent is an array without elements, whose first two lengths are those of the matrix: so backends that must
know lengths when they compile know those of matrices, as they know those of tensors.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.nodes import Variable
from occelo_graph.ir.types import Type
from occelo_graph.optional_scipy import scipy_module
from occelo_graph.tensors.type import TensorType, is_complex, is_discrete

__all__ = [
    "SparseTensorType",
    "all_dtypes",
    "complex_dtypes",
    "continuous_dtypes",
    "discrete_dtypes",
    "float_dtypes",
    "int_dtypes",
    "integer_dtypes",
    "is_sparse",
    "is_sparse_value",
    "sparse_formats",
    "uint_dtypes",
]

FORMATS = ("csc", "csr")
NUMBERS = (
    *("float32", "float64", "uint8", "int8", "uint16", "int16"),
    *("uint32", "int32", "uint64", "int64", "complex128", "complex64"),
)
"""The dtypes of sparse matrices, those of PyTensor."""

sparse_formats = list(FORMATS)
all_dtypes = list(NUMBERS)
complex_dtypes = [name for name in NUMBERS if is_complex(name)]
float_dtypes = [name for name in NUMBERS if name.startswith("float")]
int_dtypes = [name for name in NUMBERS if name.startswith("int")]
uint_dtypes = [name for name in NUMBERS if name.startswith("uint")]
integer_dtypes = discrete_dtypes = int_dtypes + uint_dtypes
continuous_dtypes = complex_dtypes + float_dtypes

if TYPE_CHECKING:

    class _Base(Type):
        """`Type` for type checkers, without None for what each sparse type has."""

        shape: Any
        ndim: Any
        dtype: Any
else:
    _Base = Type


def is_sparse_value(value: object) -> bool:
    """Whether a value is a matrix or an array of `scipy.sparse`, in any format."""
    return type(value).__module__.startswith("scipy.sparse") and bool(
        scipy_module("sparse", "A sparse matrix").issparse(value)
    )


def is_sparse(value: object) -> bool:
    """Whether a value is a variable whose type is a `SparseTensorType`."""
    return isinstance(value, Variable) and isinstance(value.type, SparseTensorType)


class SparseTensorType(_Base):
    """The type of sparse matrices with a format, "csr" or "csc", a dtype and a static shape.

    ``shape`` has None for dynamic lengths, which both are by default. ``name`` is ignored. A value may have elements that
    are stored and 0, elements in any order, and several for one place, whose sum is meant.

    ValueError for another format or number of dimensions, TypeError for float16, truth values and other dtypes.
    """

    __slots__ = ("dtype", "format", "is_discrete", "shape")
    ndim = 2
    tensor_hint: ClassVar[str] = (
        "; use functions of occelo.sparse, as sparse.add(x, A) for x + A, or A.toarray()"
    )
    dtype_specs_map: ClassVar[Mapping[str, tuple[type, str, str]]] = {
        name: (
            complex if is_complex(name) else int if is_discrete(name) else float,
            f"pytensor_{name}" if name == "complex128" else f"npy_{name}",
            f"NPY_{name.upper()}",
        )
        for name in NUMBERS
    }
    """What C code calls the dtypes, as in PyTensor."""

    format: str
    dtype: str
    shape: tuple[int | None, ...]
    is_discrete: bool

    def __init__(
        self,
        format: str,
        dtype: Any,
        shape: Sequence[int | None] | None = None,
        name: str | None = None,
    ) -> None:
        if format not in FORMATS:
            raise ValueError(
                f"The format of a sparse matrix is csr or csc, got {format!r}; "
                "SciPy's tocsr() converts values of other formats"
            )
        kind = TensorType(dtype, (None, None) if shape is None else shape)
        if kind.ndim != 2:
            raise ValueError(f"A sparse matrix has two dimensions, got the shape {shape}")
        if kind.dtype not in NUMBERS:
            raise TypeError(f"Sparse matrices of {kind.dtype} are not there; take one of {NUMBERS}")
        self.format, self.dtype, self.shape = format, kind.dtype, kind.shape
        self.is_discrete = kind.is_discrete

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of the stored values."""
        return np.dtype(self.dtype)

    @property
    def broadcastable(self) -> tuple[bool, ...]:
        """For each dimension, whether its length is statically 1."""
        return tuple(n == 1 for n in self.shape)

    @property
    def major(self) -> int:
        """The axis whose rows or columns are stored one after the other: 0 for CSR, 1 for CSC."""
        return 0 if self.format == "csr" else 1

    def key(self) -> tuple[Any, ...]:
        return (self.format, self.dtype, self.shape)

    def clone(
        self,
        dtype: Any = None,
        shape: Sequence[int | None] | None = None,
        format: str | None = None,
        **_: Any,
    ) -> SparseTensorType:
        """A type like this one, with another dtype, static shape or format."""
        return SparseTensorType(
            self.format if format is None else format,
            self.dtype if dtype is None else dtype,
            self.shape if shape is None else shape,
        )

    # values

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """Convert a matrix of SciPy in any format, or a dense one, to a `scipy.sparse.csr_matrix` or `csc_matrix`.

        The dtype must be one that NumPy would promote to this type's, unless ``allow_downcast`` is true. With ``strict``
        the value must be a matrix of this format and dtype already. TypeError for anything else, and for other shapes.
        """
        if isinstance(data, Variable):
            raise TypeError(
                f"Expected a sparse matrix but got the variable {data}; a compiled function takes values"
            )
        cls = _class_of(self.format)
        if not (type(data) is cls and data.dtype == self.dtype):
            data = self._converted(data, cls, is_sparse_value(data), strict, allow_downcast)
        for length, static in zip(data.shape, self.shape, strict=True):
            if static is not None and length != static:
                raise TypeError(f"Wrong shape: expected {self.shape}, got {data.shape}")
        if data.indices.dtype != np.int32 or data.indptr.dtype != np.int32:
            data = self._with_int32(data, cls)
        if len(data.data) != data.indptr[-1]:
            data = data.copy()
            data.prune()
        return data

    def accept(self, data: Any, **options: Any) -> Any:
        """Convert ``data`` with `filter`, which has checked dtypes and lengths: a matrix that is used often is not looked at twice.

        TypeError if an array of the matrix is no vector, or if there are not as many offsets as lines and one more.
        """
        value = self.filter(data, **options)
        if not value.data.ndim == value.indices.ndim == value.indptr.ndim == 1:
            raise TypeError(f"The arrays of a sparse matrix are vectors, got {value!r}")
        if len(value.indptr) != value.shape[self.major] + 1:
            raise TypeError(f"A matrix of {value.shape} has {len(value.indptr)} offsets")
        return value

    def _converted(
        self, data: Any, cls: Any, is_value: bool, strict: bool, allow_downcast: bool | None
    ) -> Any:
        if strict:
            raise TypeError(f"Expected a {cls.__name__} of {self.dtype}, got {type(data).__name__}")
        if not is_value:
            data = TensorType(self.dtype, (None, None)).filter(data, False, allow_downcast)
        elif data.ndim != 2:
            raise TypeError(f"Expected a matrix, got {type(data).__name__} of shape {data.shape}")
        dtype = data.dtype
        if not allow_downcast and np.promote_types(dtype, self.numpy_dtype) != self.numpy_dtype:
            raise TypeError(
                f"Expected dtype {self.dtype}, got {dtype}, which loses precision when cast; cast it by astype"
            )
        return cls(data, dtype=self.numpy_dtype)

    def _with_int32(self, data: Any, cls: Any) -> Any:
        if max(*data.shape, len(data.data)) > np.iinfo(np.int32).max:
            raise TypeError(f"Indices of sparse matrices are int32, too short for {data!r}")
        indices, offsets = data.indices.astype(np.int32), data.indptr.astype(np.int32)
        return cls((data.data, indices, offsets), shape=data.shape)

    def parts(self) -> tuple[TensorType, ...]:
        return _parts_of(self.dtype, self.shape, self.shape[self.major])

    def to_parts(self, value: Any) -> Sequence[Any]:
        return value.data, value.indices, value.indptr, np.empty((*value.shape, 0), bool)

    def from_parts(self, parts: Sequence[Any]) -> Any:
        cls = _class_of(self.format)
        data, indices, offsets = map(np.asarray, parts[:3])
        return cls((data, indices, offsets), shape=tuple(map(int, parts[3].shape[:2])))

    def values_eq(self, a: Any, b: Any) -> bool:
        """Whether two matrices have the same elements; those that are stored may be in another order."""
        return super().values_eq(_in_order(a), _in_order(b))

    def values_eq_approx(self, a: Any, b: Any, **tolerances: Any) -> bool:
        return super().values_eq_approx(_in_order(a), _in_order(b), **tolerances)

    def filled(self, shapes: Sequence[tuple[int, ...]], number: int) -> Any:
        """A matrix for trial runs, with all stored values in its first row or column."""
        (count,), _, _, (*shape, _) = shapes
        lines, minor = shape[self.major], shape[1 - self.major]
        count = count if lines and minor else 0
        offsets = np.full(lines + 1, count, np.int32)
        offsets[0] = 0
        indices = np.minimum(np.arange(count), max(minor - 1, 0)).astype(np.int32)
        values = np.full(count, number, self.dtype)
        return self.from_parts([values, indices, offsets, np.empty((*shape, 0), bool)])

    # variables

    def as_gradient(self, variable: Any, cotangent: Variable | None) -> Any:
        """A matrix with the structure of ``variable`` whose stored values are the derivatives by its stored values."""
        return variable.with_values(cotangent)

    def is_super(self, other: Type) -> bool:
        return (
            isinstance(other, SparseTensorType)
            and (other.format, other.dtype) == (self.format, self.dtype)
            and all(n in (None, m) for n, m in zip(self.shape, other.shape, strict=True))
        )

    def in_same_class(self, other: Type) -> bool:
        return self.is_super(other) or other.is_super(self)

    def __repr__(self) -> str:
        return f"Sparse({self.dtype}, {self.shape}, {self.format})"


@functools.cache
def _class_of(format: str) -> Any:
    """SciPy's class of matrices in a format."""
    sparse = scipy_module("sparse", "A sparse matrix")
    return sparse.csr_matrix if format == "csr" else sparse.csc_matrix


@functools.cache
def _parts_of(
    dtype: str, shape: tuple[int | None, ...], lines: int | None
) -> tuple[TensorType, ...]:
    return (
        TensorType(dtype, (None,)),
        TensorType("int32", (None,)),
        TensorType("int32", (None if lines is None else lines + 1,)),
        TensorType("bool", (*shape, 0)),
    )


def _in_order(value: Any) -> Any:
    """A copy of a matrix with its elements in order and one for each place."""
    copied = value.copy()
    copied.sum_duplicates()
    return copied
