"""NumPy's functions that turn, trim or repeat arrays: `rot90`, `fliplr`, `rollaxis`, `resize`, `trim_zeros`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_arrays.ops.grids import natural_lengths
from occelo_graph import tensor as ot
from occelo_graph.errors import describe
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.shape.axes import normalize_axes, normalize_axis, static_integer
from occelo_graph.ops.shape.reading import length_product, lengths_by_variables

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["fliplr", "flipud", "permute_dims", "resize", "rollaxis", "rot90", "trim_zeros"]


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
        found = ot.join(0, along, np.array([True]))
        backwards = ot.join(0, along[::-1], np.array([True]))
        first = ot.argmax(found) if front else ot.as_tensor_variable(0)
        last = length - ot.argmax(backwards) if back else length
        # of zeros alone nothing is left, whichever end is trimmed
        stop = ot.switch(some, last, first if front else 0)
        key = (*[slice(None)] * where, slice(first, stop))
        x, filled = x[key], filled[key]
    return x
