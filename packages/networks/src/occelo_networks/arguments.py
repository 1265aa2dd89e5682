"""Conversion and checks of arguments. Errors name the function and the argument."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from occelo_graph import tensor as ot

if TYPE_CHECKING:
    from occelo_graph.tensor import TensorVariable


def as_float(x: Any) -> TensorVariable:
    """A tensor of floats or complex numbers; integers become floatX."""
    x = ot.as_tensor_variable(x)
    return ot.cast(x, "floatX") if x.type.is_discrete else x


def as_real(x: Any, function: str) -> TensorVariable:
    """A tensor that is not complex. TypeError for a complex one, whose numbers have no order."""
    x = ot.as_tensor_variable(x)
    if x.type.is_complex:
        raise TypeError(f"{function} compares numbers, and takes no complex ones, got {x.type}")
    return x


def as_real_float(x: Any, function: str) -> TensorVariable:
    """A tensor of floats. TypeError for complex numbers."""
    return as_float(as_real(x, function))


def as_mask(mask: Any, name: str) -> TensorVariable:
    """A tensor of truth values. TypeError for another dtype."""
    mask = ot.as_tensor_variable(mask)
    if mask.dtype != "bool":
        raise TypeError(f"{name} is a mask of truth values, got {mask.type}")
    return mask


def along(vector: Any, name: str, axis: int, x: TensorVariable) -> TensorVariable:
    """A vector with an element for each position of an axis of ``x``, which broadcasts against ``x``.

    TypeError if it is not a vector, ValueError if it has another static length than the axis.
    """
    vector = ot.as_tensor_variable(vector)
    if vector.type.ndim != 1:
        raise TypeError(
            f"{name} is a vector with an element for each position of axis {axis}, got {vector.type}"
        )
    length, own = x.type.shape[axis], vector.type.shape[0]
    if length is not None and own not in (None, length):
        raise ValueError(
            f"{name} has {own} elements, and axis {axis} of {x.type} has the length {length}"
        )
    return vector.dimshuffle(*["x" if i != axis else 0 for i in range(x.type.ndim)])


def as_counts(counts: Sequence[Any], what: str) -> list[TensorVariable]:
    """Integer scalars that are not negative. ``what`` begins the message of TypeErrors and ValueErrors."""
    variables = [ot.as_tensor_variable(count) for count in counts]
    for count, variable in zip(counts, variables, strict=True):
        if variable.type.ndim or not variable.type.is_discrete or variable.dtype == "bool":
            raise TypeError(f"{what} an integer, got {variable.type}")
        if isinstance(count, int) and count < 0:
            raise ValueError(f"{what} not negative, got {count}")
    return variables
