"""Converts and checks the lengths that are inputs of ops such as `Reshape` and `Alloc`; their base class
`FollowsLengths`.

Such an op has static lengths in a field, for instance ``(3, None)``. Each None is a dynamic length, which is an input.
The ops and functions in `create`, `shape`, `index`, `join` and `random` use this module. Rules call `fill_static` to
get all lengths of an op. Linkers call `lengths_to_check` to find the lengths that compiled code must check.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from occelo_graph.errors import explained
from occelo_graph.ir.known_values import known_integer
from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ir.op import Kernel, Op
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import is_tensor, tensors
from occelo_graph.tensors.type import StaticShape, TensorType, is_discrete, shape_text

Lengths = tuple[Any, ...]
"""The lengths of all dimensions. Each is an integer, or a scalar variable of integers."""


def integer_length(value: Any) -> Any:
    """Convert a length to a Python integer or an int64 scalar variable.

    A constant stays a variable, so that it can be replaced in a copy of the graph. TypeError if it is not an integer
    scalar, ValueError if int64 does not hold it.
    """
    if isinstance(value, Constant) and not np.can_cast(value.data.dtype, "int64"):
        value = value.data
    if isinstance(value, Variable):
        if not is_tensor(value) or not is_discrete(value.dtype):
            text = f"A length must be an integer, got {value} of type {value.type}"
            raise explained(TypeError(text), "integers")
        if value.ndim != 0:
            text = f"A length must be a scalar, got {value} of type {value.type}"
            raise explained(TypeError(text), "integers")
        return value if value.dtype == "int64" else value.astype("int64")
    try:
        whole = not isinstance(value, bool) and int(value) == value
    except (TypeError, ValueError, OverflowError):  # of None, "a", NaN and infinity
        whole = False
    if not whole:
        raise explained(TypeError(f"A length must be an integer, got {value!r}"), "integers")
    if not -(2**63) <= value < 2**63:
        raise explained(ValueError(f"A length must fit int64, got {value}"), "integers")
    return int(value)


def lengths_of(given: Any) -> Lengths:
    """Convert an integer, a sequence of lengths, or a vector variable of static length to a tuple of lengths."""
    if isinstance(given, Variable):
        if not is_tensor(given):
            raise TypeError(f"A shape must be integers, got {given} of type {given.type}")
        if given.ndim == 0:
            return (integer_length(given),)
        # always elements of the vector, even if a `MakeVector` made it of scalars, so that givens can replace the
        # vector
        return tuple(integer_length(given[i]) for i in range(get_vector_length(given)))
    if not is_list_or_tuple(given) and np.ndim(given) == 0:
        return (integer_length(given),)
    return tuple(integer_length(n) for n in given)


def get_vector_length(v: Any) -> int:
    """The static length of the vector ``v``. ValueError if it is dynamic, TypeError if ``v`` is not a vector."""
    v = as_tensor_variable(v)
    if v.type.ndim != 1:
        raise explained(TypeError(f"Expected a vector, got {v.type}"), "integers")
    if v.type.shape[0] is None:
        text = f"The length of {v} is not known when the graph is built"
        raise explained(ValueError(text), "integers")
    return v.type.shape[0]


def split_static(lengths: Sequence[Any]) -> tuple[StaticShape, list[Any]]:
    """Split lengths into static and dynamic lengths. For ``(3, n)`` it returns ``(3, None)`` and ``[n]``."""
    static = tuple(n if isinstance(n, int) else None for n in lengths)
    return static, [n for n in lengths if not isinstance(n, int)]


def fill_static(static: StaticShape, dynamic: Sequence[Any]) -> list[Any]:
    """Replace each None in ``static`` by the next dynamic length. This is the inverse of `split_static`."""
    rest = iter(dynamic)
    return [next(rest) if n is None else n for n in static]


def check_length_types(op_: Op, types: Sequence[Any]) -> None:
    """Raise TypeError unless all ``types`` are types of integer scalars."""
    for t in types:
        if not isinstance(t, TensorType) or t.ndim != 0 or not is_discrete(t.dtype):
            raise TypeError(f"{op_} takes integer scalars as lengths, got {t}")


class FollowsLengths(Op):
    """Base class of ops with lengths: static lengths are in a field, dynamic lengths are inputs.

    The value of a length that is an input may be known when the node is made. For instance, the input may be
    ``x.shape[0]``, and ``x`` has a static shape. Then the length is static in the output's type. It is still an input,
    so that the graph can be rebuilt for another ``x``. If the input is later replaced by a length that contradicts the
    output's type, running the node raises a ValueError.
    """

    types_follow_values: ClassVar[bool] = True

    def kernel(self, node: Apply) -> Kernel:
        return checked_against_type(node, super().kernel(node))


def lengths_to_check(node: Apply) -> StaticShape | None:
    """The static shape of the node's output if it must be checked at run time; else None.

    It must be checked if the types of the inputs do not imply it. See `FollowsLengths`.
    """
    if not node.op.types_follow_values:
        return None
    declared = tensors(node.outputs)[0].type
    inferred = node.op.infer_types(tuple([v.type for v in node.inputs]))[0]
    return None if declared == inferred else declared.shape


ONCE_KNOWN = "a tensor whose lengths were known when the graph was built"
"""Error messages call a tensor by this name if its lengths were replaced after its node was made."""


def wrong_shape(of: str, shape: Sequence[int], wanted: StaticShape) -> str:
    """The error message for a tensor that has the wrong shape. ``of`` is the name of the tensor in the message."""
    return f"The shape of {of} is {tuple(shape)}, but must be {shape_text(wanted)}"


def checked_against_type(node: Apply, run: Kernel) -> Kernel:
    """Wrap ``run``, the function that computes a node, in a check of the result's shape.

    The function that is returned raises ValueError if the shape contradicts the output's type. If no check is needed,
    ``run`` itself is returned.
    """
    lengths = lengths_to_check(node)
    if lengths is None:
        return run
    axes = [i for i, n in enumerate(lengths) if n is not None]

    def running(*arrays: Any) -> Sequence[Any]:
        results = run(*arrays)
        shape = results[0].shape
        if any(shape[i] != lengths[i] for i in axes):
            raise ValueError(wrong_shape(ONCE_KNOWN, shape, lengths))
        return results

    return running


def specialize_lengths(
    static: StaticShape, dynamic: Sequence[Any], least: int = 0
) -> tuple[StaticShape, list[Any]]:
    """Make lengths static if they are inputs with known values.

    ``static`` and ``dynamic`` are the static lengths and the inputs, as `split_static` returns them. The new static
    lengths and the remaining inputs are returned. Inputs with known values below ``least`` remain inputs.
    """
    lengths: list[int | None] = []
    rest: list[Any] = []
    inputs = iter(dynamic)
    for n in static:
        if n is None:
            variable = next(inputs)
            n = known_integer(variable)
            if n is None or n < least:
                n = None
                rest.append(variable)
        lengths.append(n)
    return tuple(lengths), rest
