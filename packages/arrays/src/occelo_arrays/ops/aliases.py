"""Names that the array API and NumPy have for functions that `occelo_graph.tensor` has under another name.

They are the same functions, unless a function of this module says what differs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import tensor as ot
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.cast import cast as _cast
from occelo_graph.ops.elemwise.op import broadcast_static
from occelo_graph.ops.shape.axes import normalize_axis, static_integer
from occelo_graph.tensors.type import is_complex

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "absolute",
    "acos",
    "acosh",
    "amax",
    "amin",
    "around",
    "array",
    "asanyarray",
    "asarray",
    "asin",
    "asinh",
    "astype",
    "atan",
    "atan2",
    "atanh",
    "bitwise_invert",
    "broadcast_shapes",
    "copy",
    "degrees",
    "divide",
    "fix",
    "floor_divide",
    "inner",
    "iscomplex",
    "iscomplexobj",
    "isreal",
    "isrealobj",
    "isscalar",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "multiply",
    "ndim",
    "negative",
    "positive",
    "radians",
    "remainder",
    "rint",
    "size",
    "subtract",
    "true_divide",
    "vdot",
]

absolute = ot.abs
acos, acosh, asin, asinh = ot.arccos, ot.arccosh, ot.arcsin, ot.arcsinh
atan, atan2, atanh = ot.arctan, ot.arctan2, ot.arctanh
amax, amin = ot.max, ot.min
asarray = asanyarray = ot.as_tensor_variable
bitwise_invert = ot.invert
copy = positive = ot.tensor_copy
degrees, radians = ot.rad2deg, ot.deg2rad
divide = true_divide = ot.true_div
fix = ot.trunc
floor_divide, remainder = ot.floor_div, ot.mod
multiply, subtract, negative = ot.mul, ot.sub, ot.neg
rint = ot.round_half_to_even


@stands_for("around", "a decimals -out")
def around(a: Any, decimals: int = 0) -> TensorVariable:
    """``a`` rounded to so many ``decimals``, halves to the even number: NumPy's `round`."""
    return ot.round(a, decimals=static_integer(decimals, "decimals of around"))


def array(object: Any, dtype: Any = None, *, copy: bool = True, ndmin: int = 0) -> TensorVariable:
    """`as_tensor_variable` of ``object`` in ``dtype``, with new dimensions in front up to ``ndmin``. ``copy`` changes nothing."""
    x = ot.as_tensor_variable(object)
    x = x if dtype is None else _cast(x, dtype)
    return ot.atleast_Nd(x, n=ndmin) if ndmin > x.type.ndim else x


def broadcast_shapes(*args: Any) -> tuple[Any, ...]:
    """The shape to which the shapes ``args`` broadcast. Lengths are integers or variables, see `broadcast_shape`; an integer is a vector."""
    return ot.broadcast_shape(*args, arrays_are_shapes=True)


def isscalar(element: Any) -> bool:
    """Whether ``element`` is a number, or a tensor without dimensions, as in JAX; a bool of Python."""
    return np.isscalar(element) or (
        isinstance(element, ot.TensorVariable) and not element.type.ndim
    )


def astype(x: Any, dtype: Any, /, *, copy: bool = True) -> TensorVariable:
    """``x`` converted to ``dtype``: `cast` by the name of the array API. ``copy`` changes nothing."""
    return _cast(x, dtype)


def _truths(name: str, *values: Any) -> list[TensorVariable]:
    tensors = [ot.as_tensor_variable(v) for v in values]
    broadcast_static([v.type.shape for v in tensors], name)
    return [v if v.dtype == "bool" else ot.neq(v, 0) for v in tensors]


def logical_and(x1: Any, x2: Any) -> TensorVariable:
    """Whether both elements of ``x1`` and ``x2`` are true: not 0."""
    return ot.and_(*_truths("logical_and", x1, x2))


def logical_or(x1: Any, x2: Any) -> TensorVariable:
    """Whether at least one of both elements of ``x1`` and ``x2`` is true: not 0."""
    return ot.or_(*_truths("logical_or", x1, x2))


def logical_xor(x1: Any, x2: Any) -> TensorVariable:
    """Whether one of both elements of ``x1`` and ``x2`` is true, not 0, and the other one is not."""
    return ot.xor(*_truths("logical_xor", x1, x2))


def logical_not(x: Any) -> TensorVariable:
    """Whether the elements of ``x`` are 0."""
    return ot.invert(*_truths("logical_not", x))


@stands_for("inner", "a b")
def inner(a: Any, b: Any) -> TensorVariable:
    """Sums of products along the last axes of ``a`` and ``b``, and the product if one is a scalar."""
    x, y = ot.as_tensor_variable(a), ot.as_tensor_variable(b)
    return x * y if 0 in (x.type.ndim, y.type.ndim) else ot.tensordot(x, y, axes=[[-1], [-1]])


@stands_for("vdot", "a b")
def vdot(a: Any, b: Any) -> TensorVariable:
    """The sum of the products of all elements of ``a``, conjugated, and those of ``b``."""
    flat = ot.flatten(ot.as_tensor_variable(a))
    return ot.dot(ot.conj(flat) if is_complex(flat.dtype) else flat, ot.flatten(b))


@stands_for("ndim", "a")
def ndim(a: Any) -> int:
    """The number of dimensions of ``a``, as an integer."""
    return ot.as_tensor_variable(a).type.ndim


@stands_for("size", "a axis")
def size(a: Any, axis: int | None = None) -> TensorVariable:
    """The number of elements of ``a``, or its length along ``axis``, as an int64 scalar."""
    v = ot.as_tensor_variable(a)
    return v.size if axis is None else v.shape[normalize_axis(axis, v)]


@stands_for("iscomplexobj", "x")
def iscomplexobj(x: Any) -> bool:
    """Whether the dtype of ``x`` is complex, as a bool of Python."""
    return is_complex(ot.as_tensor_variable(x).dtype)


@stands_for("isrealobj", "x")
def isrealobj(x: Any) -> bool:
    """Whether the dtype of ``x`` is not complex, as a bool of Python."""
    return not iscomplexobj(x)


def iscomplex(x: Any) -> TensorVariable:
    """Whether the imaginary parts of the elements of ``x`` are not 0."""
    return ot.neq(ot.imag(ot.as_tensor_variable(x)), 0)


def isreal(x: Any) -> TensorVariable:
    """Whether the imaginary parts of the elements of ``x`` are 0."""
    return ot.eq(ot.imag(ot.as_tensor_variable(x)), 0)
