"""Lengths as inputs of ops, such as `Reshape` and `Alloc`: conversion, checks, and the base class `FollowsLengths`.

The ops and functions in `create`, `shape`, `index` and `join` use it. Rules call `fill_static` to get all lengths of an
op. Linkers call `lengths_to_check` to find the lengths that compiled code must check.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from occelo_graph.ir.known_values import known_integer
from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ir.op import Kernel, Op
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import is_tensor, tensors
from occelo_graph.tensors.type import StaticShape, TensorType, is_discrete, shape_text

__all__ = [
    "ONCE_KNOWN",
    "FollowsLengths",
    "Lengths",
    "check_length_types",
    "checked_against_type",
    "fill_static",
    "get_vector_length",
    "integer_length",
    "lengths_of",
    "lengths_to_check",
    "specialize_lengths",
    "split_static",
    "wrong_shape",
]


Lengths = tuple[Any, ...]
"""One integer or integer scalar variable for each dimension."""


def integer_length(value: Any) -> Any:
    """A length as an integer or an int64 scalar variable; TypeError if it is not an integer or not a scalar."""
    if isinstance(value, Constant):
        value = value.data
    if isinstance(value, Variable):
        if not is_tensor(value) or not is_discrete(value.dtype):
            raise TypeError(f"A length must be an integer, got {value} of type {value.type}")
        if value.ndim != 0:
            raise TypeError(f"A length must be a scalar, got {value} of type {value.type}")
        return value if value.dtype == "int64" else value.astype("int64")
    try:
        if not isinstance(value, bool) and int(value) == value:
            return int(value)
    except (TypeError, ValueError, OverflowError):  # of None, "a", NaN and infinity
        pass
    raise TypeError(f"A length must be an integer, got {value!r}")


def lengths_of(given: Any) -> Lengths:
    """Lengths from an integer, a sequence of lengths, or a vector variable of known length."""
    if isinstance(given, Constant):
        given = given.data
    if isinstance(given, Variable):
        if not is_tensor(given):
            raise TypeError(f"A shape must be integers, got {given} of type {given.type}")
        if given.ndim == 0:
            return (integer_length(given),)
        # always elements of the vector, not the scalars it is made of, so that the vector can be
        # replaced
        return tuple(integer_length(given[i]) for i in range(get_vector_length(given)))
    if not is_list_or_tuple(given) and np.ndim(given) == 0:
        return (integer_length(given),)
    return tuple(integer_length(n) for n in given)


def get_vector_length(v: Any) -> int:
    """The static length of a vector; ValueError if it is unknown, TypeError if ``v`` is not a vector."""
    v = as_tensor_variable(v)
    if v.type.ndim != 1:
        raise TypeError(f"Expected a vector, got {v.type}")
    if v.type.shape[0] is None:
        raise ValueError(f"The length of {v} is not known when the graph is built")
    return v.type.shape[0]


def split_static(lengths: Sequence[Any]) -> tuple[StaticShape, list[Any]]:
    """Split lengths into the static ones, with None for each dynamic one, and the dynamic ones."""
    static = tuple(n if isinstance(n, int) else None for n in lengths)
    return static, [n for n in lengths if not isinstance(n, int)]


def fill_static(static: StaticShape, dynamic: Sequence[Any]) -> list[Any]:
    """Replace each None by the next dynamic length; the inverse of `split_static`."""
    rest = iter(dynamic)
    return [next(rest) if n is None else n for n in static]


def check_length_types(op_: Op, types: Sequence[Any]) -> None:
    """TypeError unless all types are those of integer scalars."""
    for t in types:
        if not isinstance(t, TensorType) or t.ndim != 0 or not is_discrete(t.dtype):
            raise TypeError(f"{op_} takes integer scalars as lengths, got {t}")


class FollowsLengths(Op):
    """Base of ops that take lengths: static ones as fields, dynamic ones as inputs.

    The value of an input may be known when the node is made, for instance the length of a tensor of static shape. Such
    a length stays an input, so that the graph can be rebuilt for another tensor, and it is static in the output's type.
    If the input is later replaced by a length that contradicts this type, running the node raises a ValueError.
    """

    types_follow_values: ClassVar[bool] = True

    def kernel(self, node: Apply) -> Kernel:
        return checked_against_type(node, super().kernel(node))


def lengths_to_check(node: Apply) -> StaticShape | None:
    """The output's static shape if it must be checked at run time, since the inputs' types do not imply it; else None."""
    if not node.op.types_follow_values:
        return None
    made = tensors(node.outputs)[0].type
    inferred = node.op.infer_types(tuple([v.type for v in node.inputs]))[0]
    return None if made == inferred else made.shape


ONCE_KNOWN = "a tensor whose lengths were known when the graph was built"
"""How error messages name a tensor whose lengths were replaced after the node was made."""


def wrong_shape(of: str, shape: Sequence[int], wanted: StaticShape) -> str:
    """The error message for a tensor, called ``of``, whose shape is not ``wanted``."""
    return f"The shape of {of} is {tuple(shape)}, but must be {shape_text(wanted)}"


def checked_against_type(node: Apply, run: Kernel) -> Kernel:
    """``run`` with a check that the result has the shape of its type (ValueError)."""
    known = lengths_to_check(node)
    if known is None:
        return run
    axes = [i for i, n in enumerate(known) if n is not None]

    def running(*arrays: Any) -> Sequence[Any]:
        results = run(*arrays)
        shape = results[0].shape
        if any(shape[i] != known[i] for i in axes):
            raise ValueError(wrong_shape(ONCE_KNOWN, shape, known))
        return results

    return running


def specialize_lengths(
    static: StaticShape, given: Sequence[Any], least: int = 0
) -> tuple[StaticShape, list[Any]]:
    """Make inputs with known values static. Returns the new static lengths and the inputs that remain dynamic.

    Inputs with known values below ``least`` remain dynamic.
    """
    found: list[int | None] = []
    rest: list[Any] = []
    inputs = iter(given)
    for n in static:
        if n is None:
            variable = next(inputs)
            n = known_integer(variable)
            if n is None or n < least:
                n = None
                rest.append(variable)
        found.append(n)
    return tuple(found), rest
