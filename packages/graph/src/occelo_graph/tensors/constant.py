"""Constructors of tensor constants, and functions that convert arguments to tensor variables.

All ops and functions of tensors convert their arguments with `as_tensor_variable` or `promote_arguments`. So users can
pass arrays and numbers in place of variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from occelo_graph.errors import explained
from occelo_graph.ir.nodes import Variable, is_node
from occelo_graph.ir.op import converted_argument, set_default_converter
from occelo_graph.ir.types import generic
from occelo_graph.tensors.sequences import is_sequence, leaf_types, refuse_bool
from occelo_graph.tensors.type import DTYPES, TensorType, dtype_names, name_of, refuse_mask
from occelo_graph.upward import stack

if TYPE_CHECKING:
    from collections.abc import Callable

    from occelo_graph.tensors.variable import TensorConstant, TensorVariable

TensorLike = Any
"""The type of arguments for tensors: tensor variables, arrays, numbers, nested sequences of these. No Python bools."""

_FLOATS = {float, int}
_SCALAR_CACHE_LIMIT = 1024
_scalars: dict[tuple[str, str, str], TensorConstant] = {}
_promotions: dict[tuple[tuple[np.dtype[Any], ...], type[complex]], str] = {}


def constant(
    x: Any, name: str | None = None, ndim: int | None = None, dtype: Any = None
) -> TensorConstant:
    """A constant named ``name``, with a copy of ``x`` as its value.

    - ``dtype``: by default floatX for Python floats, for empty sequences, and for sequences of Python numbers that
      contain a float. For everything else the default is NumPy's dtype.
    - ``ndim``: the number of dimensions of the constant. Leading dimensions of length 1 are added.

    TypeError if ``x`` cannot become an array of numbers or truth values. ValueError if ``x`` has more than ``ndim``
    dimensions.
    """
    if isinstance(x, Variable) or (is_sequence(x) and _holds_variable(x)):
        raise explained(TypeError(f"A constant needs a value, and {x} is symbolic"), "tensors")
    kinds: set[type] = leaf_types(x) if is_sequence(x) else {type(x)}
    for kind in kinds:
        refuse_mask(kind)
    if isinstance(x, np.matrix):
        text = "np.matrix gives * and ** another meaning than tensors; use np.asarray"
        raise explained(TypeError(text), "tensors")
    target = None if dtype is None else TensorType(dtype, ()).numpy_dtype
    if target is None and kinds <= _FLOATS and kinds != {int}:
        target = TensorType("floatX", ()).numpy_dtype
    if complex in kinds and target is not None and target.kind != "c":  # NumPy makes them bools
        text = f"The complex {x!r} does not become the real dtype {target}"
        raise explained(TypeError(text), "tensors")
    data = np.array(x, dtype=target)
    if data.dtype not in dtype_names and data.dtype.name not in DTYPES:
        text = f"Cannot make a tensor from {x!r} of type {type(x).__name__}"
        text += "; call it with variables" if callable(x) else ""
        raise explained(TypeError(text), "tensors")
    if ndim is not None:
        if data.ndim > ndim:
            text = f"Expected at most {ndim} dimensions, got {data.ndim}"
            raise explained(ValueError(text), "tensors")
        data = data.reshape((1,) * (ndim - data.ndim) + data.shape)
    data.flags.writeable = False
    return TensorType(data.dtype, data.shape).make_constant(data, name)


def as_tensor_variable(
    x: TensorLike, name: str | None = None, ndim: int | None = None, dtype: Any = None
) -> TensorVariable:
    """Convert ``x`` to a tensor variable.

    - A tensor variable is returned as it is. With ``dtype``, the variable is cast. With ``ndim``, leading dimensions of
      length 1 are added or dropped.
    - For a node, its default output is returned.
    - The elements of a sequence that contains variables are stacked.
    - An object that holds a tensor returns it by its method ``__occelo_tensor__``, or raises TypeError.
    - Anything else becomes a constant named ``name``, as in `constant`.

    TypeError if ``x`` cannot be converted. TypeError also for a Python bool, or a sequence of bools and numbers. Such a
    bool most likely comes from ``x == y``, which compares variables by identity.
    """
    if isinstance(x, Variable):
        if not isinstance(x.type, TensorType):
            hint = x.type.tensor_hint
            if x.type == generic:
                hint = "; a NumPy array as its value would make it one"
            text = f"Expected a tensor, got {x} of type {x.type}{hint}"
            raise explained(TypeError(text), "tensors")
        variable = cast("TensorVariable", x)
        if dtype is not None and variable.dtype != TensorType(dtype, ()).dtype:
            variable = variable.astype(dtype)
        return variable if ndim is None else _with_ndim(variable, ndim)
    if is_node(x):
        return as_tensor_variable(x.default_output(), name, ndim, dtype)
    if is_sequence(x) and _holds_variable(x):
        return as_tensor_variable(stack(x), name, ndim, dtype)
    held: Any = getattr(x, "__occelo_tensor__", None)
    if held is not None:
        return as_tensor_variable(held(), name, ndim, dtype)
    refuse_bool(x)
    return constant(x, name, ndim, dtype)


as_tensor = as_tensor_variable


def _with_ndim(variable: TensorVariable, ndim: int) -> TensorVariable:
    if variable.ndim < ndim:
        pad: list[Any] = ["x"] * (ndim - variable.ndim)
        return variable.dimshuffle([*pad, *range(variable.ndim)])
    extra = variable.ndim - ndim
    if extra and any(n != 1 for n in variable.type.shape[:extra]):
        text = f"{variable} has {variable.ndim} dimensions, not {ndim}"
        raise explained(ValueError(text), "tensors")
    return variable.dimshuffle(list(range(extra, variable.ndim))) if extra else variable


def _holds_variable(values: Sequence[Any]) -> bool:
    return any(isinstance(v, Variable) or (is_sequence(v) and _holds_variable(v)) for v in values)


def scalar_constant(value: Any, dtype: str) -> TensorConstant:
    """A constant without dimensions. Constants are cached: equal arguments give the same variable.

    OverflowError if the value does not fit ``dtype``.
    """
    key = (type(value).__name__, str(value), dtype)
    scalar = _scalars.get(key)
    if scalar is None:
        data = np.array(value, dtype=dtype)
        data.flags.writeable = False
        scalar = TensorType(dtype, ()).make_constant(data)
        scalar.set_mark(None)
        if len(_scalars) >= _SCALAR_CACHE_LIMIT:
            _scalars.clear()
        _scalars[key] = scalar
    return scalar


_WEAK = (int, float, complex)


def is_python_number(value: object) -> bool:
    """Whether a value is a Python number, which takes its dtype from the tensors beside it."""
    return type(value) in _WEAK


Beyond: TypeAlias = "Callable[[int, Sequence[str]], tuple[float, str] | None]"
"""A function for a Python integer that does not fit the integer dtype of the tensors beside it.

