"""Checks and converts the argument ``axis`` of functions. For instance, axis -1 of a matrix becomes 1.

Functions of all families call `normalize_axis` for one axis, and `normalize_axes` for several axes. `static_integer`
also converts offsets of diagonals.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from occelo_graph.errors import describe, explained
from occelo_graph.ir.nodes import Variable
from occelo_graph.ir.taken_constants import taken
from occelo_graph.narrowing import is_list_or_tuple


def static_integer(value: Any, what: str) -> int:
    """Convert ``value`` to an integer. TypeError unless it is an integer that is known when the graph is built.

    A constant counts as its value, and is recorded (`taken_constants`). ``what`` is the name of the argument in the
    message.
    """
    value = taken(value)
    if isinstance(value, Variable):
        text = f"The {what} must be known when the graph is built, got {value}"
        raise explained(TypeError(text), "integers")
    if isinstance(value, bool | np.bool_):
        raise explained(TypeError(f"The {what} must be an integer, got {value}"), "integers")
    try:
        return operator.index(value)
    except TypeError:
        text = f"The {what} must be an integer, got {value!r}"
        raise explained(TypeError(text), "integers") from None


def normalize_axis(axis: Any, of: Any, what: str = "axis") -> int:
    """Convert an axis of a tensor to a nonnegative number. ``of`` is the tensor, or its number of dimensions.

    `numpy.exceptions.AxisError` if there is no such axis; the message names the tensor. ``what`` is the name of the
    argument in the message.
    """
    number = static_integer(axis, what)
    ndim: int = of if isinstance(of, int) else of.type.ndim
    if not -ndim <= number < ndim:
        named = describe(of) if isinstance(of, Variable) else None
        raise explained(np.exceptions.AxisError(number, ndim, named), "axes")
    return number % ndim


def normalize_axes(axis: Any, of: Any) -> tuple[int, ...]:
    """Convert one axis, several axes, or None (all axes) to a sorted tuple of nonnegative numbers.

    ``of`` is the tensor, or its number of dimensions.
    ValueError if an axis is repeated. TypeError if an axis is a variable.
    """
    if axis is None:
        return tuple(range(of if isinstance(of, int) else of.type.ndim))
    axes = [normalize_axis(a, of) for a in listed_axes(axis)]
    if len(set(axes)) != len(axes):
        raise explained(ValueError(f"An axis is repeated in {tuple(axes)}"), "axes")
    return tuple(sorted(axes))


def listed_axes(axis: Any) -> list[Any]:
    """A list of the axes in ``axis``: one axis, a sequence, an array or a constant. TypeError for another variable."""
    axis = taken(axis)
    if isinstance(axis, Variable | float):
        text = "The axes must be known when the graph is built"
        text = text if isinstance(axis, Variable) else "The axis must be an integer"
        text += f", got {axis}; maximum(x, y) and its like combine two tensors, x.at[key].max(y) a part of x and y"
        raise explained(TypeError(text), "axes")
    return list(axis) if is_list_or_tuple(axis) or np.ndim(axis) else [axis]
