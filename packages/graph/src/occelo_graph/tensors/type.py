"""`TensorType`: the type of tensor variables. It consists of a dtype and a static shape.

Every tensor variable has such a type. An op infers the types of its outputs from the types of its inputs. The functions
`is_float`, `is_complex` and `is_discrete` test the kind of a dtype; all packages use them.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakValueDictionary

import numpy as np

from occelo_graph.config import FLOAT_X
from occelo_graph.errors import explained
from occelo_graph.ir.nodes import Variable
from occelo_graph.ir.types import Type
from occelo_graph.narrowing import is_array
from occelo_graph.tensors.sequences import refuse_bool

if TYPE_CHECKING:
    from occelo_graph.ir.nodes import Apply
    from occelo_graph.tensors.variable import TensorConstant, TensorVariable

StaticShape = tuple[int | None, ...]

DTYPES = (
    "bool",
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
_NAMES = frozenset(DTYPES)
dtype_names: dict[np.dtype[Any], str] = {np.dtype(name): name for name in DTYPES}
"""Maps dtypes in native byte order to their names. NumPy computes ``dtype.name`` at each access, which is slow."""
_NUMPY_DTYPE: Any = np.dtype
_MAX_NDIM = 64


def name_of(dtype: np.dtype[Any]) -> str:
    """The name of a NumPy dtype. For dtypes of tensors, it is looked up in a table."""
    return dtype_names.get(dtype) or dtype.name


def is_float(dtype: str) -> bool:
    """Whether ``dtype`` is a dtype of real floating-point numbers."""
    return dtype.startswith("float")


def is_complex(dtype: str) -> bool:
    """Whether ``dtype`` is a dtype of complex numbers."""
    return dtype.startswith("complex")


def is_discrete(dtype: str) -> bool:
    """Whether ``dtype`` is a dtype of integers or truth values. Variables of such a dtype have the derivative 0."""
    return not dtype.startswith(("float", "complex"))


def _dtype_name(dtype: Any) -> str:
    # the first tests are shortcuts, since np.dtype.name is slow
    if type(dtype) is str and dtype in _NAMES:
        return dtype
    if isinstance(dtype, _NUMPY_DTYPE):
        native: Any = dtype
        if native in dtype_names:
            return dtype_names[native]
    if dtype == "floatX":
        return FLOAT_X.get()
    try:
        name: str = np.dtype(dtype).name
    except TypeError:
        name = str(dtype)
    if name not in DTYPES:
        text = f"{dtype!r} is not a dtype of tensors; choose from {', '.join(DTYPES)}"
        raise explained(TypeError(text), "dtypes")
    return name


def _static_dimension(length: Any) -> int | None:
    if length is None:
        return None
    if isinstance(length, bool):
        # older libraries describe a shape by truth values, in which True is the length 1
        return 1 if length else None
    try:
        value = operator.index(length)
    except TypeError:
        raise explained(
            TypeError(f"A static length must be an integer or None, got {length!r}"), "integers"
        ) from None
    if value < 0:
        raise explained(ValueError(f"A length cannot be negative, got {value}"), "integers")
    return value


if TYPE_CHECKING:

    class _Base(Type):
        """`Type` for type checkers. Some fields are declared as `Any`, so that `TensorType` can exclude None."""

        shape: Any
        ndim: Any
        dtype: Any
else:
    _Base = Type


class TensorType(_Base):
    """The type of arrays with a dtype and a static shape.

    ``dtype`` is a NumPy dtype or its name. The name "floatX" means the current value of the option ``floatX``.
    ``shape`` is a tuple of integers, with None for dynamic lengths. ``broadcastable``, an older form of it, says which
    lengths are 1. Types are interned: equal types are one object. ``name`` is ignored.

    TypeError for a dtype that tensors do not have. ValueError for more than 64 dimensions.
    """

    __slots__ = ("dtype", "is_complex", "is_discrete", "ndim", "numpy_dtype", "shape")
    _interned: ClassVar[WeakValueDictionary[tuple[Any, ...], TensorType]] = WeakValueDictionary()
    is_array: ClassVar[bool] = True

    # these fields are never None, unlike the fields of the base class
    dtype: str
    shape: StaticShape
    ndim: int
    numpy_dtype: np.dtype[Any]
    is_discrete: bool
    is_complex: bool

    def __new__(
        cls,
        dtype: Any,
        shape: Sequence[int | None] | None = None,
        name: str | None = None,
        *,
        broadcastable: Sequence[bool] | None = None,
        **options: Any,
    ) -> TensorType:
        if shape is None:
            if broadcastable is None:
                raise explained(
                    TypeError("TensorType needs a shape, such as (None, 3)"), "arguments"
                )
            shape = [1 if each else None for each in broadcastable]
        if isinstance(shape, int):
            raise explained(
                TypeError(f"A shape is a sequence of lengths, such as ({shape},), got {shape}"),
                "arguments",
            )
        name = _dtype_name(dtype)
        static = tuple(
            [n if n is None or (type(n) is int and n >= 0) else _static_dimension(n) for n in shape]
        )
        if len(static) > _MAX_NDIM:
            raise ValueError(f"A tensor has at most {_MAX_NDIM} dimensions, got {len(static)}")
        key = (cls, name, static)
        type_ = cls._interned.get(key)
        if type_ is None:
            type_ = super().__new__(cls)
            type_.dtype = name
            type_.shape = static
            type_.ndim = len(static)
            type_.numpy_dtype = np.dtype(name)
            type_.is_discrete = is_discrete(name)
            type_.is_complex = is_complex(name)
            cls._interned[key] = type_
        return type_

    def key(self) -> tuple[Any, ...]:
        return (self.dtype, self.shape)

    if not TYPE_CHECKING:
        # types are interned, so identity is equality; and the methods of `object` are fast
        __eq__ = object.__eq__
        __hash__ = object.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.dtype, self.shape)

    def parts(self) -> tuple[TensorType, ...]:
        return (self,)

    def to_parts(self, value: Any) -> Sequence[Any]:
        return (value,)

    def from_parts(self, parts: Sequence[Any]) -> Any:
        return parts[0]

    @property
    def broadcastable(self) -> tuple[bool, ...]:
        """For each dimension, whether its length is statically 1, so that it broadcasts."""
        return tuple(n == 1 for n in self.shape)

    def clone(
        self, dtype: Any = None, shape: Sequence[int | None] | None = None, **_: Any
    ) -> TensorType:
        """A type like this one, with another dtype or another static shape."""
        return type(self)(
            self.dtype if dtype is None else dtype, self.shape if shape is None else shape
        )

    # values

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """Convert ``data`` to an array of this type. An array that already has this type is returned without a copy.

        By default an array is accepted if NumPy would promote its dtype to this type's dtype. A Python number or list
        is accepted if the conversion is exact; in addition, a Python float may be rounded to float32 or floatX.

        - ``strict``: accept only arrays of exactly this dtype.
        - ``allow_downcast``: True accepts anything that can be cast. False does not even round Python floats.

        TypeError if ``data`` is not accepted, or if its shape does not match.
        """
        if type(data) is np.ndarray and data.dtype == self.numpy_dtype:
            array: Any = data
        else:
            array = self._convert(data, strict, allow_downcast)
        if array.ndim != self.ndim:
            raise TypeError(
                f"Wrong number of dimensions: expected {self.ndim}, got {array.ndim} "
                f"with shape {array.shape}"
            )
        for length, static in zip(array.shape, self.shape, strict=True):
            if static is not None and length != static:
                raise TypeError(
                    f"Wrong shape: expected {shape_text(self.shape)}, got {array.shape}"
                )
        if strict and not array.flags.aligned:
            raise TypeError("The array is not aligned in memory")
        return array

    def _convert(self, data: Any, strict: bool, allow_downcast: bool | None) -> Any:
        if isinstance(data, Variable):
            raise TypeError(
                f"Expected an array but got the variable {data}; a compiled function takes values"
            )
        if data is None:
            raise TypeError(f"Expected an array of {self}, got None")
        refuse_mask(data)
        if is_array(data) and data.dtype == self.numpy_dtype:
            return data  # may be an object of a subclass of arrays, such as memmap
        if strict:
            raise TypeError(f"Expected an array of dtype {self.dtype}, got {_kind(data)}")
        if allow_downcast:
            return np.asarray(data).astype(self.numpy_dtype)
        if isinstance(data, np.ndarray | np.generic):
            return self._convert_array(data, allow_downcast)
        return self._convert_python(data, allow_downcast)

    def _convert_array(self, data: Any, allow_downcast: bool | None) -> Any:
        dtype: np.dtype[Any] = data.dtype
        # np.asarray copies only if the dtype changes
        if np.promote_types(dtype, self.numpy_dtype) == self.numpy_dtype:
            return np.asarray(data, dtype=self.numpy_dtype)
        scalar_float = dtype.kind == "f" and isinstance(data, np.floating)
        if allow_downcast is None and scalar_float and self.dtype == FLOAT_X.get():
            return np.asarray(data, dtype=self.numpy_dtype)
        if dtype.kind not in "biufc":
            raise TypeError(f"Expected numbers of dtype {self.dtype}, got an array of {dtype}")
        raise TypeError(
            f"Expected dtype {self.dtype}, got {dtype}, which loses precision when cast; "
            "cast it, or compile with allow_input_downcast=True"
        )

    def _convert_python(self, data: Any, allow_downcast: bool | None) -> Any:
        try:
            plain = np.asarray(data)
            if plain.dtype.kind == "c" and not is_complex(self.dtype):
                raise TypeError("it is complex")
            array = plain.astype(self.numpy_dtype)
        except (ValueError, TypeError, OverflowError) as error:
            raise TypeError(
                f"Cannot make an array of dtype {self.dtype} from {data!r}: {error}"
            ) from None
        if plain.dtype.kind not in "biufc":
            raise TypeError(f"Cannot make an array of dtype {self.dtype} from {data!r}")
        weak_float = (
            allow_downcast is None
            and type(data) is float
            and (self.dtype == FLOAT_X.get() or self.dtype == "float32")
        )
        if weak_float or _round_trips(plain, array):
            return array
        raise TypeError(
            f"Converting {data!r} to dtype {self.dtype} loses precision; "
            "cast it, or compile with allow_input_downcast=True"
        )

    def copy(self, value: Any) -> Any:
        return np.array(value)

    def values_eq(self, a: Any, b: Any) -> bool:
        """Whether two arrays have the same dtype, shape and elements. NaN equals NaN."""
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        equal = a == b
        if a.dtype.kind in "fc":
            equal |= (a != a) & (b != b)
        return bool(np.all(equal))

    def values_eq_approx(
        self,
        a: Any,
        b: Any,
        allow_remove_inf: bool = False,
        allow_remove_nan: bool = False,
        rtol: float | None = None,
        atol: float | None = None,
        **_: Any,
    ) -> bool:
        """Whether two arrays are equal up to rounding. The default tolerances depend on the dtype.

        ``allow_remove_nan`` and ``allow_remove_inf`` accept any element of ``b`` where ``a`` is NaN or infinite.
        """
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        if self.dtype in ("bool",) or is_discrete(self.dtype):
            return bool(np.all(a == b))
        default = {"float16": 1e-2, "float32": 1e-4, "complex64": 1e-4}.get(self.dtype, 1e-7)
        close = np.isclose(
            a,
            b,
            rtol=default if rtol is None else rtol,
            atol=default * 1e-1 if atol is None else atol,
            equal_nan=True,
        )
        if allow_remove_nan:
            close |= np.isnan(a)
        if allow_remove_inf:
            close |= np.isinf(a)
        return bool(np.all(close))

    def may_share_memory(self, a: Any, b: Any) -> bool:
        return is_array(a) and is_array(b) and np.may_share_memory(a, b)

    def filter_variable(self, other: Any, allow_convert: bool = True) -> Variable:
        refuse_bool(other)
        return super().filter_variable(other, allow_convert)

    if TYPE_CHECKING:

        def make_variable(self, name: str | None = None) -> TensorVariable: ...
        def make_output(self, owner: Apply, index: int) -> TensorVariable: ...
        def make_constant(self, value: Any, name: str | None = None) -> TensorConstant: ...

    # relations

    def in_same_class(self, other: Type) -> bool:
        return (
            isinstance(other, TensorType)
            and other.dtype == self.dtype
            and other.broadcastable == self.broadcastable
        )

    def is_super(self, other: Type) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, TensorType)
            and other.dtype == self.dtype
            and other.ndim == self.ndim
            and all(a is None or a == b for a, b in zip(self.shape, other.shape, strict=True))
        )

    def convert_variable(self, var: Variable) -> Variable | None:
        if self.is_super(var.type):
            return var
        other = var.type
        if (
            isinstance(other, TensorType)
            and other.dtype == self.dtype
            and other.ndim == self.ndim
            and all(
                a is None or b is None or a == b
                for a, b in zip(self.shape, other.shape, strict=True)
            )
        ):
            tensor: Any = var
            narrowed: Variable = tensor.specify_shape(self.shape)
            return narrowed
        return None

    def __call__(
        self,
        name: str | None = None,
        shape: Sequence[int | None] | None = None,
        *,
        dtype: Any = None,
    ) -> TensorVariable:
        """A new variable of this type. ``shape`` makes more lengths static.

        ValueError if ``shape`` contradicts the type, TypeError if ``dtype`` does.
        """
        if dtype is not None and _dtype_name(dtype) != self.dtype:
            raise TypeError(
                f"{self!r} makes tensors of dtype {self.dtype}, not {_dtype_name(dtype)}; use tensor(dtype=..., shape=...)"
            )
        if shape is None:
            return self.make_variable(name)
        narrower = TensorType(self.dtype, shape)
        if not self.is_super(narrower):
            raise ValueError(
                f"The shape {tuple(shape)} contradicts {shape_text(self.shape)}; use tensor(dtype=..., shape=...)"
            )
        return narrower.make_variable(name)

    def __str__(self) -> str:
        return f"{self.dtype} {shape_text(self.shape)}"

    def __repr__(self) -> str:
        return f"TensorType({self.dtype}, shape={shape_text(self.shape)})"


def refuse_mask(data: Any) -> None:
    """TypeError for a masked array, or for the class of masked arrays, since tensors have no masks."""
    module: Any = sys.modules.get("numpy.ma")  # if it is not imported, no masked array exists
    if module is None:
        return
    if issubclass(data if isinstance(data, type) else type(data), module.MaskedArray):
        raise TypeError(
            "Tensors have no masks, so that masked elements would count; "
            "use filled(value), or compressed() for the elements that are not masked"
        )


def shape_text(shape: StaticShape) -> str:
    """A static shape as text, with ``?`` for dynamic lengths, such as ``(?, 3)``."""
    inner = ", ".join("?" if n is None else str(n) for n in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


def _kind(data: Any) -> str:
    dtype = getattr(data, "dtype", None)
    return f"{type(data).__name__}" + (f" of dtype {dtype}" if dtype is not None else "")


def _round_trips(plain: Any, array: Any) -> bool:
    if array.dtype.kind == "c" and plain.dtype.kind != "c":
        array = array.real  # the imaginary parts are 0, but NumPy would warn that it discards them
    with np.errstate(all="ignore"):
        back = array.astype(plain.dtype)
        same = back == plain
        if plain.dtype.kind in "iu" and array.dtype.kind in "iu":
            # -1 as an unsigned integer is wrong, although the conversion back gives -1 again
            same &= (array < 0) == (plain < 0)
        if plain.dtype.kind in "fc":
            same |= (back != back) & (plain != plain)
    return bool(np.all(same))