Its arguments are the integer, and the dtypes of all arguments of the operation. It returns a number that takes the
integer's place, and its dtype. None means that the operation computes in the integer dtype.
"""


def promote_arguments(
    arguments: Sequence[TensorLike], beyond: Beyond | None = None
) -> list[TensorVariable]:
    """Convert the arguments of an operation to variables. A Python number takes its dtype from the other arguments.

    The rules for dtypes are NumPy 2's. Next to a float32 tensor, 1.1 becomes a float32 constant. Next to an int8
    tensor, 1 becomes an int8 constant. An integer that does not fit, such as 300, raises OverflowError unless
    ``beyond`` returns a number for it.
    """
    variables: list[Any] = []
    weak = False
    for argument in arguments:
        if isinstance(argument, Variable) and isinstance(argument.type, TensorType):
            variables.append(argument)
        elif type(argument) in _WEAK:
            variables.append(None)
            weak = True
        else:
            variables.append(as_tensor_variable(converted_argument(argument)))
    return _with_weak(arguments, variables, beyond) if weak else variables


def _with_weak(
    arguments: Sequence[TensorLike], converted: list[Any], beyond: Beyond | None
) -> list[TensorVariable]:
    """Replace each None in ``converted`` by a constant for the Python number in ``arguments``."""
    dtypes = tuple([v.type.numpy_dtype for v in converted if v is not None])
    if not dtypes:
        return [constant(value) for value in arguments]
    if len(converted) == 2 and int not in map(type, arguments):  # most are so
        first, second = converted
        if first is None:
            return [scalar_constant(arguments[0], _dtype_beside(dtypes, arguments[0])), second]
        return [first, scalar_constant(arguments[1], _dtype_beside(dtypes, arguments[1]))]
    pairs = list(zip(arguments, converted, strict=True))
    names = [_dtype_beside(dtypes, a) if v is None else v.type.dtype for a, v in pairs]
    variables: list[TensorVariable] = []
    for (value, variable), dtype in zip(pairs, names, strict=True):
        if variable is not None:
            variables.append(variable)
        elif type(value) is not int or _fits(value, dtype):
            variables.append(scalar_constant(value, dtype))
        else:
            wide = None if beyond is None else beyond(value, names)
            if wide is None:
                text = f"The Python integer {value} does not fit dtype {dtype}"
                raise explained(OverflowError(text), "tensors")
            variables.append(scalar_constant(*wide))
    return variables


def _dtype_beside(dtypes: tuple[np.dtype[Any], ...], number: complex) -> str:
    # cached by the type of the number, since the dtype does not depend on its value
    kind = type(number)
    promoted = _promotions.get((dtypes, kind))
    if promoted is None:
        if len(_promotions) >= _SCALAR_CACHE_LIMIT:
            _promotions.clear()
        promoted = _promotions[dtypes, kind] = name_of(np.result_type(*dtypes, number))
    return promoted


def _fits(value: int, dtype: str) -> bool:
    if not dtype.startswith(("int", "uint")):
        return True
    limits = np.iinfo(dtype)
    return bool(limits.min <= value <= limits.max)


set_default_converter(as_tensor_variable)
