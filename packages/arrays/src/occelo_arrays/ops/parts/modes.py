"""What ``x.at[key]`` does with positions out of bounds: the modes of JAX besides the error that is the default.

`occelo_graph.ops.index.at` calls `Within`, which replaces integers and index arrays in a key, so that the usual ops read and write. Slices and masks stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ir.slices import slice_parts
from occelo_graph.narrowing import is_slice
from occelo_graph.ops.cast import cast, converted
from occelo_graph.ops.create import zeros
from occelo_graph.ops.elemwise.arithmetic import and_, clip, ge, lt, switch
from occelo_graph.ops.index.key import ARRAY, SCALAR, parse_key
from occelo_graph.ops.index.subtensor import getitem
from occelo_graph.ops.join import join
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.constant import as_tensor_variable

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable


class Within:
    """An index ``key`` of ``x`` with its positions in bounds.

    Negative positions count from the end first. Then `clipped` is the key with the nearest positions, and `dropping` the
    key with those out of bounds moved behind the end, for a tensor with one more element along the axes `longer`.
    """

    def __init__(self, x: TensorVariable, key: Any) -> None:
        self.x = x
        self.clipped: list[Any] = []
        self.dropping: list[Any] = []
        self.longer: list[int] = []
        self._in_bounds: list[Any] = []
        self._ndims: list[int] = []
        self._slices_before: list[int] = []
        static, inputs, new_axes = parse_key(key, x.type.ndim)
        self._lengths = lengths_by_variables(x)
        self._read(static, iter(inputs), new_axes)

    def _read(self, static: Sequence[Any], inputs: Iterator[Any], new_axes: Sequence[int]) -> None:
        axis = position = slices = 0
        for entry in static:
            new = position in new_axes
            if is_slice(entry):
                parts = [next(inputs) if p == SCALAR else p for p in slice_parts(entry)]
                self._both(None if new else slice(*parts))
                axis, position, slices = axis + (not new), position + 1, slices + 1
                continue
            index = as_tensor_variable(next(inputs) if isinstance(entry, str) else entry)
            mask = index.dtype == "bool"
            if mask:
                self._both(index[0] if new else index)
            else:
                self._number(index, axis)
            is_array = isinstance(entry, str) and entry == ARRAY
            self._ndims.append(1 if mask else index.type.ndim if is_array else -1)
            self._slices_before.append(slices)
            axis += 0 if new else index.type.ndim if mask else 1
            position += index.type.ndim if mask else 1

    def _both(self, entry: Any) -> None:
        self.clipped.append(entry)
        self.dropping.append(entry)

    def _number(self, index: Any, axis: int) -> None:
        length = as_tensor_variable(self._lengths[axis])
        index = cast(index, "int64")
        index = switch(lt(index, 0), index + length, index)
        inside = and_(ge(index, 0), lt(index, length))
        self.clipped.append(clip(index, 0, length - 1))
        self.dropping.append(switch(inside, index, length))
        self.longer.append(axis)
        self._in_bounds.append(inside)

    def filled(self, fill_value: Any) -> TensorVariable:
        """The part with ``fill_value`` where positions are out of bounds. OverflowError if it does not fit."""
        x = self.x
        if not self._in_bounds:
            return getitem(x, tuple(self.clipped))
        value = _absent(x.dtype) if fill_value is None else fill_value
        inside: Any = self._in_bounds[0]
        for other in self._in_bounds[1:]:
            inside = and_(inside, other)
        # of a tensor that has one element more, since the nearest position in an empty one does not exist
        part = getitem(self.extended(), tuple(self.clipped))
        ndim = max(self._ndims)
        trailing = part.type.ndim
        if ndim >= 0:  # with index arrays, whose dimensions are adjacent or come first
            adjacent = len(set(self._slices_before)) == 1
            trailing -= ndim + (self._slices_before[0] if adjacent else 0)
        else:
            trailing = 0
        inside = inside.dimshuffle([*range(inside.type.ndim), *["x"] * trailing])
        return switch(inside, part, converted(value, x.dtype))

    def extended(self) -> TensorVariable:
        """``x`` with one element more, a zero, along the axes `longer`."""
        x: Any = self.x
        for axis in self.longer:
            lengths = list(lengths_by_variables(x))
            lengths[axis] = 1
            x = join(axis, x, zeros(lengths, dtype=x.dtype))
        return x

    def cut(self, extended: Any) -> TensorVariable:
        """A tensor like `extended` without these elements."""
        key = [slice(None)] * extended.type.ndim
        for axis in self.longer:
            key[axis] = slice(None, -1)
        return getitem(extended, tuple(key))


def _absent(dtype: str) -> Any:
    """What JAX reads out of bounds: NaN, the least signed and the largest unsigned integer, True."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.True_
    if kind in "iu":
        info = np.iinfo(dtype)
        return np.asarray(info.min if kind == "i" else info.max, dtype)
    return np.asarray(np.nan, dtype)
