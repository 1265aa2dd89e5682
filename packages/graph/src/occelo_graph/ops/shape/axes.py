"""Conversion and checks of axes in arguments of functions: static integers, counted from 0 or from the end.

Functions with an argument ``axis`` convert it with `normalize_axis` or `normalize_axes`. `static_integer` also converts
offsets of diagonals.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ir.nodes import Constant, Variable

if TYPE_CHECKING:
    pass

__all__ = ["normalize_axes", "normalize_axis", "static_integer"]


def static_integer(value: Any, what: str) -> int:
    """An integer that must be known when the graph is built; TypeError for anything else."""
    if isinstance(value, Constant):
        value = value.data
    if isinstance(value, Variable):
        raise TypeError(f"The {what} must be known when the graph is built, got {value}")
    if isinstance(value, bool | np.bool_):
        raise TypeError(f"The {what} must be an integer, got {value}")
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"The {what} must be an integer, got {value!r}") from None


def normalize_axis(axis: Any, ndim: int, what: str = "axis") -> int:
    """An axis as a nonnegative number; `numpy.exceptions.AxisError` if there is no such axis."""
    number = static_integer(axis, what)
    if not -ndim <= number < ndim:
        raise np.exceptions.AxisError(number, ndim)
    return number % ndim


def normalize_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Sorted axes from one axis, several axes, or None for all.

    ValueError for a repeated axis, TypeError for a variable.
    """
    if axis is None:
        return tuple(range(ndim))
    if isinstance(axis, Constant):
        axis = axis.data
    if isinstance(axis, Variable):
        raise TypeError(f"The axes must be known when the graph is built, got {axis}")
    given: Any = [axis] if np.ndim(axis) == 0 else list(axis)
    axes = [normalize_axis(a, ndim) for a in given]
    if len(set(axes)) != len(axes):
        raise ValueError(f"An axis is repeated in {tuple(axes)}")
    return tuple(sorted(axes))
