"""NumPy's functions that turn, shift, trim or repeat arrays: `rot90`, `fliplr`, `roll`, `rollaxis`, `resize`, `trim_zeros`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_arrays.ops.grids import natural_lengths
from occelo_arrays.ops.parts.pieces import Roll
from occelo_graph import Variable
from occelo_graph import tensor as ot
from occelo_graph.errors import describe
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.length_inputs import integer_length, lengths_of
from occelo_graph.ops.shape.axes import (
    listed_axes,
    normalize_axes,
    normalize_axis,
    static_integer,
)
from occelo_graph.ops.shape.reading import length_product, lengths_by_variables

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["fliplr", "flipud", "permute_dims", "resize", "roll", "rollaxis", "rot90", "trim_zeros"]


@stands_for("rot90", "m k axes")
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> TensorVariable:
    """``m`` turned ``k`` times by a quarter, from the first of two ``axes`` towards the second.

    ValueError unless ``axes`` are two different axes.
    """
    x = ot.as_tensor_variable(m)
    listed = list(axes)
    if len(listed) != 2:
        raise ValueError(f"rot90 turns in the plane of two axes, got axes={axes}")
    first, second = (normalize_axis(a, x) for a in listed)
    if first == second:
        raise ValueError(f"The two axes of rot90 must differ, got axes={axes} of {x.type}")
    quarters = static_integer(k, "k of rot90") % 4
    if quarters == 2:
        return ot.flip(x, (first, second))
    if quarters == 1:
        return ot.swapaxes(ot.flip(x, second), first, second)
    return ot.flip(ot.swapaxes(x, first, second), second) if quarters == 3 else x


@stands_for("flipud", "m")
def flipud(m: Any) -> TensorVariable:
    """The tensor ``m`` with its first axis reversed. AxisError for a scalar."""
    return ot.flip(m, 0)


@stands_for("fliplr", "m")
def fliplr(m: Any) -> TensorVariable:
    """The tensor ``m`` with its second axis reversed. AxisError for less than 2 dimensions."""
    return ot.flip(m, 1)


def permute_dims(a: Any, /, axes: Any) -> TensorVariable:
    """`transpose` of ``a`` by the name of the array API: ``axes`` are the axes in their new order."""
    return ot.transpose(a, axes)


@stands_for("rollaxis", "a axis start")
def rollaxis(a: Any, axis: int, start: int = 0) -> TensorVariable:
    """``a`` with ``axis`` moved before the axis ``start``; `moveaxis` says more plainly where an axis comes to lie."""
    x = ot.as_tensor_variable(a)
    ndim = x.type.ndim
    where, before = normalize_axis(axis, x), static_integer(start, "start of rollaxis")
    if not -ndim <= before <= ndim:
        raise np.exceptions.AxisError(
            f"start of rollaxis is a place from {-ndim} to {ndim} in {describe(x)}, got {start}"
        )
    before = before + ndim if before < 0 else before
    return ot.moveaxis(x, where, before - 1 if where < before else before)


@stands_for("resize", "a new_shape")
def resize(a: Any, new_shape: Any) -> TensorVariable:
    """The elements of a tensor in C order, cut or repeated to fill ``new_shape``. Of no elements, zeros."""
    flat = ot.flatten(ot.as_tensor_variable(a))
    lengths = natural_lengths(new_shape, "resize")
    total = length_product(lengths)
    (own,) = lengths_by_variables(flat)
    if isinstance(own, int):
        if not own:
            return ot.zeros(lengths, dtype=flat.dtype)
        read = flat[ot.arange(total) % own]
    else:  # a zero at the end is read only if there is no other element
        padded = ot.join(0, flat, ot.zeros(1, dtype=flat.dtype))
        read = padded[ot.arange(total) % ot.maximum(own, 1)]
    return ot.reshape(read, lengths, ndim=len(lengths))


@stands_for("trim_zeros", "filt trim axis")
def trim_zeros(filt: Any, trim: Any = "fb", axis: Any = None) -> TensorVariable:
    """``filt`` without the slices of zeros at its front (``"f"`` in ``trim``) and its back (``"b"``).

    ``axis`` is one axis, several, or None for all. The lengths of the result follow from the values. ValueError for
    other letters in ``trim``.
    """
    x = ot.as_tensor_variable(filt)
    if not isinstance(trim, str) or not set(trim.lower()) <= {"f", "b"}:
        raise ValueError(f"trim of trim_zeros has the letters f and b, got {trim!r}")
    front, back = ("f" in trim.lower()), ("b" in trim.lower())
    filled = ot.neq(x, 0)
    for where in normalize_axes(axis, x):
        others = [i for i in range(x.type.ndim) if i != where]
        along = ot.any(filled, axis=others) if others else filled
        length = ot.as_tensor_variable(lengths_by_variables(x)[where])
        some = ot.any(filled)
        # an appended True is found if there is no other
        forwards = ot.join(0, along, np.array([True]))
        backwards = ot.join(0, along[::-1], np.array([True]))
        first = ot.argmax(forwards) if front else ot.as_tensor_variable(0)
        last = length - ot.argmax(backwards) if back else length
        # of zeros alone nothing is left, whichever end is trimmed
        stop = ot.switch(some, last, first if front else 0)
        key = (*[slice(None)] * where, slice(first, stop))
        x, filled = x[key], filled[key]
    return x


@stands_for("roll", "a:x shift axis")
def roll(x: Any, shift: Any, axis: Any = None) -> TensorVariable:
    """Shift elements of ``x`` along ``axis``. Elements that are shifted beyond the end come back at the start.

    ``axis`` is one axis, or a sequence or an array of axes. If it is None, the elements are shifted in C order.
    ``shift`` is one shift for all axes, or has one for each axis. One axis may have several shifts. ValueError if the
    numbers of shifts and axes do not fit. A Python integer may be a shift of any size.
    """
    x = ot.as_tensor_variable(x)
    if axis is None:
        return ot.reshape(roll(ot.flatten(x), shift, 0), lengths_by_variables(x))
    axes = [normalize_axis(a, x) for a in listed_axes(axis)]
    shifts = _shifts(shift)
    if len(shifts) != len(axes) and 1 not in (len(shifts), len(axes)):
        raise ValueError(f"{len(shifts)} shifts for {len(axes)} axes")
    count = len(axes) if len(shifts) == 1 else len(shifts)
    for by, where in zip(
        shifts * (count if len(shifts) == 1 else 1),
        axes * (count if len(axes) == 1 else 1),
        strict=True,
    ):
        x = _rolled(x, by, where)
    return x


def _shifts(shift: Any) -> list[Any]:
    """The shifts in ``shift`` as integers of any size and scalars."""
    if isinstance(shift, Variable):
        return list(lengths_of(shift))
    listed = shift if is_list_or_tuple(shift) or np.ndim(shift) else [shift]
    whole = [issubclass(type(by), int | np.integer) and not isinstance(by, bool) for by in listed]
    return [
        int(by) if plain else integer_length(by) for by, plain in zip(listed, whole, strict=True)
    ]


def _rolled(x: TensorVariable, by: Any, where: int) -> TensorVariable:
    if not isinstance(by, int):
        rolled: TensorVariable = Roll(where)(x, by)
        return rolled
    length = lengths_by_variables(x)[where]
    guard = max(length, 1) if isinstance(length, int) else ot.maximum(length, 1)
    start = guard - _remainder(by, guard)
    lead = [slice(None)] * where
    return ot.join(where, x[(*lead, slice(start, None))], x[(*lead, slice(None, start))])


def _remainder(number: int, length: Any) -> Any:
    """``number % length`` for an integer of any size, and a length that is an integer or an int64 scalar."""
    if isinstance(length, int) or -(2**63) <= number < 2**63:
        return number % length
    # Horner's rule, in digits so small that no int64 overflows: arrays have less than 2**48 elements
    rest: Any = 0
    magnitude = abs(number)
    for place in range((magnitude.bit_length() - 1) // 15, -1, -1):
        rest = (rest * 2**15 + (magnitude >> 15 * place) % 2**15) % length
    return rest if number > 0 else -rest % length
