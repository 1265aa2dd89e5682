"""NumPy's functions that apply a function of the user along axes or to positions, and views of blocks.

`apply_along_axis`, `apply_over_axes`, `fromfunction`; `view_as_blocks` and `view_as_windows` as in scikit-image.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_arrays.ops.grids import indices
from occelo_arrays.ops.parts.windows import sliding_window_view
from occelo_graph import tensor as ot
from occelo_graph.errors import describe
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.shape.axes import normalize_axis, static_integer
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.type import TensorType

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "apply_along_axis",
    "apply_over_axes",
    "fromfunction",
    "view_as_blocks",
    "view_as_windows",
]


@stands_for("apply_along_axis", "func1d axis arr *")
def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any
) -> TensorVariable:
    """The results of ``func1d`` for all vectors along ``axis`` of ``arr``; their dimensions take the place of the axis.

    The function is called once, with a symbolic vector, and with ``args`` and ``kwargs``. What it builds is vectorized.
    """
    _check_function(func1d, "func1d of apply_along_axis")
    x = ot.as_tensor_variable(arr)
    where = normalize_axis(axis, x)
    vector = TensorType(x.dtype, [x.type.shape[where]]).make_variable()
    built = ot.as_tensor_variable(func1d(vector, *args, **kwargs))
    rows = ot.moveaxis(x, where, -1)
    lead = lengths_by_variables(rows)[:-1]
    batched: Any = ot.vectorize_graph(built, {vector: rows})
    ndim = built.type.ndim
    if batched.type.ndim == ndim:  # the results do not depend on the vectors
        batched = ot.broadcast_to(batched, [*lead, *lengths_by_variables(batched)])
    count = len(lead)
    return ot.moveaxis(batched, range(count, count + ndim), range(where, where + ndim))


@stands_for("apply_over_axes", "func a axes")
def apply_over_axes(func: Callable[[Any, int], Any], a: Any, axes: Any) -> TensorVariable:
    """``func(a, axis)`` for each of ``axes`` in turn. A result with a dimension less gets one of length 1 in its place.

    ValueError if a result has another number of dimensions.
    """
    _check_function(func, "func of apply_over_axes")
    x = ot.as_tensor_variable(a)
    for where in [normalize_axis(i, x) for i in (axes if is_list_or_tuple(axes) else [axes])]:
        reduced = ot.as_tensor_variable(func(x, where))
        if reduced.type.ndim == x.type.ndim - 1:
            reduced = ot.expand_dims(reduced, where)
        if reduced.type.ndim != x.type.ndim:
            raise ValueError(
                f"The function of apply_over_axes must keep the axis or remove it; it made {describe(reduced)} of {describe(x)}"
            )
        x = reduced
    return x


def _check_function(function: Any, what: str) -> None:
    if not callable(function):
        raise TypeError(f"{what} must be a function, got {function!r}")


def fromfunction(
    function: Callable[..., Any], shape: Any, *, dtype: Any = float, **kwargs: Any
) -> Any:
    """``function`` of the positions in a tensor of ``shape``, one argument of ``dtype`` for each dimension, and of ``kwargs``."""
    _check_function(function, "function of fromfunction")
    return function(*indices(shape, dtype=dtype), **kwargs)


def view_as_blocks(arr_in: Any, block_shape: Any) -> TensorVariable:
    """``arr_in`` cut into blocks that do not overlap: the first dimensions are the places of blocks, the last ones a block.

    ``block_shape`` has a length for each dimension of the tensor, whose own length must be a multiple of it. ValueError
    otherwise, when the graph runs for lengths that are not known before. The name is that of scikit-image.
    """
    x, lengths = ot.as_tensor_variable(arr_in), _whole(block_shape, "block_shape")
    if len(lengths) != x.type.ndim:
        raise ValueError(
            f"block_shape {lengths} must have a length for each dimension of {describe(x)}"
        )
    if min(lengths, default=1) < 1:
        raise ValueError(f"Lengths of blocks must be positive, got {lengths}")
    if any(n is not None and n % block for n, block in zip(x.type.shape, lengths, strict=True)):
        raise ValueError(f"Blocks of shape {lengths} do not divide {describe(x)}")
    split: list[Any] = []
    for n, block in zip(lengths_by_variables(x), lengths, strict=True):
        split += [n // block, block]
    ndim = x.type.ndim
    parted = ot.reshape(x, split, ndim=2 * ndim)
    return ot.transpose(parted, [*range(0, 2 * ndim, 2), *range(1, 2 * ndim, 2)])


def view_as_windows(arr_in: Any, window_shape: Any, step: Any = 1) -> TensorVariable:
    """The contents of a window at its places in ``arr_in``, ``step`` elements apart: `sliding_window_view` over all axes.

    ``window_shape`` and ``step`` are one integer for all dimensions, or one for each. The name is that of scikit-image.
    ValueError if a window does not fit or a step is not positive.
    """
    x = ot.as_tensor_variable(arr_in)
    ndim = x.type.ndim
    windows, steps = _for_each(window_shape, ndim, "window_shape"), _for_each(step, ndim, "step")
    for name, numbers in (("window_shape", windows), ("step", steps)):
        if any(n < 1 for n in numbers):
            raise ValueError(f"{name} of view_as_windows must be positive, got {numbers}")
    places = tuple(slice(None, None, s) for s in steps)
    return sliding_window_view(x, windows)[places]


def _whole(numbers: Any, name: str) -> list[int]:
    return [static_integer(n, name) for n in (numbers if np.iterable(numbers) else [numbers])]


def _for_each(value: Any, ndim: int, name: str) -> Sequence[int]:
    numbers = _whole(value, name)
    if not np.iterable(value):
        numbers *= ndim
    if len(numbers) != ndim:
        raise ValueError(f"{name} must have a number for each of {ndim} dimensions, got {value}")
    return numbers
