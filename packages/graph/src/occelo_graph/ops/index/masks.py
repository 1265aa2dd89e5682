"""Converts masks in keys with several arrays to arrays of positions, which broadcast together as in NumPy.

`subtensor` calls `masks_as_positions` for the index that a user writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from occelo_graph.ir.nodes import Constant
from occelo_graph.ir.slices import slice_parts
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.elemwise.arithmetic import eq
from occelo_graph.ops.index.key import ARRAY, SCALAR, Key, check_mask
from occelo_graph.ops.shape.reading import lengths_by_variables, shape_i
from occelo_graph.tensors.constant import constant
from occelo_graph.tensors.type import TensorType, shape_text


def masks_as_positions(x: Any, key: Key, inputs: Sequence[Any]) -> tuple[Key, list[Any]]:
    """Replace masks by index arrays, if the key has several arrays. Returns the new key and its inputs.

    The arrays of a constant mask have static lengths. If a mask is the only array in a key, it is kept. IndexError if a mask does not have the lengths of the dimensions
    that it indexes. Dynamic lengths are checked when the graph runs.
    """
    if sum(1 for e in key if isinstance(e, str) and e == ARRAY) < 2:
        return key, list(inputs)
    entries: list[Any] = []
    new_inputs: list[Any] = []
    rest = iter(inputs)
    axis = 0
    for entry in key:
        if isinstance(entry, slice):
            new_inputs += [next(rest) for p in slice_parts(entry) if p == SCALAR]
        elif isinstance(entry, str):
            array = next(rest)
            if array.dtype == "bool":
                positions = _positions(x, axis, array)
                entries += [ARRAY] * len(positions)
                new_inputs += positions
                axis += len(positions)
                continue
            new_inputs.append(array)
        entries.append(entry)
        axis += 1
    return tuple(entries), new_inputs


def _positions(x: Any, axis: int, mask: Any) -> list[Any]:
    """An index array for each dimension of a mask. The mask indexes the dimensions of ``x`` from ``axis`` on."""
    kind: TensorType = mask.type
    check_mask(kind, x.type.shape[axis : axis + kind.ndim], axis)
    if isinstance(mask, Constant):
        first, *others = (constant(p) for p in mask.data.nonzero())
    else:
        first, *others = mask.nonzero()
    # static lengths are checked at run time, too, since the graph may be rebuilt for another x
    fits = [eq(shape_i(x, axis + i), n) for i, n in enumerate(lengths_by_variables(mask))]
    text = f"A mask of shape {shape_text(kind.shape)} does not fit the dimensions from {axis} on"
    return [CheckAndRaise(IndexError, text)(first, *fits), *others]
