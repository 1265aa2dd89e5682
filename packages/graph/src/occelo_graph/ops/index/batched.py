"""Batching rules of the ops that read and write parts of tensors: `batched_read` and `batched_write`.

Slices with bounds of their own for each element of a batch, and masks, become index arrays of positions. They must
select equally many elements for each element of the batch, which is checked when the graph runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from occelo_graph.ir.op import Op
from occelo_graph.ir.slices import slice_parts
from occelo_graph.ops.batched_lengths import common_length, promise_equal_lengths
from occelo_graph.ops.batching import align, materialize
from occelo_graph.ops.control.checks import raise_unless
from occelo_graph.ops.create import arange
from occelo_graph.ops.elemwise.arithmetic import add, eq, mul, neq
from occelo_graph.ops.index.key import ARRAY, SCALAR, Key, check_mask, is_advanced, marks_of
from occelo_graph.ops.index.slice_lengths import first_of_slice, length_of_slice
from occelo_graph.ops.shape.reading import lengths_by_variables, shape_i
from occelo_graph.ops.shape.reshaping import reshape
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import TensorType, shape_text

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable


class _Positions(NamedTuple):
    """An axis of the tensor without a batch, and what a slice selects from it: an index array, which has a batch."""

    axis: int
    array: TensorVariable


class _Selection(NamedTuple):
    """A key, its inputs and their numbers of batch dimensions. What ``slices`` select is taken before the key applies."""

    key: Key
    indices: list[Any]
    extras: list[int]
    slices: list[_Positions]

    @property
    def is_whole(self) -> bool:
        """Whether the key alone selects everything."""
        return all(isinstance(e, slice) and slice_parts(e) == (None,) * 3 for e in self.key)


def _selection(
    op_: Op, key: Key, x: Any, extra: int, indices: Sequence[Any], extras: Sequence[int]
) -> _Selection:
    """The selection of a key with inputs that have a batch, by index arrays in place of masks and of slices with a batch.

    ``x`` is the tensor that the key selects from, with ``extra`` batch dimensions.
    """
    selection = _Selection((), [], [], [])
    entries: list[Any] = []
    lengths = lengths_by_variables(x)[extra:]
    rest = iter(zip(indices, extras, strict=True))
    axis = 0
    for entry in key:
        inputs: list[tuple[Any, int]] = []
        entry_: list[Any] = [entry]
        if isinstance(entry, slice):
            parts = slice_parts(entry)
            inputs = [next(rest) for p in parts if p == SCALAR]
            if any(own for _, own in inputs):
                positions = _slice_positions(op_, parts, inputs, lengths[axis])
                inputs, entry_ = [], [slice(None)]
                if isinstance(positions, slice):
                    inputs = [(positions.start, 0), (positions.stop, 0)]
                    entry_ = [slice(SCALAR, SCALAR, positions.step)]
                else:
                    selection.slices.append(_Positions(axis, positions))
        elif isinstance(entry, str):
            inputs = [next(rest)]
            ((array, own),) = inputs
            if entry == ARRAY and array.dtype == "bool":
                masked = _mask_positions(op_, x, extra, axis, array, own)
                inputs = [(v, own) for v in masked]
                entry_ = [ARRAY] * len(masked)
        axis += len(entry_)
        entries += entry_
        selection.indices.extend(v for v, _ in inputs)
        selection.extras.extend(own for _, own in inputs)
    return selection._replace(key=tuple(entries))


def _slice_positions(
    op_: Op, parts: Sequence[Any], bounds: Sequence[tuple[Any, int]], length: Any
) -> TensorVariable | slice:
    """The positions that a slice selects: a vector for each element of the batch, or a slice for all of them."""
    promise_equal_lengths(op_)
    most = max(own for _, own in bounds)
    rest = (align(v, own, most) for v, own in bounds)
    start, stop, step = (next(rest) if p == SCALAR else p for p in parts)
    if step is None:
        step = 1
    elif not isinstance(step, int):
        step = raise_unless(
            step, neq(step, 0), error=ValueError, message="slice step cannot be zero"
        )
    entry = slice(start, stop, step)
    count = common_length(op_, as_tensor_variable(length_of_slice(entry, length)))
    first = as_tensor_variable(first_of_slice(entry, length))
    if first.type.ndim == 0 and isinstance(step, int) and step > 0:
        return slice(first, add(first, mul(count, step)), step)
    steps = as_tensor_variable(step)
    offsets = mul(arange(count), steps.dimshuffle([*range(steps.type.ndim), "x"]))
    return add(first.dimshuffle([*range(first.type.ndim), "x"]), offsets)


def _mask_positions(
    op_: Op, x: Any, extra: int, axis: int, mask: Any, own: int
) -> list[TensorVariable]:
    """An index array for each dimension of a mask with ``own`` batch dimensions, for the dimensions from ``axis`` on."""
    from occelo_graph.ops.index.search import nonzero  # which imports this module

    lengths = lengths_by_variables(mask)
    kind = TensorType("bool", mask.type.shape[own:])
    check_mask(kind, x.type.shape[extra + axis : extra + axis + kind.ndim], axis)
    fits = [eq(shape_i(x, extra + axis + i), n) for i, n in enumerate(lengths[own:])]
    mask = raise_unless(
        mask,
        *fits,
        error=IndexError,
        message=f"A mask of shape {shape_text(kind.shape)} does not fit the dimensions from {axis} on",
    )
    positions: Any = nonzero(mask)[own:]
    if not own:
        return list(positions)
    promise_equal_lengths(op_)
    count = common_length(op_, mask.sum(axis=tuple(range(own, mask.type.ndim))))
    return [reshape(p, [*lengths[:own], count], own + 1) for p in positions]


def _at_axis(axis: int, ndim: int) -> Key:
    """The key of an index array in one of ``ndim`` dimensions."""
    return tuple(ARRAY if i == axis else slice(None) for i in range(ndim))


def _batched_key(
    key: Key, indices: Sequence[Any], extras: Sequence[int], lengths: Sequence[Any], extra: int
) -> tuple[Key, list[Any], int, int]:
    """A key for a batch of inputs: an index array for each batch dimension is put in front of ``key``.

    ``lengths`` are the lengths of the ``extra`` batch dimensions. ``indices`` are the inputs of the key, and ``extras``
    are their numbers of batch dimensions.

    Returns the new key, its inputs, and two numbers about the result without a batch: the number of dimensions that
    come from index arrays, and the position of the first of them.
    """
    core_ndim = 0
    marks = marks_of(key)
    for variable, mark, own in zip(indices, marks, extras, strict=True):
        if mark == ARRAY:
            core_ndim = max(core_ndim, variable.type.ndim - own)
    new_key: list[Any] = [ARRAY] * extra
    inputs: list[Any] = []
    for i, n in enumerate(lengths):
        order: list[Any] = ["x"] * (extra + core_ndim)
        order[i] = 0
        inputs.append(arange(n).dimshuffle(order))
    rest = iter(zip(indices, extras, strict=True))
    places: list[int] = []
    slices_before = 0
    for place, entry in enumerate(key):
        if isinstance(entry, slice):
            parts = slice_parts(entry)
            for p in parts:
                if p == SCALAR:
                    variable, _ = next(rest)
                    inputs.append(variable)
            new_key.append(entry)
            slices_before += 0 if places else 1
            continue
        places.append(place)
        if isinstance(entry, str):
            variable, own = next(rest)
            pad = core_ndim - (variable.type.ndim - own)
            order = [*range(own), *["x"] * pad, *range(own, variable.type.ndim)]
            inputs.append(align(variable.dimshuffle(order), own, extra))
            new_key.append(ARRAY)
        else:
            new_key.append(entry)
    # integers count as index arrays only if the original key has an array
    had_array = is_advanced(key)
    neighbours = not places or places == list(range(places[0], places[-1] + 1))
    where = slices_before if had_array and neighbours else 0
    return tuple(new_key), inputs, core_ndim, where


def batched_read(op_: Op, key: Key, inputs: Sequence[Any], batch_ndims: Sequence[int]) -> list[Any]:
    """The batching rule of an op that reads ``inputs[0]`` by a key, whose inputs are the others."""
    from occelo_graph.ops.index.subtensor import (
        AdvancedSubtensor,
        Subtensor,
    )  # which import this module

    x, indices, extra = inputs[0], inputs[1:], batch_ndims[0]
    if any(batch_ndims[1:]):
        key, indices, extras, slices = selection = _selection(
            op_, key, x, extra, indices, batch_ndims[1:]
        )
        for each in slices:
            x, extra = _read_axis(op_, x, extra, each)
        if slices and selection.is_whole:
            return [x]
        batch_ndims = [extra, *extras]
    if not any(batch_ndims[1:]):
        full = (slice(None),) * extra
        if not is_advanced(key):
            return [Subtensor((*full, *key))(x, *indices)]
        if _together(key):
            return [AdvancedSubtensor((*full, *key))(x, *indices)]
    extra = max(batch_ndims)
    (x,) = _with_batch([x], [batch_ndims[0]], [x, *indices], batch_ndims)
    lengths = lengths_by_variables(x)[:extra]
    new_key, new_inputs, core, where = _batched_key(key, indices, batch_ndims[1:], lengths, extra)
    read = AdvancedSubtensor(new_key)(x, *new_inputs)
    # the dimensions of index arrays now follow the batch dimensions; they are moved to their original place
    order = [*range(extra), *range(extra + core, extra + core + where), *range(extra, extra + core)]
    order += list(range(extra + core + where, read.type.ndim))
    return [read.dimshuffle(order)]


def _read_axis(op_: Op, x: Any, extra: int, at: _Positions) -> tuple[Any, int]:
    """What positions with a batch select along an axis of ``x``, and its number of batch dimensions."""
    from occelo_graph.ops.index.subtensor import AdvancedSubtensor  # which imports this module

    axis, array = at
    own = array.type.ndim - 1
    key = _at_axis(axis, x.type.ndim - extra)
    if extra:
        return batched_read(op_, key, [x, array], [extra, own])[0], max(extra, own)
    # all elements of the batch read one tensor
    read = AdvancedSubtensor(key)(x, array)
    order = [*range(axis, axis + own), *range(axis), *range(axis + own, read.type.ndim)]
    return read.dimshuffle(order), own


def _together(key: Key) -> bool:
    """Whether no slice stands between other entries."""
    places = [i for i, e in enumerate(key) if not isinstance(e, slice)]
    return not places or places == list(range(places[0], places[-1] + 1))


def _with_batch(
    tensors: Sequence[Any], extras: Sequence[int], inputs: Sequence[Any], batch_ndims: Sequence[int]
) -> list[Any]:
    """Broadcast the tensors ``tensors`` to the full batch shape of a node's inputs.

    ``extras`` and ``batch_ndims`` are the numbers of batch dimensions of ``tensors`` and ``inputs``.
    """
    full = materialize([*tensors, *inputs], [*extras, *batch_ndims])
    return full[: len(tensors)]


def batched_write(
    op_: Op, key: Key, only_set: bool, inputs: Sequence[Any], batch_ndims: Sequence[int]
) -> list[Any]:
    """The batching rule of an op that writes ``inputs[1]`` to ``inputs[0]`` by a key, whose inputs are the others.

    ``only_set`` says that it sets, and does not add.
    """
    x, y, indices = inputs[0], inputs[1], inputs[2:]
    (x,) = _with_batch([x], [batch_ndims[0]], inputs, batch_ndims)
    extra = max(batch_ndims)
    if not any(batch_ndims[2:]):
        return [_written(key, only_set, x, extra, y, batch_ndims[1], indices, batch_ndims[2:])]
    selection = _selection(op_, key, x, extra, indices, batch_ndims[2:])
    return [_written_parts(op_, selection, only_set, x, extra, y, batch_ndims[1])]


def _written_parts(
    op_: Op, selection: _Selection, only_set: bool, x: Any, extra: int, y: Any, own: int
) -> Any:
    """``x`` with ``y`` written to a selection: to what its first slice selects, which is then set."""
    key, indices, extras, slices = selection
    if not slices:
        return _written(key, only_set, x, extra, y, own, indices, extras)
    axis, array = slices[0]
    at = _at_axis(axis, x.type.ndim - extra), [array], [array.type.ndim - 1]
    key_, indices_, extras_ = at
    if len(slices) == 1 and selection.is_whole:
        return _written(key_, only_set, x, extra, y, own, indices_, extras_)
    part, _ = _read_axis(op_, x, extra, slices[0])
    deeper = selection._replace(slices=slices[1:])
    part = _written_parts(op_, deeper, only_set, part, extra, y, own)
    return _written(key_, True, x, extra, part, extra, indices_, extras_)


def _written(
    key: Key,
    only_set: bool,
    x: Any,
    extra: int,
    y: Any,
    own: int,
    indices: Sequence[Any],
    extras: Sequence[int],
) -> Any:
    """``x``, which has all ``extra`` batch dimensions, with ``y``, which has ``own``, written to what a key selects."""
    from occelo_graph.ops.index.subtensor import (  # which imports this module
        AdvancedIncSubtensor,
        IncSubtensor,
    )

    arrays = [
        1 if v.dtype == "bool" else v.type.ndim - e
        for v, e, mark in zip(indices, extras, marks_of(key), strict=True)
        if mark == ARRAY
    ]
    region = sum(1 for e in key if isinstance(e, slice)) + max(arrays, default=0)
    missing = region - (y.type.ndim - own)
    y = align(y.dimshuffle([*range(own), *["x"] * missing, *range(own, y.type.ndim)]), own, extra)
    full = (slice(None),) * extra
    if not any(extras) and not is_advanced(key):
        return IncSubtensor((*full, *key), only_set)(x, y, *indices)
    if not any(extras) and _together(key):
        return AdvancedIncSubtensor((*full, *key), only_set)(x, y, *indices)
    lengths = lengths_by_variables(x)[:extra]
    new_key, new_inputs, core, where = _batched_key(key, indices, extras, lengths, extra)
    back: list[Any] = [*range(extra), *range(extra + where, extra + where + core)]
    back += [*range(extra, extra + where), *range(extra + where + core, extra + region)]
    return AdvancedIncSubtensor(new_key, only_set)(x, y.dimshuffle(back), *new_inputs)
