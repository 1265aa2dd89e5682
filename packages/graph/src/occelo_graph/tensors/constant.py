"""Constants from arrays and numbers, and the conversion of arguments to tensor variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.facade import facade
from occelo_graph.ir.nodes import Variable, is_node
from occelo_graph.ir.types import generic
from occelo_graph.tensors.sequences import is_sequence, leaf_types, refuse_bool
from occelo_graph.tensors.type import DTYPES, TensorType, refuse_mask

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorConstant, TensorVariable

__all__ = [
    "TensorLike",
    "as_tensor",
    "as_tensor_variable",
    "constant",
    "promote_arguments",
    "refuse_bool",
    "scalar_constant",
]

TensorLike = Any
"""A tensor variable, an array, a number, or a nested sequence of those; no Python bool."""

_FLOATS = {float, int}
_SCALAR_CACHE_LIMIT = 1024
_scalars: dict[tuple[str, str, str], Any] = {}


def constant(
    x: Any, name: str | None = None, ndim: int | None = None, dtype: Any = None
) -> TensorConstant:
    """A constant with the value of ``x``, which is copied unless it is read-only.

    A Python float, a sequence of such (and of integers) or an empty one gets dtype floatX, a Python
    int int64, a bool bool, as in NumPy; ``dtype`` overrides. ``ndim`` adds leading dimensions of length 1. TypeError if ``x`` is no array of
    numbers.
    """
    if isinstance(x, Variable) or (is_sequence(x) and _holds_variable(x)):
        raise TypeError(f"A constant needs a value, and {x} is symbolic")
    kinds: set[type] = leaf_types(x) if is_sequence(x) else {type(x)}
    for kind in kinds:
        refuse_mask(kind)
    if isinstance(x, np.matrix):
        raise TypeError("np.matrix gives * and ** another meaning than tensors; use np.asarray")
    wanted = None if dtype is None else TensorType(dtype, ()).numpy_dtype
    if wanted is None and kinds <= _FLOATS and kinds != {int}:
        wanted = TensorType("floatX", ()).numpy_dtype
    data: Any = np.array(x, dtype=wanted)
    if data.dtype.name not in DTYPES:
        raise TypeError(f"Cannot make a tensor from {x!r} of type {type(x).__name__}")
    if ndim is not None:
        if data.ndim > ndim:
            raise ValueError(f"Expected at most {ndim} dimensions, got {data.ndim}")
        data = data.reshape((1,) * (ndim - data.ndim) + data.shape)
    data.flags.writeable = False
    made: TensorConstant = TensorType(data.dtype, data.shape).make_constant(data, name)  # pyright: ignore[reportAssignmentType]
    return made


def as_tensor_variable(
    x: TensorLike, name: str | None = None, ndim: int | None = None, dtype: Any = None
) -> TensorVariable:
    """Turn ``x`` into a tensor variable.

    Variables are returned as they are (``ndim`` may add or drop leading dimensions of length 1), a
    node gives its default output, sequences that hold variables are stacked, the rest becomes a
    constant. TypeError if that is impossible, and for a Python bool, alone or beside numbers:
    ``x == y`` gives one whatever the values of the variables x and y are.
    """
    if isinstance(x, Variable):
        if not isinstance(x.type, TensorType):
            hint = "; a NumPy array as its value would make it one" if x.type == generic else ""
            raise TypeError(f"Expected a tensor, got {x} of type {x.type}{hint}")
        variable: Any = x
        if dtype is not None and variable.dtype != TensorType(dtype, ()).dtype:
            variable = variable.astype(dtype)
        return variable if ndim is None else _with_ndim(variable, ndim)
    if is_node(x):
        return as_tensor_variable(x.default_output(), name, ndim, dtype)
    if is_sequence(x) and _holds_variable(x):
        stacked: Any = facade.stack(x)
        return as_tensor_variable(stacked, name, ndim, dtype)
    refuse_bool(x)
    made: Any = constant(x, name, ndim, dtype)
    return made


as_tensor = as_tensor_variable


def _with_ndim(variable: Any, ndim: int) -> Any:
    if variable.ndim < ndim:
        pad: list[Any] = ["x"] * (ndim - variable.ndim)
        return variable.dimshuffle([*pad, *range(variable.ndim)])
    extra = variable.ndim - ndim
    if extra and any(n != 1 for n in variable.type.shape[:extra]):
        raise ValueError(f"{variable} has {variable.ndim} dimensions, not {ndim}")
    return variable.dimshuffle(list(range(extra, variable.ndim))) if extra else variable


def _holds_variable(values: Sequence[Any]) -> bool:
    return any(isinstance(v, Variable) or (is_sequence(v) and _holds_variable(v)) for v in values)


def scalar_constant(value: Any, dtype: str) -> Any:
    """A 0-d constant of ``dtype``; equal ones may be one object. OverflowError if it does not fit."""
    key = (type(value).__name__, str(value), dtype)
    found = _scalars.get(key)
    if found is None:
        data = np.array(value, dtype=dtype)
        data.flags.writeable = False
        found = TensorType(dtype, ()).make_constant(data)
        found.set_mark(None)
        if len(_scalars) >= _SCALAR_CACHE_LIMIT:
            _scalars.clear()
        _scalars[key] = found
    return found


_WEAK = (int, float, complex)


def promote_arguments(arguments: Sequence[TensorLike]) -> list[Any]:
    """Turn arguments of one operation into variables, with NumPy 2's weak Python scalars.

    A Python number takes the dtype that it has beside the other arguments: beside float32 the
    number 1.1 is float32, beside int8 the number 1 is int8 (300 is an OverflowError).
    """
    converted: list[Any] = [None if type(a) in _WEAK else as_tensor_variable(a) for a in arguments]
    if None not in converted:
        return converted
    dtypes = [v.type.numpy_dtype for v in converted if v is not None]
    for position, argument in enumerate(arguments):
        if converted[position] is not None:
            continue
        if not dtypes:
            converted[position] = constant(argument)
        else:
            dtype = np.result_type(*dtypes, argument).name
            if type(argument) is int:
                _check_fits(argument, dtype)
            converted[position] = scalar_constant(argument, dtype)
    return converted


def _check_fits(value: int, dtype: str) -> None:
    if dtype.startswith(("int", "uint")):
        limits = np.iinfo(dtype)
        if not limits.min <= value <= limits.max:
            raise OverflowError(f"The Python integer {value} does not fit dtype {dtype}")
