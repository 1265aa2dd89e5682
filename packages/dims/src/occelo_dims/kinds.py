"""`XTensorType`: the type of a tensor with named dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from occelo_dims.labelled import Dims, Labelled, check_dims, labelled, read_value
from occelo_graph import TensorType

if TYPE_CHECKING:
    from occelo_dims.variable import XTensorVariable


class XTensorType:
    """A dtype, the names of dimensions and their static lengths, with None for dynamic ones.

    Calling it makes a variable. ValueError if names are equal, or for another number of lengths than of names.
    """

    __slots__ = ("dims", "dtype", "ndim", "shape", "tensor_type")

    def __init__(
        self,
        dtype: Any,
        *,
        dims: Sequence[str] | str,
        shape: Sequence[int | None] | None = None,
        name: str | None = None,
    ) -> None:
        self.dims: Dims = check_dims(dims)
        lengths = (None,) * len(self.dims) if shape is None else tuple(shape)
        if len(lengths) != len(self.dims):
            raise ValueError(f"The shape {lengths} must have a length for each of {self.dims}")
        self.tensor_type = TensorType(dtype, lengths)
        """The type of the tensor without names."""
        self.dtype = self.tensor_type.dtype
        self.shape = self.tensor_type.shape
        self.ndim = len(self.dims)

    @property
    def numpy_dtype(self) -> Any:
        """The dtype as NumPy's object."""
        return self.tensor_type.numpy_dtype

    @property
    def broadcastable(self) -> tuple[bool, ...]:
        """False for each dimension: lengths of 1 do not broadcast, only dimensions that are not there do."""
        return (False,) * self.ndim

    def clone(self, dtype: Any = None, dims: Any = None, shape: Any = None) -> XTensorType:
        """A type like this one with another dtype, other names or other static lengths."""
        return XTensorType(
            self.dtype if dtype is None else dtype,
            dims=self.dims if dims is None else dims,
            shape=self.shape if shape is None else shape,
        )

    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """The NumPy array of this type for an array, whose dimensions are put in order if it is one of xarray.

        TypeError if the array has another dtype or shape, ValueError if it has other names.
        """
        (array,) = read_value(value, self.dims)
        return self.tensor_type.filter(array, strict, allow_downcast)

    def filter_variable(self, other: Any, allow_convert: bool = True) -> XTensorVariable:
        """A variable of this type for a variable or a value with the same names in any order.

        ``allow_convert`` as for types of tensors. TypeError if it has another dtype, ValueError for other names.
        """
        (values,) = read_value(other, self.dims)
        tensor: Any = self.tensor_type.filter_variable(values, allow_convert)
        return labelled(tensor, self.dims)

    def is_super(self, other: object) -> bool:
        """Whether every value of ``other`` is a value of this type."""
        return (
            isinstance(other, XTensorType)
            and other.dims == self.dims
            and self.tensor_type.is_super(other.tensor_type)
        )

    def __call__(self, name: str | None = None) -> XTensorVariable:
        return labelled(self.tensor_type(name), self.dims)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, XTensorType)
            and other.dims == self.dims
            and other.tensor_type == self.tensor_type
        )

    def __hash__(self) -> int:
        return hash((self.dims, self.tensor_type))

    def __repr__(self) -> str:
        return f"XTensorType({self.dtype}, shape={self.shape}, dims={self.dims})"


def type_of(x: Labelled) -> XTensorType:
    """The type of a tensor with names."""
    kind = x.values.type
    return XTensorType(kind.dtype, dims=x.dims, shape=kind.shape)
